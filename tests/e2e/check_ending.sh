#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_ending - how a program ended is said, and how much CPU time it took
#
# covers: analysis/record/ending.c analysis/record/run.c

. "$(dirname "$0")/e2e.sh"

ends=$B/tests/programs/help_raw_exit

# ended STATUS NAME VALUE MS COMMAND... - record passes STATUS on; in the report,
# NAME of the process is VALUE, and it took at least MS of CPU time
ended()
{
	local status=$1 name=$2 value=$3 ms=$4

	"$TOOL" record -o "$WORK/out" -- "${@:5}" >/dev/null 2>"$WORK/err"
	[ $? = "$status" ] || fail "${*:5}: not status $status"
	json "$WORK/out" "$WORK/r.json"
	holds "$WORK/r.json" "r['processes'][-1].get('$name') == $value" \
		"${*:5}: $name"
	holds "$WORK/r.json" "r['run']['cpu_ns'] >= ${ms}000000" \
		"${*:5}: CPU time"
	"$TOOL" report "$WORK/out" | tr -s '\n ' ' ' >"$WORK/text"
}

ended 7 exit_status 7 300 "$ends" 300 7
grep -q "past the C library, with exit status 7" "$WORK/text" ||
	fail "the report does not tell of the exit: $(cat "$WORK/text")"
ended 0 exit_status 0 20 "$ends" 20 0
ended 130 signal 2 50 "$ends" 50 -2
grep -q "ended by signal 2 (Interrupt)" "$WORK/text" ||
	fail "the report does not tell of the signal: $(cat "$WORK/text")"
ended 137 signal 9 50 sh -c "exec $ends 50 -9"
ended 3 state "'ended'" 0 sh -c 'exit 3'

# Without record, the time up to the last sample is known.
COMDET_FREQ=1000 preload "$WORK/out" "$ends" 300 7
[ $? = 7 ] || fail "another status under the preload"
json "$WORK/out" "$WORK/r.json"
holds "$WORK/r.json" "r['run']['cpu_ns'] > 150000000" "CPU time without record"
holds "$WORK/r.json" "r['processes'][0]['state'] == 'killed'" "no end is known"
echo "ends are said"
