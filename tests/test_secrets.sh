#!/bin/sh
# What reports and exports have of a run's values: the whole of each, and of the header
# fields that are keys to something the name alone, unless one asks for more.
. tests/lib.sh
store=$XDG_STATE_HOME/plimsoll/runs
long=$(printf '%0900d' 7)
formats='json csv csv-series markdown html openmetrics junit autocannon'

# load ARGUMENTS...: requests that nobody answers; each format goes to $scratch/FORMAT.
load() {
    files=
    for f in $formats; do
        rm -f "${scratch:?}/$f"
        files="$files --$f $scratch/$f"
    done
    # shellcheck disable=SC2086
    try "$engine" http http://127.0.0.1:9/ -a 2 $files -H "X-Long: $long" \
        -H 'Authorization: Bearer k1-of-it' -H 'cookie=k2-of-it' \
        -H 'PROXY-authorization:k3-of-it' -H 'X-Open: seen' "$@"
}

# holds NAME FILE...: the number of secrets in the files is 0, or at most so many.
hides() {
    name=$1
    shift
    if grep -l 'k[123]-of-it' "$@"; then
        not_ok "$name" "a secret is told"
    else
        ok "$name"
    fi
}

load
same the_load_failed 3 "$got"
hides live_text "$scratch/out" "$scratch/err"
for f in $formats; do
    hides "live_$f" "$scratch/$f"
done
for f in json markdown html junit; do
    check "name_in_$f" grep -qi 'proxy-authorization.*(hidden)' "$scratch/$f"
    check "others_in_$f" grep -q 'X-Open.*seen' "$scratch/$f"
    check "whole_in_$f" grep -q "$long" "$scratch/$f"
done

# A recording can make its run again, so it has them, and its owner alone has it.
file=$(find "$store" -name '*.jsonl')
check recording_has_them grep -q 'k1-of-it.*k2-of-it.*k3-of-it' "$file"
same recording_is_private 600 "$(stat -c %a "$file")"

try "$engine" show last
hides shown "$scratch/out" "$scratch/err"
try "$engine" show last --json
hides shown_json "$scratch/out"
check shown_on_request sh -c "'$engine' show last --json --keep-secrets | grep -q k1-of-it"
for f in $formats; do
    try "$engine" export last --format "$f"
    hides "saved_$f" "$scratch/out" "$scratch/err"
done
try "$engine" export last --format html --keep-secrets
says saved_on_request 'k2-of-it'

load --keep-secrets --no-save
for f in json markdown html junit; do
    check "kept_in_$f" grep -q 'k3-of-it' "$scratch/$f"
done

# --- comparisons ---

# Against values in which there is a "/"; both say of which the run is.
name=http://127.0.0.1:9/a/path/that/is/long/enough/to/be/cut/where/names/are/shown
try "$engine" http "$name/one" --against "url=$name/two" -a 1 --rounds 1 --no-save
says value_with_a_slash 'shown/two'
try "$engine" run unix-requests --requests 5 --against "path=$scratch/s" --rounds 1 \
    --no-save
same path_with_a_slash 0 "$got"
exits saved_run_by_path 2 "$engine" run unix-requests --requests 5 --rounds 1 \
    --against "$file"
says saved_run_is_read 'does not measure what'
