#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_choose - the accesses that choose.h chooses have the true mix
#
# help_bias stops each loop of microbench/mix at random moments and lets
# choose.h choose an access. Of each loop it takes at least 3,000 uniform
# samples. Their total variation distance from the true mix, with loads and
# stores told apart, must be at most 3 %. Over all loops a sample may take 0.3
# breakpoints, and no sample may be lost.

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
loops="copy five threads chase calls simd fp-branch int-branch long-body gather"
samples=6000 # half of them uniform, some more for what falls short
percent=40   # stalled

for program in tests/programs/help_bias microbench/mix; do
	[ -x "$B/$program" ] || { echo "$program is not built"; exit 1; }
done

status=0 worst=0
for loop in $loops; do
	out=$(timeout 600 "$B/tests/programs/help_bias" -n $samples -p $percent -- \
		"$B/microbench/mix" "$loop" 2>&1) || {
		case $out in
		*"Operation not permitted"*)
			echo "ptrace is not permitted here"
			exit 77
			;;
		esac
		echo "$loop: $out"
		exit 1
	}
	line=${out##*$'\n'}
	echo "$line"
	verdict=$(echo "$line" | awk '{
		for (i = 1; i < NF; i++) v[$i] = $(i + 1)
		print v["distance"], v["traps/sample"],
			!(v["distance"] <= 3 && v["uniform"] >= 3000 &&
			  v["traps/sample"] <= 0.5 && v["lost"] == 0) }')
	set -- $verdict
	traps="$traps $2"
	worst=$(echo "$worst $1" | awk '{ print ($1 > $2) ? $1 : $2 }')
	[ "$3" = 0 ] || { status=1; echo "$out"; }
done
mean=$(echo $traps | awk '{ for (i = 1; i <= NF; i++) s += $i; print s / NF }')
awk "BEGIN { exit !($mean <= 0.3) }" || status=1
echo "distance at most $worst %, $mean breakpoints a sample on average"
exit $status
