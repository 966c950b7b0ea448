#!/bin/sh
# Saved runs: each is what the live run was, and nothing that happens to the program,
# the disk or the directory costs more than the last interval of the run under way.
. tests/lib.sh
store=$XDG_STATE_HOME/plimsoll/runs

# --- a saved run is the run ---

live_and_saved() {
    scenario=$1
    shift
    rm -f "$scratch/live.json"
    try "$engine" run "$scenario" --quiet --json "$scratch/live.json" "$@"
    "$engine" show last --json > "$scratch/saved.json"
    check "saved_$scenario" cmp "$scratch/live.json" "$scratch/saved.json"
}

live_and_saved tcp-bulk --size 20MB --trials 3 --port 0
live_and_saved unix-bulk --size 20MB --verify
live_and_saved unix-requests --requests 20 --client connection
live_and_saved udp-cached-parallel --messages 3000 --workers 2 --port 0
live_and_saved udp-fresh-parallel --messages 300 --port 0
# A server that nobody is at: the run fails, and is saved so.
live_and_saved tcp-requests --target tcp:127.0.0.1:9 --requests 1

# --- nothing saved, and a reader that has gone ---

XDG_STATE_HOME=$scratch/empty exits none_is_wrong_usage 2 "$engine" show last
says none_is_told 'there are no saved runs'
exits too_far_back 2 "$engine" show last~99
says how_many_there_are 'there are only 6 saved runs'

# gone COMMAND...: nobody reads what it prints. Silent, and no failure.
gone() {
    mkfifo "$scratch/fifo"
    : < "$scratch/fifo" &
    {
        wait $! # it has opened and closed its end
        "$engine" "$@" 2> "$scratch/err"
        echo $? > "$scratch/got"
    } > "$scratch/fifo"
    rm "$scratch/fifo"
    same "gone_$1_$3" "0 " "$(cat "$scratch/got" "$scratch/err" | tr '\n' ' ')"
}

gone show last --
gone show last --json
gone export last --format=html
gone replay last --quiet
for words in 'show last' 'show last --json' 'export last -f csv' 'replay last -q'; do
    # shellcheck disable=SC2086
    "$engine" $words > /dev/full 2> "$scratch/err"
    same "full_${words%% *}" "3 plimsoll: standard output could not be written." \
        "$? $(cat "$scratch/err")"
done

# --- kill -9 at any moment ---

# The ids of all runs that ended, with their documents' checksums.
ended() {
    "$engine" runs --ids --outcome completed | sort | while read -r id; do
        "$engine" show "$id" --json | cksum | sed "s/^/$id /"
    done
}

# Until there is a recording that somebody writes, 10 s at most.
wait_for_running() {
    for _ in $(seq 200); do
        [ -z "$("$engine" runs --ids --outcome running)" ] || return 0
        sleep 0.05
    done
}

# Until the newest recording has a sample, 20 s at most.
wait_for_sample() {
    for _ in $(seq 400); do
        newest=$(find "$store" -name '*.jsonl' 2> "$scratch/err" | sort | tail -n 1)
        ! grep -q '"type":"sample"' "$newest" 2> "$scratch/err" || return 0
        sleep 0.05
    done
}

rm -rf "${store:?}"
"$engine" run unix-requests --quiet --requests 5 --trials 1 2> "$scratch/err"
"$engine" run udp-cached-series --quiet --messages 50 --port 0 2> "$scratch/err"
ended > "$scratch/before"
bad=
for ms in 5 20 45 80 150 260 420; do
    "$engine" run udp-cached-series --quiet --rate 5000 --messages 20000 --trials 3 \
        --port 0 > "$scratch/out" 2>&1 &
    pid=$!
    [ $ms -lt 80 ] || wait_for_running
    sleep "0.$(printf '%03d' $ms)"
    kill -9 $pid
    wait $pid 2> /dev/null
    "$engine" runs --json > "$scratch/json" || bad="$bad runs@$ms"
    # It may have been killed before there was a file.
    "$engine" runs --ids --outcome interrupted > "$scratch/ids" || bad="$bad ids@$ms"
    while read -r id; do
        "$engine" show "$id" > "$scratch/out" 2> "$scratch/err" || {
            bad="$bad show@$ms"
            cat "$scratch/err"
        }
        grep -q 'interrupted: the recording' "$scratch/out" || bad="$bad unmarked@$ms"
    done < "$scratch/ids"
done
ended > "$scratch/after"
cmp -s "$scratch/before" "$scratch/after" || bad="$bad older"
[ "$(wc -l < "$scratch/ids")" -ge 4 ] || bad="$bad few"
if [ -z "$bad" ]; then ok kill_at_any_moment; else not_ok kill_at_any_moment "$bad"; fi

# At most the last interval is lost: what was saved reaches to the kill.
"$engine" run udp-cached-series --quiet --rate 5000 --duration 20s --messages 1m \
    --port 0 > "$scratch/out" 2>&1 &
pid=$!
wait_for_running
wait_for_sample
sleep 1.5 # of what is saved of this time is at most the end missing
kill -9 $pid
wait $pid 2> /dev/null
"$engine" show last --json > "$scratch/json"
check kill_loses_one_interval python3 - "$scratch/json" << 'END'
import json, sys
d = json.load(open(sys.argv[1]))
assert d["outcome"] == "stopped" and "interrupted" in d["reason"], d["reason"]
t = d["trials"][0]
# The first sample was there 1.5 s before.
assert t["seconds"] > 0.7, t["seconds"]
assert t["totals"]["client"]["sent_messages"] > 2000, t["totals"]["client"]
assert t["loss"]["lost"] is None, t["loss"]
END

# --- a disk that is full, a directory that cannot be written ---

# goes_on NAME PATTERN: the last run completed and warned so.
goes_on() {
    if [ "$got" -eq 0 ] && grep -q '^udp-cached-series: completed' "$scratch/out" &&
        [ "$(grep -c "$2" "$scratch/err")" -eq 1 ]; then
        ok "$1"
    else
        not_ok "$1" "exit status $got"
    fi
}

short_run() {
    try "$engine" run udp-cached-series --rate 2000 --messages 1500 --port 0 "$@"
}

: > "$scratch/file"
XDG_STATE_HOME=$scratch/file short_run
goes_on no_directory 'this run will not be saved'

# In a mount namespace of its own: a small file system, and a read-only one.
in_tmpfs() {
    try unshare -rm sh -c "mount -t tmpfs -o size=$1 none '$scratch/small' && $2"
}

mkdir "$scratch/small"
if unshare -rm mount -t tmpfs none "$scratch/small" 2> "$scratch/err"; then
    run="XDG_STATE_HOME='$scratch/small' '$engine' run udp-cached-series --rate 2000 --port 0 --messages"
    in_tmpfs 16k "$run 1500"
    goes_on full_disk 'No space left on device'
    in_tmpfs 400k "$run 20 -q && cp '$scratch/small'/plimsoll/runs/* '$scratch/older' &&
        $run 20 -q && head -c 1m /dev/zero > '$scratch/small/fill'; $run 1500;
        cmp '$scratch/older' '$scratch/small'/plimsoll/runs/\$(ls '$scratch/small/plimsoll/runs' | head -n 1)"
    if [ "$got" -eq 0 ] && grep -q '^udp-cached-series: completed' "$scratch/out"; then
        ok full_disk_keeps_older_runs
    else
        not_ok full_disk_keeps_older_runs "exit status $got"
    fi
    in_tmpfs 1m "mount -o remount,ro '$scratch/small' && $run 1500"
    goes_on read_only 'Read-only file system'
else
    echo "skip full_disk: no mount namespaces here"
fi

# --- two at once ---

rm -rf "${store:?}"
pids=
for i in 1 2 3 4; do
    "$engine" run udp-cached-series --quiet --rate 1000 --messages 300 --trials 2 \
        --port 0 --json "$scratch/live.$i" 2> "$scratch/err.$i" &
    pids="$pids $!"
done
for pid in $pids; do
    wait "$pid"
done
same=0
for id in $("$engine" runs --ids --outcome completed); do
    "$engine" show "$id" --json > "$scratch/saved.json"
    for i in 1 2 3 4; do
        cmp -s "$scratch/saved.json" "$scratch/live.$i" && same=$((same + 1))
    done
done
if [ $same -eq 4 ]; then ok four_at_once; else not_ok four_at_once "$same of 4 are whole"; fi

# --- the commands ---

short_run --no-save --quiet
check no_save test "$("$engine" runs --ids | wc -l)" -eq 4
"$engine" run unix-requests --quiet --requests 5 --trials 1 2> "$scratch/err"
check filter_scenario test "$("$engine" runs --ids --scenario unix-requests | wc -l)" -eq 1
check filter_since test "$("$engine" runs --ids --since 1h | wc -l)" -eq 5
check filter_since_days test "$("$engine" runs --ids --since 2d | wc -l)" -eq 5
check filter_since_date test "$("$engine" runs --ids --since 2200-01-01 | wc -l)" -eq 0
check filter_outcome test "$("$engine" runs --ids --outcome failed | wc -l)" -eq 0

# refused NAME WORDS...: exit status 2 and a sentence.
refused() {
    name=$1
    shift
    try "$engine" "$@"
    if [ $got -eq 2 ] && grep -q '^plimsoll: .*\.$' "$scratch/err"; then
        ok "refused_$name"
    else
        not_ok "refused_$name" "exit status $got"
    fi
}

refused since runs --since yesterday
refused outcome runs --outcome complete
refused scenario runs --scenario nosuch
refused operand runs abcd
refused show show zzzz
refused show_none show
refused delete_none delete
refused delete delete zzzz
refused prune prune
refused keep prune --keep all
refused speed replay last --speed fast
refused replay replay zzzz

mkfifo "$store/20261130-120000-000_tcp-bulk_aaaaaaaa.jsonl"
ln -s /etc/passwd "$store/20261130-120000-000_tcp-bulk_bbbbbbbb.jsonl"
check fifo_makes_nobody_wait timeout 10 "$engine" runs
cp "$scratch/out" "$scratch/listed"
cp "$scratch/err" "$scratch/named"
check fifo_and_link_are_named test \
    "$(grep -c '^plimsoll: passed over: .*_[ab]*.jsonl is ' "$scratch/named")" -eq 2
check others_are_listed test "$(grep -c completed "$scratch/listed")" -eq 5

# A slip of one name deletes nothing.
last=$("$engine" runs --ids | head -n 1)
"$engine" delete "$last" zzzz > "$scratch/out" 2>&1
check delete_all_or_nothing test "$("$engine" runs --ids | wc -l)" -eq 5
check delete "$engine" delete "$last"
check deleted test "$("$engine" runs --ids | wc -l)" -eq 4
check prune_dry_run "$engine" prune --keep 1 --dry-run
check prune_dry_run_keeps test "$("$engine" runs --ids | wc -l)" -eq 4
newest=$("$engine" runs --ids | head -n 1)
check prune "$engine" prune --keep 1
check prune_keeps_the_newest test "$("$engine" runs --ids)" = "$newest"
check foreign_files_stay test -p "$store/20261130-120000-000_tcp-bulk_aaaaaaaa.jsonl"

"$engine" show last > "$scratch/shown"
"$engine" replay last --speed 100 > "$scratch/replayed" 2> "$scratch/err"
tail -n +3 "$scratch/shown" > "$scratch/report"
check replay_has_a_report grep -q ': completed$' "$scratch/replayed"
check replay_ends_with_the_report cmp "$scratch/report" "$scratch/replayed"

# --- a replay that is to end ---

# catches PID NUMBER: the program has a handler for that signal.
catches() {
    mask=$(sed -n 's/^SigCgt:[[:space:]]*//p' "/proc/$1/status" 2> /dev/null)
    [ $(((0x${mask:-0} >> ($2 - 1)) & 1)) -eq 1 ]
}

# ends_replay NAME NUMBER: the signal ends a replay as an interrupt does, with no report.
ends_replay() {
    env --default-signal=HUP "$engine" replay last --speed 0.01 \
        > "$scratch/out" 2> "$scratch/err" &
    pid=$!
    until catches $pid "$2" || ! kill -0 $pid 2> /dev/null; do
        sleep 0.05
    done
    kill -"$2" $pid
    wait $pid
    got=$?
    if [ $got -eq 130 ] && [ ! -s "$scratch/out" ]; then
        ok "$1"
    else
        not_ok "$1" "exit $got"
        cat "$scratch/out" "$scratch/err"
    fi
}

"$engine" run unix-requests --client persistent --requests 100m --duration 1s --quiet
ends_replay interrupt_ends_a_replay 2
ends_replay termination_ends_a_replay 15
ends_replay hangup_ends_a_replay 1
