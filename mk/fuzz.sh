#!/bin/sh
# Run each fuzz program of BUILD/tests for SECONDS, as many at once as there are cores.
# Usage: fuzz.sh BUILD SECONDS NAME .... What it learns is kept in BUILD/corpus/NAME
# for the next time, and starts from tests/corpus/NAME where there is one. An input that
# fails is kept in BUILD/tests/log; the program started with it shows the failure again.
set -u
build=$1
seconds=$2
shift 2

one() {
    name=$1
    log=$build/tests/log/$name
    corpus=$build/corpus/$name
    mkdir -p "$corpus" "$build/tests/log"
    set -- "$corpus"
    [ -d "tests/corpus/$name" ] && set -- "$@" "tests/corpus/$name"
    timeout -k 10 $((seconds + 120)) "$build/tests/$name" -max_total_time="$seconds" \
        -timeout=20 -print_final_stats=1 -artifact_prefix="$log-" "$@" > "$log" 2>&1
    status=$?
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    cover=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -n 1)
    if [ $status -eq 0 ]; then
        echo "ok $name: ${runs:-0} inputs, ${cover:-0} edges"
    else
        echo "not ok $name: status $status"
        grep -v '^#' "$log" | tail -n 60
    fi
    return $status
}

if [ "${FUZZ_ONE:-}" ]; then
    one "$FUZZ_ONE"
    exit
fi
printf '%s\n' "$@" |
    xargs -P "$(nproc 2> /dev/null || echo 2)" -I NAME env FUZZ_ONE=NAME \
        sh "$0" "$build" "$seconds"
