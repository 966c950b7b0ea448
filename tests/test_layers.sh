#!/bin/sh
# The layers: tui -> engine -> protocols, never upward. Each library is linked whole
# without the ones above it, since an ordinary link finds an upward call's target and
# says nothing; and each check is shown to notice a fault that is planted for it.
set -u
build=${PLIMSOLL_BUILD:-build}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# The compiler with the flags that the objects were made with (a sanitizer's above all).
compile=$(cat "$build/flags")
# cJSON is below the engine too, for the payloads of REST and Topper messages.
protocols_libs="$(pkg-config --libs libevent_core libevent_extra zlib libcjson) -lm"
if pkg-config --exists libllhttp 2> /dev/null; then
    protocols_libs="$protocols_libs $(pkg-config --libs libllhttp)"
fi

ok() {
    echo "ok $1"
}

not_ok() {
    echo "not ok $1: $2"
}

# check NAME COMMAND...: the command succeeds.
check() {
    name=$1
    shift
    if "$@" > "$scratch/out" 2>&1; then
        ok "$name"
    else
        not_ok "$name" "it does not hold"
        cat "$scratch/out"
    fi
}

# check_notices NAME TEXT COMMAND...: the command fails and says TEXT.
check_notices() {
    name=$1
    text=$2
    shift 2
    if "$@" > "$scratch/out" 2>&1; then
        not_ok "$name" "the planted fault was not noticed"
    elif grep -q -- "$text" "$scratch/out"; then
        ok "$name"
    else
        not_ok "$name" "it failed for another reason"
        cat "$scratch/out"
    fi
}

# Link all of the archives, which are named first, before -- and the libraries.
link_whole() {
    archives=
    while [ "$1" != -- ]; do
        archives="$archives $1"
        shift
    done
    shift
    # shellcheck disable=SC2086
    $compile -o "$scratch/whole" "$scratch/main.c" -Wl,--whole-archive $archives \
        -Wl,--no-whole-archive "$@"
}

# The first function that a library defines.
function_of() {
    nm -g --defined-only "$build/$1" 2> /dev/null | awk '$2 == "T" { print $3; exit }'
}

# plant LIBRARY FUNCTION: a copy of the library with a call of the function in it.
plant() {
    cp "$build/$1" "$scratch/$1"
    cat > "$scratch/planted.c" << END
void $2(void);
void planted(void);
void planted(void)
{
    $2();
}
END
    $compile -c -o "$scratch/planted.o" "$scratch/planted.c"
    ar r "$scratch/$1" "$scratch/planted.o"
}

# Lines of DIR's files that include what the extended pattern says; fails if any do.
includes_none() {
    ! grep -nE "^[[:space:]]*#[[:space:]]*include[[:space:]]*[\"<]($2)" "$1"/*.[ch]
}

# Every quoted include of DIR's files is written from the root.
includes_from_root() {
    ! grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' "$1"/*.[ch] |
        grep -vE '"(protocols|engine|tui|tests)(/[a-z]+)?/[a-z0-9_]+\.h"'
}

# Objects that can be written to: mutable globals or statics. One is known: what the
# handler of a fatal signal needs to restore the terminal, since it has no argument.
has_no_globals() {
    ! objdump -t "$1" 2> /dev/null | awk '
        /file format/ { file = $1 }
        / O \.(data|data\.rel|data\.rel\.local|t?bss|tdata)[ \t]/ { print file, $NF }' |
        grep -v '^rescue\.o: rescue$' | grep .
}

needs_no_curses() {
    ! readelf -d "$1" | grep -E 'NEEDED.*(ncurses|tinfo|panel|form)'
}

echo 'int main(void) { return 0; }' > "$scratch/main.c"

check protocols_include_nothing_above includes_none protocols 'engine/|tui/|tests/'
check engine_includes_nothing_above includes_none engine 'tui/|tests/'
check tui_includes_no_tests includes_none tui 'tests/'
for dir in protocols engine tui; do
    check "${dir}_include_from_the_root" includes_from_root "$dir"
done
curses='n?curses|ncursesw/|panel\.h|form\.h|menu\.h|term\.h'
check protocols_include_no_curses includes_none protocols "$curses"
check engine_includes_no_curses includes_none engine "$curses"
check tests_include_no_curses includes_none tests "$curses"

mkdir "$scratch/protocols"
printf '#include <stdint.h>\n#include "protocols/hist.h"\n' > "$scratch/protocols/a.c"
cd "$scratch" && check clean_includes_pass includes_none protocols 'engine/|tui/'
printf '#  include "engine/run.h"\n' >> protocols/a.c
check_notices upward_include_is_noticed 'engine/run.h' includes_none protocols 'engine/|tui/'
printf '#include "hist.h"\n' > protocols/a.c
check_notices relative_include_is_noticed 'hist.h' includes_from_root protocols
cd - > /dev/null || exit 1

# shellcheck disable=SC2086
check protocols_link_alone link_whole "$build/libprotocols.a" -- $protocols_libs
# shellcheck disable=SC2086
check engine_links_without_tui \
    link_whole "$build/libprotocols.a" "$build/libengine.a" -- $protocols_libs

above=$(function_of libengine.a)
check planting_in_protocols plant libprotocols.a "$above"
# shellcheck disable=SC2086
check_notices upward_call_of_protocols_is_noticed "undefined reference to .$above" \
    link_whole "$scratch/libprotocols.a" -- $protocols_libs
# The reason for all this: with the engine at hand the same call goes unnoticed.
# shellcheck disable=SC2086
check an_ordinary_link_would_not_notice \
    link_whole "$scratch/libprotocols.a" "$build/libengine.a" -- $protocols_libs
above=$(function_of libtui.a)
check planting_in_engine plant libengine.a "$above"
# shellcheck disable=SC2086
check_notices upward_call_of_engine_is_noticed "undefined reference to .$above" \
    link_whole "$build/libprotocols.a" "$scratch/libengine.a" -- $protocols_libs

for library in protocols engine tui; do
    case $compile in
    *-fsanitize*) echo "skip ${library}_has_no_mutable_globals: the sanitizer adds its own" ;;
    *) check "${library}_has_no_mutable_globals" has_no_globals "$build/lib$library.a" ;;
    esac
done
printf 'int f(void);\nint f(void)\n{\n    static int calls;\n    return calls++;\n}\n' > "$scratch/count.c"
$compile -c -o "$scratch/count.o" "$scratch/count.c"
check_notices mutable_static_is_noticed calls has_no_globals "$scratch/count.o"

check engine_program_needs_no_curses needs_no_curses "$build/plimsoll-engine"
if [ -x "$build/plimsoll-once" ]; then
    check once_program_needs_no_curses needs_no_curses "$build/plimsoll-once"
fi
if [ -x "$build/plimsoll" ]; then
    check_notices console_program_is_known_to_need_it ncurses needs_no_curses "$build/plimsoll"
fi
