#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_pairs - four threads, 0 with 1 and 2 with 3: the other cells stay empty
#
# At five times the default rate, to be done sooner; FREQ takes another.
#
# serial: it counts what four threads do at the same time

. "$(dirname "$0")/e2e.sh"

export COMDET_FREQ=${FREQ:-1000}
seconds=${SECONDS_EACH:-8}
for _ in 1 2 3 4 5; do # longer where the machine is busy
	preload "$WORK/out" "$B/microbench/point_to_point" --threads 4 \
		--seconds "$seconds" >/dev/null || fail "status $?"
	json "$WORK/out" "$WORK/r.json"
	[ "$(ask "$WORK/r.json" 'est("total") >= 1000')" = True ] && break
	seconds=$((seconds * 2))
done
# Thread 0 is the main thread, which only waits; the pairs are found by order.
cells='[t["id"] for t in r["threads"] if t["samples"]["uniform"] > 50]'
holds "$WORK/r.json" "len($cells) == 4" "four working threads"
holds "$WORK/r.json" 'est("total") >= 1000' "detections"
pair="(lambda t: (cell(t[0], t[1]), cell(t[2], t[3]),
	sum(cell(t[i], t[j]) for i in (0, 1) for j in (2, 3))))($cells)"
holds "$WORK/r.json" "(lambda p: p[2] < 0.03 * min(p[0], p[1]))($pair)" \
	"off-pair cells below 3 % of the pair cells"
echo "pairs and the rest: $(ask "$WORK/r.json" "$pair")"
