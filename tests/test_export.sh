#!/bin/sh
# Exports from the command line, read again by other programs: python's csv and json,
# xmllint; and what the command line does with files that cannot be.
. tests/lib.sh
run="run unix-requests --no-save --client persistent --requests 2000 --trials 2 --quiet"

# gives NAME STATUS COMMAND...: ok when it exits so and says something.
gives() {
    name=$1
    wanted=$2
    shift 2
    try "$@"
    if [ $got -eq "$wanted" ] && [ -s "$scratch/err" ]; then
        ok "$name"
    else
        not_ok "$name" "exit status $got, not $wanted, or nothing said"
    fi
}

# shellcheck disable=SC2086
check all_formats_at_once "$engine" $run --json "$scratch/r.json" --csv "$scratch/r.csv" \
    --csv-series "$scratch/r.series.csv" --markdown "$scratch/r.md" \
    --openmetrics "$scratch/r.prom" --junit "$scratch/r.xml" --hgrm "$scratch/r.hgrm" \
    --hlog "$scratch/r.hlog" --html "$scratch/r.html"

check python_reads_them python3 - "$scratch" <<'END'
import csv, json, sys
d = sys.argv[1]
doc = json.load(open(d + "/r.json"),
                parse_constant=lambda c: sys.exit("the document has " + c))
rows = list(csv.DictReader(open(d + "/r.csv")))
assert len(doc["trials"]) == 2 and rows
# The same numbers, to the last digit that a double has.
for row in rows:
    trial = doc["trials"][int(row["trial"]) - 1]
    value = trial["metrics"][row["metric"]]
    assert (row["value"] == "") == (value is None), row
    if value is not None:
        assert abs(float(row["value"]) - value) <= 1e-15 * abs(value), row
for metric, value in doc["trials"][0]["metrics"].items():
    if value is not None:
        assert any(r["metric"] == metric for r in rows), metric
series = list(csv.DictReader(open(d + "/r.series.csv")))
assert all(None not in row and None not in row.values() for row in series)
for place in "client", "server":
    for counter in "sent_bytes", "received_messages":
        name = place + "_" + counter
        total = sum(int(row[name] or 0) for row in series)
        assert total == sum(t["totals"][place][counter] for t in doc["trials"]), name
table = [l for l in open(d + "/r.md") if l.startswith("|")]
assert len({l.count("|") for l in table}) == 1 and len(table) > 10
metrics = open(d + "/r.prom").read()
assert metrics.endswith("# EOF\n") and "plimsoll_succeeded_total" in metrics
END

# An interval log taken apart by the encoding's description: the counts are the document's.
check interval_log_is_hdrhistograms python3 - "$scratch" <<'END'
import base64, json, struct, sys, zlib

def counts(payload):
    out, at = [], 0
    while at < len(payload):
        value, shift = 0, 0
        while True:
            byte = payload[at]
            at += 1
            if shift == 56:
                value |= byte << 56
                break
            value |= (byte & 0x7f) << shift
            shift += 7
            if not byte & 0x80:
                break
        value = (value >> 1) ^ -(value & 1)
        out += [0] * -value if value < 0 else [value]
    return out

d = sys.argv[1]
doc = json.load(open(d + "/r.json"))
total, highest, seconds = 0, 0.0, []
for line in open(d + "/r.hlog"):
    if line.startswith(("#", '"')):
        continue
    start, length, maximum, text = line.strip().split(",")
    raw = base64.b64decode(text, validate=True)
    cookie, size = struct.unpack(">II", raw[:8])
    assert cookie == 0x1c849314 and size == len(raw) - 8
    payload = zlib.decompress(raw[8:])
    head = struct.unpack(">IIIIQQd", payload[:40])
    assert head == (0x1c849313, len(payload) - 40, 0, 3, 1, 3600 * 10**9, 1.0), head
    total += sum(counts(payload[40:]))
    highest = max(highest, float(maximum))
    seconds.append(float(start))
assert total == sum(t["latency_ns"]["count"] for t in doc["trials"])
assert round(highest * 1e6) == max(t["latency_ns"]["max"] for t in doc["trials"])
assert seconds == sorted(set(seconds))
rows = [l.split() for l in open(d + "/r.hgrm") if l[:1] == " "][1:]
assert int(rows[-1][2]) == total and float(rows[-1][1]) == 1 and len(rows[-1]) == 3
assert round(float(rows[-1][0]) * 1e6) == round(highest * 1e6)
values = [float(r[0]) for r in rows]
assert values == sorted(values) and len(rows) > 30
END

# The page is well-formed, holds its charts, and asks for nothing from elsewhere.
check the_page_is_whole_and_alone python3 - "$scratch" <<'END'
import re, sys, xml.etree.ElementTree as tree
text = open(sys.argv[1] + "/r.html").read()
assert text.startswith("<!DOCTYPE html>\n")
root = tree.fromstring(text.split("\n", 1)[1])
assert not re.search(r"(src|href)=|url\(|@import|<script|<link|https?:", text)
titles = [f.find("figcaption/b").text for f in root.iter("figure")]
for wanted in "Throughput", "Latency percentiles", "Latency by percentile", "CPU":
    assert wanted in titles, titles
for svg in root.iter("svg"):
    for path in svg.iter("path"):
        assert re.fullmatch(r"[MLHVhvz0-9. -]+", path.get("d")), path.get("d")[:80]
tables = {h.text for h in root.iter("h2")}
assert {"Metrics", "Trials", "Parameters", "Can the numbers be believed?"} <= tables
assert "prefers-color-scheme:dark" in text and "@media print" in text
END

# shellcheck disable=SC2086
{
    "$engine" run unix-bulk --no-save --quick --quiet --trials 2 --iperf3 "$scratch/bulk" \
        --json "$scratch/bulk.json"
    "$engine" run udp-cached-series --no-save --quick --quiet --port 0 \
        --iperf3 "$scratch/udp" --json "$scratch/udp.json"
}
check iperf3_layout python3 - "$scratch" <<'END'
import json, sys
d = sys.argv[1]
own, theirs = json.load(open(d + "/bulk.json")), json.load(open(d + "/bulk"))
last, end = own["trials"][-1], theirs["end"]
sums = {"sum_sent": "client", "sum_sent_bidir_reverse": "server"}
for name, place in sums.items():
    assert end[name]["bytes"] == last["totals"][place]["sent_bytes"], name
    rate = 8 * end[name]["bytes"] / last["seconds"]
    assert abs(end[name]["bits_per_second"] / rate - 1) < 1e-9
assert sum(i["sum"]["bytes"] for i in theirs["intervals"]) == end["sum_received"]["bytes"]
own, theirs = json.load(open(d + "/udp.json")), json.load(open(d + "/udp"))
loss, sums = own["trials"][-1]["loss"], theirs["end"]["sum"]
assert (sums["packets"], sums["lost_packets"]) == (loss["accepted"], loss["lost"])
assert sums["lost_percent"] == loss["percent"] and sums["jitter_ms"] > 0
assert theirs["start"]["test_start"]["protocol"] == "UDP"
assert theirs["start"]["test_start"]["target_bitrate"] == 0
END

"$engine" run udp-cached-series --no-save --quiet --messages 50 --rate 1000 --size 100 \
    --host ::1 --port 0 --iperf3 "$scratch/six" 2> "$scratch/err"
if grep -q '^plimsoll: .*::1' "$scratch/err"; then
    echo "skip iperf3_of_ipv6: there is no ::1"
else
    check iperf3_of_ipv6 python3 - "$scratch/six" <<'END'
import json, sys
start = json.load(open(sys.argv[1]))["start"]
peer = start["connected"][0]
assert peer["remote_host"] == start["connecting_to"]["host"] == "::1", peer
assert 0 < peer["remote_port"] == start["connecting_to"]["port"], peer
assert start["test_start"]["target_bitrate"] == 1000 * 100 * 8, start["test_start"]
END
fi

# shellcheck disable=SC2086
check rest_to_topper "$engine" run rest-topper --no-save --quick --quiet --port 0 \
    --autocannon "$scratch/web" --json "$scratch/web.json"
check autocannon_layout python3 - "$scratch" <<'END'
import json, sys
d = sys.argv[1]
own, theirs = json.load(open(d + "/web.json")), json.load(open(d + "/web"))
trial, latency = own["trials"][0], theirs["latency"]
for name in "p50", "p75", "p90", "p99", "p99_9", "min", "max", "mean":
    assert abs(latency[name] - trial["latency_ns"][name] / 1e6) < 1e-9, name
levels = "0_001 0_01 0_1 1 2_5 10 25 50 75 90 97_5 99 99_9 99_99 99_999".split()
for part in latency, theirs["requests"], theirs["throughput"]:
    values = [part["p" + p] for p in levels]
    assert values == sorted(values, key=lambda v: v or 0)
assert theirs["requests"]["total"] == theirs["2xx"] == trial["status"]["200"]
assert theirs["requests"]["sent"] == trial["totals"]["client"]["attempted"]
assert theirs["throughput"]["total"] == trial["totals"]["client"]["received_wire_bytes"]
END

if command -v xmllint > /dev/null; then
    check xmllint_reads_junit xmllint --noout "$scratch/r.xml"
else
    echo "skip xmllint_reads_junit: no xmllint"
fi

# A run that is stopped, as by Ctrl-C, leaves one valid document of what was measured.
"$engine" run unix-requests --no-save --client persistent --requests 100m --quiet \
    --json "$scratch/stopped.json" --junit "$scratch/stopped.xml" 2> "$scratch/err" &
pid=$!
for _ in $(seq 100); do
    [ -n "$(pgrep -P $pid)" ] && break
    sleep 0.05
done
kill -INT $pid
wait $pid
check a_stopped_run_is_valid python3 - "$scratch" <<'END'
import json, sys, xml.etree.ElementTree as tree
doc = json.load(open(sys.argv[1] + "/stopped.json"))
assert doc["outcome"] == "stopped", doc["outcome"]
assert tree.parse(sys.argv[1] + "/stopped.xml").getroot().get("errors") == "1"
END

# shellcheck disable=SC2086
{
    gives a_file_that_exists_is_refused 2 "$engine" $run --json "$scratch/r.json"
    gives force_replaces_it_silently 0 sh -c "'$engine' $run --force --json \
        '$scratch/r.json' && echo done >&2"
    gives two_cannot_share_standard_output 2 "$engine" $run --json - --csv -
    gives given_twice_is_refused 2 "$engine" $run --csv "$scratch/a" --csv "$scratch/b"
    gives no_directory_is_refused 2 "$engine" $run --csv "$scratch/none/at/all"
    gives what_a_format_cannot_hold_is_refused 2 "$engine" run tcp-bulk --hgrm -
    gives no_space_is_said 3 "$engine" $run --json /dev/full
}

# A reader that has gone away has what it wanted: no failure, nothing to say.
# shellcheck disable=SC2086
{ "$engine" $run --csv - 2> "$scratch/pipe"; echo $? > "$scratch/code"; } | true
check a_closed_pipe_ends_quietly test "$(cat "$scratch/code" "$scratch/pipe")" = 0

same no_temporary_file_is_left "" \
    "$(find "$scratch" -maxdepth 1 -name '*.[A-Za-z0-9][A-Za-z0-9]????')"
