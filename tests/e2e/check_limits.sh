#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_limits - programs with little stack, and with filters that kill
#
# covers: analysis/base/roomy.c preload/start/obstacle.c preload/core/own_stack.c

. "$(dirname "$0")/e2e.sh"

program=$B/tests/programs/help_raw_exit

# ends STATUS TEXT COMMAND... - it ends with this status
ends()
{
	local status=$1 text=$2

	"${@:3}" >"$WORK/o" 2>"$WORK/e"
	[ $? = "$status" ] || fail "$text: not status $status:" \
		"$(cat "$WORK/o" "$WORK/e")"
}

# with_stack KIB COMMAND... - run it with so much stack
with_stack()
{
	(
		ulimit -s "$1"
		exec "${@:2}"
	)
}

little_stack()
{
	local kib

	# With 16 KiB the environment alone may be too much.
	ends 7 "32 KiB, too little" with_stack 32 \
		env COMDET_OUT="$WORK/none" LD_PRELOAD="$LIB" "$program" 50 7
	for kib in 64 96 256; do
		ends 7 "$kib KiB, without us" with_stack $kib "$program" 50 7
		rm -rf "$WORK/out"
		COMDET_OUT=$WORK/out LD_PRELOAD=$LIB ends 7 "$kib KiB, preload" \
			with_stack $kib "$program" 50 7
		[ -d "$WORK/out" ] || fail "not profiled with $kib KiB of stack"
		ends 7 "$kib KiB, record" with_stack $kib "$TOOL" record \
			-o "$WORK/out" -- "$program" 50 7
		ends 0 "$kib KiB, report" with_stack $kib "$TOOL" report \
			"$WORK/out"
		grep -q "exit status 7" "$WORK/o" || fail "$(cat "$WORK/o")"
	done
}

# in_folder FOLDER COMMAND... - run it there, where a core may be written
in_folder()
{
	(
		cd "$1" && ulimit -c "$(ulimit -H -c)" || exit 1
		exec "${@:2}"
	)
}

# A filter that the program inherits ends it at a system call of ours.
filters_that_kill()
{
	local call

	mkdir -p "$WORK/cores"
	for call in perf_event_open process_vm_readv timer_create; do
		ends 7 "$call kills" in_folder "$WORK/cores" env COMDET_OUT="$WORK/none" \
			"$B/tests/programs/help_deny" $call KILL \
			env LD_PRELOAD="$LIB" "$program" 50 7
		grep -q "comdet: not profiled: a seccomp filter" "$WORK/e" ||
			fail "$call: $(cat "$WORK/e")"
	done
	[ -z "$(ls -A "$WORK/cores")" ] || fail "it left a core"
	rm -rf "$WORK/out"
	ends 7 "a filter that forbids" env COMDET_OUT="$WORK/out" \
		"$B/tests/programs/help_deny" perf_event_open EPERM \
		env LD_PRELOAD="$LIB" "$program" 50 7
	[ -d "$WORK/out" ] || fail "not profiled under a harmless filter"
}

run_claims "${1:-}" little_stack filters_that_kill
