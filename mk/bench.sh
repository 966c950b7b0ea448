#!/bin/sh
# Run the benches, each bounded by BENCH_SECONDS, and print their tables under a line on
# the machine. Usage: bench.sh BUILD [NAME ...]. Fails if one of them does.
set -u
build=$1
shift
PLIMSOLL_BUILD=$build
export PLIMSOLL_BUILD
failed=

if [ $# -eq 0 ]; then
    for f in tests/bench_*; do
        name=${f##*/}
        set -- "$@" "${name%.*}"
    done
fi

echo "# $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo 2> /dev/null | head -n 1)," \
    "$(nproc) cores, $(uname -sr), load $(cut -d ' ' -f 1-3 /proc/loadavg)"
for name in "$@"; do
    echo
    echo "## $name"
    if [ -f "tests/$name.sh" ]; then
        set -- sh "tests/$name.sh"
    else
        set -- "$build/tests/$name"
    fi
    timeout -k 10 "${BENCH_SECONDS:-600}" "$@" < /dev/null || failed="$failed $name"
done
[ -z "$failed" ] || { echo "bench: failed:$failed" >&2; exit 1; }
