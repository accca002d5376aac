#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_sighted - a line that takes one store in 300 is found at the default rate
#
# Two threads store to a line of help_dilute, each to a word of its own, once in
# 300 stores. The report has the line among those that no sample met; a run where
# samples met it is repeated. As controls, threads that never store there do
# not share; and threads that live one after the other, on the same stacks, have
# not met.
#
# covers: src/engine/looks.c preload/sources/look.c analysis/attribution/sighted.c
# covers: analysis/report/sighted.c

. "$(dirname "$0")/e2e.sh"

# record PROGRAM ARGUMENT... - leave the report's JSON in r.json
record()
{
	local program=$1

	shift
	"$TOOL" record -s clock -o "$WORK/out" -- \
		"$B/tests/programs/$program" "$@" >"$WORK/log" 2>&1 ||
		fail "record: $(cat "$WORK/log")"
	json "$WORK/out" "$WORK/r.json"
}

# sighted CONDITION WORDS - of "l", the lines that no sample met
sighted()
{
	holds "$WORK/r.json" "(lambda l: $1)(
	r['communication'].get('sighted', {}).get('lines', []))" "$2"
}

# Where samples met the line, which they seldom do, once more.
for _ in 1 2 3 4; do
	record help_dilute 300 8
	sighted 'any(l["object"].startswith("common")
		for l in l + r["communication"]["lines"])' "the common line"
	[ "$(ask "$WORK/r.json" 'any(l["object"].startswith("common")
		for l in r["communication"]["lines"])')" = True ] || break
done
sighted 'any(l["object"].startswith("common") for l in l)' \
	"the common line among those that no sample met"
sighted 'all(l["false"] and not l["true"] and l["transfers_at_least"] > 1 and
	all(p["publisher"] != p["detector"] and p["detector_stores"]
	for p in l["pairs"])
	for l in l if l["object"].startswith("common"))' "who stores there"
record help_dilute 1000000000 2
sighted 'not any(l["object"].startswith(("common", "own")) for l in l)' \
	"nothing of what each thread has for itself"
record help_in_turn 40 40
sighted 'not l' "no meetings of threads that have ended"
