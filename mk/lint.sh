#!/bin/sh
# The steps of `make lint`. Usage: lint.sh BUILD. All are taken, also after one that
# found something; the last line names those.
set -u
build=$1
bad=
jobs=$(nproc 2> /dev/null || echo 2)
sources=$(find protocols engine tui tests -name '*.[ch]' | sort)
out=$(mktemp)
trap 'rm -f "$out"' EXIT

# step NAME COMMAND...
step() {
    name=$1
    shift
    began=$(date +%s)
    if "$@" > "$out" 2>&1; then
        result=ok
    else
        result='found:'
        bad="$bad $name"
    fi
    printf '%-10s %4d s  %s\n' "$name" $(($(date +%s) - began)) "$result"
    [ "$result" = ok ] || cat "$out"
}

# build_with SUFFIX TARGET VARIABLE=VALUE...
build_with() {
    suffix=$1
    target=$2
    shift 2
    make -s -k -j"$jobs" --no-print-directory --output-sync=target \
        BUILD="$build-$suffix" "$@" "$target"
}

run_cppcheck() {
    mkdir -p "$build-lint/cppcheck"
    # shellcheck disable=SC2046
    cppcheck -q -j "$jobs" --std=c11 --library=posix,gnu --inline-suppr \
        --enable=warning,style,performance,portability \
        --suppressions-list=mk/cppcheck.suppress --error-exitcode=1 \
        --cppcheck-build-dir="$build-lint/cppcheck" -I. -D_GNU_SOURCE \
        -DPLIMSOLL_VERSION='"0"' $(find protocols engine tui tests -name '*.c' | sort)
}

# shellcheck disable=SC2086
step format clang-format --dry-run -Werror $sources
# shellcheck disable=SC2046
step scripts shellcheck $(ls mk/*.sh tests/*.sh .ci/run 2> /dev/null)
step cppcheck run_cppcheck
step gcc build_with lint-gcc lint-objects CC=gcc CFLAGS='-O2 -g -Werror' ANALYZE=1
step clang build_with lint-clang lint-objects CC=clang CFLAGS='-O2 -g -Werror'
step tidy build_with lint lint-tidy

[ -z "$bad" ] || { echo "lint: found something:$bad"; exit 1; }
echo "lint: clean"
