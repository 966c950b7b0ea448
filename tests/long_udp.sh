#!/bin/sh
# The sums of the UDP scenarios are exact in each of many runs, whatever else the machine
# does: a hundred runs of each strategy, some of them lossy, and one with several clients.
set -u
build=${PLIMSOLL_BUILD:-build}
program=$build/plimsoll-engine
work=$(mktemp -d)
XDG_STATE_HOME=$work
XDG_RUNTIME_DIR=$work
export XDG_STATE_HOME XDG_RUNTIME_DIR
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

# repeat NAME OPTION...: RUNS times, and all of them must add up.
repeat() {
    name=$1
    shift
    for i in $(seq "${RUNS:-100}"); do
        rm -f "$work/run.json"
        if ! timeout 60 "$program" run "$@" --port 0 --json "$work/run.json" \
            > "$work/out" 2>&1 || ! python3 - "$work/run.json" > "$work/why" 2>&1 << 'PYTHON'; then
import json, sys
d = json.load(open(sys.argv[1]))
loss = d["trials"][0]["loss"]
print(loss)
assert d["outcome"] == "completed"
assert loss["attempted"] == loss["accepted"] + loss["refused"]
assert loss["accepted"] == loss["received"] + loss["lost"]
# Several datagrams may have been coalesced into one that was dropped: then the kernel's
# count bounds the loss, and no more is said.
coalesced = d["parameters"]["gro"]
least, most = loss["receiver_overflow_least"], loss["receiver_overflow"]
assert least <= most == loss["lost"] and loss["unexplained"] == 0
assert loss["unexplained_most"] == loss["lost"] - least
assert coalesced or least == most
assert loss["duplicate"] == loss["out_of_order"] == loss["foreign"] == loss["late"] == 0
# Whether a rate was kept is the machine's affair; the sums are ours.
sums = "identity", "counts at both ends", "loss explained"
held = [c["name"] for c in d["checks"] if c["name"] in sums and c["ok"]]
assert held == list(sums) or coalesced and least < most and held == list(sums[:2])
PYTHON
            echo "not ok long_udp_$name (run $i)"
            cat "$work/out" "$work/why" 2> /dev/null
            return
        fi
    done
    echo "ok long_udp_$name"
}

repeat fresh_series udp-fresh-series --messages 5000
repeat fresh_parallel udp-fresh-parallel --messages 5000 --window 64
repeat cached_series udp-cached-series --messages 20000
repeat cached_parallel udp-cached-parallel --messages 20000
repeat batches udp-cached-parallel --messages 20000 --batch 32 -w 2
repeat segments udp-cached-parallel --messages 200000 --gso --gro --resolve once
repeat rate udp-cached-series --messages 2000 --rate 20000
