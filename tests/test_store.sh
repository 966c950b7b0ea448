#!/bin/sh
# Saved runs: each is what the live run was, and nothing that happens to the program,
# the disk or the directory costs more than the last interval of the run under way.
build=$(cd "${PLIMSOLL_BUILD:-build}" && pwd)
engine=$build/plimsoll-engine
scratch=$(mktemp -d)
XDG_STATE_HOME=$scratch/state
export XDG_STATE_HOME
store=$XDG_STATE_HOME/plimsoll/runs
trap 'rm -rf "$scratch"' EXIT

ok() {
    echo "ok $1"
}

not_ok() {
    echo "not ok $1: $2"
}

# check NAME COMMAND...: the command succeeds.
check() {
    name=$1
    shift
    if "$@" > "$scratch/out" 2> "$scratch/err"; then
        ok "$name"
    else
        not_ok "$name" "$* failed"
        cat "$scratch/out" "$scratch/err"
    fi
}

# --- a saved run is the run ---

live_and_saved() {
    scenario=$1
    shift
    rm -f "$scratch/live.json"
    "$engine" run "$scenario" --quiet --json "$scratch/live.json" "$@" \
        > "$scratch/out" 2> "$scratch/err"
    "$engine" show last --json > "$scratch/saved.json"
    if cmp "$scratch/live.json" "$scratch/saved.json" > "$scratch/err"; then
        ok "saved_$scenario"
    else
        not_ok "saved_$scenario" "$(cat "$scratch/err")"
    fi
}

live_and_saved tcp-bulk --size 20MB --trials 3 --port 0
live_and_saved unix-bulk --size 20MB --verify
live_and_saved unix-requests --requests 20 --client connection
live_and_saved udp-cached-parallel --messages 3000 --workers 2 --port 0
live_and_saved udp-fresh-parallel --messages 300 --port 0
# A server that nobody is at: the run fails, and is saved so.
live_and_saved tcp-requests --target tcp:127.0.0.1:9 --requests 1
