#!/bin/bash
# SPDX-License-Identifier: MIT
#
# score_reuse - how close sampled reuse times come to the truth, in full
#
#	score_reuse.sh [cases] [threads] [lines]
#
# RIBench's twenty cases with 32 threads, two of them with 1 to 32, and eight
# ways to go through memory by line against every access of the same run. A
# billion accesses a case: some 20 minutes on two cores. OUTER= and PERIOD= are
# of the long cases.

. "$(dirname "$0")/../e2e/e2e.sh"

PLUGIN=$B/libcomdet-qemu.so
RIBENCH=$B/microbench/ribench
LOCALITY=$B/tests/programs/emu/guest_locality
SCORE=$TOP/tests/oracle/reuse_score.py

# emulate SETTINGS COMMAND...
emulate()
{
	local settings=$1

	shift
	rm -rf "$WORK/out"
	qemu-x86_64 -cpu max -plugin "$PLUGIN,out=$WORK/out,$settings" "$@" ||
		fail "$*"
}

# ribench CASE THREADS OUTER PERIOD
ribench()
{
	emulate "mode=reuse,granularity=address,period=$4" \
		"$RIBENCH" --case "$1" --threads "$2" --outer "$3"
	python3 "$SCORE" ribench "$WORK/out" "$("$RIBENCH" --case "$1" \
		--threads "$2" --outer "$3" --no-run --histogram)"
}

cases()
{
	local case

	for case in $("$RIBENCH" --cases); do
		case $case in
		short*) ribench "$case" 32 10 20000 ;;
		*) ribench "$case" 32 "${OUTER:-1}" "${PERIOD:-100000}" ;;
		esac
	done | tee "$WORK/cases"
	python3 -c '
import json, sys
s = [json.loads(line)["S"] for line in sys.stdin]
print(f"{len(s)} cases: S {sum(s) / len(s):.4f} on average, {min(s):.4f} at worst")
' <"$WORK/cases"
}

threads()
{
	local n case

	for n in 1 2 4 8 16 32; do
		for case in long-bell-2 long-decreasing-2; do
			ribench "$case" "$n" $(((16 + n - 1) / n)) \
				"${PERIOD:-100000}"
		done
	done
}

lines()
{
	local pattern rounds patterns

	patterns=$("$LOCALITY" --list) || exit
	for pattern in $patterns; do
		case $pattern in
		bytes) rounds=40 ;;
		stencil) rounds=60 ;;
		structs) rounds=500 ;;
		*) rounds=300 ;;
		esac
		emulate mode=reuse,granularity=line,exact=1,period=2000 \
			"$LOCALITY" "$pattern" 4 "$rounds"
		echo "$pattern $(python3 "$SCORE" exact "$WORK/out")"
	done
}

for part in "${@:-cases}"; do
	case $part in
	cases | threads | lines) $part ;;
	*) fail "there is no part '$part'" ;;
	esac
done
