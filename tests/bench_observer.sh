#!/bin/sh
# What the console does to what it shows: the same run with the console at 200x60 and
# without a screen, in interleaved rounds, compared by plimsoll itself. No metric may be
# worse for being watched. ROUNDS (6) of each, five trials a run.
set -eu
build=${PLIMSOLL_BUILD:-build}
rounds=${ROUNDS:-6}
state=$(mktemp -d)
trap 'rm -rf "$state"' EXIT INT TERM
XDG_STATE_HOME=$state
export XDG_STATE_HOME
requests=20000

newest() {
    "$build/plimsoll" runs --ids | head -n 1
}

watched=
headless=
i=0
while [ "$i" -lt "$rounds" ]; do
    i=$((i + 1))
    "$build/plimsoll" run unix-requests --client persistent --requests "$requests" \
        --quiet
    headless="$headless $(newest)"
    "$build/tests/shot" 200x60 "XDG_STATE_HOME=$state" -- "$build/plimsoll" -- \
        see 'Enter run' type 5e see 'requests in all' type "\\r\\U$requests\\r" \
        type '\d\d\>\>' see persistent \
        type r spot 'Beside the documented' see 'completed'
    watched="$watched $(newest)"
done
# shellcheck disable=SC2086
"$build/plimsoll" compare $headless -- $watched --paired --metric requests_per_second \
    --metric latency_p50_ns --metric latency_p99_ns --fail-on worse
