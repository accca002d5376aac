#!/bin/bash
# SPDX-License-Identifier: MIT
#
# redis_source - fetch redis's own tests from Debian's source package
#
#	tests/suites/redis_source.sh DIR
#
# The lists of apt are not changed: the configured sources of Debian are read as
# sources of source packages, into a directory of their own. The tests run with
# the installed redis-server, so it must be of the same version.

dir=$1
[ ! -e "$dir/tests/test_helper.tcl" ] || exit 0
command -v redis-server >/dev/null && command -v tclsh >/dev/null || {
	echo "no redis-server or no tclsh" >&2
	exit 1
}
t=$(mktemp -d) || exit 1
trap 'rm -rf "$t"' EXIT
mkdir -p "$t/lists/partial" "$t/cache/archives/partial" "$t/parts"
for file in /etc/apt/sources.list.d/*.sources; do
	grep -q 'URIs:.*debian' "$file" 2>/dev/null &&
		sed 's/^Types: deb$/Types: deb-src/' "$file" >"$t/parts/${file##*/}"
done
grep -hs '^deb .*debian' /etc/apt/sources.list /etc/apt/sources.list.d/*.list |
	sed 's/^deb /deb-src /' >"$t/parts/source.list"
options=(-qq -o Dir::Etc::SourceList=/dev/null -o "Dir::Etc::SourceParts=$t/parts"
	-o "Dir::State::Lists=$t/lists" -o "Dir::Cache=$t/cache")
version=$(dpkg-query -W -f '${Version}' redis-server)
cd "$t" && apt-get "${options[@]}" update >&2 &&
	apt-get "${options[@]}" source --download-only "redis=$version" >&2 || {
	echo "cannot fetch the source package redis $version" >&2
	exit 1
}
mkdir -p "$dir" && tar -xzf "$t"/redis_*.orig.tar.gz -C "$dir" --strip-components 1 \
	--wildcards '*/tests' '*/redis.conf' '*/sentinel.conf' '*/src/*.h' \
	'*/utils' '*/runtest' '*/src/commands' || {
	rm -rf "$dir"
	exit 1
}
