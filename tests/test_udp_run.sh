#!/bin/sh
# The UDP scenarios as a user runs them: the documented defaults, servers and clients
# that are not this program, and a server that dies.
set -u
build=${PLIMSOLL_BUILD:-build}
program=$build/plimsoll-engine
work=$(mktemp -d)
XDG_STATE_HOME=$work
XDG_RUNTIME_DIR=$work
export XDG_STATE_HOME XDG_RUNTIME_DIR
started=

clean() {
    # shellcheck disable=SC2086
    [ -z "$started" ] || kill $started 2> /dev/null
    rm -rf "$work"
}
trap clean EXIT
trap 'exit 1' INT TERM

report() {
    if [ "$1" -eq 0 ]; then
        echo "ok udp_run_$2"
    else
        echo "not ok udp_run_$2"
        cat "$work/out" "$work/why" 2> /dev/null
    fi
}

# check NAME PYTHON: the document of the latest run, as d, and its trial's loss, as loss.
check() {
    python3 - "$work/run.json" "$2" > "$work/why" 2>&1 << 'PYTHON'
import json, sys
d = json.load(open(sys.argv[1]))
loss = d["trials"][0]["loss"]
print(d["outcome"], d["reason"], loss)
if loss["lost"] is not None:
    assert loss["due"] == loss["received"] + loss["lost"]
    assert loss["lost"] == loss["receiver_overflow"] + loss["unexplained"]
    assert min(v for v in loss.values() if v is not None) >= 0
exec(sys.argv[2])
PYTHON
    report $? "$1"
}

# run OPTION...: the exit code is in $code.
run() {
    rm -f "$work/run.json"
    timeout 100 "$program" run "$@" --port 0 --json "$work/run.json" > "$work/out" 2>&1
    code=$?
}

for scenario in udp-fresh-series udp-cached-series udp-cached-parallel; do
    run $scenario
    check $scenario "assert $code == 0 and d['outcome'] == 'completed'
assert loss['accepted'] == 100000 and loss['unexplained'] == 0"
done

run udp-fresh-parallel
check udp-fresh-parallel "assert $code == 0 and d['outcome'] == 'exhausted'
assert 'out of file handles after' in d['reason'] and 'limit' in d['reason']
assert loss['accepted'] == 0 and loss['lost'] == 0"

run udp-fresh-parallel --window 64 --messages 20000
check window_completes "assert $code == 0 and d['outcome'] == 'completed'
assert loss['accepted'] == 20000 and loss['unexplained'] == 0"

run udp-cached-series --messages 2000
check name_looked_up_for_every_send "assert $code == 0 and loss['accepted'] == 2000"
if grep -q '^0*1 .* lo$' /proc/net/if_inet6 2> /dev/null; then
    run udp-fresh-series --resolve each --messages 200 --host ::1
    check name_of_the_address_that_is_listened_on "assert $code == 0
assert loss['accepted'] == 200 and loss['received'] > 0 and loss['unexplained'] == 0"
else
    echo "skip name_of_the_address_that_is_listened_on: no IPv6 here"
fi

run udp-cached-parallel --gso --gro --resolve once --messages 500000
check segmented_sends "assert $code == 0
assert loss['accepted'] == 500000 and loss['unexplained'] == 0"

run udp-cached-series --multicast 239.199.7.1 --receivers 3 --messages 200 \
    --rate 2000
check group_of_receivers "assert $code == 0 and loss['accepted'] == 200
assert loss['due'] == 600 and loss['received'] == 600
assert d['trials'][0]['processes'][0]['facts']['lost_by_receiver'] == '0, 0, 0'"

# A server that knows only labels, as the document's own, counts plain payloads right, and
# prints them when it is asked to.
python3 - > "$work/labels" << 'PYTHON' &
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 212992)
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1], flush=True)
s.settimeout(60)
counts = {}
while (label := s.recv(65536).decode()) != "__FULL_PRINT__":
    counts[label] = counts.get(label, 0) + 1
print(sorted(counts.items()))
PYTHON
started=$!
until [ -s "$work/labels" ] || ! kill -0 "$started" 2> /dev/null; do
    sleep 0.02
done
# As many as wait for it in what every system gives: 400 of 768 bytes, as the kernel counts.
run udp-cached-series --payload plain --messages 400 --full-print \
    --target "udp:127.0.0.1:$(head -1 "$work/labels")"
wait "$started"
started=
[ "$(tail -1 "$work/labels")" = "[('CACHED_LOOP', 400)]" ]
report $? label_server_counts_plain_payloads
check label_server_reports_no_loss "assert $code == 0
assert loss['accepted'] == 400 and loss['lost'] is None"

# A client that knows only labels is counted right by the server alone.
"$program" serve udp --port 0 --receive-buffer 212992 --nth 130 > "$work/out" 2>&1 &
started=$!
until grep -q 'Ctrl-C ends it' "$work/out" || ! kill -0 "$started" 2> /dev/null; do
    sleep 0.02
done
python3 - "$(sed -n 's/.*udp:127.0.0.1:\([0-9]*\).*/\1/p' "$work/out")" << 'PYTHON'
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.connect(("127.0.0.1", int(sys.argv[1])))
for label in b"STRICT_LOOP", b"CACHED_LOOP", b"\x1b[2J":
    for _ in range(130):
        s.send(label)
s.send(b"__FULL_PRINT__")
PYTHON
n=0
until grep -q 'dropped at the receive buffer' "$work/out" || [ $n -ge 500 ]; do
    sleep 0.02
    n=$((n + 1))
done
kill -INT "$started"
wait "$started"
started=
grep -q 'STRICT_LOOP: 130 received' "$work/out" &&
    grep -q 'CACHED_LOOP: 130 received' "$work/out" &&
    grep -qF '\x1b[2J: 130 received' "$work/out" &&
    grep -q 'STRICT_LOOP: message 130 came [0-9]' "$work/out" &&
    ! grep -q "$(printf '\033')" "$work/out"
report $? server_alone_counts_labels_and_prints_them

# The server, which is started first, dies in the middle: what was lost is not known.
rm -f "$work/run.json"
"$program" run udp-cached-series --port 0 --messages 1m --rate 20000 \
    --json "$work/run.json" > "$work/out" 2>&1 &
started=$!
victim=
switches=0
while [ "$switches" -lt 100 ] && kill -0 "$started" 2> /dev/null; do
    sleep 0.02
    victim=$(pgrep -o -P "$started")
    switches=$(sed -n 's/^voluntary_ctxt_switches:\t//p' "/proc/${victim:-none}/status" \
        2> /dev/null)
    switches=${switches:-0}
done
kill -9 "$victim"
wait "$started"
code=$?
started=
check server_killed "assert $code == 3 and d['outcome'] == 'failed'
assert loss['accepted'] > 0
assert loss['lost'] is None and loss['received'] is None and loss['percent'] is None"
