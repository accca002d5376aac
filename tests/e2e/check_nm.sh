#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_nm - what runs in a signal handler calls nothing but what it may
#
# Looked at are the objects of all files that include signal_safe.h. A symbol
# that one of them leaves undefined must be defined in another of them, or stand
# in nm_allow.txt with the reason why it is safe. An entry that nobody uses is
# an error too: the list says no more than is true.

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
allow=$TOP/tests/e2e/nm_allow.txt

undefined()
{
	nm -u "$1" | awk '{ sub(/@.*/, "", $2); print $2 }' | sort -u
}

# defined OBJECT... - the global symbols that these objects define
defined()
{
	nm -A --defined-only -g "$@" | awk '{ print $NF }' | sort -u
}

# check_objects OBJECT... - complain about each symbol that is not allowed
check_objects()
{
	local object symbol bad=0 ours

	ours=$(mktemp)
	{
		defined "$@"
		sed -E 's/[ \t]*#.*//; /^$/d' "$allow"
		echo _GLOBAL_OFFSET_TABLE_
	} | sort -u >"$ours"
	for object in "$@"; do
		for symbol in $(undefined "$object" | comm -23 - "$ours"); do
			echo "${object#"$B"/obj/}: $symbol is not in tests/e2e/nm_allow.txt"
			bad=1
		done
	done
	rm -f "$ours"
	return $bad
}

t=$(mktemp -d) || exit 1
trap 'rm -rf "$t"' EXIT
echo 'void *f(void); void *malloc(unsigned long); void *f(void) { return malloc(3); }' |
	${CC:-gcc} -x c -fPIC -c -o "$t/bad.o" -
if check_objects "$t/bad.o" >/dev/null; then
	echo "the check itself is wrong: it let malloc pass"
	exit 1
fi

objects=()
while read -r file; do
	object=$B/obj/${file%.c}.o
	if [ ! -e "$object" ]; then
		echo "$object is not built"
		exit 1
	fi
	objects+=("$object")
done < <(
	cd "$TOP" || exit 1
	grep -rlE '^#include .*signal_safe\.h"' src preload --include='*.c' | sort
)
if [ ${#objects[@]} -lt 20 ]; then
	echo "only ${#objects[@]} files found that run in a handler"
	exit 1
fi

bad=0
check_objects "${objects[@]}" || bad=1
for object in "${objects[@]}"; do
	undefined "$object"
done | sort -u >"$t/used"
for symbol in $(sed -E 's/[ \t]*#.*//; /^$/d' "$allow" | sort -u |
	comm -23 - "$t/used"); do
	echo "tests/e2e/nm_allow.txt: nobody uses $symbol"
	bad=1
done
echo "${#objects[@]} objects"
exit $bad
