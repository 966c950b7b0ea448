#!/bin/sh
# Shoot-outs carried out, small: their reports are read, and they end when told to.
. tests/lib.sh

for which in stream udp services; do
    exits ${which}_is_carried_out 0 "$engine" shootout $which --quick --rounds 2 \
        --each 20ms --json "$scratch/$which.json" --html "$scratch/$which.html" \
        --markdown "$scratch/$which.md"
    if grep -q "2 of 2 rounds" "$scratch/out" && [ ! -s "$scratch/err" ]; then
        ok ${which}_is_told
    else
        not_ok ${which}_is_told "rounds are missing, or a warning"
    fi
done

check reports_are_read python3 - "$scratch" <<'END'
import json, re, sys, xml.etree.ElementTree as tree
d = sys.argv[1]
counts = {"stream": (24, 8), "udp": (11, 1), "services": (2, 1)}
for name, (contestants, groups) in counts.items():
    doc = json.load(open(f"{d}/{name}.json"), parse_constant=lambda c: sys.exit(c))
    assert doc["schema"] == "plimsoll.shootout/1" and doc["end"] == "completed"
    assert len(doc["contestants"]) == contestants, len(doc["contestants"])
    assert len(doc["groups"]) == groups
    for c in doc["contestants"]:
        assert c["rounds"] == 2, c
        assert c["problem"] or any(m["n"] == 2 for m in c["metrics"].values()), c
    # Two rounds are evidence of nothing.
    assert all(len(g["fastest"]) >= 1 for g in doc["groups"])
    assert doc["crossings"] == []
    text = open(f"{d}/{name}.html").read()
    root = tree.fromstring(text.split("\n", 1)[1])
    assert len(list(root.iter("figure"))) >= 1
    assert not re.search(r"(src|href)=|<script|https?:", text)
    table = [l for l in open(f"{d}/{name}.md") if l.startswith("|")]
    assert len(table) >= 4
steps = json.load(open(d + "/udp.json"))["steps"]
assert [s["documented_factor"] for s in steps if s["documented_factor"]] == [
    20.4 / 15.8, 15.8 / 7.76]
sends = {s["to"]: s for s in steps}
assert sends["udp-cached-series"]["turns_per_message"] == 2 # the name's, and the send's
assert sends["cached-series, once"]["turns_per_message"] == 1
assert sends["cached-parallel, once"]["turns_per_message"] < 0.1
assert sends["cached-parallel, once"]["calls_per_message"] < 0.1
sizes = [g["message_bytes"] for g in json.load(open(d + "/stream.json"))["groups"]
         if "message_bytes" in g]
assert sizes == [1, 16, 256, 4096, 65536, 1048576]
documented = {c["scenario"]: c["documented"]
              for c in json.load(open(d + "/services.json"))["contestants"]}
assert any(f["metric"] == "requests_per_second" and f["values"] == [250]
           for f in documented["rest-rest"])
END

# The documented figures have a ratio where the documented work was done.
exits the_documented_work 0 "$engine" shootout services --rounds 1
says it_has_a_ratio "250/s: [0-9]"
exits other_work 0 "$engine" shootout services --rounds 1 --amount 500
says its_documented_figure_stands "250/s"
if grep -q "250/s: [0-9]" "$scratch/out"; then
    not_ok other_work_has_no_ratio "$(cat "$scratch/out")"
else
    ok other_work_has_no_ratio
fi

exits the_time_limit_ends_it 0 "$engine" shootout stream --quick --rounds 60 \
    --time-limit 1s
says the_time_limit_is_told "ended by the time limit"
exits unknown_is_refused 2 "$engine" shootout pigeons
exits none_is_refused 2 "$engine" shootout
exits trials_are_rounds 2 "$engine" shootout stream --trials 3
exits odd_rounds_are_refused 2 "$engine" shootout stream --rounds 0
exits existing_file_is_refused 2 "$engine" shootout udp --json "$scratch/udp.json"

# Interrupted: what is there is printed. It is saved here, so that it can be seen to run.
"$engine" shootout stream --quick --rounds 60 --save > "$scratch/out" 2> "$scratch/err" &
pid=$!
turns=0
while [ $turns -lt 600 ] && [ "$("$engine" runs --ids | wc -l)" -lt 3 ]; do
    sleep 0.05
    turns=$((turns + 1))
done
kill -INT $pid
wait $pid
got=$?
if [ $got -eq 130 ] && grep -q "interrupted" "$scratch/out" &&
    [ -z "$(pgrep -P $pid)" ]; then
    ok an_interrupt_prints_what_is_there
else
    not_ok an_interrupt_prints_what_is_there "exit status $got"
fi
