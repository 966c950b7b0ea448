#!/bin/sh
# Comparisons of real runs whose truth is known: a rate that is 5 % higher is found in ten
# rounds, and runs that are equal are not told apart.
. tests/lib.sh
run="run unix-requests --no-save --client persistent --requests 100m --duration 500ms"

verdict() {
    python3 -c "
import json
doc = json.load(open('$1'))
print({m['metric']: m['verdict'] for m in doc['metrics']}.get('$2', doc['verdict']))"
}

# shellcheck disable=SC2086
"$engine" $run --rate 4000 --against rate=4200 --rounds 10 --json "$scratch/five.json" \
    --quiet
same five_per_cent_are_found_in_ten_rounds worse \
    "$(verdict "$scratch/five.json" requests_per_second)"

# Twenty comparisons of equals: each has a verdict in at most 3 of 100, so three or more
# of twenty happen once in fifty times at the worst, and then something is wrong.
found=0
for i in $(seq 20); do
    # shellcheck disable=SC2086
    "$engine" $run --duration 150ms --against concurrency=1 --rounds 10 \
        --json "$scratch/equal$i.json" --quiet
    [ "$(verdict "$scratch/equal$i.json" any)" = "no evidence" ] || found=$((found + 1))
done
if [ $found -le 2 ]; then
    ok equals_are_not_told_apart
else
    not_ok equals_are_not_told_apart "$found of 20 have a verdict"
fi
