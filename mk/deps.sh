#!/bin/sh
# Install the packages that building (`deps.sh build`) or testing (`deps.sh test`)
# needs and that are missing. Says what it installs; asks for sudo when not root.
#
# Where systems name a package differently, the names stand with bars between them; the
# first one counts that is installed or that apt has.
set -eu

build_packages='gcc make pkg-config libc6-dev libncurses-dev libevent-dev libcjson-dev
  libllhttp-dev|node-llhttp zlib1g-dev'
test_packages='libcmocka-dev libvterm-dev ncurses-bin python3 python3-jsonschema iproute2
  locales libxml2-utils tmux librsvg2-bin fonts-dejavu-core netcat-openbsd curl nftables
  man-db dpkg-dev zsh fish'
lint_packages='clang clang-format clang-tidy cppcheck shellcheck'
fuzz_packages='clang libclang-rt-dev'
long_packages='chromium python3-prometheus-client'
bench_packages='nginx-light wrk apache2-utils nghttp2-client'

case ${1:-build} in
build) wanted=$build_packages ;;
test) wanted="$build_packages $test_packages" ;;
lint) wanted="$build_packages $test_packages $lint_packages" ;;
fuzz) wanted="$build_packages $test_packages $fuzz_packages" ;;
long) wanted="$build_packages $test_packages $long_packages" ;;
bench) wanted="$build_packages $test_packages $bench_packages" ;;
clean-root) wanted='debootstrap git' ;;
*) echo "usage: deps.sh build|test|long|lint|fuzz|bench|clean-root" >&2; exit 2 ;;
esac

if ! command -v dpkg-query > /dev/null 2>&1; then
    # Not a Debian: go on if the libraries are there, since that is all that counts.
    if pkg-config --exists ncursesw libevent_core libcjson zlib 2> /dev/null; then
        exit 0
    fi
    echo "This system has no dpkg, so its packages are not known here. plimsoll needs a C" \
        "compiler, pkg-config, ncursesw, libevent, cJSON, zlib and llhttp with their" \
        "development files; the tests also cmocka and libvterm." >&2
    exit 1
fi

installed() {
    dpkg-query -W -f '${Status}' "$1" 2> /dev/null | grep -q 'ok installed'
}

# one_of NAME...: the name to install; nothing if one is installed.
one_of() {
    while ! installed "$1"; do
        if [ $# -eq 1 ] || apt-cache show "$1" > /dev/null 2>&1; then
            printf ' %s' "$1"
            return
        fi
        shift
    done
}

missing() {
    for names in $wanted; do
        # shellcheck disable=SC2046
        one_of $(echo "$names" | tr '|' ' ')
    done
}

packages=$(missing)
[ -n "$packages" ] || exit 0

sudo=
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo > /dev/null 2>&1 || {
        echo "Missing packages:$packages. Install them as root: apt-get install$packages" >&2
        exit 1
    }
    sudo=sudo
fi
$sudo apt-get update -q >&2
packages=$(missing) # which names apt has is known now
echo "Installing what is missing:$packages" >&2
# shellcheck disable=SC2086
$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q \
    --no-install-recommends $packages >&2
