#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_callers - record -g names the calls that led to both accesses
#
# In a program whose calls are known, every path of every detection is one of
# its paths, from the access to the function that the thread began with. Paths
# that could not be followed to there are counted, and are few. Without -g there
# are none. The same with samples of simulated hardware events, with hooks, and
# with QEMU.
#
# covers: src/unwind preload/sources preload/core analysis/report

. "$(dirname "$0")/e2e.sh"
cd "$WORK" || exit 1
[ "$(nproc)" -ge 2 ] || skip "one processor"

program=$B/tests/programs/help_callers
"$TOOL" record -g -F 1000 -o out -- "$program" 120 2>record.err ||
	fail "record: $(cat record.err)"
"$TOOL" report --json out >r.json || fail "report --json"
"$TOOL" report out >text || fail "report"

cat >paths.py <<'PYTHON'
import json, sys
r = json.load(open(sys.argv[1]))
c = r["communication"]
total = c["total"]["estimate"]
assert total >= 20, "only %d detections" % total
allowed = {
    ("left_inner", "left_middle", "left"),
    ("left_middle", "left"), ("left",),  # the stacks that calls and returns use
    ("right_inner", "right_middle", "right"),
    ("right_fill", "right_middle", "right"),
    ("libc", "right_fill", "right_middle", "right"),
    ("right_middle", "right"), ("right",),
}
counted = 0
unknown = 0
for p in c["call_paths"]:
    counted += p["detections"]
    for side in "publisher", "detector":
        path = tuple("libc" if "libc" in f["module"] else f.get("function", "?")
                     for f in p[side])
        if len(path) <= 1:
            unknown += p["detections"]
        else:
            assert path in allowed, path
    sides = [(p[s] or [{}])[-1].get("function") for s in ("publisher", "detector")]
    if None not in sides and len(p["publisher"]) > 1 and len(p["detector"]) > 1:
        assert set(sides) == {"left", "right"}, sides
assert counted == total, (counted, total)
assert unknown * 10 <= total, (unknown, total)
samples = sum(t["samples"]["uniform"] + t["samples"]["stalled"]
              for t in r["threads"])
lost = r["loss"].get("no_path", 0)
print("%d detections with paths, %d without; %d of %d samples without a whole "
      "path" % (counted, unknown, lost, samples))
assert lost * 10 <= samples, (lost, samples)
PYTHON
python3 paths.py r.json || fail "the paths: $(cat text)"
grep -q '^Call paths' text || fail "the text has no paths"
grep -Eq '(left_inner|right_inner) help_callers.c:[0-9]+ < (left|right)_middle' \
	text || fail "the text has no path of the program: $(cat text)"

# Sites in libc go by the line of the program that calls it.
cat >callers.py <<'PYTHON'
import json, sys
libc = [s for s in json.load(open("r.json"))["communication"]["sites"]
        if "libc" in s["module"]]
called = [s["caller"] for s in libc if "caller" in s]
assert not libc or called, libc
for c in called:
    assert c["function"] == "right_fill", c
    assert "help_callers.c:" in c["location"], c
print("%d sites in libc, %d with a caller" % (len(libc), len(called)))
PYTHON
python3 callers.py || fail "callers of sites in libc: $(cat text)"
if grep -q '"caller"' r.json; then
	grep -q 'called at help_callers.c:[0-9]* (right_fill)' text ||
		fail "no caller in the text: $(cat text)"
fi

# Exported stacks have the calls, and as many detections as the report.
total=$(ask r.json 'c["total"]["estimate"]')
for format in collapsed speedscope pprof; do
	"$TOOL" export -f $format -o $format out || fail "export -f $format"
done
awk '{ n += $NF } END { exit n != '"$total"' }' collapsed ||
	fail "the stacks have another number than $total"
grep -Eq ';left;left_middle;store in left_inner \(help_callers.c:[0-9]+\);right;right_middle;' \
	collapsed || grep -Eq ';right;right_middle;store in right_inner \(help_callers.c:[0-9]+\);left;left_middle;' \
	collapsed || fail "no calls in the stacks: $(cat collapsed)"
python3 - <<'PYTHON' || fail "no calls for speedscope"
import json
j = json.load(open("speedscope"))
name = [f["name"] for f in j["shared"]["frames"]]
deep = [s for s in j["profiles"][0]["samples"] if len(s) > 7]
assert deep, name
assert any(name[f] == "left_middle" for s in deep for f in s)
PYTHON
grep -q left_middle pprof || fail "no calls for pprof"

"$TOOL" record -o plain -- "$program" 1 2>record.err || fail "without -g"
"$TOOL" report --json plain >plain.json
grep -q call_paths plain.json && fail "paths that nobody asked for"
# The same from hooks, and from QEMU, of transfers.
cat >transfers.py <<'PYTHON'
import json, sys
r = json.load(open(sys.argv[1]))
allowed = {
    ("left_inner", "left_middle", "left"), ("left_middle", "left"), ("left",),
    ("right_inner", "right_middle", "right"),
    ("right_fill", "right_middle", "right"),
    ("libc", "right_fill", "right_middle", "right"),
    ("right_middle", "right"), ("right",),
}
again = {"first": "left", "second": "right"} # under QEMU
counted = whole = 0
for p in r["communication"]["call_paths"]:
    for side in "publisher", "detector":
        path = tuple("libc" if "libc" in f["module"] or
                     "ld-linux" in f["module"] else f.get("function", "?")
                     for f in p[side])
        counted += p["detections"]
        path = path[:-1] + (again.get(path[-1], path[-1]),)
        while path[:2] == ("libc", "libc"): # one call, within libraries
            path = path[1:]
        if path in allowed:
            whole += p["detections"]
        elif path[1:] in allowed: # the dynamic linker, at a function's first call
            assert path[0] == "libc", path
        else: # how main begins threads, and tells them the end
            assert set(path) <= {"libc", "main"}, path
print("%s: %d of %d sides of transfers in the threads' functions" %
      (r["run"]["source"], whole, counted))
assert whole >= 20 and whole * 10 >= counted * 9, (whole, counted)
samples = sum(t["samples"]["uniform"] for t in r["threads"])
assert r["loss"].get("no_path", 0) * 100 <= samples, r["loss"]
PYTHON
calls=$B/tests/programs/instr/calls
"$TOOL" record -g -s instr -p 500 -o instr -- "$calls" until 120 2>record.err ||
	fail "instr: $(cat record.err)"
json instr instr.json
python3 transfers.py instr.json || fail instr
if command -v qemu-x86_64 >/dev/null; then
	"$TOOL" record -g -s emu -p 200 -o emu -- "$calls.plain" 40000 \
		2>record.err || fail "emu: $(cat record.err)"
	json emu emu.json
	python3 transfers.py emu.json || fail emu
fi

# Samples of hardware events, on simulated machines.
for machine in skylake:pebs zen4:ibs; do
	rm -rf hard
	env FAKE_MODEL=${machine%:*} COMDET_PERIOD=1000 COMDET_OUT=hard \
		COMDET_PATHS=1 LD_PRELOAD="$B/tests/libcomdet-fake.so" \
		"$B/tests/programs/help_pmu_calls" 400000 2>hard.err ||
		fail "$machine: $(cat hard.err)"
	"$TOOL" report --json hard >hard.json || fail "$machine: report"
	python3 - "$machine" <<'PYTHON' || fail "$machine: $(head -c 3000 hard.json)"
import json, sys
r = json.load(open("hard.json"))
c = r["communication"]
assert r["run"]["source"] == sys.argv[1].split(":")[1], r["run"]["source"]
whole = gone = 0
for p in c["call_paths"]:
    paths = [tuple(f.get("function", "?") for f in p[s])
             for s in ("publisher", "detector")]
    for path in paths:
        if path[-1] == "work" and path[0] != "work":
            assert path in (("left_inner", "left_middle", "store", "work"),
                            ("right_inner", "right_middle", "store", "work")), path
            whole += p["detections"]
        else:
            assert len(path) == 1, path
            gone += p["detections"]
print("%s: %d sides of %d detections with their calls, %d without"
      % (sys.argv[1], whole, c["total"]["estimate"], gone))
assert whole > gone, (whole, gone)
assert whole + gone == 2 * c["total"]["estimate"]
assert r["loss"]["no_path"], r["loss"]
PYTHON
done

for bad in "-s emu -m reuse" "-s emu -m trace" "-m reuse"; do
	# shellcheck disable=SC2086
	"$TOOL" record -g $bad -o bad -- true >log 2>&1 &&
		fail "record -g $bad was accepted"
	grep -q -e --call-paths log || fail "record -g $bad: $(cat log)"
done
exit 0
