#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_planted - planted problems are named down to their members, and mended
# ones are not reported
#
# Eight problems in C and more in C++ and Rust, each with a clean twin. At the
# default rate the report's first fix names the members that two threads use;
# for the twin there is no fix.
#
#	tests/e2e/check_planted.sh [CLAIM]
#
# covers: analysis/symbols analysis/attribution analysis/report

. "$(dirname "$0")/e2e.sh"
PLANTED=$TOP/tests/programs/planted
cd "$WORK" || exit 1
[ "$(nproc)" -ge 2 ] || skip "one processor"

# found PROGRAM PROBLEM NAME NAME - the first fix separates these two. The
# program works longer until there are detections enough.
found()
{
	local program=$1 problem=$2 rounds

	for rounds in 60000000 200000000 600000000 1200000000; do
		"$TOOL" record -o out -- "$program" "$problem" bad $rounds \
			>/dev/null 2>record.err || fail "$(cat record.err)"
		json out r.json
		[ "$(ask r.json 'est("total") >= 5')" != True ] || break
	done
	holds r.json 'est("total") >= 5' "$problem: too few detections"
	holds r.json "any({'$3', '$4'} <= {n for g in f['groups'] for n in g['fields']}
		and not any({'$3', '$4'} <= set(g['fields']) for g in f['groups'])
		for f in c['fixes'][:1])" \
		"$program $problem: $3 and $4 are to be separated: $(ask r.json 'c["fixes"][:1], c["lines"][:1]')"
	"$TOOL" report out >text || fail "report"
	grep -q "^What to change" text || fail "$problem: no advice: $(cat text)"
	"$TOOL" record -o out -- "$program" "$problem" good $rounds \
		>/dev/null 2>record.err || fail "$(cat record.err)"
	json out r.json
	holds r.json 'not c["fixes"]' \
		"$program $problem: the twin is clean: $(ask r.json 'c["fixes"][:1]')"
}

of_c()
{
	"$1" -O2 -g -pthread -o planted "$PLANTED/planted.c" || fail "$1"
	found ./planted static totals.read totals.written
	found ./planted array 'struct worker #1.hits' 'struct worker #2.hits'
	found ./planted blocks 'struct small #1.turns' 'struct small #2.turns'
	found ./planted tls 'struct inbox.taken' 'struct inbox.pushed'
	found ./planted lock locked.lock locked.ticks
	found ./planted nested 'shards[2].stats.puts' 'shards[3].stats.gets'
	found ./planted ring 'struct ring.head' 'struct ring.tail'
	found ./planted config 'struct config.name' 'struct config.used'
}

of_cc()
{
	"$1" -O2 -g -pthread -o planted "$PLANTED/planted.cc" || fail "$1"
	found ./planted member Queue.pushed_ Queue.popped_
	found ./planted vector 'Slot #1.sum' 'Slot #2.sum'
}

problems_in_c_by_gcc_are_named()
{
	of_c gcc
}

problems_in_c_by_clang_are_named()
{
	command -v clang >/dev/null || { echo "no clang"; return; }
	of_c clang
}

problems_in_c_plus_plus_are_named()
{
	of_cc g++
	command -v clang++ >/dev/null || { echo "no clang++"; return; }
	of_cc clang++
}

problems_in_rust_are_named()
{
	command -v rustc >/dev/null || { echo "no rustc"; return; }
	rustc -O -g -o planted "$PLANTED/planted.rs" 2>rustc.err ||
		fail "rustc: $(cat rustc.err)"
	found ./planted totals TOTALS.read TOTALS.written
	found ./planted shared Shared.jobs Shared.done
}

run_claims "${1:-}" \
	problems_in_c_by_gcc_are_named \
	problems_in_c_by_clang_are_named \
	problems_in_c_plus_plus_are_named \
	problems_in_rust_are_named
