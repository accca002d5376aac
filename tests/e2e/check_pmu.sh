#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_pmu - the preload on simulated machines with a PMU
#
# tests/libcomdet-fake.so is the library that users preload, on a simulated
# kernel and PMU (tests/fake/fake_process.c). help_pmu tells the machine what
# its threads execute, and prints the truth. Two threads share one word, and two
# others store as often to two words of one line. The profile must have
#
#   - the accesses of each thread: exactly if the PMU counts them, else within
#     4 standard deviations of the samples;
#   - as many samples as the period promises;
#   - detections between the right threads and of the right kind only, half of
#     them from each pair (4 standard deviations of a binomial);
#   - a counted loss for every fault of the PMU, and no other loss.

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
ops=200000

for file in tests/libcomdet-fake.so tests/programs/help_pmu reusetrack; do
	[ -e "$B/$file" ] || { echo "$file is not built"; exit 1; }
done
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
status=0

judge()
{
	python3 - "$@" <<'EOF'
import json, sys
case, source, truth, report, log, losses = sys.argv[1:7]
losses = set(losses.split())
report = json.load(open(report))
words = open(log).read().split()
fake = dict(zip(words[::2], map(int, words[1::2])))
rows = [list(map(int, line.split())) for line in open(truth)]
bad = []
def check(right, what):
    if not right:
        bad.append(what)
run = report['run']
check(run['source'] == source, f"source {run['source']}")
check(run['complete'], 'not complete')
queued = 'queued' in case or '5.13' in case
check(run['delivery'] == ('rtsig' if queued else 'sigtrap'),
      f"delivery {run['delivery']}")
lost = {k: v for k, v in report['loss'].items() if v}
if source == 'ibs':
    check(lost.pop('not_memory', 0) > 100, 'no ops without access')
# The debug registers are real: a tracer may own them, and traps may be late.
registers = {'no_register', 'trap_stale', 'trap_inexact'}
check(set(lost) - registers == losses, f'losses {lost}')
check(fake['lost'] == lost.get('ring_full', 0), f'the kernel lost {fake}')
period = run['period']
threads = {t['tid']: t for t in report['threads']}
partial = 'slow' in case
for number, tid, loads, stores, ops in rows:
    t = threads[tid]
    n = t['samples']['uniform']
    true = loads + stores
    if source == 'pebs' and not partial and not losses:
        check(t['counted']['loads'] == loads and
              t['counted']['stores'] == stores and
              t['accesses_kind'] == 'exact', f'counted {t}, truth {loads} {stores}')
    elif source == 'ibs':
        sampled = t['interrupts']
        for name, truth in ('loads', loads), ('stores', stores):
            share = truth / ops
            sigma = (share * (1 - share) / sampled) ** 0.5 * ops
            check(abs(t['counted'][name] - truth) < 4 * sigma,
                  f"{name} {t['counted'][name]} of {truth} +- {sigma:.0f}")
        check(t['accesses_kind'] == 'estimated', 'said to be exact')
    # Two streams of intervals with the variance period^2 / 48; the last
    # interval of each is cut.
    if source == 'pebs' and not losses and not partial:
        check(abs(n * period - true) < period * (4 * (n / 48) ** 0.5 + 2),
              f'{n} samples for {true}')
    elif source == 'ibs' and not losses:
        n = t['interrupts']
        check(abs(n * period - ops) < period * (4 * (n / 48) ** 0.5 + 1),
              f'{n} samples for {ops} ops')
ids = [threads[tid]['id'] for _, tid, *_ in rows]
communication = report['communication']
pair = {}
for c in communication['cells']:
    pair[c['a'], c['b']] = c
    right = (c['false'] == 0 if [c['a'], c['b']] == ids[:2] else
             c['true'] == 0 if [c['a'], c['b']] == ids[2:] else False)
    check(right, f'cell {c}')
n = [pair.get(tuple(ids[i:i + 2]), {}).get('all', 0) for i in (0, 2)]
check(sum(n) >= 15, f'{n} detections')
check(abs(n[0] - sum(n) / 2) <= 4 * (sum(n) / 4) ** 0.5, f'{n} by pair')
print(f"{case}: {fake['samples']} samples, {n[0]} + {n[1]} detections,"
      f" lost {lost}")
for what in bad:
    print(f'  {what}')
sys.exit(bool(bad))
EOF
}

# run CASE SOURCE LOSSES VARIABLE... - record with these variables, and judge
run()
{
	local case=$1 source=$2 losses=$3

	shift 3
	rm -rf "$tmp/out" "$tmp/log"
	timeout 600 env FAKE_LOG="$tmp/log" COMDET_PERIOD=1000 \
		COMDET_OUT="$tmp/out" "$@" \
		LD_PRELOAD="$B/tests/libcomdet-fake.so" \
		"$B/tests/programs/help_pmu" $ops >"$tmp/truth" 2>"$tmp/said"
	[ -s "$tmp/log" ] || { echo "$case: $(cat "$tmp/said")"; status=1; return; }
	"$B/reusetrack" report "$tmp/out" --json >"$tmp/json" &&
		judge "$case" "$source" "$tmp/truth" "$tmp/json" "$tmp/log" \
			"$losses" || status=1
}

run 'Skylake' pebs '' FAKE_MODEL=skylake
run 'Skylake, queued signals' pebs '' FAKE_MODEL=skylake \
	COMDET_DELIVERY=rtsig COMDET_REGISTERS=0
run 'Sapphire Rapids, slow loads' pebs '' FAKE_MODEL=sapphire-rapids \
	COMDET_LDLAT=3
run 'Sandy Bridge, slow loads in turns' pebs '' FAKE_MODEL=sandy-bridge
run 'Alder Lake' pebs '' FAKE_MODEL=alder-lake
run 'unknown, by codes' pebs '' FAKE_MODEL=unknown \
	COMDET_EVENT=loads=81d0:ALL_LOADS,stores=82d0:ALL_STORES
run 'Zen 4' ibs '' FAKE_MODEL=zen4
run 'Zen 2, no filter' ibs '' FAKE_MODEL=zen2 FAKE_PARANOID=1 \
	FAKE_KERNEL=6.12.24
# Each release as the preload itself chooses; before 5.19 signals are queued.
run 'Linux 5.13' pebs '' FAKE_MODEL=skylake FAKE_KERNEL=5.13.0 \
	COMDET_REGISTERS=0
for release in 5.19.0 6.1.0 6.2.0 6.11.0 6.15.0; do
	run "Linux $release" pebs '' FAKE_MODEL=skylake FAKE_KERNEL=$release
done
run 'Skylake with faults' pebs 'inexact_ip throttled' FAKE_MODEL=skylake \
	FAKE_INEXACT=6 FAKE_THROTTLE=90
run 'Zen 4 with faults' ibs 'inexact_ip throttled' FAKE_MODEL=zen4 \
	FAKE_INEXACT=6 FAKE_THROTTLE=90

# no_reuse WORDS VARIABLE... - the program runs unprofiled; one line has WORDS
no_reuse()
{
	local words=$1

	shift
	rm -rf "$tmp/out"
	env COMDET_OUT="$tmp/out" COMDET_MODE=reuse "$@" \
		LD_PRELOAD="$B/tests/libcomdet-fake.so" \
		"$B/tests/programs/help_pmu" 1000 >"$tmp/truth" 2>"$tmp/said"
	[ "$(wc -l <"$tmp/truth")" = 4 ] && [ "$(wc -l <"$tmp/said")" = 1 ] &&
		grep -q "not profiled: .*$words" "$tmp/said" ||
		{ echo "no reuse: '$words' is not in $(cat "$tmp/said")"; status=1; }
}

no_reuse 'neither pebs nor ibs' FAKE_MODEL=bare COMDET_SOURCE=pebs
no_reuse 'count every access' FAKE_MODEL=sandy-bridge
no_reuse 'synchronous signals' FAKE_MODEL=skylake COMDET_DELIVERY=rtsig
no_reuse 'debug registers' FAKE_MODEL=skylake COMDET_REGISTERS=0

no_reuse 'COMDET_EVENT=nonsense' FAKE_MODEL=skylake COMDET_EVENT=nonsense
no_reuse 'count every access' FAKE_MODEL=skylake COMDET_EVENT=loads=20d1

# fall_back WORDS VARIABLE... - the clock samples, and its reason has WORDS
fall_back()
{
	local words=$1 how

	shift
	rm -rf "$tmp/out"
	env COMDET_OUT="$tmp/out" "$@" LD_PRELOAD="$B/tests/libcomdet-fake.so" \
		"$B/tests/programs/help_pmu" 1000 >/dev/null 2>"$tmp/said"
	how=$("$B/reusetrack" report "$tmp/out" --json | python3 -c '
import json, sys
run = json.load(sys.stdin)["run"]
print(run["source"], run["source_reason"])')
	if [[ $how != clock\ *"$words"* ]]; then
		echo "'$words' is not in '$how'"
		status=1
	fi
}

fall_back 'family 6, model 0xfe' FAKE_MODEL=unknown
[ ! -s "$tmp/said" ] || { echo "auto said: $(cat "$tmp/said")"; status=1; }
fall_back 'family 6, model 0xfe' FAKE_MODEL=unknown COMDET_SOURCE=pebs
grep -q 'the clock samples instead' "$tmp/said" ||
	{ echo "pebs was asked for, and nothing was said"; status=1; }
fall_back 'stores carry no data address' FAKE_MODEL=nehalem
fall_back 'no core PMU and no ibs_op here' FAKE_MODEL=bare
fall_back 'no AMD processor' FAKE_MODEL=skylake COMDET_SOURCE=ibs
fall_back 'EBUSY' FAKE_MODEL=zen4 FAKE_OPEN_ERROR=16
fall_back 'perf_event_paranoid is 2' FAKE_MODEL=zen2 FAKE_KERNEL=6.12.24
fall_back 'kernels before 5.19' FAKE_MODEL=zen4 FAKE_KERNEL=5.13.0
fall_back 'Linux 5.19.0 gives IBS to whole' FAKE_MODEL=zen4 FAKE_KERNEL=5.19.0
fall_back 'Linux 6.1.0 gives IBS to whole' FAKE_MODEL=zen4 FAKE_KERNEL=6.1.0 \
	FAKE_PARANOID=1
fall_back 'would interrupt' FAKE_MODEL=zen4 FAKE_KERNEL=6.2.0 FAKE_PARANOID=1
fall_back 'could hang' FAKE_MODEL=zen4 FAKE_KERNEL=6.11.0 FAKE_PARANOID=1
no_reuse 'synchronous signals' FAKE_MODEL=skylake FAKE_KERNEL=5.13.0
exit $status
