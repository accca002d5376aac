#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_pmu_threads - hardware events of many threads, and of hidden ones
#
# On a simulated machine with a PMU (tests/fake/fake_process.c).
#
#	check_pmu_threads.sh [CLAIM]

. "$(dirname "$0")/e2e.sh"

FAKE=$B/tests/libcomdet-fake.so

# profiled COMMAND... - run it with the preload on a Skylake
profiled()
{
	rm -rf "$WORK/out" "$WORK/log"
	timeout -k 5 600 env FAKE_MODEL=skylake FAKE_LOG="$WORK/log" \
		COMDET_PERIOD=1000 COMDET_OUT="$WORK/out" LD_PRELOAD="$FAKE" \
		"$@" >"$WORK/said" 2>&1
	# reuse_churn returns what its own events counted.
	[ $? -le 3 ] || fail "$*: $(cat "$WORK/said")"
	json "$WORK/out" "$WORK/json"
}

# fake_says NAME - a number of the machine's own
fake_says()
{
	sed "s/.*\<$1 \([0-9]*\).*/\1/" "$WORK/log"
}

# A descriptor for each event, of 1,024. The threads all live at once.
two_hundred_threads_have_events_with_1024_descriptors()
{
	(
		ulimit -Sn 1024
		profiled "$B/tests/programs/instr/reuse_churn.plain" live 200 20
	) || exit 1
	json "$WORK/out" "$WORK/json"
	echo "  lost $(ask "$WORK/json" \
		"{k: v for k, v in r['loss'].items() if v}")"
	[ "$(ask "$WORK/json" "r['loss'].get('no_event', 0)")" = 0 ] ||
		fail 'threads without events'
	[ "$(ask "$WORK/json" "sum(t['count'] for t in r['threads'])")" = 201 ] ||
		fail 'not 201 threads'
}

# No thread is left out of the counts when rows are merged.
counts_of_merged_threads_are_whole()
{
	profiled "$B/tests/programs/instr/reuse_churn.plain" short 1200 4
	[ "$(ask "$WORK/json" "sum(t['count'] for t in r['threads'])")" = 1201 ] ||
		fail 'not 1201 threads'
	[ "$(ask "$WORK/json" "any(t['count'] > 1 for t in r['threads'])")" = \
		True ] || fail 'no row is merged'
	# Four sweeps of each thread, over as many words as its name says.
	[ "$(ask "$WORK/json" "[t for t in r['threads'] if t['name'][0] == 'c'
		and t['count'] * 4 * int(t['name'][1:]) != t.get('accesses')]")" \
		= '[]' ] || fail 'not every access is counted'
}

hidden_threads_are_ended()
{
	profiled "$B/tests/programs/help_pmu_hidden" 2
	echo "  $(cat "$WORK/log"), $(ask "$WORK/json" \
		"[(t['name'], t['samples']['uniform']) for t in r['threads']]")"
	[ "$(ask "$WORK/json" "sum(t['count'] for t in r['threads']
		if t['samples']['uniform'])")" = 3 ] ||
		fail 'the hidden threads were not sampled'
	# The main thread's two events at most.
	[ "$(fake_says open)" -le 2 ] || fail "$(fake_says open) events are left"
}

# A hidden thread has been ended when a thread that a hook sees runs on its stack.
threads_on_the_stacks_of_hidden_ones_are_sampled()
{
	profiled "$B/tests/programs/help_pmu_hidden" 1 1
	echo "  $(cat "$WORK/log"), $(ask "$WORK/json" \
		"[(t['name'], t['samples']['uniform']) for t in r['threads']]")"
	[ "$(ask "$WORK/json" "sum(t['count'] for t in r['threads']
		if t['samples']['uniform'])")" = 3 ] ||
		fail 'not every thread was sampled'
}

# Each trap of a register switches the events off, as each sample does, and the
# end of each of the five threads. Few samples arm a register, so try again until
# one traps.
our_handler_of_traps_is_not_counted()
{
	local traps=0 tries=0

	while [ "$traps" = 0 ] && [ $((tries++)) -lt 20 ]; do
		profiled "$B/tests/programs/help_pmu" 200000
		traps=$(ask "$WORK/json" "sum(t['traps'] for t in r['threads'])")
	done
	echo "  $(cat "$WORK/log"), $traps traps"
	[ "$traps" -gt 0 ] || fail 'no trap'
	[ "$(fake_says pauses)" -ge $(($(fake_says signals) + traps + 5)) ] ||
		fail 'events were on in the handler'
}

debug_registers || skip "no debug registers here"
run_claims "${1-}" two_hundred_threads_have_events_with_1024_descriptors \
	counts_of_merged_threads_are_whole hidden_threads_are_ended \
	threads_on_the_stacks_of_hidden_ones_are_sampled \
	our_handler_of_traps_is_not_counted
