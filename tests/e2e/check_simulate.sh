#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_simulate - the simulator against the reference, on one configuration
#
# Without the reference, which lies beside the project, it shows only that this
# is said. reusetrack accuracy --suite simulate compares all configurations.
#
# covers: analysis/accuracy analysis/model

. "$(dirname "$0")/e2e.sh"

"$TOOL" accuracy --suite simulate --reference "$WORK" >"$WORK/out" 2>"$WORK/err"
[ $? = 77 ] || fail 'without a reference the status is not 77'
grep -q 'there is no results.csv' "$WORK/err" || fail "$(cat "$WORK/err")"
"$TOOL" accuracy --reference "$WORK" >"$WORK/out" 2>"$WORK/err" &&
	fail '--reference without the suite was accepted'

command -v qemu-x86_64 >/dev/null ||
	skip 'qemu-x86_64 is missing: install the package qemu-user'
reference=$TOP/../shared/data/golden
[ -e "$reference/results.csv" ] ||
	skip "the reference results are not in $reference"

# Three of its programs; each would do, but they need different parts.
mkdir -p "$WORK/some/kernels"
for k in chase_l2 br_bias90 mt_readshared; do
	cp "$reference/kernels/$k.c" "$WORK/some/kernels" || fail "no $k"
done
cp "$reference/kernels/k.h" "$WORK/some/kernels"
cp "$reference/results.csv" "$WORK/some"
"$TOOL" accuracy --suite simulate --short --reference "$WORK/some" \
	>"$WORK/out" 2>"$WORK/err" || fail "$(cat "$WORK/out" "$WORK/err")"
[ "$(grep -c 'chase_l2 c3 pentium_m.*pass' "$WORK/out")" = 1 ] ||
	fail "chase_l2 was not judged: $(cat "$WORK/out" "$WORK/err")"
[ "$(grep -c 'c3.*pass' "$WORK/out")" -ge 4 ] || fail "$(cat "$WORK/out")"
cat "$WORK/out"
