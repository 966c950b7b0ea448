#!/bin/sh
# Install what was built. Usage: install.sh BUILD DESTDIR PREFIX. The manual page and the
# completions are written by the program itself, from the tables that its commands read.
set -eu
build=$1
root=$2$3
bin=$root/bin
libexec=$root/libexec/plimsoll
share=$root/share
engine=$build/plimsoll-engine

# generate NAME FILE: what `plimsoll-engine manual NAME` prints, as a file.
generate() {
    "$engine" manual "$1" > "$build/manual.$1"
    install -D -m 644 "$build/manual.$1" "$2"
}

install -d "$bin" "$libexec"
install -m 755 "$engine" "$bin/plimsoll-engine"
if [ -f "$build/plimsoll" ]; then
    install -m 755 "$build/plimsoll" "$bin/plimsoll"
fi
install -m 755 "$build/plimsoll-once" "$libexec/plimsoll-once"

generate roff "$share/man/man1/plimsoll.1"
printf '.so man1/plimsoll.1\n' > "$build/manual.engine"
install -m 644 "$build/manual.engine" "$share/man/man1/plimsoll-engine.1"
generate bash "$share/bash-completion/completions/plimsoll"
ln -sf plimsoll "$share/bash-completion/completions/plimsoll-engine"
generate zsh "$share/zsh/site-functions/_plimsoll"
generate fish "$share/fish/vendor_completions.d/plimsoll.fish"
ln -sf plimsoll.fish "$share/fish/vendor_completions.d/plimsoll-engine.fish"

install -D -m 644 LICENSE "$share/doc/plimsoll/LICENSE"
if [ -f README.md ]; then
    install -m 644 README.md "$share/doc/plimsoll/README.md"
fi
if [ -f engine/report/run.schema.json ]; then
    install -D -m 644 engine/report/run.schema.json "$share/plimsoll/run.schema.json"
fi
