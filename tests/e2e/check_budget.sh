#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_budget - with --budget, a program without sharing is sampled seldom
#
# A single thread shares nothing. Its first half second of CPU time is sampled
# at the full rate, or less where the budget ends, the rest at the slow one;
# samples are counted by CPU time. As a control, -F 200 keeps its rate. A rate
# whose interrupts would leave the program no time is lowered, and the report says
# so. Where lines are shared, detections weigh what they stand for. Where threads
# are switched after some microseconds, that alone uses the budget up.
#
# serial: a virtual machine whose host has no time for it counts CPU time in which
# no interrupt comes: beside check_forks, 19 samples a second once instead of 74
#
# covers: preload/sources/clock analysis/record

. "$(dirname "$0")/e2e.sh"
loop=$("$B/microbench/mix" --list | awk 'NR == 1 { print $1 }')

# rate SECONDS OPTION... - record the loop, print its samples a second of CPU time
rate()
{
	local seconds=$1

	shift
	"$TOOL" record -s clock "$@" -o "$WORK/out" -- "$B/microbench/mix" \
		"$loop" --cpu-seconds "$seconds" >"$WORK/log" 2>&1 ||
		fail "record $*: $(cat "$WORK/log")"
	json "$WORK/out" "$WORK/r.json"
	ask "$WORK/r.json" 'int(sum(sum(t["samples"].values())
	for t in r["threads"]) * 1e9 / r["run"]["cpu_ns"])'
}

full=$(rate 1 -F 200) || fail "$full"
holds "$WORK/r.json" '"slow_period" not in r["run"]' "a fixed rate"
[ "$(ask "$WORK/r.json" 'r["run"]["source_reason"].startswith("perf")')" = True ] ||
	skip "without perf_events the rate is fixed"
# locked FREQ - CPU time of 60 million locked additions, in ms
locked()
{
	"$TOOL" record -s clock -F "$1" -o "$WORK/out" -- \
		"$B/microbench/locked_load" --iterations 60000000 \
		>"$WORK/log" 2>&1 || fail "record -F $1: $(cat "$WORK/log")"
	json "$WORK/out" "$WORK/r.json"
	ask "$WORK/r.json" 'r["run"]["cpu_ns"] // 1000000'
}

# Without the limit, a nested virtual machine takes 13 times as long.
slow=$(locked 200) || fail "$slow"
quick=$(locked 20000) || fail "$quick"
echo "$slow ms at 200 Hz, $quick ms at the highest rate"
[ "$quick" -le $((3 * slow)) ] || fail "the program has no time left"
holds "$WORK/r.json" '((r["run"]["period"] > 50000) ==
	("not the 20000 Hz" in r["run"]["source_reason"]))' \
	"why the rate is not the one asked for"
low=$(rate 3 --budget 1) || fail "$low"
holds "$WORK/r.json" 'r["run"]["slow_period"] == 4 * r["run"]["period"]' \
	"the low rate"
"$TOOL" report "$WORK/out" | tr -s ' \n' ' ' |
	grep -q "where it meets sharing" ||
	fail "the report does not say that the rate changes"
echo "$full samples a second at a fixed rate, $low within a budget"
[ "$full" -ge 130 ] || fail "$full samples a second are no fixed 200"
[ "$low" -le 110 ] || fail "$low samples a second share nothing"
[ "$low" -ge 25 ] || fail "$low samples a second are below the low rate"

# passing STORES - threads share a line and pass the turn after so many stores;
# print their samples a second of CPU time
passing()
{
	"$TOOL" record -s clock --budget 5 -o "$WORK/out" -- taskset -c "$cpu" \
		"$B/tests/programs/help_passing" "$1" 3 >"$WORK/log" 2>&1 ||
		fail "record $*: $(cat "$WORK/log")"
	json "$WORK/out" "$WORK/r.json"
	ask "$WORK/r.json" 'int(sum(sum(t["samples"].values())
	for t in r["threads"]) * 1e9 / r["run"]["cpu_ns"])'
}

cpu=$(python3 -c 'import os; print(min(os.sched_getaffinity(0)))')
seldom=$(passing 20000000) || fail "$seldom"
often=$(passing 60000) || fail "$often"
echo "$seldom samples a second of threads that are seldom switched, $often of others"
[ "$seldom" -ge 130 ] || fail "$seldom samples a second are not the full rate"
[ "$often" -le 90 ] || fail "$often samples a second: switches do not count"
[ "$often" -gt 0 ] || fail "no sample where threads are switched often"

# Half a percent of the CPU time is less than one stretch at the full rate.
# Threads that seldom run at the same time need longer to meet.
for seconds in 1 4 16; do
	"$TOOL" record -s clock --budget 0.5 -o "$WORK/out" -- \
		"$B/tests/programs/help_dilute" 2 $seconds >"$WORK/log" 2>&1 ||
		fail "record: $(cat "$WORK/log")"
	json "$WORK/out" "$WORK/r.json"
	[ "$(ask "$WORK/r.json" 'est("total") > 0')" != True ] || break
done
weight='(r["run"]["slow_period"] // r["run"]["period"])'
holds "$WORK/r.json" "$weight >= 5" "the weight of a sample"
holds "$WORK/r.json" "r['communication']['total']['estimate'] >= 4 * $weight" \
	"a detection weighs what its sample does"

# A forked child begins at the full rate and comes down to the slow one, though
# its parent was there already.
python=$(python3 -c 'import sys; print(sys.executable)')
"$TOOL" record -s clock --children --budget 0.5 -o "$WORK/out" -- "$python" -c '
import os, time
def spin(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        for i in range(100000):
            pass
spin(0.8)
if os.fork():
    os.wait()
else:
    spin(1)
' >"$WORK/log" 2>&1 || fail "record: $(cat "$WORK/log")"
json "$WORK/out" "$WORK/r.json"
child=$(ask "$WORK/r.json" 'max(int(sum(t["samples"].values()) * 1e9 /
	t["cpu_ns"]) for t in r["threads"] if t["process"] != 0)') ||
	fail "no child: $child"
echo "$child samples a second in a forked child"
[ "$child" -le 130 ] || fail "$child samples a second in a forked child"
[ "$child" -ge 25 ] || fail "$child samples a second are below the low rate"
