#!/bin/sh
# What a person types wrong is refused before anything is started: exit status 2 and a
# sentence that names the parameter, printed without what a terminal would obey.
. tests/lib.sh
escape=$(printf '\033[31m')
long=$(printf '%0300d' 0)

# refused NAME WORDS ARGUMENTS...: nothing on standard output, one line on the other.
refused() {
    name=$1
    words=$2
    shift 2
    try timeout 20 "$engine" "$@"
    if [ $got -ne 2 ]; then
        not_ok "$name" "exit status $got, not 2"
    elif [ -s "$scratch/out" ]; then
        not_ok "$name" "it prints a result"
    elif [ "$(wc -l < "$scratch/err")" -ne 1 ] || LC_ALL=C grep -q '[[:cntrl:]]' "$scratch/err"; then
        not_ok "$name" "not one printable line"
    elif ! grep -Fq -e "$words" "$scratch/err"; then
        not_ok "$name" "no '$words'"
    else
        ok "$name"
    fi
}

# What only a worker used to notice.
refused congestion '--congestion "nonesuch"' run tcp-requests --congestion nonesuch
refused congestion_http '--congestion "nonesuch"' run rest-rest --congestion nonesuch
refused congestion_serve '--congestion "nonesuch"' serve tcp --congestion nonesuch
refused message_empty '--message' run unix-requests --message ''
refused message_serve '--message' serve unix --message ''
refused batch_in_series '--batch' run udp-cached-series --batch 4
refused batch_on_fresh '--batch' run udp-fresh-parallel --batch 4
refused gso_in_series '--gso' run udp-fresh-series --gso
refused gso_empty '--gso' run udp-cached-parallel --gso --payload plain --label ''
refused label_long '--label' run udp-cached-series --label "$long"
refused label_command '--label' run udp-cached-series --payload plain \
    --label __FULL_PRINT__
refused size_small '--size' run udp-cached-series --size 3
refused file_missing '--file' run unix-bulk --file "$scratch/none"
refused file_directory '--file' run unix-bulk --file "$scratch"
refused file_endless '--file' run unix-bulk --file /dev/zero
refused input_missing '--input' http http://127.0.0.1:9/ -i "$scratch/none"
refused input_directory '--input' http http://127.0.0.1:9/ -i "$scratch"
refused pin_server '--pin' run unix-bulk --pin 1023
refused pin_client '--pin' run unix-bulk --pin 0/1023
refused host_stream '--host' run tcp-bulk --host ''
refused host_udp '--host' run udp-cached-series --host ''
refused host_service '--host' run rest-rest --host ''
refused host_serve '--host' serve udp --host ''
refused target_port 'port 0' run tcp-requests --target tcp:127.0.0.1:0
refused target_udp_port 'port 0' run udp-cached-series --target udp:127.0.0.1:0
refused call_port 'port 0' call 127.0.0.1:0 Ping
refused two_rates '--connection-rate' http http://127.0.0.1:9/ -R 100 -r 5
refused two_bodies '--input' http http://127.0.0.1:9/ -b x -i /etc/passwd
refused message_with_launcher '--message' run unix-requests --message '' \
    --server-launch env --client-launch env

# Files that cannot be written, before the load.
mkdir "$scratch/there"
ln -s there "$scratch/link"
refused output_empty 'json export needs the name' run unix-requests -j ''
refused output_nowhere 'no file can be made' run unix-requests -j "$scratch/none/a"
refused output_twice '--json and --html cannot both' run unix-requests \
    -j "$scratch/there/a" --html "$scratch/link/../there/a"
refused output_by_link '--json and --csv cannot both' run unix-requests \
    -j "$scratch/there/a" --csv "$scratch/link/a"
refused output_standard 'cannot both go to standard output' run unix-requests -j - --csv -
refused output_of_a_comparison '--json and --html cannot both' run unix-requests \
    --against concurrency=2 -j "$scratch/there/a" --html "$scratch/there/a"
check devices_take_all "$engine" run unix-requests --requests 2 --quiet -j /dev/null \
    --csv /dev/null
refused output_of_an_export 'needs the name' export last -f csv -o ''

# A server alone has what its role reads, and nothing of a client's.
refused serve_rest_client 'no option -c' serve rest -c 5
refused serve_rest_gateway 'no option --upstream-kind' serve rest --upstream-kind rest
refused serve_unix_port 'no option --port' serve unix --port 4000
refused serve_udp_client 'no option --batch' serve udp --batch 2

# takes ROLE OPTIONS: what `serve ROLE --help` lists.
takes() {
    same "serve_$1_help" "$2 " \
        "$("$engine" serve "$1" --help | sed -n 's/^  .*--\([a-z-]*\).*/\1/p' | tr '\n' ' ')"
}

takes tcp 'help size direction block method file verify client message message-size host port congestion'
takes pipe 'help size direction block method file verify client message message-size path'
takes udp 'help gro receive-buffer nth multicast receivers drain host port'
takes rest 'help host port congestion'
takes gateway 'upstream-endpoint upstream-kind help upstream timeout host port congestion'
takes topper 'help task host port congestion'

# helps NAME WORDS...: "help WORDS" prints what "WORDS --help" does.
helps() {
    name=$1
    shift
    if "$engine" help "$@" > "$scratch/out" 2>&1 &&
        "$engine" "$@" --help | cmp -s - "$scratch/out"; then
        ok "$name"
    else
        not_ok "$name" "not what --help prints"
    fi
}

# The short form, behind each kind of command.
for words in "list" "run" "run tcp-bulk" "http" "serve" "serve rest" "call" "compare"; do
    # shellcheck disable=SC2086
    if "$engine" $words -h > "$scratch/out" 2>&1 &&
        "$engine" $words --help | cmp -s - "$scratch/out"; then
        ok "short_help_$(echo "$words" | tr ' ' _)"
    else
        not_ok "short_help_$(echo "$words" | tr ' ' _)" "not what --help prints"
    fi
done

helps help_command list
helps help_scenario run tcp-bulk
helps help_role serve rest
refused help_unknown "did you mean 'run'" help rnu

# What a range names can be typed.
refused range_end '1..1PiB' run unix-bulk --size 2PiB
refused range_end_is_read 'open quote' run unix-bulk --size 1PiB --server-launch '"'

# Words that are not known, and words too many.
refused server_near "did you mean 'tcp'?" serve tpc
refused scenario_near "did you mean 'tcp-bulk'" run tcp-blk
refused scenario_near_doctor "did you mean 'tcp-bulk'" doctor tcp-blk
refused scenario_near_runs "did you mean 'tcp-bulk'" runs --scenario tcp-blk
refused word_too_many_list "'tcp-bulk'" list tcp-bulk
refused word_too_many_doctor "'x'" doctor tcp-bulk x
refused word_too_many_serve "'x'" serve rest x
refused endless_rounds '--duration' run rest-rest -a 0 --against connections=2

# What is echoed.
refused echo_command "'?[31m'" "$escape"
refused echo_scenario "'?[31m'" run "$escape"
refused echo_option '--?[31m' run unix-bulk "--$escape"
refused echo_letter '-?' run unix-bulk "-$escape"
refused echo_operand "'?[31m'" run unix-bulk "$escape"
refused echo_number "'?[31m'" run unix-bulk --size "$escape"
refused echo_choice "'?[31m'" run unix-bulk --direction "$escape"
refused echo_threshold "'?[31m'" run unix-bulk --threshold "$escape"
refused echo_target '"?[31m"' run tcp-bulk --target "$escape"
refused echo_host '"?[31m"' run tcp-bulk --host "$escape"
refused echo_launcher '?[31m"' run unix-bulk --server-launch "$escape\""
refused echo_file '/?[31m' run unix-bulk --file "/$escape"
refused echo_url "'?[31m'" http "$escape"
refused echo_path '/?[31m' http "http://127.0.0.1:9/$escape"
refused echo_header '?[31m' http http://127.0.0.1:9/ -H "$escape"
refused echo_line_end 'a: b' http http://127.0.0.1:9/ -H 'a: b
c: d'
refused echo_method "'?[31m'" http http://127.0.0.1:9/ -m "$escape"
refused echo_role "'?[31m'" serve "$escape"
refused echo_server '?[31m' call "127.0.0.1:9$escape" Ping
refused echo_run "'?[31m'" show "$escape"
refused echo_format "'?[31m'" export last --format "$escape"
refused echo_json '?[31m' run unix-bulk --json "/none$escape/x"

# printable NAME WORDS ARGUMENTS...: a run that prints what it was given.
printable() {
    name=$1
    words=$2
    shift 2
    try timeout 60 "$engine" "$@"
    if LC_ALL=C grep -q "$(printf '\033')" "$scratch/out" "$scratch/err"; then
        not_ok "$name" "an escape is printed"
    elif grep -Fq -e "$words" "$scratch/out" "$scratch/err"; then
        ok "$name"
    else
        not_ok "$name" "no '$words'"
    fi
}

printable echo_value 'message ?[31mx' run unix-requests --quick --no-save \
    --client persistent --message "${escape}x"
printable echo_reason '/?[31mx' http http://127.0.0.1:9/ --no-save \
    -S "$scratch/${escape}x"
printable echo_contestant 'message=?[31mx' run unix-requests --quick --no-save \
    --client persistent --rounds 1 --against "message=${escape}x"

# Load without an end says so.
try timeout -s INT 3 "$engine" run rest-direct -a 0 --no-save --port 0
if grep -q 'goes on until Ctrl-C' "$scratch/err" && grep -q '^rest-direct: stopped' "$scratch/out"; then
    ok endless_is_told
else
    not_ok endless_is_told "exit status $got"
fi

# nobody_answers KIND: a server that closes each connection, or is silent.
nobody_answers() {
    rm -f "$scratch/port"
    python3 - "$1" 3> "$scratch/port" << 'END' &
import os, socket, sys
taken = []
s = socket.create_server(("127.0.0.1", 0))
os.write(3, b"%d" % s.getsockname()[1])
os.close(3)
s.settimeout(20)
try:
    while True:
        taken.append(s.accept()[0])
        if sys.argv[1] == "closes":
            taken.pop().close()
except OSError:
    pass
END
    server=$!
    while [ ! -s "$scratch/port" ] && kill -0 $server; do
        sleep 0.05
    done
    try timeout 20 "$engine" http "http://127.0.0.1:$(cat "$scratch/port")/" -c 2 -a 10 \
        -d 200ms --no-save
    kill $server
    if [ $got -eq 3 ] && grep -q 'none of .* requests was answered' "$scratch/err"; then
        ok "nobody_answers_$1"
    else
        not_ok "nobody_answers_$1" "exit status $got"
    fi
}

# Requests that nobody answers have not been carried out, whatever ended them.
nobody_answers closes
nobody_answers silent
