#!/bin/sh
# Make a Debian package with dpkg-deb. Usage: deb.sh BUILD VERSION; prints its path. The
# libraries that it depends on, and their versions, are those that dpkg-shlibdeps finds.
set -eu
build=$1
version=$2
stage=$build/deb
arch=$(dpkg --print-architecture)
# Who packages it says so in Debian's own variables.
maintainer="${DEBFULLNAME:-the plimsoll authors} <${DEBEMAIL:-plimsoll@localhost}>"
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2> /dev/null || date +%s)}
export SOURCE_DATE_EPOCH

rm -rf "$stage"
mkdir -p "$stage/root/DEBIAN" "$stage/debian"
sh mk/install.sh "$build" "$stage/root" /usr
doc=$stage/root/usr/share/doc/plimsoll

# Debian's habits: no symbols, everything compressed, the licence as `copyright`.
strip --remove-section=.comment --remove-section=.note "$stage"/root/usr/bin/* \
    "$stage"/root/usr/libexec/plimsoll/*
gzip -9n "$stage"/root/usr/share/man/man1/plimsoll.1
ln -sf plimsoll.1.gz "$stage/root/usr/share/man/man1/plimsoll-engine.1.gz"
rm "$stage/root/usr/share/man/man1/plimsoll-engine.1"
# Where Debian's zsh looks; /usr/share/zsh/site-functions is not for packages.
mkdir -p "$stage/root/usr/share/zsh/vendor-completions"
mv "$stage/root/usr/share/zsh/site-functions/_plimsoll" \
    "$stage/root/usr/share/zsh/vendor-completions/"
rmdir "$stage/root/usr/share/zsh/site-functions"
{
    printf 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n'
    printf 'Upstream-Name: plimsoll\n\nFiles: *\n'
    sed -n 's/^Copyright (c) \(.*\)/Copyright: \1/p' LICENSE
    printf 'License: Expat\n'
    sed -e '1,4d' -e 's/^$/./' -e 's/^/ /' LICENSE
} > "$doc/copyright"
rm "$doc/LICENSE"
{
    printf 'plimsoll (%s) unstable; urgency=medium\n\n  * Release %s.\n\n' \
        "$version" "$version"
    printf ' -- %s  %s\n' "$maintainer" \
        "$(LC_ALL=C date -u -R -d "@$SOURCE_DATE_EPOCH")"
} | gzip -9n > "$doc/changelog.gz"
# One request, then exit: that program's start is what is measured (protocols/stream/oneshot.h).
mkdir -p "$stage/root/usr/share/lintian/overrides"
printf 'plimsoll: statically-linked-binary [usr/libexec/plimsoll/plimsoll-once]\n' \
    > "$stage/root/usr/share/lintian/overrides/plimsoll"
find "$stage/root" -type d -exec chmod 755 {} +

# dpkg-shlibdeps wants to find the control file of a source package.
printf 'Source: plimsoll\n\nPackage: plimsoll\nArchitecture: any\n' > "$stage/debian/control"
depends=$(cd "$stage" && dpkg-shlibdeps -O root/usr/bin/* 2> shlibdeps.log) || {
    cat "$stage/shlibdeps.log" >&2
    exit 1
}
depends=${depends#shlibs:Depends=}
size=$(du -k -s --apparent-size "$stage/root/usr" | cut -f 1)
cat > "$stage/root/DEBIAN/control" << END
Package: plimsoll
Version: $version
Architecture: $arch
Maintainer: $maintainer
Installed-Size: $size
Depends: $depends
Suggests: bash-completion
Section: net
Priority: optional
Description: load-testing console for transports, sending strategies and services
 plimsoll starts the servers and the clients of a scenario, drives them, and
 draws throughput, latency, messages received and packet loss in the terminal
 while they run: files and requests over TCP, Unix sockets and named pipes,
 datagrams, and HTTP services; or HTTP load on a server of one's own.
 .
 Every run is saved and can be shown, exported, compared and played again;
 what it must show can be stated as thresholds, for use in scripts.
END
(cd "$stage/root" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum) \
    > "$stage/root/DEBIAN/md5sums"
chmod 644 "$stage/root/DEBIAN/md5sums" "$stage/root/DEBIAN/control"
find "$stage/root" -newermt "@$SOURCE_DATE_EPOCH" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +

package=$build/plimsoll_${version}_$arch.deb
dpkg-deb --root-owner-group --build "$stage/root" "$package" > "$stage/build.log"
rm -rf "$stage"
echo "$package"
