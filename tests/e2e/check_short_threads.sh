#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_short_threads - short threads have as many samples per CPU time as long
#
# help_short_threads prints the CPU time of threads of each length; the report
# has their samples.
#
# (Timers instead of events are simulated in test_phase: how a busy virtual
# machine spreads its ticks is not ours to test.)
#
# covers: preload/sources/clock

. "$(dirname "$0")/e2e.sh"
HELP=$B/tests/programs/help_short_threads

# judge WHAT TIMES FILE - the samples per CPU time of each kind
#
# Against the long thread's: within four standard errors, and a twentieth for
# what cannot be sampled at a thread's ends.
judge()
{
	python3 - "$@" <<-'EOF2' || fail "$1: see above"
	import json, sys
	what, times, file = sys.argv[1:]
	cpu = dict(tuple(map(int, line.split())) for line in open(times))
	r = json.load(open(file))
	n = {ms: sum(t['samples']['uniform'] + t['samples']['stalled']
	             for t in r['threads'] if t['name'] == f'{ms} ms')
	     for ms in cpu}
	bad = n[0] < 100
	for ms in cpu:
	    rate = n[ms] / cpu[ms] / (n[0] / cpu[0]) if n[0] else 0
	    error = (1 / max(n[ms], 1) + 1 / max(n[0], 1)) ** .5
	    wrong = abs(rate - 1) > .05 + 4 * error
	    bad |= wrong
	    print(f'{what}, {ms or "long"} ms: {n[ms]} samples in'
	          f' {cpu[ms] / 1e9:.2f} s, {rate:.3f} of the long thread\'s'
	          f' rate, +- {error:.3f}{": wrong" if wrong else ""}')
	late = r['loss'].get('late_clock', 0)
	if late > 10:
	    print(f'{late} threads without a clock of their own')
	sys.exit(bool(bad) or late > 10)
	EOF2
}

threads_of_all_lengths_have_the_same_rate()
{
	COMDET_SOURCE=clock COMDET_FREQ=500 \
		preload "$WORK/out" "$HELP" 2 >"$WORK/times" 2>"$WORK/err" ||
		fail "status $?: $(cat "$WORK/err")"
	[ ! -s "$WORK/err" ] || fail "stderr is not empty: $(cat "$WORK/err")"
	json "$WORK/out" "$WORK/json"
	judge events "$WORK/times" "$WORK/json"
}

# Each pair of threads runs for a fifth of a period. 44 samples are expected;
# fewer than 10 are chance once in 10^9 runs.
a_short_program_of_short_threads_is_seen()
{
	COMDET_SOURCE=clock preload "$WORK/out" "$HELP" pairs 1 0.222 \
		>"$WORK/times" 2>"$WORK/err" || fail "status $?"
	json "$WORK/out" "$WORK/json"
	holds "$WORK/json" \
		'sum(t["samples"]["uniform"] + t["samples"]["stalled"] for t in r["threads"]) >= 10' \
		'samples of a program of 222 ms'
	holds "$WORK/json" 'est("total") > 0' 'what it shares'
}

# While --delay lasts nothing is a sample. 100 threads of 20 ms take an inherited
# interrupt each 5 ms, and one of their own at a random time up to 5 ms: 500 in
# all. One that came again and again at its first time would make 25 a thread.
an_interrupt_that_is_skipped_does_not_come_again_at_once()
{
	local n

	command -v strace >/dev/null || {
		echo '  no strace: not tried'
		return
	}
	COMDET_OUT=$WORK/out COMDET_SOURCE=clock COMDET_FREQ=200 \
		COMDET_DELAY=100 strace -f -e trace=none -e signal=SIGTRAP \
		-o "$WORK/signals" env LD_PRELOAD="$LIB" "$HELP" 2 20 \
		>"$WORK/times" 2>"$WORK/err" || fail "status $?"
	n=$(grep -c SIGTRAP "$WORK/signals")
	echo "$n interrupts of threads of 20 ms"
	[ "$n" -ge 100 ] && [ "$n" -le 900 ] || fail "$n interrupts, not 500"
}

run_claims "${1:-}" threads_of_all_lengths_have_the_same_rate \
	a_short_program_of_short_threads_is_seen \
	an_interrupt_that_is_skipped_does_not_come_again_at_once
