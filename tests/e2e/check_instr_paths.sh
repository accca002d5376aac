#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_instr_paths - call paths of the source instr, where they are known
#
#	check_instr_paths.sh [CLAIM]
#
# programs/instr/paths.c has the paths. The check looks at the pairs of uses and
# reuses in its functions touch and down.

. "$(dirname "$0")/paths.sh"

FIRST='touch first callers'
SECOND='touch go_between second callers'

# Two callers load each byte in turn: there is no third path, and no path
# follows itself.
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

# Each thread sets registers and gets a signal on a stack of its own.
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

# The path recurs from the second depth on. One byte of a thousand is loaded at
# the first depth.
a_function_that_recurs_is_there_once()
{
	recorded COMDET_PERIOD=500 "$INSTR/paths" depths 600
	paths_hold down "total > 0 and set(ways) <= {
		('down* depths main', 'down* depths main'),
		('down depths main', 'down depths main')}"
	paths_hold down "ways['down* depths main', 'down* depths main'] >
		0.95 * total"
}

# The depth exceeds the room for a path, again and again.
frames_that_are_left_out_take_no_others_away()
{
	recorded COMDET_PERIOD=500 "$INSTR/paths" deep 300
	paths_hold touch "total > 0 and set(ways) == {
		('$FIRST deep main', '$SECOND deep main')}"
}

# The compiler ends such a function with a jump to the hook.
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

# The pairs are the same whether their paths are kept or not.
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
}

run_claims "${1-}" callers_of_one_function_are_told_apart \
	registers_know_the_paths_too threads_have_paths_of_their_own \
	a_function_that_recurs_is_there_once \
	frames_that_are_left_out_take_no_others_away \
	functions_that_end_by_a_jump_take_no_others_away \
	frames_that_a_jump_left_are_on_no_path \
	without_the_option_there_are_none record_and_report_tell_them
