#!/bin/bash
# SPDX-License-Identifier: MIT
#
# score_reuse - how close reuse times of the source instr come to the truth
#
#	score_reuse.sh [CASE...]
#
# RIBench's twenty cases, two threads, software watches: half a minute.

. "$(dirname "$0")/../e2e.sh"

RIBENCH=$B/microbench/ribench
SCORE=$TOP/tests/reuse_score.py

# score CASE OUTER PERIOD
score()
{
	local what="--case $1 --threads 2 --outer $2"

	rm -rf "$WORK/out"
	# shellcheck disable=SC2086
	env COMDET_MODE=reuse COMDET_GRANULARITY=address COMDET_PERIOD="$3" \
		COMDET_OUT="$WORK/out" LD_PRELOAD="$LIB" \
		"$B/microbench/instr/ribench" $what || fail "$1"
	# shellcheck disable=SC2086
	python3 "$SCORE" ribench "$WORK/out" \
		"$("$RIBENCH" $what --no-run --histogram)"
}

cases=("$@")
[ $# != 0 ] || mapfile -t cases < <("$RIBENCH" --cases)
for case in "${cases[@]}"; do
	case $case in
	short*) score "$case" 20 1000 ;;
	*) score "$case" 1 10000 ;;
	esac
done | tee "$WORK/scores"
python3 -c '
import json, sys
s = [json.loads(line)["S"] for line in sys.stdin]
print(f"{len(s)} cases: S {sum(s) / len(s):.4f} on average, {min(s):.4f} at worst")
' <"$WORK/scores"
