#!/bin/sh
# Comparisons from the command line: saved runs, sets of them, interleaved rounds; what
# they exit with, what they write, and how they end when they are interrupted.
. tests/lib.sh
run="run unix-requests --client persistent --requests 400"

# A message of a mebibyte is slower than one of 44 bytes on any machine; eight rounds show
# it even where the machine stood still in one of them.
# shellcheck disable=SC2086
{
    exits rounds_find_it 0 "$engine" $run --against message_size=0 --message-size 1MiB \
        --rounds 8 --json "$scratch/c.json" --html "$scratch/c.html" \
        --markdown "$scratch/c.md"
    says rounds_tell_what_is_worse '^message_size=1MiB is worse in requests_per_second'
    exits fail_on_worse 1 "$engine" $run --against message_size=0 --message-size 1MiB \
        --rounds 8 --fail-on worse --metric rps --quiet
    exits better_is_no_failure 0 "$engine" $run --against message_size=1MiB --rounds 8 \
        --fail-on worse --metric rps --metric p50 --no-save
    says better_is_said 'better in requests_per_second, latency_p50_ns'
    exits one_round_is_no_evidence 0 "$engine" $run --against concurrency=4 --rounds 1 \
        --fail-on worse
    says one_trial_is_said 'no evidence: one trial'
    exits another_scenario 0 "$engine" $run --against pipe-requests --rounds 2
    says both_are_named 'unix-requests.*pipe-requests\|pipe-requests.*unix-requests'
}
check json_is_read python3 - "$scratch" <<'END'
import json, sys, xml.etree.ElementTree as tree
d = sys.argv[1]
doc = json.load(open(d + "/c.json"), parse_constant=lambda c: sys.exit(c))
assert doc["schema"] == "plimsoll.compare/1" and doc["paired"]
assert doc["verdict"] in ("worse", "mixed")
rows = {m["metric"]: m for m in doc["metrics"]}
row = rows["requests_per_second"]
assert row["verdict"] == "worse" and row["headline"] and row["a"]["n"] == 8
low, high = row["share_of_a"]["ci95"]
assert -1 < low <= row["share_of_a"]["estimate"] <= high < 0
assert row["difference"]["estimate"] < 0 and len(row["b"]["values"]) == 8
assert len({r["id"] for r in doc["a"]["runs"] + doc["b"]["runs"]}) == 16
assert any("message_size" in w for w in doc["warnings"])
page = open(d + "/c.html").read()
root = tree.fromstring(page.split("\n", 1)[1])
assert len(list(root.iter("figure"))) == 4
table = [l for l in open(d + "/c.md") if l.startswith("| `")]
assert len(table) == len(doc["metrics"])
END

# The rounds are saved runs like others: sets of them, and pairs.
# shellcheck disable=SC2086
{
    "$engine" $run --trials 5 --quiet
    a=$("$engine" runs --ids | head -n 1)
    "$engine" $run --trials 5 --message-size 1MiB --quiet
    b=$("$engine" runs --ids | head -n 1)
    exits saved_runs 0 "$engine" compare "$a" "$b"
    says saved_runs_are_named "$a"
    says not_interleaved 'not interleaved'
    exits saved_regression 1 "$engine" compare "$a" "$b" --fail-on worse
    exits the_other_way_round 0 "$engine" compare "$b" "$a" --fail-on worse --quiet
    exits the_same_twice 0 "$engine" compare "$a" "$a" --fail-on worse
    says the_same_is_no_evidence '^no evidence of a difference'
    exits sets 0 "$engine" compare "$a" "$a" -- "$b" "$b" --json "$scratch/sets.json"
    exits against_a_saved_run 0 "$engine" $run --against "$b" --rounds 2
    says values_of_the_saved_run 'message_size is .1MiB'
    exits paired 0 "$engine" compare --paired "$a" "$b"
    "$engine" $run --trials 2 --quiet
    exits pairs_need_equals 2 "$engine" compare --paired "$a" last
    exits compare_last 0 "$engine" compare last~1 last
    says another_size_is_warned_of 'message_size is'
}
check sets_are_pooled python3 -c "
import json
doc = json.load(open('$scratch/sets.json'))
assert [len(doc[s]['runs']) for s in 'ab'] == [2, 2]
assert doc['metrics'][0]['a']['n'] == 10 and not doc['paired']"

# shellcheck disable=SC2086
{
    exits one_operand_is_refused 2 "$engine" compare "$a"
    exits no_such_run_is_refused 2 "$engine" compare "$a" zzzzzzzz
    exits half_a_set_is_refused 2 "$engine" compare "$a" --
    exits unknown_metric_is_refused 2 "$engine" compare "$a" "$b" --metric p98
    exits unmeasured_metric_is_refused 2 "$engine" compare "$a" "$b" --metric loss
    exits odd_share_is_refused 2 "$engine" compare "$a" "$b" --at-least 2x
    exits odd_fail_on_is_refused 2 "$engine" compare "$a" "$b" --fail-on better
    exits unknown_parameter_is_refused 2 "$engine" $run --against colour=red
    exits wrong_value_is_refused 2 "$engine" $run --against concurrency=many
    exits other_family_is_refused 2 "$engine" $run --against tcp-bulk
    exits trials_are_rounds 2 "$engine" $run --against concurrency=2 --trials 3
    exits csv_is_for_one_run 2 "$engine" $run --against concurrency=2 --csv -
    exits no_rounds_is_refused 2 "$engine" $run --against concurrency=2 --rounds 0
    exits existing_file_is_refused 2 "$engine" compare "$a" "$b" --json "$scratch/c.json"
    exits no_space_is_said 3 "$engine" compare "$a" "$b" --json /dev/full
}

# Interrupted in its rounds, a comparison tells what is complete: after the third run has
# been begun there is one pair.
before=$("$engine" runs --ids | wc -l)
"$engine" run unix-requests --client persistent --requests 100m --duration 200ms \
    --against concurrency=2 --rounds 60 --json "$scratch/cut.json" > "$scratch/out" \
    2> "$scratch/err" &
pid=$!
turns=0
while [ $turns -lt 600 ] && [ "$("$engine" runs --ids | wc -l)" -lt $((before + 3)) ]; do
    sleep 0.05
    turns=$((turns + 1))
done
kill -INT $pid
wait $pid
got=$?
if [ $got -eq 130 ] && grep -q '"schema"' "$scratch/cut.json"; then
    ok interrupted_rounds_are_told
else
    not_ok interrupted_rounds_are_told "exit status $got"
fi
