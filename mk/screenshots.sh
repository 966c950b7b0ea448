#!/bin/sh
# Drive the real console through its screens, on real runs, and write what it shows to
# screenshots/: SVG, text, and PNG where rsvg-convert is there. Usage: screenshots.sh
# BUILD. Takes about two minutes; the figures are those of this machine and moment.
set -eu
build=$1
out=screenshots
state=$(mktemp -d)
trap 'rm -rf "$state"' EXIT INT TERM
mkdir -p "$out"

# shot SIZE [--option value ...] -- WORD ...
shot() {
    size=$1
    shift
    options=
    while [ "$1" != -- ]; do
        options="$options $1"
        shift
    done
    shift
    # shellcheck disable=SC2086
    "$build/tests/shot" "$size" "XDG_STATE_HOME=$state" -- "$build/plimsoll" $options -- "$@"
}

pictures() {
    size=$1
    p=$out/$2
    echo "$size: scenarios, parameters, help, limits" >&2
    shot "$size" -- see 'Enter run' save "$p-scenarios" \
        type '?' see 'Keys of this screen' save "$p-help" type '\e' see 'Enter run' \
        type '8L' see 'limits for' save "$p-limits" type '\e' see 'Enter run' \
        type '1e' see 'bytes that each end sends' type '\r\U-1GiB' see 'not allowed' \
        save "$p-parameters"
    echo "$size: requests at a rate that changes" >&2
    shot "$size" -- see 'Enter run' type '4e' see 'requests in all' type '\r\U1m\r' \
        type '\d\r\U8\r' type '\d\>\>\d\d\d\r\U4000\r' see '4000' type r spot RUNNING \
        rest 5000 type '---' rest 3000 type '++++' rest 4000 save "$p-run" \
        type '\t\t\t\t' rest 600 save "$p-heat" type q see stopped
    echo "$size: a million datagrams" >&2
    shot "$size" -- see 'Enter run' type 'de' see 'datagrams to send' type '\r\U1m\r' \
        see 1000000 type r spot RUNNING rest 2500 save "$p-run-udp" type q see stopped \
        save "$p-summary-udp"
    echo "$size: a service" >&2
    shot "$size" -- see 'Enter run' type 'oe' see 'open at once' type '\d\r\U40000\r' \
        see 40000 type r spot RUNNING rest 3500 save "$p-run-service" spot Esc \
        spot 'Beside the documented' see 'back' save "$p-summary-service"
    echo "$size: bulk" >&2
    shot "$size" -- see 'Enter run' type '2\r' spot RUNNING rest 900 save "$p-run-bulk" \
        spot 'Beside the documented' see back save "$p-summary-bulk"
    echo "$size: history and comparison" >&2
    for client in connection persistent; do
        XDG_STATE_HOME=$state "$build/plimsoll" run unix-requests --client "$client" \
            --requests 20000 --trials 10 --quiet
    done
    shot "$size" -- see 'Enter run' type H see 'saved runs' rest 100 save "$p-history" \
        type '\d \uc' see 'metric by metric' save "$p-compare"
}

pictures 120x36 large
pictures 80x24 small
echo "other themes and glyphs" >&2
for kind in '--theme light' '--theme mono' '--glyphs block' '--glyphs ascii'; do
    # shellcheck disable=SC2086
    shot 100x30 $kind -- see 'Enter run' type '5e' see 'requests in all' type '\r\U1m\r' \
        type '\d\r\U8\r' type '\d\>\>\d\d\d\r\U4000\r' see '4000' type r spot RUNNING \
        rest 5000 save "$out/${kind##* }-run"
done

if command -v rsvg-convert > /dev/null 2>&1; then
    for svg in "$out"/*.svg; do
        rsvg-convert "$svg" -o "${svg%.svg}.png"
    done
else
    echo "rsvg-convert is not here: SVG and text only" >&2
fi
