#!/bin/sh
# The manual page, the completions, and what is installed: they say what the commands
# say, and work where they are put.
. tests/lib.sh

for format in roff bash zsh fish; do
    "$engine" manual $format > "$scratch/manual.$format" || echo "not ok writes_$format"
done
exits unknown_manual_is_refused 2 "$engine" manual tex

# --- the manual page ---

if command -v man > /dev/null; then
    LC_ALL=C.UTF-8 man --warnings=w -E UTF-8 -l -Tutf8 -Z "$scratch/manual.roff" \
        2>&1 > "$scratch/out" | grep -v '^$' > "$scratch/err"
    same page_has_no_warnings "" "$(cat "$scratch/err")"
    LC_ALL=C.UTF-8 MANWIDTH=200 man -l "$scratch/manual.roff" 2> "$scratch/err" |
        sed 's/.\x08//g' > "$scratch/page"
    missing=
    for word in $("$engine" list --json | python3 -c '
import json, sys
for s in json.load(sys.stdin):
    print(s["name"])
    for p in s["parameters"]:
        print("--" + p["name"].replace("_", "-"))' | sort -u) \
        $("$engine" --help | sed -n 's/^  plimsoll \([a-z]*\) .*/\1/p') XDG_STATE_HOME 130; do
        grep -q -e "$word" "$scratch/page" || missing="$missing $word"
    done
    same page_names_everything "" "$missing"
else
    echo "skip page_has_no_warnings: no man here"
fi

# --- completion ---

"$engine" run unix-requests --quiet --requests 3 --trials 1 --client connection
id=$("$engine" runs --ids)
same a_run_is_saved 8 ${#id}

if command -v bash > /dev/null; then
    cat > "$scratch/complete.bash" << 'END'
. "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_plimsoll
echo "${COMPREPLY[*]}"
END
    # bash_gives NAME WANTED WORDS...
    bash_gives() {
        name=$1
        wanted=$2
        shift 2
        same "bash_$name" "$wanted" \
            "$(bash "$scratch/complete.bash" "$scratch/manual.bash" "$engine" "$@")"
    }
    bash_gives commands "run runs replay" r
    bash_gives scenarios "tcp-bulk tcp-requests" run tcp
    bash_gives parameters "--direction" run tcp-bulk --dir
    bash_gives no_others "" run unix-requests --dir
    bash_gives switches "--verify" run tcp-bulk --verif
    bash_gives negations "--no-verify" run tcp-bulk --no-v
    bash_gives choices "both up down" run tcp-bulk --direction ""
    bash_gives after_equals "up" run tcp-bulk --direction = u
    bash_gives method_of_bulk "auto copy zero-copy" run tcp-bulk --method ""
    bash_gives method_of_http "" http --method ""
    bash_gives runs "last $id" show ""
    bash_gives several_runs "$id" delete last "$id"
    bash_gives roles "unix udp" serve u
    bash_gives role_parameters "--nth" serve udp --nt
    bash_gives formats "json junit" export last --format j
    bash_gives outcomes "completed" runs --outcome c
    bash_gives metrics "p99 p99.9 p99.99" run tcp-bulk --threshold p99
    bash_gives short_options "json junit" export last -f j
    : > "$scratch/body.json"
    bash_gives files "$scratch/body.json" http --input "$scratch/body"
    check bash_syntax bash -n "$scratch/manual.bash"
else
    echo "skip bash: no bash here"
fi

# A shell in a terminal, a line, the tabulator, and what must appear: arguments SHELL
# SETUP LINE WANTED.
cat > "$scratch/tab.py" << 'END'
import os, pty, select, sys, time
shell, setup, line, wanted = sys.argv[1:5]
arguments = {"bash": ["--norc", "--noprofile", "-i"], "zsh": ["-f", "-i"]}
pid, fd = pty.fork()
if pid == 0:
    os.environ["TERM"] = "dumb"
    os.execvp(shell, [shell] + arguments[shell])
seen = ""
def read(until):
    global seen
    end = time.time() + 30
    while until not in seen and time.time() < end:
        if select.select([fd], [], [], 0.2)[0]:
            try:
                seen += os.read(fd, 65536).decode(errors="replace")
            except OSError:
                break
os.write(fd, (setup + "; echo re''ady\n").encode())
read("ready")
seen = ""
os.write(fd, (line + "\t").encode())
read(wanted)
os.kill(pid, 9)
os.waitpid(pid, 0)
if wanted not in seen:
    sys.exit("%r does not show %r" % (seen, wanted))
END

PATH=$build:$PATH
if command -v bash > /dev/null; then
    check bash_in_a_terminal python3 "$scratch/tab.py" bash ". '$scratch/manual.bash'" \
        "plimsoll-engine run tcp-bulk --direc" "tion "
fi

if command -v zsh > /dev/null; then
    mkdir "$scratch/zsh"
    cp "$scratch/manual.zsh" "$scratch/zsh/_plimsoll"
    zsh_shows() {
        check "zsh_$1" python3 "$scratch/tab.py" zsh \
            "fpath=('$scratch/zsh' \$fpath); autoload -Uz compinit; compinit -u -D" \
            "plimsoll-engine $2" "$3"
    }
    check zsh_syntax zsh -n "$scratch/manual.zsh"
    zsh_shows scenarios "run unix-re" "quests"
    zsh_shows parameters "run tcp-bulk --direc" "tion="
    zsh_shows choices "run tcp-bulk --direction " "both"
    zsh_shows runs "show " "$id"
    zsh_shows http "http --pipel" "ining="
else
    echo "skip zsh: no zsh here"
fi

if command -v fish > /dev/null; then
    # fish_gives NAME WANTED LINE: the words offered, without their descriptions.
    fish_gives() {
        same "fish_$1" "$2" "$(HOME=$scratch fish -c "source '$scratch/manual.fish'
            complete -C '$3'" 2> "$scratch/err" | cut -f 1 | sort | paste -s -d ' ')"
    }
    fish_gives commands "run runs" "plimsoll-engine ru"
    fish_gives scenarios "tcp-bulk tcp-requests" "plimsoll-engine run tcp"
    fish_gives parameters "--direction" "plimsoll-engine run tcp-bulk --dir"
    fish_gives no_others "" "plimsoll-engine run unix-requests --dir"
    fish_gives choices "both down up" "plimsoll-engine run tcp-bulk --direction "
    fish_gives runs "$(printf '%s\nlast\n' "$id" | sort | paste -s -d ' ')" \
        "plimsoll-engine show "
else
    echo "skip fish: no fish here"
fi

# --- installed ---

# runs_from NAME BIN: a program in another place finds what belongs to it.
runs_from() {
    check "$1" env -u PLIMSOLL_LIBEXEC "$2/plimsoll-engine" run unix-requests --quiet \
        --no-save --requests 3 --trials 1 --client process
}

check installs sh mk/install.sh "$build" "$scratch/dest" /opt/plimsoll
runs_from installed_program_runs "$scratch/dest/opt/plimsoll/bin"
check installed_page test -s "$scratch/dest/opt/plimsoll/share/man/man1/plimsoll.1"
check installed_bash_completion \
    test -s "$scratch/dest/opt/plimsoll/share/bash-completion/completions/plimsoll-engine"
# Again, over what is there.
check installs_again sh mk/install.sh "$build" "$scratch/dest" /opt/plimsoll

if command -v dpkg-deb > /dev/null && command -v dpkg-shlibdeps > /dev/null; then
    mkdir "$scratch/build"
    cp "$build"/plimsoll* "$scratch/build" 2> "$scratch/err"
    check deb sh mk/deb.sh "$scratch/build" 0.0.1
    package=$(cat "$scratch/out")
    check deb_unpacks dpkg-deb -x "$package" "$scratch/root"
    dpkg-deb -f "$package" Depends > "$scratch/depends"
    check deb_depends grep -q 'libc6 (>= .*libcjson1.*libevent-core' "$scratch/depends"
    check deb_checksums sh -c "dpkg-deb --ctrl-tarfile '$package' |
        tar -xO ./md5sums > '$scratch/sums' && cd '$scratch/root' && md5sum -c '$scratch/sums'"
    same deb_page_is_compressed 0 "$(gzip -t "$scratch/root/usr/share/man/man1/plimsoll.1.gz"; echo $?)"
    runs_from deb_program_runs "$scratch/root/usr/bin"
else
    echo "skip deb: no dpkg-deb here"
fi
