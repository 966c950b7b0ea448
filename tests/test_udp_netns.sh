#!/bin/sh
# Datagrams that a network loses at random must be counted as lost without explanation:
# two network namespaces of our own, and nftables that drops and counts. Needs root.
set -u
build=${PLIMSOLL_BUILD:-build}
program=$(cd "$build" && pwd)/plimsoll-engine
server_ns=plimsoll-s-$$
client_ns=plimsoll-c-$$
work=$(mktemp -d)
XDG_STATE_HOME=$work
XDG_RUNTIME_DIR=$work
export XDG_STATE_HOME XDG_RUNTIME_DIR

clean() {
    ip netns del "$server_ns" 2> /dev/null
    ip netns del "$client_ns" 2> /dev/null
    rm -rf "$work"
}
trap clean EXIT
trap 'exit 1' INT TERM

skip() {
    echo "skip udp_netns: $1"
    exit 0
}

[ "$(id -u)" -eq 0 ] || skip "not root"
for tool in ip nft python3 taskset; do
    command -v "$tool" > /dev/null 2>&1 || skip "no $tool here"
done
ip netns add "$server_ns" 2> "$work/why" || skip "no network namespaces: $(cat "$work/why")"
ip netns add "$client_ns" || skip "no second network namespace"
ip link add plimsoll-s netns "$server_ns" type veth peer name plimsoll-c \
    netns "$client_ns" 2> "$work/why" || skip "no veth: $(cat "$work/why")"
for end in "$server_ns plimsoll-s 10.199.7.1" "$client_ns plimsoll-c 10.199.7.2"; do
    # shellcheck disable=SC2086
    set -- $end
    ip -n "$1" address add "$3/24" dev "$2"
    ip -n "$1" link set lo up
    ip -n "$1" link set "$2" up
done
# What is sent before the link has come up is dropped.
for end in "$server_ns plimsoll-s" "$client_ns plimsoll-c"; do
    n=0
    # shellcheck disable=SC2086
    set -- $end
    until ip -n "$1" link show "$2" | grep -q 'state UP' || [ $n -ge 500 ]; do
        sleep 0.02
        n=$((n + 1))
    done
done

# Drop PERCENT of what comes to the server's port, and count it.
lose() {
    ip netns exec "$server_ns" nft -f - 2> "$work/why" << RULES
flush ruleset
table inet lossy {
    chain input {
        type filter hook input priority 0;
        udp dport 8123 numgen random mod 100 < $1 counter drop
    }
}
RULES
}
lose 5 || skip "no random drops by nftables: $(head -1 "$work/why")"

# Cores have queues of their own for what a link delivers: datagrams sent from two of them
# may overtake one another. From one they arrive in order.
core=$(taskset -cp $$ | sed 's/.*: *\([0-9]*\).*/\1/')

# run NAME PERCENT SCENARIO OPTION...: a lossy run whose every figure is checked.
run() {
    name=$1 percent=$2
    shift 2
    lose "$percent"
    rm -f "$work/run.json"
    if ! timeout 120 "$program" run "$@" --trials 1 --pin "/$core" --remote-target \
        --host 10.199.7.1 --server-launch "ip netns exec $server_ns" \
        --client-launch "ip netns exec $client_ns" --receive-buffer 64MiB \
        --json "$work/run.json" > "$work/out" 2>&1; then
        echo "not ok udp_netns_$name"
        cat "$work/out"
        return
    fi
    dropped=$(ip netns exec "$server_ns" nft list ruleset |
        sed -n 's/.*counter packets \([0-9]*\).*/\1/p')
    if python3 - "$work/run.json" "$percent" "$dropped" << 'PYTHON'; then
import json, math, sys
document = json.load(open(sys.argv[1]))
percent, dropped = float(sys.argv[2]), int(sys.argv[3])
loss = document["trials"][0]["loss"]
print(loss, "dropped by the network:", dropped)
n, p = loss["accepted"], percent / 100
spread = 5 * math.sqrt(n * p * (1 - p))
assert document["outcome"] == "completed"
assert loss["accepted"] == loss["received"] + loss["lost"]
assert loss["lost"] == loss["receiver_overflow"] + loss["unexplained"]
assert loss["receiver_overflow"] == 0
assert loss["unexplained"] == dropped, "each lost datagram is one that the network dropped"
assert abs(dropped - n * p) <= spread, "the network's loss is what it was told to be"
assert loss["duplicate"] == 0 and loss["out_of_order"] == 0 and loss["late"] == 0
PYTHON
        echo "ok udp_netns_$name"
    else
        echo "not ok udp_netns_$name"
        cat "$work/out"
    fi
}

run no_loss 0 udp-cached-series --messages 10000 --rate 20000
run random_loss 5 udp-cached-series --messages 20000 --rate 20000
run heavy_loss_in_batches 40 udp-cached-parallel --messages 20000 --rate 20000 --batch 16
run fresh_sockets 10 udp-fresh-parallel --messages 5000 --rate 10000 --window 64
run plain_payloads 5 udp-cached-series --messages 10000 --rate 20000 --payload plain
run segments_over_a_link 0 udp-cached-parallel --messages 20000 --size 1400 \
    --gso --gro --resolve once --rate 50000

# Of a group each receiver misses what the network dropped before it was shared out.
lose 5
rm -f "$work/run.json"
timeout 120 "$program" run udp-cached-series --messages 10000 --rate 20000 \
    --multicast 239.199.7.1 --receivers 3 --trials 1 --remote-target --host 10.199.7.1 \
    --server-launch "ip netns exec $server_ns" \
    --client-launch "ip netns exec $client_ns" --receive-buffer 64MiB \
    --json "$work/run.json" > "$work/out" 2>&1
dropped=$(ip netns exec "$server_ns" nft list ruleset |
    sed -n 's/.*counter packets \([0-9]*\).*/\1/p')
if python3 - "$work/run.json" "$dropped" << 'PYTHON' 2> "$work/why"; then
import json, sys
trial, dropped = json.load(open(sys.argv[1]))["trials"][0], int(sys.argv[2])
loss = trial["loss"]
facts = [p["facts"] for p in trial["processes"] if "lost_by_receiver" in p["facts"]]
assert dropped > 0 and loss["due"] == 30000, loss
assert loss["unexplained"] == loss["lost"] == 3 * dropped, (loss, dropped)
assert facts[0]["lost_by_receiver"] == ", ".join(3 * [str(dropped)]), facts
PYTHON
    echo "ok udp_netns_group_of_receivers"
else
    echo "not ok udp_netns_group_of_receivers"
    cat "$work/why" "$work/out"
fi

# Strangers overflow the buffer while the network drops some of the run's datagrams: how
# much of the loss is whose is only known within bounds, and no check says that it is.
lose 5
rm -f "$work/run.json"
ip netns exec "$client_ns" python3 - << 'PYTHON' &
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.connect(("10.199.7.1", 8123))
while True:
    try:
        s.send(b"STRANGE")
    except ConnectionRefusedError:
        pass
PYTHON
stranger=$!
timeout 120 "$program" run udp-cached-series --messages 20000 --rate 20000 --trials 1 \
    --remote-target --host 10.199.7.1 --server-launch "ip netns exec $server_ns" \
    --client-launch "ip netns exec $client_ns" --receive-buffer 8KiB \
    --json "$work/run.json" > "$work/out" 2>&1
kill "$stranger"
if python3 - "$work/run.json" << 'PYTHON' 2> "$work/why"; then
import json, sys
trial = json.load(open(sys.argv[1]))["trials"][0]
loss = trial["loss"]
checks = {check["name"]: check["ok"] for check in trial["checks"]}
assert loss["foreign"] > 0 and trial["totals"]["server"]["drops"] > 0, loss
assert loss["lost"] > 0 and loss["receiver_overflow_least"] == 0, loss
assert loss["unexplained"] + loss["receiver_overflow"] == loss["lost"], loss
assert loss["unexplained_most"] == loss["lost"], loss
assert not checks["loss explained"], checks
PYTHON
    echo "ok udp_netns_strangers_leave_bounds"
else
    echo "not ok udp_netns_strangers_leave_bounds"
    cat "$work/why" "$work/out"
fi

# A datagram that does not fit the link cannot be sent by gso; without it, in fragments.
rm -f "$work/run.json"
timeout 60 "$program" run udp-cached-parallel --messages 1000 --size 3000 --gso --resolve once \
    --remote-target --host 10.199.7.1 --server-launch "ip netns exec $server_ns" \
    --client-launch "ip netns exec $client_ns" > "$work/out" 2>&1
if [ $? -eq 3 ] && grep -q 'must fit the link' "$work/out"; then
    echo "ok udp_netns_segment_over_the_mtu"
else
    echo "not ok udp_netns_segment_over_the_mtu"
    cat "$work/out"
fi
run fragments 0 udp-cached-series --messages 2000 --size 3000 --rate 5000
if grep -q 'yes: 3028 bytes with headers, and the MTU is 1500' "$work/run.json"; then
    echo "ok udp_netns_fragments_are_told"
else
    echo "not ok udp_netns_fragments_are_told"
fi

# A link slower than the sender: the send buffer fills, messages wait, none is lost.
if tc -n "$client_ns" qdisc add dev plimsoll-c root tbf rate 20mbit burst 10kb \
    limit 20mb 2> "$work/why"; then
    run slow_link 0 udp-cached-parallel --messages 3000 --size 1000 --batch 8
    if grep -q send_buffer_full "$work/run.json"; then
        echo "ok udp_netns_full_send_buffer_waits"
    else
        echo "not ok udp_netns_full_send_buffer_waits"
    fi
else
    echo "skip udp_netns_slow_link: no tbf: $(head -1 "$work/why")"
fi
