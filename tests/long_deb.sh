#!/bin/sh
# The Debian package in a root that has nothing but what Debian itself needs: it installs
# with what it depends on, runs, and goes again without a trace.
# shellcheck disable=SC2016 # the commands are for the shell inside
. tests/lib.sh
root=$scratch/root

if [ "$(id -u)" -ne 0 ] || ! command -v mmdebstrap > /dev/null; then
    echo "skip clean_root: needs root and mmdebstrap"
    exit 0
fi
mkdir "$scratch/build"
cp "$build"/plimsoll* "$scratch/build"
package=$(sh mk/deb.sh "$scratch/build" 0.0.1)
if ! mmdebstrap --mode=root --variant=minbase bookworm "$root" 2> "$scratch/err"; then
    echo "skip clean_root: $(tail -n 1 "$scratch/err")"
    exit 0
fi
cp "$package" "$root/tmp/plimsoll.deb"

# inside NAME COMMAND: in the root, with a /proc of its own. The shell there expands it.
inside() {
    check "$1" unshare -m --propagation private sh -c "mount -t proc proc '$root/proc' &&
        chroot '$root' sh -ec \"\$1\"" sh "$2"
}

inside installs 'apt-get update -q && apt-get install -y -q /tmp/plimsoll.deb'
inside verifies 'test -z "$(dpkg -V plimsoll)"'
inside runs_requests 'plimsoll-engine run unix-requests --quick'
inside runs_bulk 'plimsoll-engine run tcp-bulk --quick --port 0'
inside runs_datagrams 'plimsoll-engine run udp-cached-series --quick --port 0'
inside has_saved_them 'test "$(plimsoll-engine runs --ids --outcome completed | wc -l)" -eq 3'
inside is_purged 'apt-get purge -y -q plimsoll &&
    test -z "$(find /usr /etc /opt -name "*plimsoll*")"'
