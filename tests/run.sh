#!/bin/sh
# Run every test program and script of tests/, print what failed, and close with
# "N passed, N failed". Usage: tests/run.sh BUILD [--long] [NAME ...]; names pick tests,
# --long runs the scripts tests/long_*.sh instead.
#
# A test that began and did not end (a crash, a hang) has failed, and so have those
# behind it that it kept from running. TEST_SECONDS bounds each program or script.
#
# What ended how is read from lines of the Test Anything Protocol: "ok", "not ok", and
# the plan "1..N" before them. Programs have cmocka write it; scripts print it, without a
# plan, and "skip NAME: REASON" for what could not be tried.
build=$1
shift
kind="test"
if [ "${1:-}" = --long ]; then
    kind="long"
    shift
fi
passed=0
failed=0
skipped=0
seconds=${TEST_SECONDS:-300}
log=$build/tests/log
mkdir -p "$log"
PLIMSOLL_BUILD=$build
export PLIMSOLL_BUILD
# Runs are saved; those of tests not among the user's own.
XDG_STATE_HOME=$(cd "$build" && pwd)/tests/state
export XDG_STATE_HOME
CMOCKA_MESSAGE_OUTPUT=TAP
export CMOCKA_MESSAGE_OUTPUT

wanted() {
    name=$1
    shift
    [ $# -eq 0 ] && return 0
    for w in "$@"; do
        case $name in *"$w"*) return 0 ;; esac
    done
    return 1
}

# Print "OK BAD SKIPPED" for a log. Each group of a cmocka program has a plan of its own.
# A skipped test is "ok" or "not ok" by cmocka's version; "# SKIP" is in all of them.
count() {
    awk '
        function settle() {
            if (ended < planned)
                bad += planned - ended
            planned = ended = 0
        }
        /^1\.\.[0-9]+$/ { settle(); planned = substr($0, 4) + 0 }
        /^(ok|not ok|skip) / { ended++ }
        /^(ok|not ok) .*# SKIP/ || /^skip / { skipped++; next }
        /^ok / { ok++ }
        /^not ok / { bad++ }
        END { settle(); print ok + 0, bad + 0, skipped + 0 }' "$1"
}

# run NAME COMMAND...
run() {
    name=$1
    shift
    timeout -k 10 "$seconds" "$@" > "$log/$name" 2>&1 < /dev/null
    status=$?
    read -r ok bad skip <<END
$(count "$log/$name")
END
    # A bad status with nothing to show for it, and a test without a case, are faults.
    if [ "$bad" -eq 0 ] && { [ $status -ne 0 ] || [ $((ok + skip)) -eq 0 ]; }; then
        bad=1
    fi
    printf '%-28s %4d passed %3d failed\n' "$name" "$ok" "$bad"
    grep -E '^skip[ :]|# SKIP' "$log/$name"
    if [ "$bad" -ne 0 ]; then
        cat "$log/$name"
        case $status in
        124 | 137) echo "(ended after $seconds s)" ;;
        *) echo "(exit status $status)" ;;
        esac
    fi
    passed=$((passed + ok)) failed=$((failed + bad)) skipped=$((skipped + skip))
}

for t in "$build/tests/$kind"_*; do
    if [ -f "$t" ] && [ -x "$t" ] && wanted "${t##*/}" "$@"; then
        run "${t##*/}" "$t"
    fi
done
for t in "tests/$kind"_*.sh; do
    if [ -f "$t" ] && wanted "${t##*/}" "$@"; then
        run "${t##*/}" sh "$t"
    fi
done

if [ "$skipped" -gt 0 ]; then
    echo "$passed passed, $failed failed, $skipped skipped"
else
    echo "$passed passed, $failed failed"
fi
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
