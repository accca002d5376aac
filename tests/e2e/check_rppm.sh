#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_rppm - predictions against the reference, on one configuration
#
# Without the reference, which lies beside the project, it shows only that this
# is said. reusetrack accuracy --suite rppm compares all programs and machines.
#
# covers: analysis/accuracy analysis/predict

. "$(dirname "$0")/e2e.sh"

"$TOOL" accuracy --suite rppm --reference "$WORK" >"$WORK/out" 2>"$WORK/err"
[ $? = 77 ] || fail 'without a reference the status is not 77'
grep -q 'suite rppm: there is no results.csv' "$WORK/err" ||
	fail "$(<"$WORK/err")"

command -v qemu-x86_64 >/dev/null ||
	skip 'qemu-x86_64 is missing: install the package qemu-user'
reference=$TOP/../shared/data/golden
[ -e "$reference/results.csv" ] ||
	skip "the reference results are not in $reference"

# Three of its programs: a chain of loads, conflicts in sets, four threads.
mkdir -p "$WORK/some/kernels"
for k in chase_llc bsearch mt_unbalanced; do
	cp "$reference/kernels/$k.c" "$WORK/some/kernels" || fail "no $k"
done
cp "$reference/kernels/k.h" "$WORK/some/kernels"
cp "$reference/results.csv" "$WORK/some"
"$TOOL" accuracy --suite rppm --short --json --reference "$WORK/some" \
	>"$WORK/out" 2>"$WORK/err" || fail "$(<"$WORK/out") $(<"$WORK/err")"
python3 - "$WORK/out" <<'PY' || fail "$(<"$WORK/out")"
import json, sys
rows = json.load(open(sys.argv[1]))["rows"]
def error(case, metric):
    return [abs(r["error"]) for r in rows
            if r["case"] == case and r["metric"] == metric][0]
near = {"chase_llc c3 pentium_m": 0.05, "bsearch c3 pentium_m": 0.05,
        "bsearch c3 one_bit": 0.05, "mt_unbalanced c3 pentium_m": 0.1}
for case, bound in near.items():
    print(case, error(case, "cycles"))
    assert error(case, "cycles") < bound
# The first thread alone has the least to do.
assert error("mt_unbalanced c3 pentium_m", "main") > 0.3
# What the corrections of the equation are for.
assert error("equation 1, and overlap", "mean error") < \
    error("equation 1, as printed", "mean error")
PY
