#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_sharing - true, false and no sharing are told apart
#
# Two threads that store to words of one line share falsely; if they store to
# one word, the sharing is true. Words 128 bytes apart, one thread alone and
# threads that only read give no sharing. Each case runs RUNS times, and every
# run must be right. The rate is twenty times the default, to save time; FREQ sets
# another. Where the machine is busy, runs are longer.
#
# serial: it counts what two threads do at the same time

. "$(dirname "$0")/e2e.sh"
RUNS=${RUNS:-5}
SECONDS_EACH=${SECONDS_EACH:-0.4}
export COMDET_FREQ=${FREQ:-4000}
words=$B/microbench/words

# run ENOUGH ARGUMENTS... - twice as long until this is true of the report
run()
{
	local enough=$1 seconds=$SECONDS_EACH

	shift
	for _ in 1 2 3 4 5 6 7; do
		preload "$WORK/out" "$words" --seconds "$seconds" "$@" \
			>/dev/null || fail "words $* ended with status $?"
		json "$WORK/out" "$WORK/r.json"
		[ "$(ask "$WORK/r.json" "$enough")" = True ] && break
		seconds=$(echo "$seconds" | awk '{ print $1 * 2 }')
	done
	holds "$WORK/r.json" "$enough" "run $i, $*: enough"
}
shared='est("total") >= 100'
sampled='sum(t["samples"]["uniform"] for t in r["threads"]) >= 600'

found=
for i in $(seq "$RUNS"); do
	for width in 8 4; do
		run "$shared" --distance "$width" --width "$width"
		holds "$WORK/r.json" \
			'est("false_sharing") >= 0.95 * est("total")' \
			"run $i, words of $width bytes on one line"
	done
	found="$found $(ask "$WORK/r.json" 'est("total")')"

	run "$shared" --distance 0 --width 8
	holds "$WORK/r.json" 'est("true_sharing") >= 0.95 * est("total")' \
		"run $i, one word"

	run "$sampled" --distance 128 --width 8
	holds "$WORK/r.json" 'est("total") <= 1' "run $i, 128 bytes apart"
	run "$sampled" --distance 0 --read-only
	holds "$WORK/r.json" 'est("total") == 0' "run $i, threads that read"
	run "$sampled" --threads 1
	holds "$WORK/r.json" 'est("total") == 0' "run $i, one thread"
done
echo "$RUNS runs of 6 cases right; false sharing detections a run:$found"
