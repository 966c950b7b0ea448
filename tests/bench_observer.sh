#!/bin/sh
# What the console does to what it shows: each run with the console at 200x60 stands
# between two without a screen, ROUNDS (5) times, five trials a run. The first table says
# how much runs without a screen differ from one another, the second how much those
# that were watched differ from them; no metric may be worse for being watched.
set -eu
build=${PLIMSOLL_BUILD:-build}
rounds=${ROUNDS:-5}
state=$(mktemp -d)
trap 'rm -rf "$state"' EXIT INT TERM
XDG_STATE_HOME=$state
export XDG_STATE_HOME
requests=20000

newest() {
    "$build/plimsoll" runs --ids | head -n 1
}

headless() {
    "$build/plimsoll" run unix-requests --client persistent --requests "$requests" \
        --quiet
    newest
}

# Print the lines on the metrics asked for of a comparison.
compare() {
    "$build/plimsoll" compare "$@" --metric requests_per_second \
        --metric latency_p50_ns --metric latency_p99_ns > "$state/table" || failed=1
    grep -A 3 '^  metric ' "$state/table"
}

before=
watched=
after=
i=0
while [ "$i" -lt "$rounds" ]; do
    i=$((i + 1))
    before="$before $(headless)"
    "$build/tests/shot" 200x60 "XDG_STATE_HOME=$state" -- "$build/plimsoll" -- \
        see 'Enter run' type 5e see 'requests in all' type "\\r\\U$requests\\r" \
        type '\d\d\>\>' see persistent \
        type r spot 'Beside the documented' see 'completed'
    watched="$watched $(newest)"
    after="$after $(headless)"
done
failed=0
# shellcheck disable=SC2086
{
    echo "A: without a screen, B: the same again"
    compare $before -- $after
    echo "A: without a screen, B: watched"
    failed=0
    compare $before $after -- $watched --fail-on worse
}
exit "$failed"
