#!/bin/sh
# The layers: tui -> engine/cli (tui/main.c alone) -> engine/report -> engine -> protocols,
# never upward; below, families that know nothing of each other; and files that include
# each other in no circle. Each library is linked whole with those below it alone, since
# an ordinary link finds an upward call's target and says nothing; and each check is shown
# to notice a fault that is planted for it.
. tests/lib.sh
# The compiler with the flags that the objects were made with (a sanitizer's above all).
compile=$(cat "$build/flags")
# cJSON is below the engine too, for the payloads of REST and Topper messages.
protocols_libs="$(pkg-config --libs libevent_core libevent_extra zlib libcjson) -lm"
if pkg-config --exists libllhttp 2> /dev/null; then
    protocols_libs="$protocols_libs $(pkg-config --libs libllhttp)"
fi
tui_libs="$(pkg-config --libs ncursesw)"

# check_notices NAME TEXT COMMAND...: the command fails and says TEXT.
check_notices() {
    name=$1
    text=$2
    shift 2
    try "$@"
    if [ $got -eq 0 ]; then
        not_ok "$name" "the planted fault was not noticed"
    elif grep -q -e "$text" "$scratch/out" "$scratch/err"; then
        ok "$name"
    else
        not_ok "$name" "it failed for another reason"
    fi
}

# --- includes ---

# includes_none PATTERN FILE...: none of the files includes what the extended pattern says.
includes_none() {
    pattern=$1
    shift
    ! grep -HnE "^[[:space:]]*#[[:space:]]*include[[:space:]]*[\"<]($pattern)" "$@"
}

# Every quoted include of the files is written from the root.
includes_from_root() {
    ! grep -HnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' "$@" |
        grep -vE '"(protocols|engine|tui|tests)(/[a-z]+)?/[a-z0-9_]+\.h"'
}

# forbids NAME PATTERN PLANTED FILE...: the files include nothing of the pattern, and one
# that includes PLANTED is noticed.
forbids() {
    rule=$1
    pattern=$2
    planted=$3
    shift 3
    check "$rule" includes_none "$pattern" "$@"
    printf '#include <stdint.h>\n#  include "%s"\n' "$planted" > "$scratch/planted.c"
    check_notices "${rule}_is_noticed" "$planted" \
        includes_none "$pattern" "$scratch/planted.c"
}

printf '#include <stdint.h>\n#include "protocols/hist.h"\n' > "$scratch/clean.c"
check clean_includes_pass includes_none 'engine/|tui/|tests/' "$scratch/clean.c"
check clean_includes_are_from_the_root includes_from_root "$scratch/clean.c"
printf '#include "hist.h"\n' > "$scratch/relative.c"
check_notices relative_include_is_noticed 'hist.h' includes_from_root "$scratch/relative.c"
for dir in protocols protocols/* engine engine/* tui; do
    [ -d "$dir" ] && check "$(echo "$dir" | tr / _)_includes_from_the_root" \
        includes_from_root "$dir"/*.[ch]
done

forbids protocols_include_nothing_above 'engine/|tui/|tests/' engine/run.h \
    protocols/*.[ch] protocols/*/*.[ch]
forbids engine_includes_nothing_above 'engine/(report|cli)/|tui/|tests/' \
    engine/report/export.h engine/*.[ch]
forbids report_includes_nothing_above 'engine/cli/|tui/|tests/' engine/cli/command.h \
    engine/report/*.[ch]
forbids cli_includes_nothing_above 'tui/|tests/' tui/app.h engine/cli/*.[ch]
# shellcheck disable=SC2046
forbids tui_includes_no_cli_but_in_main 'engine/cli/' engine/cli/command.h \
    $(find tui -name '*.[ch]' ! -path tui/main.c)
forbids tui_includes_no_tests 'tests/' tests/frame.h tui/*.[ch]
forbids engine_includes_no_curses 'n?curses|ncursesw/|panel\.h|form\.h|menu\.h|term\.h' \
    ncurses.h protocols/*.[ch] protocols/*/*.[ch] engine/*.[ch] engine/*/*.[ch] \
    tests/*.[ch]

families=$(for dir in protocols/*/; do basename "$dir"; done)
forbids protocols_include_no_family 'protocols/[a-z]+/' protocols/udp/datagram.h \
    protocols/*.[ch]
for family in $families; do
    others=$(echo "$families" | grep -vx "$family" | paste -sd '|' -)
    forbids "${family}_includes_no_other_family" "protocols/($others)/" \
        "protocols/${others%%|*}/any.h" protocols/"$family"/*.[ch]
done

# --- circles ---

# What the files include of each other and lies on a circle; fails if anything does. A
# file belongs to its header, or else to the header that its name begins with: foo.h,
# foo.c, foo_parts.h and a foo_bar.c without a header of its own are all foo.
has_no_circles() {
    ! awk -F '"' '
        function noun(file, stem, rest) {
            stem = rest = substr(file, 1, length(file) - 2)
            sub(/_parts$/, "", rest)
            while (!((rest ".h") in known) && sub(/_[^_\/]*$/, "", rest))
                ;
            return (rest ".h") in known ? rest : stem
        }
        function reaches(from, to, i, n, list) {
            if (from == to)
                return 1
            if (from in seen)
                return 0
            seen[from]
            n = split(includes[from], list, "\n")
            for (i = 1; i < n; i++)
                if (reaches(list[i], to))
                    return 1
            return 0
        }
        BEGIN {
            for (i = 1; i < ARGC; i++)
                known[ARGV[i]]
        }
        /^[ \t]*#[ \t]*include[ \t]*"/ && $2 in known {
            from = noun(FILENAME)
            to = noun($2)
            if (from == to)
                next
            if (!((from, to) in said))
                includes[from] = includes[from] to "\n"
            said[from, to] = said[from, to] FILENAME " includes " $2 "\n"
        }
        END {
            for (edge in said) {
                split(edge, end, SUBSEP)
                split("", seen)
                if (reaches(end[2], end[1]))
                    printf "%s", said[edge]
            }
        }' "$@" | sort | grep .
}

check no_circle_of_includes has_no_circles protocols/*.[ch] protocols/*/*.[ch] \
    engine/*.[ch] engine/*/*.[ch] tui/*.[ch]

# includes FILE HEADER...: a file that includes those.
includes() {
    file=$1
    shift
    : > "$file"
    [ $# -eq 0 ] || printf '#include "%s"\n' "$@" > "$file"
}

cd "$scratch" || exit 1
mkdir x
includes x/foo.h
includes x/foo.c x/foo.h x/foo_parts.h x/bar.h
includes x/foo_parts.h x/foo.h
includes x/foo_more.c x/foo_parts.h
includes x/bar.h
includes x/bar.c x/bar.h
check one_noun_in_several_files_is_no_circle has_no_circles x/*.[ch]
includes x/bar_more.c x/foo.h
check_notices circle_of_nouns_is_noticed 'x/bar_more.c includes x/foo.h' \
    has_no_circles x/*.[ch]
includes x/bar_more.c x/between.h
includes x/between.h x/foo.h
check_notices circle_of_three_is_noticed 'x/between.h includes x/foo.h' \
    has_no_circles x/*.[ch]
cd - > /dev/null || exit 1

# --- links ---

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
    nm -g --defined-only "$build/lib$1.a" 2> /dev/null | awk '$2 == "T" { print $3; exit }'
}

# plant LAYER FUNCTION: a copy of the layer's library with a call of the function in it.
plant() {
    cp "$build/lib$1.a" "$scratch/lib$1.a"
    cat > "$scratch/planted.c" << END
void $2(void);
void planted(void);
void planted(void)
{
    $2();
}
END
    $compile -c -o "$scratch/planted.o" "$scratch/planted.c"
    ar r "$scratch/lib$1.a" "$scratch/planted.o"
}

# stands_on LAYER ABOVE BELOW...: the layer links with those below it alone, and a call of
# what the layer above defines is noticed.
stands_on() {
    layer=$1
    above=$(function_of "$2")
    shift 2
    below=
    for name in "$@"; do
        below="$below $build/lib$name.a"
    done
    libs=$protocols_libs
    [ "$layer" = tui ] && libs="$tui_libs $libs"
    # shellcheck disable=SC2086
    check "${layer}_links_with_what_is_below" \
        link_whole "$build/lib$layer.a" $below -- $libs
    check "planting_in_$layer" plant "$layer" "$above"
    # shellcheck disable=SC2086
    check_notices "upward_call_of_${layer}_is_noticed" "undefined reference to .$above" \
        link_whole "$scratch/lib$layer.a" $below -- $libs
}

echo 'int main(void) { return 0; }' > "$scratch/main.c"
stands_on protocols engine
stands_on engine report protocols
stands_on report cli engine protocols
stands_on cli tui report engine protocols
stands_on tui cli report engine protocols

# The reason for all this: with the engine at hand the same call goes unnoticed.
# shellcheck disable=SC2086
check an_ordinary_link_would_not_notice \
    link_whole "$scratch/libprotocols.a" "$build/libengine.a" -- $protocols_libs

# --- globals and curses ---

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

for library in protocols engine report cli tui; do
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
