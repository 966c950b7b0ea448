#!/bin/sh
# The README's two commands as a newcomer gives them: by an ordinary user, in a fresh
# minimal system that has neither the packages nor a table of hosts. Needs root.
# Usage: clean-root.sh [SUITE [COMMAND]]. SUITE is of this machine's own distribution,
# trixie say; without one, this machine's own. What is tried is what is committed.
set -eu

own=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
suite=${1:-$own}
command=${2:-make run && make test}

# Print "MIRROR COMPONENT,COMPONENT" of this machine's own suite, as apt has them.
archive() {
    # shellcheck disable=SC2016
    apt-get indextargets --format '$(RELEASE) $(REPO_URI) $(COMPONENT)' | awk -v own="$own" '
        $1 == own && !mirror { mirror = $2 }
        $1 == own && $2 == mirror && !seen[$3]++ { all = all (all ? "," : "") $3 }
        END { print mirror, all }'
}

# make_root MIRROR COMPONENTS: a root with a user who may become root, and the project.
make_root() {
    echo "Making a root of $suite from $1" >&2
    debootstrap --variant=minbase --include=git,make,ca-certificates,sudo \
        --components="$2" "$suite" "$root" "$1" > "$root/log" 2>&1 || {
        tail -n 5 "$root/log" >&2
        exit 1
    }
    # It reaches the archive as this machine does.
    apt-config dump | grep '^Acquire::' > "$root/etc/apt/apt.conf.d/90machine" || true
    cp /etc/resolv.conf "$root/etc/resolv.conf"
    chroot "$root" useradd --create-home --shell /bin/sh user
    echo 'user ALL=(ALL) NOPASSWD: ALL' > "$root/etc/sudoers.d/user"
    git clone -q . "$root/home/user/project"
    chroot "$root" chown -R user: /home/user/project
}

mount_kernel() {
    mount -t proc proc "$root/proc"
    mount -t sysfs sysfs "$root/sys"
    mount --bind /dev "$root/dev"
    mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
    mount -t tmpfs tmpfs "$root/dev/shm"
}

# The second time, in namespaces.
if [ "${CLEAN_ROOT:-}" ]; then
    root=$CLEAN_ROOT
    # shellcheck disable=SC2046
    make_root $(archive)
    mount_kernel
    chroot "$root" su - user -c "cd project && $command" # not exec: init collects orphans
    exit
fi

[ "$(id -u)" -eq 0 ] || { echo "clean-root: needs root" >&2; exit 1; }
root=$(mktemp -d "${TMPDIR:-/var/tmp}/plimsoll-root-XXXXXX")
chmod 755 "$root"
# No mount and no process outlives the namespaces, and those end with this script.
CLEAN_ROOT=$root unshare --mount --pid --fork --kill-child --mount-proc sh "$0" "$@" \
    < /dev/null &
inside=$!
trap 'kill -KILL $inside 2> /dev/null || :; wait $inside || :; rm -rf --one-file-system "$root"' EXIT
trap 'exit 1' HUP INT TERM
wait $inside
