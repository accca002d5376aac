#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_bind_now - no symbol is looked up while a program runs
#
# The accesses of a microbenchmark are counted by hand, and lazy binding would
# add shared accesses of the dynamic linker to them. Our libraries run in signal
# handlers, where the linker's locks and its need of stack would be dangerous.
# So all of them must be bound when they are loaded. As a control, the check
# must find a program and a library that are bound lazily.
#
# covers: preload/instr/runtime

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
CC=${CC:-gcc}
failed=0 files=0

t=$(mktemp -d) || exit 1
trap 'rm -rf "$t"' EXIT

bound_at_start()
{
	LC_ALL=C readelf -Wd "$1" 2>/dev/null |
		grep -Eq '\((BIND_NOW|FLAGS|FLAGS_1)\).*NOW'
}

cat >"$t/lazy.c" <<'EOF'
#include <stdio.h>
int main(void) { return puts("lazy") < 0; }
EOF
$CC -Wl,-z,lazy -o "$t/lazy" "$t/lazy.c" &&
	$CC -fPIC -shared -Wl,-z,lazy -o "$t/lazy.so" "$t/lazy.c" &&
	$CC -Wl,-z,now -o "$t/now" "$t/lazy.c" || exit 1
if bound_at_start "$t/lazy" || bound_at_start "$t/lazy.so" ||
	bound_at_start "$t/none" || ! bound_at_start "$t/now"; then
	echo "FAIL: the control: lazy and early binding are not told apart"
	failed=1
fi

set --
for source in "$TOP"/microbench/*.c; do
	name=${source##*/}
	set -- "$@" "microbench/${name%.c}"
done
for file in "$@" libcomdet.so libcomdet-heap.so libcomdet-instr.so \
	libcomdet-qemu.so; do
	files=$((files + 1))
	if ! bound_at_start "$B/$file"; then
		echo "FAIL: $file is not there or not bound at its start"
		failed=1
	fi
done
echo "$files files are bound at their start"
[ $failed = 0 ]
