# shellcheck shell=sh
# What the test scripts share: each begins with `. tests/lib.sh`, in the root of the tree.
#
#   $build, $engine   the build and its program, by their whole paths
#   $scratch          a directory of this script's own, removed when it ends; runs are
#                     saved below it
#   $scratch/out, $scratch/err, $got   what the last command that was tried printed, and
#                     its exit status
set -u
build=$(cd "${PLIMSOLL_BUILD:-build}" && pwd)
# shellcheck disable=SC2034 # for the scripts
engine=$build/plimsoll-engine
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
XDG_STATE_HOME=$scratch/state
export XDG_STATE_HOME
exec < /dev/null

ok() {
    echo "ok $1"
}

# not_ok NAME WHY: with what the last command printed.
not_ok() {
    echo "not ok $1: $2"
    for file in "$scratch/out" "$scratch/err"; do
        [ ! -f "$file" ] || cat -v "$file"
    done
}

try() {
    "$@" > "$scratch/out" 2> "$scratch/err"
    got=$?
}

# exits NAME STATUS COMMAND...
exits() {
    name=$1
    wanted=$2
    shift 2
    try "$@"
    if [ $got -eq "$wanted" ]; then
        ok "$name"
    else
        not_ok "$name" "exit status $got, not $wanted"
    fi
}

# check NAME COMMAND...: the command succeeds.
check() {
    name=$1
    shift
    exits "$name" 0 "$@"
}

# says NAME PATTERN: a line of what the last command printed.
says() {
    if grep -q -e "$2" "$scratch/out" "$scratch/err"; then
        ok "$1"
    else
        not_ok "$1" "nothing with '$2'"
    fi
}

# same NAME WANTED GOT
same() {
    if [ "$2" = "$3" ]; then
        ok "$1"
    else
        echo "not ok $1: wanted \"$2\", got \"$3\""
    fi
}
