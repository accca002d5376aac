#!/bin/bash
# SPDX-License-Identifier: MIT
#
# coverage_emu - how often emu's intervals hold the exact counts of the same run
#
#	coverage_emu.sh [SEEDS]
#
# Runs each program with each way of watching, period and seed (default 3), and
# prints a table in Markdown: the ratio of estimate to exact count, how many
# intervals of totals, of the false share and of cells hold the exact values, and
# the median width of the interval of the total.

set -u
TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
SEEDS=${1:-3}
PERIODS=${PERIODS:-200 1000 5000}
WORK=$(mktemp -d) || exit 1
trap 'rm -rf "$WORK"' EXIT
unset "${!COMDET_@}"

# row NAME SETTINGS COMMAND...
row()
{
	local name=$1 settings=$2 period seed

	shift 2
	: >"$WORK/runs"
	for period in $PERIODS; do
		for ((seed = 1; seed <= SEEDS; seed++)); do
			rm -rf "$WORK/out"
			qemu-x86_64 -cpu max -plugin "$B/libcomdet-qemu.so,out=$WORK/out,exact=1,period=$period,seed=$seed$settings" \
				"$@" >/dev/null 2>&1
			"$B/reusetrack" report "$WORK/out" --json >>"$WORK/runs"
		done
	done
	python3 - "$name" "$WORK/runs" <<-'PY'
		import json, statistics, sys
		text, at, runs = open(sys.argv[2]).read(), 0, []
		while text[at:].strip():
		    at += len(text[at:]) - len(text[at:].lstrip())
		    r, at = json.JSONDecoder().raw_decode(text, at)
		    runs.append(r)
		ratio, width, held = [], [], {'total': [], 'share': [], 'cell': []}
		for r in runs:
		    c, x = r['communication'], r['exact']
		    t, s = c['total'], c.get('false_share')
		    if not x['all']:
		        continue
		    ratio.append(t['estimate'] / x['all'])
		    width.append((t['high'] - t['low']) / x['all'])
		    held['total'].append(t['low'] <= x['all'] <= t['high'])
		    if s:
		        f = x['false'] / x['all']
		        held['share'].append(s['low'] - 1e-9 <= f <= s['high'] + 1e-9)
		    truth = {}
		    for d in x['cells']:
		        k = frozenset((d['from'], d['to']))
		        truth[k] = truth.get(k, 0) + d['all']
		    for d in c['cells']:
		        e = truth.get(frozenset((d['a'], d['b'])), 0)
		        held['cell'].append(d['low'] <= e <= d['high'])
		print('| %s | %d | %.2f [%.2f, %.2f] | %s | %.2f |' % (
		    sys.argv[1], len(runs), statistics.median(ratio), min(ratio),
		    max(ratio), ' | '.join('%d of %d' % (sum(held[k]), len(held[k]))
		    for k in ('total', 'share', 'cell')), statistics.median(width)),
		    flush=True)
	PY
}

echo '| program, watches | runs | estimate / exact: median [least, greatest] | totals held | false shares held | cells held | median width / exact |'
echo '|---|---|---|---|---|---|---|'
for how in '' ',registers=4' ',algorithm=chain,arming=1000' \
	',cover=chunks,registers=4'; do
	m=$B/microbench
	words=${how:+ ${how#,}}
	row "filled once, read once${words:- 255 lines}" "$how" \
		"$B/tests/programs/emu/guest_once" 40000 8
	row "write_volume${words:- 255 lines}" "$how" "$m/write_volume" \
		--threads 3 --iterations 300000 --sharing 0.3
	row "false_sharing${words:- 255 lines}" "$how" "$m/false_sharing" \
		--threads 2 --iterations 200000 --false 0.5
	for pattern in bursts ring lock; do
		row "$pattern${words:- 255 lines}" "$how" "$m/patterns" \
			--pattern $pattern --threads 4 --iterations 150000
	done
done
