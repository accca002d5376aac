#!/bin/bash
# SPDX-License-Identifier: MIT
#
# score_reuse - how close reuse times of the source instr come to the truth
#
#	score_reuse.sh [CASE...]
#
# RIBench's twenty cases. WATCH=sw|hw, THREADS=2; each case runs until USES of
# its uses are decided (default: one run).

. "$(dirname "$0")/../e2e/e2e.sh"

WATCH=${WATCH:-sw}
THREADS=${THREADS:-2}
USES=${USES:-1}
RIBENCH=$B/microbench/ribench
SCORE=$TOP/tests/oracle/reuse_score.py

# score CASE OUTER PERIOD - prints the score of all runs together
score()
{
	local what="--case $1 --threads $THREADS --outer $2" run=0 line='' truth

	rm -rf "$WORK/all"
	mkdir "$WORK/all"
	# shellcheck disable=SC2086
	truth=$("$RIBENCH" $what --no-run --histogram)
	until [[ $line =~ \"decided\":\ ([0-9]+) ]] &&
		((BASH_REMATCH[1] >= USES)); do
		rm -rf "$WORK/out"
		# shellcheck disable=SC2086
		env COMDET_MODE=reuse COMDET_GRANULARITY=address \
			COMDET_WATCH="$WATCH" COMDET_PERIOD="$3" \
			COMDET_OUT="$WORK/out" LD_PRELOAD="$LIB" \
			"$B/microbench/instr/ribench" $what || fail "$1"
		mv "$WORK"/out/*.cdp "$WORK/all/$((run++)).cdp"
		line=$(python3 "$SCORE" ribench "$WORK/all" "$truth")
	done
	echo "${line%\}}, \"runs\": $run}"
}

cases=("$@")
[ $# != 0 ] || mapfile -t cases < <("$RIBENCH" --cases)
for case in "${cases[@]}"; do
	case $case in
	short*) score "$case" 20 $((500 * THREADS)) ;;
	*) score "$case" 1 $((5000 * THREADS)) ;;
	esac
done | tee "$WORK/scores"
python3 -c '
import json, sys
s = [json.loads(line) for line in sys.stdin]
print("%d cases: S %.4f on average, %.4f at worst; invalidated within %.1f "
      "points; %d uses or more" % (
          len(s), sum(d["S"] for d in s) / len(s), min(d["S"] for d in s),
          100 * max(abs(d["invalidated"] - d["true_invalidated"]) for d in s),
          min(d["decided"] for d in s)))
' <"$WORK/scores"
