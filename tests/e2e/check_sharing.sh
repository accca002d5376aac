#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_sharing - true, false and no sharing are told apart
#
# Two threads that store to words of one line share falsely; if they store to
# one word, the sharing is true. Words 128 bytes apart, one thread alone and
# threads that only read give no sharing. Each case runs RUNS times, and every
# run must be right. The rate is five times the default, to save time; FREQ sets
# another.
#
# serial: it counts what two threads do at the same time

. "$(dirname "$0")/e2e.sh"
RUNS=${RUNS:-5}
SECONDS_EACH=${SECONDS_EACH:-1}
export COMDET_FREQ=${FREQ:-1000}
words=$B/microbench/words

# run SECONDS ARGUMENTS...
run()
{
	local seconds=$1

	shift
	preload "$WORK/out" "$words" --seconds "$seconds" "$@" \
		>/dev/null || fail "words $* ended with status $?"
	json "$WORK/out" "$WORK/r.json"
}

# run_shared ARGUMENTS... - the same, twice as long until it suffices
run_shared()
{
	local seconds=$SECONDS_EACH

	for _ in 1 2 3 4 5 6; do
		run "$seconds" "$@"
		[ "$(ask "$WORK/r.json" 'est("total") >= 100')" = True ] && break
		seconds=$((seconds * 2))
	done
}

found=
for i in $(seq "$RUNS"); do
	for width in 8 4; do
		run_shared --distance "$width" --width "$width"
		holds "$WORK/r.json" 'est("total") >= 100' \
			"run $i, words of $width bytes on one line"
		holds "$WORK/r.json" \
			'est("false_sharing") >= 0.95 * est("total")' \
			"run $i, words of $width bytes on one line"
	done
	found="$found $(ask "$WORK/r.json" 'est("total")')"

	run_shared --distance 0 --width 8
	holds "$WORK/r.json" 'est("total") >= 100' "run $i, one word"
	holds "$WORK/r.json" 'est("true_sharing") >= 0.95 * est("total")' \
		"run $i, one word"

	run 2 --distance 128 --width 8
	holds "$WORK/r.json" 'est("total") <= 1' "run $i, 128 bytes apart"
	run 2 --distance 0 --read-only
	holds "$WORK/r.json" 'est("total") == 0' "run $i, threads that read"
	run 1 --threads 1
	holds "$WORK/r.json" 'est("total") == 0' "run $i, one thread"
done
echo "$RUNS runs of 6 cases right; false sharing detections a run:$found"
