#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_hardening - what is installed is built so that a fault is hard to use
#
# reusetrack reads files that others wrote: it is position independent, has
# stack protectors and the checked functions of libc, and its symbols are bound
# and read-only before main. The libraries have what their code can bear: the
# Makefile says why code that runs in handlers has no stack protector. As a
# control, a program built without any of it must fail each check.
#
# covers: Makefile

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
CC=${CC:-gcc}
export LC_ALL=C
failed=0

t=$(mktemp -d) || exit 1
trap 'rm -rf "$t"' EXIT

has_pie() { readelf -Wd "$1" | grep -q 'FLAGS_1.*PIE'; }
has_relro() { readelf -Wl "$1" | grep -q GNU_RELRO; }
has_now() { readelf -Wd "$1" | grep -Eq '\((BIND_NOW|FLAGS|FLAGS_1)\).*NOW'; }
has_protector() { nm -Du "$1" | grep -q '__stack_chk_fail'; }
has_fortify() { nm -Du "$1" | grep -Eq '__(v?snprintf|memcpy|v?fprintf)_chk'; }
has_data_stack()
{
	readelf -Wl "$1" | grep -Eq 'GNU_STACK .* RW +0x'
}

# expect WHAT FILE... - each must have it
expect()
{
	local what=$1 file

	shift
	if has_"$what" "$t/bare" || ! has_"$what" "$t/hard"; then
		echo "FAIL: the control: $what is not told from its absence"
		failed=1
	fi
	for file in "$@"; do
		if ! has_"$what" "$B/$file"; then
			echo "FAIL: $file has no $what"
			failed=1
		fi
	done
}

cat >"$t/p.c" <<'EOF'
#include <stdio.h>
int main(int argc, char **argv)
{
	char line[64];
	int n = snprintf(line, sizeof(line), "%s %d", argv[0], argc);
	return n + fprintf(stderr, "%s\n", line);
}
EOF
$CC -O2 -no-pie -fno-pie -fno-stack-protector -U_FORTIFY_SOURCE \
	-Wl,-z,norelro,-z,lazy,-z,execstack -o "$t/bare" "$t/p.c" &&
	$CC -O2 -pie -fPIE -fstack-protector-all -U_FORTIFY_SOURCE \
		-D_FORTIFY_SOURCE=2 -Wl,-z,relro,-z,now,-z,noexecstack \
		-o "$t/hard" "$t/p.c" || exit 1

libraries='libcomdet.so libcomdet-heap.so libcomdet-qemu.so libcomdet-guest.so
	libcomdet-instr.so'
expect pie reusetrack
expect fortify reusetrack
expect protector reusetrack libcomdet.so libcomdet-qemu.so
# shellcheck disable=SC2086 # four words
for what in relro now data_stack; do
	expect $what reusetrack $libraries
done
[ $failed = 0 ] && echo "reusetrack and 5 libraries are hardened"
