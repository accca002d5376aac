#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_pmu_reuse - reuse times on simulated PMUs, from real debug registers
#
# As in check_pmu, tests/libcomdet-fake.so is the library that users preload, on
# a simulated kernel and PMU. Half of a thread's accesses go to one word, the
# others to one of 64 by chance: reuse times are geometric, with the parameters
# 1/2 and 1/128. Every sixth access loads and stores; the events of PEBS count it
# twice.

. "$(dirname "$0")/e2e.sh"
ops=200000
status=0
debug_registers || skip 'no debug registers here'

# reuse CASE SOURCE VARIABLE... - judge the reuse times
reuse()
{
	local case=$1 source=$2

	shift 2
	rm -rf "$WORK/out"
	timeout 600 env COMDET_PERIOD=1000 COMDET_OUT="$WORK/out" \
		COMDET_MODE=reuse "$@" LD_PRELOAD="$B/tests/libcomdet-fake.so" \
		"$B/tests/programs/help_pmu" $ops >"$WORK/truth" 2>"$WORK/said"
	"$TOOL" report "$WORK/out" --json >"$WORK/json" 2>>"$WORK/said" ||
		{ echo "$case: $(cat "$WORK/said")"; status=1; return; }
	python3 - "$case" "$source" "$WORK/truth" "$WORK/json" <<'EOF' || status=1
import json, sys
case, source, truth, report = sys.argv[1:]
report = json.load(open(report))
rows = [list(map(int, line.split())) for line in open(truth)]
bad = []
if report['run']['source'] != source or report['run']['modes'] != ['reuse']:
    bad.append(f"run {report['run']}")
# Our handler touches a few watched places where the stack grows.
lost = {k for k, v in report['loss'].items() if v > 20 * (k == 'blocked')}
if lost - {'not_memory', 'no_register', 'trap_stale', 'trap_inexact'}:
    bad.append(f'lost {lost}')
whole = [x for x in report['reuse'] if 'thread' not in x][0]
if whole['scope'] != 'private' or whole['granularity'] != 'address':
    bad.append(f"{whole['scope']} by {whole['granularity']}")
n, weight = whole['samples'], whole['weight']
# An interval is uniform over half a period; each thread's last one is cut.
accesses = sum(loads + stores for _, _, loads, stores, _ in rows)
if source == 'pebs' and abs(weight - accesses) > .1 * accesses:
    bad.append(f'{weight} uses of {accesses} accesses')
double = 7 / 6 if source == 'pebs' else 1
most = 0
for low, high in (24, 40), (48, 80), (96, 160), (192, 320), (384, 640):
    # No bin ends there: the truth lies between the two nearest ends.
    share = sum(b['weight'] for b in whole['bins'] if b['high'] <= high) / weight
    less = sum(b['weight'] for b in whole['bins'] if b['high'] <= low) / weight
    def true(t):
        return 1 - .5 ** (1 + t / double) - .5 * (127 / 128) ** (t / double)
    middle = (low + high) / 2
    sigma = (true(middle) * (1 - true(middle)) / n) ** .5
    if share < true(middle) - 4 * sigma or less > true(middle) + 4 * sigma:
        bad.append(f'{less:.3f} to {share:.3f} up to {middle},'
                   f' in truth {true(middle):.3f} +- {sigma:.3f}')
if n < 200:
    bad.append(f'{n} reuses')
print(f'{case}: {n} reuses for {weight:.0f}')
for what in bad:
    print(f'  {what}')
sys.exit(bool(bad))
EOF
}

reuse 'Skylake, reuse' pebs FAKE_MODEL=skylake
reuse 'Alder Lake, reuse' pebs FAKE_MODEL=alder-lake
reuse 'Zen 4, reuse' ibs FAKE_MODEL=zen4
exit $status
