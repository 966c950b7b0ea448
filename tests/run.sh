#!/bin/sh
# Run every test program and script of tests/, print what failed, and close with
# "N passed, N failed". Usage: tests/run.sh BUILD [NAME ...]; names pick tests.
build=$1
shift
passed=0
failed=0
skipped=0
log=$build/tests/log
mkdir -p "$log"
PLIMSOLL_BUILD=$build
export PLIMSOLL_BUILD

wanted() {
    name=$1
    shift
    [ $# -eq 0 ] && return 0
    for w in "$@"; do
        case $name in *"$w"*) return 0 ;; esac
    done
    return 1
}

count() {
    grep -c "$1" "$2" || true
}

for t in "$build"/tests/test_*; do
    name=${t##*/}
    [ -x "$t" ] && wanted "$name" "$@" || continue
    timeout 300 "$t" > "$log/$name" 2>&1 < /dev/null
    status=$?
    ok=$(count '^\[       OK \]' "$log/$name")
    bad=$(count '^\[  FAILED  \] [A-Za-z0-9_]*$' "$log/$name")
    skip=$(count '^\[  SKIPPED \]' "$log/$name")
    # cmocka names each failed test twice: where it fails and in its closing list.
    bad=$((bad > 0 ? (bad + 1) / 2 : 0))
    if [ $status -ne 0 ] && [ "$bad" -eq 0 ]; then
        bad=1
    fi
    printf '%-28s %4d passed %3d failed\n' "$name" "$ok" "$bad"
    [ "$bad" -eq 0 ] || { cat "$log/$name"; echo "(exit status $status)"; }
    passed=$((passed + ok)) failed=$((failed + bad)) skipped=$((skipped + skip / 2))
done

for t in tests/test_*.sh; do
    [ -f "$t" ] || continue
    name=${t##*/}
    wanted "$name" "$@" || continue
    timeout 600 sh "$t" > "$log/$name" 2>&1 < /dev/null
    status=$?
    ok=$(count '^ok ' "$log/$name")
    bad=$(count '^not ok ' "$log/$name")
    skip=$(count '^skip ' "$log/$name")
    if [ $status -ne 0 ] && [ "$bad" -eq 0 ]; then
        bad=1
    fi
    printf '%-28s %4d passed %3d failed\n' "$name" "$ok" "$bad"
    grep '^skip ' "$log/$name"
    [ "$bad" -eq 0 ] || { cat "$log/$name"; echo "(exit status $status)"; }
    passed=$((passed + ok)) failed=$((failed + bad)) skipped=$((skipped + skip))
done

if [ "$skipped" -gt 0 ]; then
    echo "$passed passed, $failed failed, $skipped skipped"
else
    echo "$passed passed, $failed failed"
fi
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
