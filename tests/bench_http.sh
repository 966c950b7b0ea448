#!/bin/sh
# The HTTP load client beside its peers, against an nginx started here: requests a
# second and the client's CPU time for each, at 20 and 100 kept connections and with a
# new connection for each request; memory at 1,000 connections; pacing at 10,000/s.
# bare-loop is tests/main_yardstick.c: one send and one recv a request and nothing else,
# the least that a client of this kind can cost on this machine.
# The tools take turns, ROUNDS times, of AMOUNT requests each. A figure is the median of
# the rounds, and a ratio the median of the ratios within each round.
# Usage: bench_http.sh, with PLIMSOLL_BUILD naming the build.
set -u
LC_ALL=C
export LC_ALL
build=${PLIMSOLL_BUILD:-build}
rounds=${ROUNDS:-9}
amount=${AMOUNT:-40000}
load=$build/tests/load
measure=$build/tests/measure
yardstick=$build/tests/yardstick

for tool in nginx wrk ab h2load; do
    command -v $tool > /dev/null 2>&1 || {
        echo "skip bench_http: $tool is not installed (sh mk/deps.sh bench)"
        exit 0
    }
done
if [ ! -x "$load" ] || [ ! -x "$measure" ]; then
    echo "bench_http: $load and $measure are not built (make test-programs)" >&2
    exit 1
fi

dir=$(mktemp -d)
nginx_pid=
clean_up() {
    [ -z "$nginx_pid" ] || kill "$nginx_pid" 2> /dev/null
    rm -rf "$dir"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

# A port that is free now; the range is below the ephemeral ones.
start_nginx() {
    for try in 1 2 3 4 5 6 7 8; do
        port=$((20000 + ($$ + try * 977) % 10000))
        cat > "$dir/conf" << CONF
worker_processes 1; daemon off; master_process off;
pid $dir/pid; error_log $dir/error.log;
events { worker_connections 4096; }
http {
    access_log off; keepalive_requests 1000000000; keepalive_timeout 60s;
    client_body_temp_path $dir/b; proxy_temp_path $dir/p; fastcgi_temp_path $dir/f;
    uwsgi_temp_path $dir/u; scgi_temp_path $dir/s;
    server {
        listen 127.0.0.1:$port backlog=4096;
        location / { return 200 "{\"result\": 45}\n"; }
    }
}
CONF
        nginx -c "$dir/conf" -p "$dir" 2> "$dir/nginx.out" &
        nginx_pid=$!
        for _ in 1 2 3 4 5 6 7 8 9 10; do
            kill -0 "$nginx_pid" 2> /dev/null || break
            curl -s -o /dev/null "http://127.0.0.1:$port/" && return 0
            sleep 0.1
        done
        kill "$nginx_pid" 2> /dev/null
    done
    echo "bench_http: nginx did not start: $(cat "$dir/nginx.out" "$dir/error.log")" >&2
    exit 1
}

# one TOOL CONNECTIONS FRESH: appends "ROUND requests/s cpu-us" to a file of that name. The
# requests are counted by the tool; its own start and end are in the CPU time of all.
one() {
    tool=$1 conns=$2 fresh=$3
    n=$amount
    [ "$fresh" = 0 ] || n=$((amount / 4))
    url=http://127.0.0.1:$port/
    rm -f "$dir/use"
    case $tool in
    plimsoll)
        timeout 60 "$measure" "$dir/use" "$load" http-client url="$url" \
            connections="$conns" amount="$n" close="$fresh" > "$dir/out"
        rate=$(awk '/^requests_per_s/ { print $2 }' "$dir/out")
        done=$(awk '/^succeeded/ { print $2 }' "$dir/out")
        ;;
    bare-loop)
        timeout 60 "$measure" "$dir/use" "$yardstick" http "$port" "$n" "$conns" \
            > "$dir/out"
        rate=$(awk -F= -v n="$n" '/^sec/ { print n / $2 }' "$dir/out")
        done=$n
        ;;
    wrk)
        # It knows durations only: about as long as the others took.
        set --
        [ "$fresh" = 0 ] || set -- -H 'Connection: close'
        timeout 60 "$measure" "$dir/use" wrk -t1 -c"$conns" -d1s "$@" $url > "$dir/out"
        rate=$(awk '/^Requests\/sec/ { print $2 }' "$dir/out")
        done=$(awk '/requests in/ { print $1 }' "$dir/out")
        ;;
    ab)
        set -- -k
        [ "$fresh" = 0 ] || set --
        timeout 60 "$measure" "$dir/use" ab -q "$@" -c "$conns" -n "$n" $url \
            > "$dir/out" 2>&1
        rate=$(awk '/^Requests per second/ { print $4 }' "$dir/out")
        done=$(awk '/^Complete requests/ { print $3 }' "$dir/out")
        ;;
    h2load)
        set --
        [ "$fresh" = 0 ] || set -- -H 'Connection: close'
        timeout 60 "$measure" "$dir/use" h2load --h1 -t1 -c "$conns" -n "$n" "$@" $url \
            > "$dir/out" 2>&1
        rate=$(awk '/^finished in/ { print $4 }' "$dir/out")
        done=$(awk '/^requests:/ { print $8 }' "$dir/out")
        ;;
    esac
    [ -n "$rate" ] && [ "${done:-0}" -gt 0 ] || return 0
    awk -v round="$round" -v rate="$rate" -v n="$done" \
        '{ printf "%d %s %.3f\n", round, rate, $2 * 1e6 / n }' "$dir/use" \
        >> "$dir/$tool-$conns-$fresh"
}

# The middle of the numbers on standard input, "-" without any.
median() {
    sort -n | awk '{ v[NR] = $1 } END { print NR ? v[int((NR + 1) / 2)] : "-" }'
}

# column FILE COLUMN: its median
column() {
    awk -v c="$2" '{ print $c }' "$1" 2> /dev/null | median
}

# ratio COLUMN FILE FILE: of the first to the second, round by round
ratio() {
    awk -v c="$1" 'NR == FNR { own[$1] = $c; next }
        $1 in own { printf "%.2f\n", own[$1] / $c }' "$2" "$3" 2> /dev/null | median
}

# table TITLE CONNECTIONS FRESH TOOL...
table() {
    title=$1 conns=$2 fresh=$3
    shift 3
    round=0
    while [ $round -lt "$rounds" ]; do
        for tool in "$@"; do
            one "$tool" "$conns" "$fresh"
        done
        round=$((round + 1))
    done
    own=$dir/plimsoll-$conns-$fresh
    echo "$title"
    printf '  %-10s %12s %16s %26s\n' tool requests/s 'CPU us/request' 'plimsoll to it: rate, CPU'
    for tool in "$@"; do
        its=$dir/$tool-$conns-$fresh
        printf '  %-10s %12.0f %16.2f %19s, %s\n' "$tool" "$(column "$its" 2)" \
            "$(column "$its" 3)" "$(ratio 2 "$own" "$its")" "$(ratio 3 "$own" "$its")"
    done
}

start_nginx
table '20 kept connections' 20 0 plimsoll bare-loop wrk ab h2load
table '100 kept connections' 100 0 plimsoll bare-loop wrk ab h2load
table '20 at once, a new connection for each request' 20 1 plimsoll h2load ab

rm -f "$dir/use"
timeout 60 "$measure" "$dir/use" "$load" http-client url=http://127.0.0.1:$port/ \
    connections=1000 amount="$amount" > "$dir/out"
awk '{ printf "memory at 1,000 connections: %.1f MiB at most\n", $3 / 1024 }' "$dir/use"

# By schedule, in turn with the bare loop: what that is late by is the machine's.
round=0
while [ $round -lt "$rounds" ]; do
    timeout 60 "$yardstick" paced "$port" 20000 20 10000 |
        awk '/^late_us/ { print $3, $5 }' >> "$dir/paced-bare"
    timeout 60 "$load" http-client url=http://127.0.0.1:$port/ connections=20 rate=10000 \
        duration=2000000000 > "$dir/out"
    awk '/^pacing_us/ { print $7, $11 }' "$dir/out" >> "$dir/paced-own"
    awk '/^latency_us/ { print $7, $11 }' "$dir/out" >> "$dir/paced-response"
    awk '/^service_us/ { print $7, $11 }' "$dir/out" >> "$dir/paced-service"
    round=$((round + 1))
done

# paced WHAT FILE
paced() {
    printf '  %-32s %10.1f %10.1f %14.1f\n' "$1" "$(column "$2" 1)" "$(column "$2" 2)" \
        "$(awk '{ print $2 }' "$2" | sort -n | head -n 1)"
}

echo "10,000/s by schedule, 20 connections"
printf '  %-32s %10s %10s %14s\n' us p50 p99 'least p99'
paced 'sent late by, plimsoll' "$dir/paced-own"
paced 'sent late by, bare loop' "$dir/paced-bare"
paced 'response time' "$dir/paced-response"
paced 'service time' "$dir/paced-service"
