#!/bin/bash
# SPDX-License-Identifier: MIT
#
# deb_source - the Debian source package builds, and lintian finds no error
#
# `make check-deb` runs it. It needs debhelper; lintian too, or its part is left
# out. Who packages has a mail address; here there is none, and lintian does not
# look at it.

. "$(dirname "$0")/e2e.sh"
needs dh dpkg-buildpackage
changes=$(make -s -C "$TOP" deb-source | tail -1)
[ -s "$changes" ] || fail "make deb-source made no package: $changes"
dir=$(dirname "$changes")
for file in "$dir"/reusetrack_*.dsc "$dir"/reusetrack_*.tar.xz \
	"$dir"/reusetrack_*_amd64.deb; do
	[ -s "$file" ] || fail "there is no $file"
done
dpkg-deb -c "$dir"/reusetrack_*_amd64.deb >"$WORK/list"
for file in usr/bin/reusetrack usr/lib/libcomdet.so usr/include/comdet.h \
	usr/share/man/man1/reusetrack.1.gz; do
	grep -q " \./$file\$" "$WORK/list" || fail "the package has no $file"
done
if ! command -v lintian >/dev/null; then
	echo "built; lintian is not installed"
	exit 0
fi
lintian --allow-root --fail-on error --suppress-tags \
	bogus-mail-host,bogus-mail-host-in-debian-changelog,root-in-contact \
	"$changes" >"$WORK/said" 2>&1 || fail "lintian: $(grep ^E: "$WORK/said")"
echo "built; lintian: no error, $(grep -c ^W: "$WORK/said") warnings"
