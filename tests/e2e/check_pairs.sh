#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_pairs - threads 0 and 1 share, 2 and 3 share: other cells stay empty
#
# The rate is five times the default, to save time; FREQ sets another. Of 300
# detections, those of the other cells may be four.
#
# serial: it counts what four threads do at the same time

. "$(dirname "$0")/e2e.sh"

export COMDET_FREQ=${FREQ:-1000}
seconds=${SECONDS_EACH:-8}
for _ in 1 2 3 4 5; do # longer where the machine is busy
	preload "$WORK/out" "$B/microbench/point_to_point" --threads 4 \
		--seconds "$seconds" >/dev/null || fail "status $?"
	json "$WORK/out" "$WORK/r.json"
	[ "$(ask "$WORK/r.json" 'est("total") >= 300')" = True ] && break
	seconds=$((seconds * 2))
done
# The main thread only waits. The other threads are paired by their order.
cells='[t["id"] for t in r["threads"] if t["samples"]["uniform"] > 50]'
holds "$WORK/r.json" "len($cells) == 4" "four working threads"
holds "$WORK/r.json" 'est("total") >= 300' "detections"
pair="(lambda t: (cell(t[0], t[1]), cell(t[2], t[3]),
	sum(cell(t[i], t[j]) for i in (0, 1) for j in (2, 3))))($cells)"
holds "$WORK/r.json" "(lambda p: p[2] < 0.03 * min(p[0], p[1]))($pair)" \
	"off-pair cells below 3 % of the pair cells"
echo "pairs and the rest: $(ask "$WORK/r.json" "$pair")"
