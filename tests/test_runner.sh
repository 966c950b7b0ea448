#!/bin/sh
# tests/run.sh counts what passed, failed, was skipped, crashed and hung, as programs
# and as scripts; with a runner that miscounts, no other test means anything.
set -u
root=$(pwd)
build=$(cd "${PLIMSOLL_BUILD:-build}" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

seconds=60 # for each of the runner's tests; 2 where one is to use them up

# expect NAME WANTED: the runner's exit status and last line for what is in $scratch.
expect() {
    got=$(cd "$scratch" && { TEST_SECONDS=$seconds sh "$root/tests/run.sh" build > out 2>&1
          echo "status $? $(tail -n 1 out)"; })
    if [ "$got" = "$2" ]; then
        echo "ok $1"
    else
        echo "not ok $1: wanted \"$2\", got \"$got\""
        cat "$scratch/out"
    fi
}

program() {
    rm -rf "$scratch/build" "$scratch/tests"
    mkdir -p "$scratch/build/tests" "$scratch/tests"
    cp "$build/tests/outcomes" "$scratch/build/tests/test_outcomes"
    OUTCOMES=$1
    export OUTCOMES
}

script() {
    rm -rf "$scratch/build" "$scratch/tests"
    mkdir -p "$scratch/build/tests" "$scratch/tests"
    cat > "$scratch/tests/test_made.sh"
}

program pp
expect program_passes 'status 0 2 passed, 0 failed'
program pfpff
expect program_fails 'status 1 2 passed, 3 failed'
program pss
expect program_skips 'status 0 1 passed, 0 failed, 2 skipped'
program psf
expect program_skips_and_fails 'status 1 1 passed, 1 failed, 1 skipped'
program pep
expect program_set_up_fails 'status 1 2 passed, 1 failed'
program pvp
expect program_segfaults 'status 1 2 passed, 1 failed'
program papp
expect program_aborts 'status 1 1 passed, 3 failed'
program pfap
expect program_fails_then_aborts 'status 1 1 passed, 3 failed'
seconds=2
program php
expect program_hangs 'status 1 1 passed, 2 failed'
seconds=60
program ''
expect program_without_tests 'status 1 0 passed, 1 failed'
program ptp
expect program_tear_down_fails 'status 1 2 passed, 1 failed'
program pp/pf/ps
expect program_of_groups 'status 1 4 passed, 1 failed, 1 skipped'
program pp/papp/p
expect program_aborts_in_a_group 'status 1 3 passed, 3 failed'
program Eppp/p
expect program_set_up_of_a_group_fails 'status 1 1 passed, 3 failed'
program Tpp/pap
expect program_tear_down_of_a_group_fails 'status 1 3 passed, 3 failed'

script << 'END'
echo ok one
echo ok two
END
expect script_passes 'status 0 2 passed, 0 failed'
script << 'END'
echo ok one
echo not ok two
END
expect script_fails 'status 1 1 passed, 1 failed'
script << 'END'
echo ok one
echo skip two: no such device
END
expect script_skips 'status 0 1 passed, 0 failed, 1 skipped'
script << 'END'
echo ok one
exit 3
END
expect script_ends_badly 'status 1 1 passed, 1 failed'
seconds=2
script << 'END'
echo ok one
sleep 100
END
expect script_hangs 'status 1 1 passed, 1 failed'
seconds=60
script << 'END'
echo nothing to see
END
expect script_without_cases 'status 1 0 passed, 1 failed'

# What cmocka writes of p, f, s, e and of a group whose set-up fails, by its version.
script << 'END'
cat << 'TAP'
1..4
ok 1 - outcome
not ok 2 - outcome
# tests/outcomes.c:29: error: Failure!
not ok 3 # SKIP outcome
not ok 4 - outcome Could not run test: Test setup failed
# not ok - outcomes
1..2
not ok 0 - outcomes [  FAILED  ] GROUP SETUP
# ok - outcomes
TAP
END
expect cmocka_1_1_5 'status 1 1 passed, 4 failed, 1 skipped'
script << 'END'
cat << 'TAP'
TAP version 13
1..4
ok 1 - outcome
not ok 2 - outcome
# tests/outcomes.c:29: error: Failure!
ok 3 # SKIP outcome
not ok 4 - outcome Could not run test: Test setup failed
# not ok - outcomes
1..2
not ok 0 - outcomes [  FAILED  ] GROUP SETUP
# ok - outcomes
TAP
END
expect cmocka_1_1_7 'status 1 1 passed, 4 failed, 1 skipped'
script << 'END'
cat << 'TAP'
TAP version 14
1..4
ok 1 - outcome
not ok 2 - outcome
  ---
  message: 'tests/outcomes.c:29: error: Failure!'
  severity: fail
  ...
ok 3 - outcome # SKIP
not ok 4 - outcome
  ---
  message: 'Could not run test: Test setup failed'
  severity: error
  ...
# not ok - outcomes
1..2
not ok 0 - outcomes
  ---
  message: '[  FAILED  ] GROUP SETUP'
  severity: error
  ...
# ok - outcomes
TAP
END
expect cmocka_2_0 'status 1 1 passed, 4 failed, 1 skipped'
