#!/bin/sh
# SPDX-License-Identifier: MIT
#
# deb-source.sh VERSION DIR - make a Debian source package, and build it;
# `make deb-source` calls it
#
# The source package is what git would take of this tree, with packaging/debian
# as debian/. It is built in a directory of its own; the files go to DIR/debian.
# Set BUILD to what dpkg-buildpackage is to do: -S makes the source package
# alone. DEBFULLNAME and DEBEMAIL name the maintainer.

set -eu
version=$1
dir=$2/debian
command -v dh >/dev/null && command -v dpkg-buildpackage >/dev/null || {
	echo "deb-source.sh: apt-get install debhelper dpkg-dev" >&2
	exit 1
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/reusetrack-$version
mkdir "$tree"
git ls-files -z --cached --others --exclude-standard |
	grep -zv '^packaging/debian/' | tar --null -T - -c | tar -x -C "$tree"
cp -R packaging/debian "$tree/debian"
maintainer="${DEBFULLNAME:-The comdet authors} <${DEBEMAIL:-root@localhost}>"
sed -i "s|@MAINTAINER@|$maintainer|" "$tree/debian/control"
cat >"$tree/debian/changelog" <<END
reusetrack ($version) unstable; urgency=medium

  * See CHANGELOG.md.

 -- $maintainer  $(git log -1 --format=%aD)
END
(cd "$tree" && env -u MAKEFLAGS -u MAKELEVEL \
	dpkg-buildpackage -us -uc ${BUILD:-} >../build.log 2>&1) || {
	tail -20 "$work/build.log" >&2
	exit 1
}
rm -rf "$dir"
mkdir -p "$dir"
find "$work" -maxdepth 1 -type f -exec cp {} "$dir" \;
ls "$dir"/*.changes
