#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_gdb_watch - a debugger comes in the middle of a run and watches data
#
# gdb comes to a program that is being sampled, and whose threads hold debug
# registers. Its own watchpoint must be a hardware one and must stop at each
# change; the program must end as it does alone. As docs/signal-safety.md says,
# gdb keeps the signals of samples.
#
#	tests/e2e/check_gdb_watch.sh [CLAIM]
#
# covers: preload/watch preload/signal

. "$(dirname "$0")/e2e.sh"
needs gdb
cd "$WORK" || exit 1

# visit NAME=VALUE... - gdb watches two changes in the middle of 4 s of the
# program, which runs with these variables
visit()
{
	local pid status

	env "$@" "$B/tests/programs/help_watched" 4 >said 2>err &
	pid=$!
	sleep 1.5
	timeout 60 gdb -nx -batch -p "$pid" -ex 'set pagination off' \
		-ex 'handle SIGTRAP nostop noprint nopass' -ex 'watch watched' \
		-ex 'continue' -ex 'continue' -ex 'delete' -ex 'detach' \
		>gdb.txt 2>&1
	wait "$pid"
	status=$?
	[ "$status" = 3 ] && [ "$(cat said)" = 40 ] ||
		fail "status $status, said: $(cat said err)"
}

two_changes()
{
	grep -q '^Hardware watchpoint 1: watched' gdb.txt &&
		[ "$(grep -c '^Old value' gdb.txt)" = 2 ] &&
		[ "$(grep -c '^New value' gdb.txt)" = 2 ]
}

gdb_watches_data_of_a_program_that_is_sampled()
{
	visit A=1
	two_changes || skip "gdb cannot watch here: $(tail -n 3 gdb.txt)"
	visit LD_PRELOAD="$LIB" COMDET_FREQ=1000 COMDET_OUT=out
	two_changes || fail "gdb saw no two changes: $(cat gdb.txt)"
	json out r.json
	# sampled before and after gdb, and threads had registers
	[ "$(ask r.json 'sum(t["samples"]["uniform"] for t in r["threads"])')" \
		-gt 100 ] || fail "not sampled"
}

run_claims "${1:-}" gdb_watches_data_of_a_program_that_is_sampled
