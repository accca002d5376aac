#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_ratio - the runs that the benchmarks compare
#
# The command of the pairs writes down which variables it has.

. "$(dirname "$0")/e2e.sh"
RATIO=$B/tests/programs/help_ratio

cat >"$WORK/command" <<'EOF'
echo "${W:--} ${A:--} ${C:--} ${RATIO_WITH:--} ${RATIO_WAYS:--}" >>"$RUNS"
EOF
export RUNS=$WORK/runs

# says FILE LINE... - the file has these lines
says()
{
	local file=$1

	shift
	printf '%s\n' "$@" | diff - "$file" || fail "$file: see above"
}

each_way_runs_once_in_a_pair_and_the_order_turns()
{
	rm -f "$RUNS"
	RATIO_WITH="W=1" RATIO_WAYS="A=1|A=2 C=3" \
		"$RATIO" 3 name sh "$WORK/command" >"$WORK/csv" ||
		fail "status $?"
	says "$RUNS" '- - - - -' '1 1 - - -' '1 2 3 - -' \
		'1 1 - - -' '1 2 3 - -' '- - - - -' \
		'1 2 3 - -' '- - - - -' '1 1 - - -'
	cut -d, -f1-4 "$WORK/csv" >"$WORK/hows"
	says "$WORK/hows" name,0,without,0 name,0,with,1 name,0,with2,2 \
		name,1,with,0 name,1,with2,1 name,1,without,2 \
		name,2,with2,0 name,2,without,1 name,2,with,2
	awk -F, 'NF != 8 || $5 <= 0 || $8 <= 0 { exit 1 }' "$WORK/csv" ||
		fail "no time or no memory: $(cat "$WORK/csv")"
}

without_ways_there_is_one()
{
	rm -f "$RUNS"
	RATIO_WITH="W=1 A=5" "$RATIO" 1 name sh "$WORK/command" >"$WORK/csv" ||
		fail "status $?"
	says "$RUNS" '- - - - -' '1 5 - - -'
}

a_command_that_fails_ends_the_comparison()
{
	local status=0

	"$RATIO" 2 name sh -c 'exit 3' >"$WORK/csv" 2>"$WORK/err" || status=$?
	[ $status = 1 ] || fail "status $status"
	grep -q 'status 0x300' "$WORK/err" || fail "$(cat "$WORK/err")"
	[ ! -s "$WORK/csv" ] || fail "a line of a run that failed"
}

run_claims "${1:-}" each_way_runs_once_in_a_pair_and_the_order_turns \
	without_ways_there_is_one a_command_that_fails_ends_the_comparison
