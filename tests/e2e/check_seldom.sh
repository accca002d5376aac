#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_seldom - a line that takes one store in 300 is found at the default rate
#
# Two threads store to a line of help_dilute, each to a word of its own, once in
# 300 stores. The report says so: in its map, if samples met there, else among
# the lines shared too seldom for samples. There each thread has about the share
# that the program was told: its 95 % interval, three times as wide on either
# side, holds it. As a control, threads that never store there do not share.
#
# covers: src/engine/looks.c preload/sources/look.c analysis/attribution/seldom.c
# covers: analysis/report/seldom.c

. "$(dirname "$0")/e2e.sh"

# record ONE_IN SECONDS - leave the report's JSON in r.json
record()
{
	"$TOOL" record -s clock -o "$WORK/out" -- \
		"$B/tests/programs/help_dilute" "$1" "$2" >"$WORK/log" 2>&1 ||
		fail "record: $(cat "$WORK/log")"
	json "$WORK/out" "$WORK/r.json"
}

record 300 8
holds "$WORK/r.json" 'any(l["object"].startswith("common")
	for l in r["communication"]["lines"] +
	r["communication"].get("seldom", []))' "the common line"
holds "$WORK/r.json" 'all(l["false"] and not l["true"] and
	len(l["threads"]) == 2 and
	all(t["stores"] and not t["loads"] and
	t["access_share"]["low"] / 3 < 1 / 300 < 3 * t["access_share"]["high"]
	for t in l["threads"])
	for l in r["communication"].get("seldom", [])
	if l["object"].startswith("common"))' "the shares of the threads"
record 1000000000 2
holds "$WORK/r.json" 'not any(l["object"].startswith(("common", "own"))
	for l in r["communication"].get("seldom", []))' \
	"nothing of what each thread has for itself"
