#!/bin/sh
# Exports from the command line, read again by other programs: python's csv and json,
# xmllint; and what the command line does with files that cannot be.
build=${PLIMSOLL_BUILD:-build}
engine=$build/plimsoll-engine
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
run="run unix-requests --no-save --client persistent --requests 2000 --trials 2 --quiet"

# check NAME COMMAND...: ok when the command succeeds.
check() {
    name=$1
    shift
    if "$@" > "$scratch/said" 2>&1; then
        echo "ok $name"
    else
        echo "not ok $name"
        cat "$scratch/said"
    fi
}

# gives NAME STATUS COMMAND...: ok when it exits so and says something.
gives() {
    name=$1
    wanted=$2
    shift 2
    "$@" > "$scratch/out" 2> "$scratch/said" < /dev/null
    got=$?
    if [ $got -eq "$wanted" ] && [ -s "$scratch/said" ]; then
        echo "ok $name"
    else
        echo "not ok $name: exit $got, wanted $wanted"
        cat "$scratch/said"
    fi
}

# shellcheck disable=SC2086
check all_formats_at_once $engine $run --json "$scratch/r.json" --csv "$scratch/r.csv" \
    --csv-series "$scratch/r.series.csv" --markdown "$scratch/r.md" \
    --openmetrics "$scratch/r.prom" --junit "$scratch/r.xml"

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

if command -v xmllint > /dev/null; then
    check xmllint_reads_junit xmllint --noout "$scratch/r.xml"
else
    echo "skip xmllint_reads_junit: no xmllint"
fi

# A run that is stopped, as by Ctrl-C, leaves one valid document of what was measured.
$engine run tcp-requests --no-save --client persistent --requests 100m --quiet \
    --json "$scratch/stopped.json" --junit "$scratch/stopped.xml" 2> "$scratch/said" &
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
    gives a_file_that_exists_is_refused 2 $engine $run --json "$scratch/r.json"
    gives force_replaces_it_silently 0 sh -c "$engine $run --force --json \
        '$scratch/r.json' && echo done >&2"
    gives two_cannot_share_standard_output 2 $engine $run --json - --csv -
    gives given_twice_is_refused 2 $engine $run --csv "$scratch/a" --csv "$scratch/b"
    gives no_directory_is_refused 2 $engine $run --csv "$scratch/none/at/all"
    gives no_space_is_said 3 $engine $run --json /dev/full
}

# A reader that has gone away has what it wanted: no failure, nothing to say.
# shellcheck disable=SC2086
{ $engine $run --csv - 2> "$scratch/pipe"; echo $? > "$scratch/code"; } | true
check a_closed_pipe_ends_quietly test "$(cat "$scratch/code" "$scratch/pipe")" = 0

[ "$(ls "$scratch" | grep -c '\.[A-Za-z0-9]\{6\}$')" -eq 0 ] &&
    echo "ok no_temporary_file_is_left" || echo "not ok no_temporary_file_is_left"
