#!/bin/bash
# SPDX-License-Identifier: MIT
#
# debian_source - fetch the source of a Debian package
#
#	tests/suites/debian_source.sh PACKAGE[=VERSION] DIR [PATTERN...]
#
# Its own source goes to DIR, without Debian's changes; PATTERN chooses files as
# tar does. The lists of apt are not changed: the configured sources of Debian
# are read as sources of source packages, into a directory of their own.

package=$1 dir=$2
shift 2
[ ! -e "$dir" ] || exit 0
t=$(mktemp -d) || exit 1
trap 'rm -rf "$t" "$dir.part"' EXIT
mkdir -p "$t/lists/partial" "$t/cache/archives/partial" "$t/parts"
for file in /etc/apt/sources.list.d/*.sources; do
	grep -q 'URIs:.*debian' "$file" 2>/dev/null &&
		sed 's/^Types: deb$/Types: deb-src/' "$file" >"$t/parts/${file##*/}"
done
grep -hs '^deb .*debian' /etc/apt/sources.list /etc/apt/sources.list.d/*.list |
	sed 's/^deb /deb-src /' >"$t/parts/source.list"
options=(-qq -o Dir::Etc::SourceList=/dev/null -o "Dir::Etc::SourceParts=$t/parts"
	-o "Dir::State::Lists=$t/lists" -o "Dir::Cache=$t/cache")
(cd "$t" && apt-get "${options[@]}" update >&2 &&
	apt-get "${options[@]}" source --download-only "$package" >&2) || {
	echo "cannot fetch the source package $package" >&2
	exit 1
}
mkdir -p "$dir.part" &&
	tar -xf "$t"/*.orig.tar.* -C "$dir.part" --strip-components 1 \
		--wildcards "$@" && mv "$dir.part" "$dir"
