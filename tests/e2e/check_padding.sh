#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_padding - what padding would avoid, told by the clock
#
# A lock and the counter that it protects are false sharing by the published
# definition, but padding avoids nothing. Counters of each thread's own want
# padding. The 95 % interval of what the report says must come within 15 points
# of that.
#
# serial: two threads must run at the same time
# covers: preload/sources

. "$(dirname "$0")/e2e.sh"

# run CASE - twice as long until 60 detections are judged
run()
{
	local seconds=1

	for _ in 1 2 3 4 5 6; do
		COMDET_SOURCE=clock COMDET_FREQ=1000 preload "$WORK/out" \
			"$B/tests/programs/help_padding" "$1" $seconds ||
			fail "help_padding $1 ended with status $?"
		json "$WORK/out" "$WORK/json"
		[ "$(ask "$WORK/json" 'c.get("judged", 0) >= 60')" = True ] &&
			break
		seconds=$((seconds * 2))
	done
	ask "$WORK/json" "('$1', 'judged', c.get('judged'), 'of', est('total'),
		'avoidable', c.get('avoidable'), 'false', est('false_sharing'))"
	holds "$WORK/json" 'c["judged"] >= 60' "$1: what could be judged"
	holds "$WORK/json" 'sum(l["judged"] for l in c["lines"]) == c["judged"]' \
		"$1: the lines add up"
	"$TOOL" report "$WORK/out" --color=never >"$WORK/text" ||
		fail "$1: no report"
	head -1 "$WORK/text" | grep -q '^Padding would avoid' ||
		fail "$1: the report begins with $(head -1 "$WORK/text")"
}

run lock
holds "$WORK/json" 'c["avoidable_share"]["low"] <= .15' 'a lock'
grep -q 'Padding avoids none' "$WORK/text" ||
	holds "$WORK/json" 'c["avoidable"] > 0' 'the hint to pad a lock'
run own
holds "$WORK/json" 'c["avoidable_share"]["high"] >= .85' 'own counters'
grep -q 'False sharing ends where' "$WORK/text" || fail 'no hint to pad'
