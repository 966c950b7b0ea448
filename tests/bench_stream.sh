#!/bin/sh
# How near the stream roles come to what this machine gives: each round runs the product
# and a yardstick one after the other, then the medians and their ratio are printed.
# A ratio of 1.00 is the yardstick's own time; shared machines make single rows wander.
#
# Usage: tests/bench_stream.sh [ROUNDS [MIB]]      (5 rounds, 1024 MiB each way)
#
# The yardsticks are tests/main_yardstick.c: programs of one purpose, without statistics.
set -u
rounds=${1:-5}
mib=${2:-1024}
build=${PLIMSOLL_BUILD:-build}
stick=$build/tests/yardstick
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

export LC_ALL=C TMPDIR="$work"
head -c "$((mib * 1048576))" /dev/urandom > "$work/file"
cat "$work/file" > /dev/null

# field KEY < output: the number after KEY=
field() {
    sed -n "s/.*[ ^]$1=\([0-9.]*\).*/\1/p;s/^$1=\([0-9.]*\).*/\1/p" | head -n 1
}

ours() {
    timeout 120 "$build/tests/bench_stream" "$@" | field sec
}

yard() {
    timeout 120 "$stick" "$@" | field sec
}

# A shell that starts a program which does nothing, COUNT times.
loop() {
    from=$(date +%s%N)
    sh -c 'i=0; while [ $i -lt '"$1"' ]; do /bin/true; i=$((i + 1)); done'
    echo "$(date +%s%N) $from" | awk '{ printf "%.6f\n", ($1 - $2) / 1e9 }'
}

median() {
    sort -n | awk '{ v[NR] = $1 } END {
        if (NR) print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'
}

# row NAME COUNT UNIT: the line of $work/rounds, each of which has ours and perhaps theirs.
# The ratio is the median of the rounds' ratios: the machine drifts between rounds.
row() {
    a=$(cut -d' ' -f1 "$work/rounds" | median)
    b=$(awk 'NF > 1 { print $2 }' "$work/rounds" | median)
    q=$(awk 'NF > 1 { print $1 / $2 }' "$work/rounds" | median)
    echo "${a:-0} ${b:-0} ${q:-0}" | awk -v name="$1" -v n="$2" -v unit="$3" '{
        printf "%-42s %9.4f s %11.2f %-5s", name, $1, ($1 > 0 ? n / $1 : 0), unit
        if ($2 > 0) printf "  yardstick %9.4f s   ratio %.2f", $2, $3
        print "" }'
}

# contest NAME COUNT UNIT OURS YARD: both are shell words for one run
contest() {
    for _ in $(seq "$rounds"); do
        theirs=
        [ -n "$5" ] && theirs=$(eval "$5")
        echo "$(eval "$4") $theirs"
    done > "$work/rounds"
    row "$1" "$2" "$3"
}

gb=$(awk -v m="$mib" 'BEGIN { print 2 * m * 1048576 / 1e9 }')
for t in tcp unix pipe; do
    contest "$t, $mib MiB each way" "$gb" GB/s \
        "ours bulk-server bulk-client transport=$t port:0 file=$work/file" \
        "yard bulk $t $work/file"
done
# Named pipes have no connections, so there is no yardstick for making them.
for t in tcp unix pipe; do
    role="ours requests-server requests-client transport=$t port:0"
    once="oneshot_program=$build/plimsoll-once"
    sockets=yes
    [ "$t" = pipe ] && sockets=
    contest "$t, a kept connection, one at a time" 20000 /s \
        "$role client=persistent persistent:1 requests:20000" \
        "yard kept $t 20000"
    contest "$t, a connection a request" 5000 /s \
        "$role client=connection requests:5000" \
        "${sockets:+yard conn $t 5000}"
    contest "$t, a connection a request, 100 at once" 10000 /s \
        "$role client=connection requests:10000 concurrency:100" \
        "${sockets:+yard conn $t 10000 100}"
    contest "$t, a process a request" 300 /s "$role client=process requests:300 $once" \
        "${sockets:+yard exec $t 300}"
done
contest "tcp, a process a request; a shell's loop" 300 /s \
    "ours requests-server requests-client transport=tcp port:0 client=process requests:300 $once" \
    "loop 300"
