#!/bin/sh
# SPDX-License-Identifier: MIT
#
# deb.sh VERSION DIR - make DIR/reusetrack_VERSION_amd64.deb of what `make
# install` installs; `make deb` calls it
#
# The package depends on the libraries that its programs link, as
# dpkg-shlibdeps finds them. DEBFULLNAME and DEBEMAIL name the maintainer.

set -eu
version=$1
dir=$2
command -v dpkg-shlibdeps >/dev/null || {
	echo "deb.sh: dpkg-shlibdeps is missing: apt-get install dpkg-dev" >&2
	exit 1
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
make -s PREFIX=/usr DESTDIR="$root" install

doc=$root/usr/share/doc/reusetrack
install -d "$doc" "$root/DEBIAN" "$work/debian"
install -m 644 LICENSE "$doc/copyright"
install -m 644 CHANGELOG.md "$doc/changelog"
gzip -9n "$doc/changelog" "$root"/usr/share/man/man?/*
# The microbenchmarks keep their debug information: they are to be profiled.
strip --strip-unneeded "$root/usr/bin/reusetrack" "$root"/usr/lib/libcomdet*.so

# QEMU and the program that loads them define what the libraries lack.
printf 'Source: reusetrack\n\nPackage: reusetrack\nArchitecture: amd64\n' \
	>"$work/debian/control"
depends=$(cd "$work" && dpkg-shlibdeps -O --ignore-missing-info \
	root/usr/bin/reusetrack root/usr/lib/libcomdet*.so \
	root/usr/lib/reusetrack/microbench/* 2>"$work/errors") || {
	cat "$work/errors" >&2
	exit 1
}
cat >"$root/DEBIAN/control" <<END
Package: reusetrack
Version: $version
Architecture: amd64
Section: devel
Priority: optional
Maintainer: ${DEBFULLNAME:-The comdet authors} <${DEBEMAIL:-root@localhost}>
Installed-Size: $(du -sk --exclude=DEBIAN "$root" | cut -f1)
Depends: ${depends#shlibs:Depends=}
Recommends: less, libmicrohttpd12, libpfm4, qemu-user
Description: find threads that pass cache lines to each other
 Profiles unmodified programs without performance counters: which threads
 share cache lines, how much of that is false sharing, and which source lines
 and variables cause it; how soon data is used again; and models that predict
 programs on other machines.
END
echo 'activate-noawait ldconfig' >"$root/DEBIAN/triggers"
(cd "$root" && find usr -type f -exec md5sum {} + | sort -k2) \
	>"$root/DEBIAN/md5sums"
mkdir -p "$dir"
dpkg-deb --root-owner-group --build "$root" \
	"$dir/reusetrack_${version}_amd64.deb" >/dev/null
echo "$dir/reusetrack_${version}_amd64.deb"
