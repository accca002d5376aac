#!/bin/sh
# SPDX-License-Identifier: MIT
#
# check_spin - verify the model of the bulletin board with spin
#
# The model must hold, and spin must find the error in each broken variant: a
# model that cannot fail proves nothing.

model=$(cd "$(dirname "$0")/.." && pwd)/src/engine/board.pml
broken='NO_RECHECK NO_FIRST_LOOK NO_EXCLUSION EARLY_EVEN LATE_ODD
	EARLY_RECHECK WAITS NEVER_READ NEVER_BUSY'

for tool in spin gcc; do
	if ! command -v $tool >/dev/null; then
		echo "$tool is not installed (Debian package $tool)"
		exit 77
	fi
done
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1

# verify OPTIMIZATION [VARIANT]: the verifier's report in $dir/out
verify()
{
	rm -f pan*
	if ! spin -a ${2:+-D"$2"} "$model" >out 2>&1 ||
		! gcc "$1" -w -DSAFETY -DCOLLAPSE -o pan pan.c >>out 2>&1; then
		cat out
		echo "the model ${2:-as it is} does not build"
		exit 1
	fi
	./pan -m100000 >out 2>&1
}

verify -O1
if ! grep -q 'errors: 0$' out || grep -q 'max search depth' out; then
	cat out
	echo "the model of the board does not hold"
	exit 1
fi
states=$(awk '/states, stored/ { print $1 }' out)

# An error is found long before all states: compiling would take most time.
for variant in $broken; do
	verify -O0 "$variant"
	if ! grep -Eq 'errors: [1-9]' out; then
		cat out
		echo "the variant $variant was not found out"
		exit 1
	fi
	grep -m1 '^pan:1:' out | sed "s/^pan:1:/$variant:/"
done
set -- $broken
echo "the board holds in all of $states states, $# broken variants do not"
