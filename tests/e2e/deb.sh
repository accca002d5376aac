#!/bin/bash
# SPDX-License-Identifier: MIT
#
# deb - the Debian package installs, works, and leaves nothing behind
#
# `make check-deb` runs it. dpkg installs the package below a directory, so this
# machine does not change. The packages that it depends on are here, and what it
# installed profiles a program.

. "$(dirname "$0")/e2e.sh"
cd "$WORK" || exit 1
needs dpkg dpkg-deb dpkg-shlibdeps
package=$(make -s -C "$TOP" deb | tail -1)
package=$TOP/$package
[ -s "$package" ] || fail "make deb made no package: $package"

dpkg-deb -f "$package" Depends | tr ',' '\n' | sed 's/(.*//; s/ //g' >depends
for p in $(cut -d'|' -f1 depends); do
	dpkg-query -W -f '${Status}\n' "$p" 2>/dev/null | grep -q ' installed$' ||
		fail "it depends on $p, which is not here"
done
grep -q '^libc6$' depends || fail "no dependency on libc6: $(cat depends)"

mkdir -p root/var/lib/dpkg/{info,updates,triggers}
touch root/var/lib/dpkg/{status,available}
ours=(dpkg --root="$WORK/root" --force-not-root --force-depends --log=/dev/null)
"${ours[@]}" -i "$package" >log 2>&1 || fail "dpkg -i: $(cat log)"
"${ours[@]}" -V reusetrack >log 2>&1 || fail "dpkg -V: $(cat log)"
installed=$WORK/root/usr/bin/reusetrack
[ "$("$installed" --version)" = "reusetrack $(dpkg-deb -f "$package" Version)" ] ||
	fail "another version: $("$installed" --version)"
"$installed" record -o out -- \
	"$WORK/root/usr/lib/reusetrack/microbench/demo" >log 2>&1 ||
	fail "record: $(cat log)"
"$installed" report out | grep -q '^Cache lines' ||
	fail "report: $("$installed" report out)"
man -l root/usr/share/man/man1/reusetrack.1.gz >/dev/null ||
	fail "the man page cannot be read"

"${ours[@]}" -P reusetrack >log 2>&1 || fail "dpkg -P: $(cat log)"
left=$(find root -type f -o -type l | grep -v '^root/var/lib/dpkg/')
[ -z "$left" ] || fail "left behind: $left"
echo "$(dpkg-deb -c "$package" | wc -l) files, $(stat -c %s "$package") bytes;" \
	"$(wc -l <depends) dependencies are here"
