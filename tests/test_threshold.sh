#!/bin/sh
# What thresholds do to a run: its exit code and the verdicts in report and document.
set -u
build=$(cd "${PLIMSOLL_BUILD:-build}" && pwd)
engine=$build/plimsoll-engine
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# expect NAME STATUS OPTIONS...: the exit code of a short run.
expect() {
    name=$1
    wanted=$2
    shift 2
    "$engine" run unix-requests --no-save --client persistent --requests 20 --trials 1 \
        "$@" > "$scratch/out" 2> "$scratch/err"
    got=$?
    if [ $got -eq "$wanted" ]; then
        echo "ok $name"
    else
        echo "not ok $name: exit status $got, not $wanted"
        cat "$scratch/out" "$scratch/err"
    fi
}

# holds NAME PATTERN: a line of the report.
holds() {
    if grep -Eq "$2" "$scratch/out"; then
        echo "ok $1"
    else
        echo "not ok $1: no line '$2'"
        cat "$scratch/out"
    fi
}

expect all_hold 0 --threshold 'p99<1h' --threshold 'errors<=0%'
holds report_passes '^  pass +p99<1h +latency_p99_ns is '
expect one_is_crossed 1 --threshold 'p99<1h' --threshold 'rps>1g/s'
holds report_fails '^  FAIL +rps>1g/s +requests_per_second is '
expect not_measured 1 --threshold 'loss<=100%'
holds report_not_measured '^  FAIL +loss<=100% +loss_percent was not measured'
expect unknown_metric 2 --threshold 'p98<1h'
expect no_relation 2 --threshold 'p99'
# What failed has failed, whatever its thresholds say.
expect failed_comes_first 3 --threshold 'p99<1h' --path "$scratch/no/such/directory/s"

"$engine" run unix-requests --no-save --client persistent --requests 20 --trials 1 \
    --threshold 'p99<1h' --threshold 'loss<1%' --json - > "$scratch/json" 2> "$scratch/err"
if python3 - "$scratch/json" > "$scratch/out" 2>&1 << 'END'
import json, sys
rows = json.load(open(sys.argv[1]))["thresholds"]
assert [r["text"] for r in rows] == ["p99<1h", "loss<1%"], rows
held, unknown = rows
assert held["metric"] == "latency_p99_ns" and held["limit"] == 3.6e12, held
assert held["ok"] is True and 0 < held["value"] < 3.6e12, held
assert unknown["ok"] is False and unknown["value"] is None, unknown
END
then
    echo "ok document_has_verdicts"
else
    echo "not ok document_has_verdicts"
    cat "$scratch/out" "$scratch/err"
fi
