#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_breakpoints - the program and its debugger find debug registers
#
# covers: preload/watch preload/start/choose_source.c

. "$(dirname "$0")/e2e.sh"
HELP=$B/tests/programs/help_breakpoint

debug_registers || skip 'no debug registers here'
[ "$("$HELP" raw 0.3)" = all ] || skip 'the program finds none without us'

# finds WAY - at many samples a second its threads arm most of the time
finds()
{
	local said

	said=$(COMDET_SOURCE=clock COMDET_FREQ=2000 preload "$WORK/out" \
		"$HELP" "$1" 1) || fail "$1: status $?"
	[ "$said" = "$2" ] || fail "$1: the program found $said"
}

# arms - print how often the profiler armed
arms()
{
	json "$WORK/out" "$WORK/json"
	ask "$WORK/json" 'sum(t["arms"] for t in r["threads"])'
}

a_breakpoint_past_libc_finds_a_register()
{
	finds raw all
	[ "$(arms)" -ge 10 ] || fail "the profiler armed $(arms) times only"
	holds "$WORK/json" 'r["run"]["registers"] == 3' 'one is left'
}

a_tracer_finds_a_register()
{
	if [ "$("$HELP" traced 0.3)" != all ]; then
		echo 'nobody may trace here: not tried'
		return
	fi
	finds traced all
}

# With all four the same program finds none: the control.
four_registers_leave_none()
{
	local said

	said=$(COMDET_REGISTERS=4 COMDET_SOURCE=clock COMDET_FREQ=2000 \
		preload "$WORK/out" "$HELP" raw 1) || fail "status $?"
	[ "$said" != all ] || fail "the test does not see that registers are held"
}

# Each thread that is sampled and has nothing to watch gives its registers back.
a_thread_that_does_not_arm_holds_none()
{
	local n

	COMDET_REGISTERS=4 COMDET_SOURCE=clock COMDET_FREQ=200 preload "$WORK/out" \
		bash -c 'find "/proc/$$/fd" -lname "anon_inode:*perf_event*"' \
		>"$WORK/fds" || fail "status $?"
	n=$(wc -l <"$WORK/fds")
	[ "$n" -le 2 ] || fail "$n events are open: $(cat "$WORK/fds")"
}

run_claims "${1:-}" a_breakpoint_past_libc_finds_a_register \
	a_tracer_finds_a_register four_registers_leave_none \
	a_thread_that_does_not_arm_holds_none
