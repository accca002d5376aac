#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_instr_paths - call paths of the source instr, where they are known
#
#	check_instr_paths.sh [CLAIM]
#
# tests/instr/paths.c says which they are. What is looked at are pairs of uses
# and reuses in touch and down.

. "$(dirname "$0")/paths.sh"

FIRST='touch first callers'
SECOND='touch go_between second callers'

# Each byte is loaded by the one, then by the other: no third way, and none is
# followed by itself.
in_turns()
{
	paths_hold touch "total > 0 and set(ways) == {
		('$FIRST $1', '$SECOND $1'), ('$SECOND $1', '$FIRST $1')}"
	paths_hold touch 'abs(sum(ways.values()) - total) < 1e-6 * total'
	paths_hold touch 'min(ways.values()) > 0.3 * total'
}

callers_of_one_function_are_told_apart()
{
	recorded COMDET_PERIOD=500 "$INSTR/paths" callers 300
	in_turns main
}

# Each sets registers and is told by a signal, with a stack of its own.
registers_know_the_paths_too()
{
	debug_registers || {
		echo 'no debug registers: --watch hw not tried'
		return 0
	}
	recorded 'COMDET_WATCH=hw COMDET_PERIOD=1000' "$INSTR/paths" callers 300
	in_turns main
}

threads_have_paths_of_their_own()
{
	recorded COMDET_PERIOD=500 "$INSTR/paths" threads 300
	in_turns work
}

# From the second depth on it recurs; the first is one byte of a thousand.
a_function_that_recurs_is_there_once()
{
	recorded COMDET_PERIOD=500 "$INSTR/paths" depths 600
	paths_hold down "total > 0 and set(ways) <= {
		('down* depths main', 'down* depths main'),
		('down depths main', 'down depths main')}"
	paths_hold down "ways['down* depths main', 'down* depths main'] >
		0.95 * total"
}

# More than there is room for, again and again.
frames_that_are_left_out_take_no_others_away()
{
	recorded COMDET_PERIOD=500 "$INSTR/paths" deep 300
	paths_hold touch "total > 0 and set(ways) == {
		('$FIRST deep main', '$SECOND deep main')}"
}

# The compiler lets such a function end by a jump to the hook.
functions_that_end_by_a_jump_take_no_others_away()
{
	local way='put put_each procedures main'

	recorded COMDET_PERIOD=500 "$INSTR/paths" procedures 300
	paths_hold put "total > 0 and set(ways) == {('$way', '$way')}"
}

frames_that_a_jump_left_are_on_no_path()
{
	local way='touch widely land jumps main'

	recorded COMDET_PERIOD=500 "$INSTR/paths" jumps 300
	paths_hold touch "total > 0 and set(ways) == {('$way', '$way')}"
}

# A pair is what it is whether its paths are kept or not.
without_the_option_there_are_none()
{
	rm -rf "$WORK/out"
	"$TOOL" record -s instr -m reuse -p 500 -o "$WORK/out" -- \
		"$INSTR/paths" callers 100 >/dev/null 2>&1 || fail record
	json "$WORK/out" "$WORK/json"
	[ "$(ask "$WORK/json" 'any("paths" in p for s in r["reuse"]
		for p in s["pairs"])')" = False ] || fail 'paths unasked for'
}

record_and_report_tell_them()
{
	rm -rf "$WORK/out"
	"$TOOL" record -g -s instr -m reuse -p 500 \
		--granularity address -o "$WORK/out" -- \
		"$INSTR/paths" callers 100 >/dev/null 2>&1 || fail record
	"$TOOL" report "$WORK/out" >"$WORK/text" || fail report
	grep -q ' touch < first < callers < main' "$WORK/text" ||
		fail "no path in $(cat "$WORK/text")"
	for source in clock emu; do
		"$TOOL" record -g -s $source -m reuse -o "$WORK/no" -- \
			true 2>"$WORK/said" && fail "$source has no paths"
		grep -q 'call-paths.*-s instr' "$WORK/said" ||
			fail "$source: $(cat "$WORK/said")"
	done
	"$TOOL" record -g -s instr -o "$WORK/no" -- "$INSTR/paths" callers 1 \
		2>"$WORK/said" && fail 'paths of communication'
	grep -q 'add -m reuse' "$WORK/said" || fail "$(cat "$WORK/said")"
}

run_claims "${1-}" callers_of_one_function_are_told_apart \
	registers_know_the_paths_too threads_have_paths_of_their_own \
	a_function_that_recurs_is_there_once \
	frames_that_are_left_out_take_no_others_away \
	functions_that_end_by_a_jump_take_no_others_away \
	frames_that_a_jump_left_are_on_no_path \
	without_the_option_there_are_none record_and_report_tell_them
