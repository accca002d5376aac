#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_over_time - the report says when which threads shared
#
#	check_over_time.sh [CLAIM]
#
# help_partners says from when to when each of its pairs shared. No detection of
# a pair on its line may lie in a slice of time outside of that, by any source,
# and between the two times there must be slices with samples and without such
# detections. Threads that meet at the barrier share that too, and it has been
# sampled: as many detections as the report has on other lines may lie elsewhere.
#
# covers: src/store/time_slices.c analysis/attribution/over_time.c
# covers: analysis/report/over_time.c preload/sources/slices.c

. "$(dirname "$0")/e2e.sh"
. "$(dirname "$0")/attach.sh"
cd "$WORK" || exit 1
PARTNERS=$B/tests/programs/help_partners

cat >judge.py <<'PYTHON'
import json, sys

r = json.load(open("r.json"))
s = r["communication"]["slices"]
early, late = [[int(n) - s["start_mono_ns"] for n in pair] for pair in
               (sys.argv[1:3], sys.argv[3:5])]
# The threads that main made, in this order. From outside, main has no row.
made = sorted(t["tid"] for t in r["threads"]
              if t["tid"] != r["processes"][0]["pid"])
number = {t["id"]: 1 + made.index(t["tid"]) for t in r["threads"]
          if t["tid"] in made}
cells = {(number[x["a"]], number[x["b"]]): x for x in s["cells"]
         if x["a"] in number} # not the stack of a thread that main makes

def slice_of(ns):
    return (ns - s["begin_ns"]) // s["slice_ns"]

def elsewhere(pair, kinds=("true", "false")):
    """Detections of the pair, at most, on lines other than early and late."""
    return sum(line[kind] for line in r["communication"]["lines"]
               for kind in kinds
               if line["object"].split("+")[0] not in ("early", "late")
               and {number.get(t) for t in line["threads"]} >= set(pair))

def judge(pair, when, kind, other):
    cell = cells[pair]
    both = [t + f for t, f in zip(cell["true"], cell["false"])]
    inside = both[slice_of(when[0]):slice_of(when[1]) + 1]
    assert sum(both) - sum(inside) <= elsewhere(pair), (pair, when, both)
    assert sum(cell[other]) <= elsewhere(pair, [other]), (pair, other)
    return sum(cell[kind])

quiet = range(slice_of(early[1]) + 1, slice_of(late[0]))
for pair, cell in cells.items():
    both = [t + f for t, f in zip(cell["true"], cell["false"])]
    if pair not in {(1, 2), (3, 4)}:
        assert sum(both) <= elsewhere(pair), (pair, both)
    assert sum(both[i] for i in quiet) <= elsewhere(pair), (pair, quiet, both)
assert s["outside"] == 0, s["outside"]
n = m = 0
if (1, 2) in cells:
    n = judge((1, 2), early, "false", "true")
if (3, 4) in cells:
    m = judge((3, 4), late, "true", "false")
if sys.argv[5:] == ["killed"]:
    assert m <= elsewhere((3, 4)), m
    sys.exit(n < 20)
assert sum(s["samples"][i] > 0 for i in quiet) * 2 > len(quiet), "not sampled"
# Twenty of a pair are too few to judge (BLOCK_EXPECTS in each of PARTS_MIN
# parts, after the design effect). With fifty in a third of the run, chi-square
# is some 100 at 8 degrees of freedom: far beyond Z_MIN.
if min(n, m) < 50:
    sys.exit(1) # too few: a longer run
assert s["uneven"], "not told as uneven"
PYTHON

# partners COMMAND... - until there are enough detections of both pairs
partners()
{
	local seconds status

	for seconds in 1 3 10 30 90; do
		rm -rf out
		"$@" "$seconds" >when 2>said || fail "$*: $(cat said)"
		json out r.json
		# shellcheck disable=SC2046
		python3 judge.py $(cat when) >judged 2>&1
		status=$?
		grep -q Error judged && fail "$*: $(cat when; tail -2 judged
			"$TOOL" report --time out | grep -A9 'over time')"
		[ $status = 0 ] && break
	done
	[ $status = 0 ] || fail "$*: too few detections: $("$TOOL" report out)"
	# As a control: the other pair's times must not do.
	# shellcheck disable=SC2046
	python3 judge.py $(awk '{ print $3, $4, $1, $2 }' when) >/dev/null 2>&1 &&
		fail 'the wrong times fit too'
	"$TOOL" report out >text || fail report
	grep -q '^Sharing over time' text || fail "no strips: $(cat text)"
	grep '^ *[0-4]-[1-4] ' text
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

attach_says_when()
{
	if (can_attach; exit 0); then
		partners "$TOOL" record --outside -F 1000 -o out -- "$PARTNERS"
	else
		echo '  not tried'
	fi
}

# At the end of the middle third: the early pair is there, and nothing of the late.
a_killed_process_keeps_its_strip()
{
	local seconds status

	for seconds in 1 3 10 30 90; do
		rm -rf out
		"$TOOL" record -F 1000 -o out -- "$PARTNERS" "$seconds" killed \
			>when 2>said
		[ $? = 137 ] || fail "it was not killed: $(cat said)"
		json out r.json
		# shellcheck disable=SC2046
		python3 judge.py $(cat when) killed >judged 2>&1
		status=$?
		grep -q Error judged && fail "killed: $(cat when; tail -2 judged)"
		[ $status = 0 ] && break
	done
	[ $status = 0 ] || fail "too few detections: $("$TOOL" report out)"
	[ "$(ask r.json 'r["processes"][0]["state"]')" = killed ] ||
		fail 'it is not said to be killed'
}

claims=(the_clock_says_when instr_says_when emu_says_when attach_says_when
	a_killed_process_keeps_its_strip)
[ "$(nproc)" -ge 2 ] || skip 'one processor: threads do not share at a time'
run_claims "${1:-}" "${claims[@]}"
