#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_over_time - the report says when which threads shared
#
#	check_over_time.sh [CLAIM]
#
# help_partners says from when to when each of its pairs shared. No detection of
# a pair may lie in a slice of time outside of that, by any source, and between
# the two times there must be slices with samples and without detections.
#
# covers: src/store/time_slices.c analysis/attribution/over_time.c
# covers: analysis/report/over_time.c preload/sources/slices.c

. "$(dirname "$0")/e2e.sh"
cd "$WORK" || exit 1
PARTNERS=$B/tests/programs/help_partners

cat >judge.py <<'PYTHON'
import glob, json, struct, sys

s = json.load(open("r.json"))["communication"]["slices"]
cdp, = glob.glob("out/*.cdp")
start, = struct.unpack_from("<Q", open(cdp, "rb").read(4096), 328)
early, late = [[int(n) - start for n in pair] for pair in
               (sys.argv[1:3], sys.argv[3:5])]
cells = {(x["a"], x["b"]): x for x in s["cells"]}

def slice_of(ns):
    return (ns - s["begin_ns"]) // s["slice_ns"]

def found(cell):
    return [i for i, n in enumerate(map(sum, zip(cell["true"], cell["false"])))
            if n]

def judge(pair, when, kind, other):
    cell = cells[pair]
    slices = found(cell)
    assert slice_of(when[0]) <= slices[0], (pair, when, slices)
    assert slices[-1] <= slice_of(when[1]), (pair, when, slices)
    assert not sum(cell[other]), (pair, other)
    return sum(cell[kind])

assert set(cells) <= {(1, 2), (3, 4)}, list(cells)
assert s["outside"] == 0, s["outside"]
n = 0
if (1, 2) in cells:
    n = judge((1, 2), early, "false", "true")
m = 0
if (3, 4) in cells:
    m = judge((3, 4), late, "true", "false")
quiet = range(slice_of(early[1]) + 1, slice_of(late[0]))
assert not any(s["true"][i] + s["false"][i] for i in quiet)
if sys.argv[5:] == ["killed"]:
    assert not m
    sys.exit(n < 20)
assert sum(s["samples"][i] > 0 for i in quiet) * 2 > len(quiet), "not sampled"
if min(n, m) < 20:
    sys.exit(1) # too few: a longer run
assert s["uneven"], "not told as uneven"
PYTHON

# partners COMMAND... - until there are enough detections of both pairs
partners()
{
	local seconds status

	for seconds in 1 3 10 30; do
		rm -rf out
		"$@" "$seconds" >times 2>said || fail "$*: $(cat said)"
		json out r.json
		# shellcheck disable=SC2046
		python3 judge.py $(cat times) >judged 2>&1
		status=$?
		grep -q Error judged && fail "$*: $(cat times; tail -2 judged
			"$TOOL" report --time out | grep -A9 'over time')"
		[ $status = 0 ] && break
	done
	[ $status = 0 ] || fail "$*: too few detections: $("$TOOL" report out)"
	# As a control: the other pair's times must not do.
	# shellcheck disable=SC2046
	python3 judge.py $(awk '{ print $3, $4, $1, $2 }' times) >/dev/null 2>&1 &&
		fail 'the wrong times fit too'
	"$TOOL" report out >text || fail report
	grep -q '^Sharing over time' text || fail "no strips: $(cat text)"
	grep '^ *[1-4]-[1-4] ' text
}

the_clock_says_when()
{
	partners "$TOOL" record -F 1000 -o out -- "$PARTNERS"
}

instr_says_when()
{
	partners "$TOOL" record -s instr -o out -- \
		"$B/tests/programs/instr/partners"
}

emu_says_when()
{
	command -v qemu-x86_64 >/dev/null || {
		echo '  qemu-x86_64 is missing: emu not tried'
		return
	}
	partners "$TOOL" record -s emu -p 500 -o out -- "$PARTNERS"
}

# Killed in the middle third: the early pair is there, and nothing of the late one.
a_killed_process_keeps_its_strip()
{
	local seconds status now pid

	for seconds in 3 9 30; do
		rm -rf out
		now=$(python3 -c 'import time; print(time.monotonic_ns())')
		"$TOOL" record -F 1000 -o out -- "$PARTNERS" "$seconds" \
			>/dev/null 2>&1 &
		sleep "$((seconds / 3)).$((seconds % 3 * 3))"
		sleep "$(python3 -c "print($seconds / 6)")"
		pid=$(pgrep -P $! -x help_partners) || fail 'it is not there'
		kill -9 "$pid"
		wait $!
		json out r.json
		python3 judge.py "$now" $((now + seconds * 400000000)) \
			$((now + seconds * 600000000)) \
			$((now + seconds * 1000000000)) killed >judged 2>&1
		status=$?
		grep -q Error judged && fail "killed: $(tail -2 judged)"
		[ $status = 0 ] && break
	done
	[ $status = 0 ] || fail "too few detections: $("$TOOL" report out)"
	[ "$(ask r.json 'r["processes"][0]["state"]')" = killed ] ||
		fail 'it is not said to be killed'
}

claims=(the_clock_says_when instr_says_when emu_says_when
	a_killed_process_keeps_its_strip)
[ "$(nproc)" -ge 2 ] || skip 'one processor: threads do not share at a time'
run_claims "${1:-}" "${claims[@]}"
