#!/bin/sh
# What thresholds do to a run: its exit code and the verdicts in report and document.
. tests/lib.sh

# expect NAME STATUS OPTIONS...: the exit code of a short run.
expect() {
    name=$1
    wanted=$2
    shift 2
    exits "$name" "$wanted" "$engine" run unix-requests --no-save --client persistent \
        --requests 20 --trials 1 "$@"
}

# holds NAME PATTERN: a line of the report.
holds() {
    if grep -Eq "$2" "$scratch/out"; then
        ok "$1"
    else
        not_ok "$1" "no line '$2'"
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
    --threshold 'p99<1h' --threshold 'loss<1%' --json - > "$scratch/json" 2> "$scratch/log"
check document_has_verdicts python3 - "$scratch/json" << 'END'
import json, sys
rows = json.load(open(sys.argv[1]))["thresholds"]
assert [r["text"] for r in rows] == ["p99<1h", "loss<1%"], rows
held, unknown = rows
assert held["metric"] == "latency_p99_ns" and held["limit"] == 3.6e12, held
assert held["ok"] is True and 0 < held["value"] < 3.6e12, held
assert unknown["ok"] is False and unknown["value"] is None, unknown
END
