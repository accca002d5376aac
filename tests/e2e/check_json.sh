#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_json - report --json and doctor --json print the documented object
#
# Programs with and without sharing, with one process and several, end or are
# killed. Every report has the promised names and types, its sums agree with
# each other, every id that it refers to exists, and parts that were not
# measured are absent. The documentation has every name. As a control, reports
# with one value changed must be refused.
#
# covers: src preload analysis src/maps preload/start preload/sources

. "$(dirname "$0")/e2e.sh"
cd "$WORK" || exit 1

cat >valid.py <<'PYTHON'
import copy, json, re, sys

class Wrong(Exception):
    pass

def need(condition, text):
    if not condition:
        raise Wrong(text)

def unique(pairs):
    need(len(dict(pairs)) == len(pairs), "a name is there twice")
    return dict(pairs)

def no_constant(name):
    raise Wrong("%s is not JSON" % name)

def load(path):
    return json.load(open(path), object_pairs_hook=unique,
                     parse_constant=no_constant)

def count(v):
    return type(v) is int and v >= 0

def real(v):
    return type(v) in (int, float) and v >= 0

def text(v):
    return type(v) is str and v != ""

def any_text(v):
    return type(v) is str

def hexa(v):
    return type(v) is str and re.fullmatch("0x[0-9a-f]+", v) is not None

def boolean(v):
    return type(v) is bool

def location(v):
    return type(v) is str and re.fullmatch(r".+:[1-9][0-9]*", v) is not None

def one_of(*values):
    return lambda v: v in values

CALL = {"function?": text, "location?": location, "module": text,
        "offset": hexa, "recursive?": boolean}

def list_of(shape):
    def check(v, where):
        need(type(v) is list, where + " is no list")
        for i, x in enumerate(v):
            fits(x, shape, "%s[%d]" % (where, i))
    return check

ALLOCATED = dict(CALL, **{"callers?": list_of(CALL)})

def fits(v, shape, where):
    """A name that ends in '?' may be absent; more names than these may be."""
    if type(shape) is not dict:
        if shape.__code__.co_argcount == 2:
            return shape(v, where)
        return need(shape(v), "%s is %r" % (where, v))
    need(type(v) is dict, where + " is no object")
    for name, kind in shape.items():
        if name.rstrip("?") in v:
            name = name.rstrip("?")
            fits(v[name], kind, where + "." + name)
        else:
            need(name.endswith("?"), "%s has no %s" % (where, name))

INTERVAL = {"estimate": real, "low": real, "high": real}
CELL = {"a": count, "b": count, "all": count, "true": count, "false": count,
        "a_to_b": count, "b_to_a": count, "low": real, "high": real,
        "traps": count}
REPORT = {
    "schema": one_of(1),
    "run": {
        "id": text, "source": text, "source_reason": text, "delivery?": text,
        "modes": list_of(one_of("comm")), "algorithm": one_of("comdetective"),
        "period": count, "period_unit": one_of("ns"), "expiry": count,
        "watch_expiry": count, "registers": one_of(0, 1, 2, 3, 4),
        "registers_reason?": text, "line_bytes": count, "complete": boolean,
        "wall_ns": count, "cpu_ns": count, "start_real_ns": count,
        "handler_ns?": count,
        "host": text, "kernel": text, "cpu": text, "not_followed": count},
    "regions?": list_of({
        "name?": text, "samples": {"uniform": count, "stalled": count},
        "detections": count, "true": count, "false": count, "judged": count,
        "avoidable": count}),
    "processes": list_of({
        "id": count, "pid": count, "parent_pid": count, "exe": text,
        "command": text, "complete": boolean, "note?": text,
        "state": one_of("ended", "execed", "running", "killed", "stopped")}),
    "threads": list_of({
        "id": count, "process": count, "tid": count, "name": any_text,
        "count": count, "ended": boolean, "unknown?": one_of(True),
        "cpu_ns?": count, "interrupts?": count,
        "accesses?": count, "accesses_kind?": one_of("exact", "estimated"),
        "samples?": {"uniform": count, "stalled": count},
        "loads?": count, "stores?": count, "traps?": count, "arms?": count}),
    "communication?": {
        "quantity": one_of("map"), "estimator": text,
        "unit": one_of("detections"), "interval_covers": one_of("sampling"),
        "total": INTERVAL, "true_sharing": INTERVAL,
        "false_sharing": INTERVAL, "false_share?": INTERVAL,
        "by_trap": count, "by_board": count, "volume_periods": real,
        "cells": list_of(CELL), "core_cells?": list_of(CELL),
        "lines": list_of({
            "line": hexa, "process": count, "object": text, "true": count,
            "allocated?": ALLOCATED, "freed?": boolean,
            "false": count, "sites": list_of(count),
            "threads": list_of(count),
            "types?": list_of({
                "variable?": text, "type?": text, "start": hexa,
                "size": count}),
            "fields?": list_of({
                "name": text, "byte": count, "bytes": count,
                "threads": list_of({"thread": count,
                                    "access": one_of("r", "W", "B")})})}),
        "sites": list_of({
            "id": count, "function?": text, "location?": location,
            "inlined?": {"function?": text, "location": location},
            "module": text, "offset": hexa, "true": count, "false": count,
            "loads": boolean, "stores": boolean,
            "caller?": dict(CALL, detections=count)}),
        "fixes": list_of({
            "object": text, "detections": count, "judged?": count,
            "avoidable?": count, "lines": count, "line": hexa,
            "allocated?": ALLOCATED, "freed?": boolean,
            "gain?": {"seconds": real, "low": real, "high": real,
                      "round_trip_ns": real},
            "kind": one_of("elements", "objects", "members", "near"),
            "groups": list_of({"threads": list_of(count),
                               "stores": boolean, "fields": list_of(text)}),
            "layout": list_of({
                "object": text, "start": hexa, "member?": text,
                "offset": count, "bytes": count, "accessed": boolean})}),
        "objects": list_of({
            "object": text, "process": count, "module?": text, "size?": count,
            "allocated?": ALLOCATED, "freed?": boolean,
            "true": count, "false": count,
            "kind": one_of("static variable", "module data", "heap", "stack",
                           "mapped file", "unnamed memory")}),
        "call_paths?": list_of({
            "process": count, "line": hexa, "detections": count,
            "sharing": one_of("true", "false"), "avoidable": count,
            "unavoidable": count, "publisher": list_of(CALL),
            "detector": list_of(CALL)}),
        "slices?": {
            "slice_ns": count, "begin_ns": lambda v: type(v) is int,
            "start_mono_ns": count, "run_ns": count, "uneven": boolean,
            "outside": count, "pairs": count, "samples": list_of(count),
            "true": list_of(count), "false": list_of(count),
            "cells": list_of({"a": count, "b": count, "true": list_of(count),
                              "false": list_of(count)})},
        "lines_not_kept_apart?": {"true": count, "false": count}},
    "problems": list_of(text),
}
DOCTOR = {
    "schema": one_of(1),
    "sources": list_of({"name": text, "usable": boolean, "reason": text,
                        "advice": any_text}),
    "debug_registers": {"usable": boolean, "count": count,
                        "range_64": boolean, "reason": text,
                        "advice": any_text},
    "attach": {"usable": boolean, "reason": text, "advice": any_text},
    "checks": list_of({"name": text, "good": boolean, "reason": text,
                       "advice": any_text}),
}

def both(rows, name):
    return sum(x[name] for x in rows)

def interval(v, where):
    need(v["low"] <= v["estimate"] <= v["high"], where + " is out of order")

def sums(c):
    total, true, false = (c[n]["estimate"] for n in
                          ("total", "true_sharing", "false_sharing"))
    rest = c.get("lines_not_kept_apart", {"true": 0, "false": 0})

    need(total == true + false, "total is not true + false")
    need(total == c["by_trap"] + c["by_board"], "total is not trap + board")
    for name in "total", "true_sharing", "false_sharing":
        interval(c[name], name)
    need(("false_share" in c) == (total > 0), "a share of nothing")
    if total:
        interval(c["false_share"], "false_share")
        need(abs(c["false_share"]["estimate"] - false / total) < 1e-6,
             "false_share is not false / total")
    for cells in "cells", "core_cells":
        if cells not in c:
            continue
        need(both(c[cells], "true") == true, cells + ": true")
        need(both(c[cells], "false") == false, cells + ": false")
        need(both(c[cells], "traps") == c["by_trap"], cells + ": traps")
        for x in c[cells]:
            need(x["all"] > 0, cells + ": a cell of nothing")
            need(x["all"] == x["true"] + x["false"], cells + ": all")
            need(x["all"] == x["a_to_b"] + x["b_to_a"], cells + ": ways")
            need(x["low"] <= x["all"] <= x["high"], cells + ": interval")
            need(x["traps"] <= x["all"], cells + ": traps in one")
            need(x["a"] <= x["b"], cells + ": a > b")
        pairs = [(x["a"], x["b"]) for x in c[cells]]
        need(len(set(pairs)) == len(pairs), cells + ": a pair twice")
    for kind, n in ("true", true), ("false", false):
        need(both(c["lines"], kind) + rest[kind] == n, "lines: " + kind)
        need(both(c["objects"], kind) + rest[kind] == n, "objects: " + kind)
        need(n <= both(c["sites"], kind) + rest[kind] <= 2 * n or
             rest[kind], "sites: " + kind)

def slices(r):
    s, c = r["communication"]["slices"], r["communication"]
    cells = {(x["a"], x["b"]): x for x in c["cells"]}
    n = len(s["samples"])

    need(1 <= n <= 64, "slices: not 1 to 64")
    need(-s["slice_ns"] < s["begin_ns"] <= 0 and
         s["run_ns"] <= s["begin_ns"] + n * s["slice_ns"] and
         s["run_ns"] >= s["begin_ns"] + (n - 1) * s["slice_ns"],
         "slices: not those of the run")
    need(sum(s["true"]) + sum(s["false"]) + s["outside"] ==
         c["total"]["estimate"], "slices: the sum")
    need(len(s["cells"]) <= s["pairs"], "slices: more cells than pairs")
    need(sum(s["samples"]) <= sum(sum(t["samples"].values())
         for t in r["threads"] if "samples" in t), "slices: samples")
    for kind in "true", "false":
        need(len(s[kind]) == n, "slices: " + kind)
        for x in s["cells"]:
            need(len(x[kind]) == n, "slices: %s of a cell" % kind)
            need(sum(x[kind]) <= cells[x["a"], x["b"]][kind],
                 "slices: more than the pair has")

def references(r):
    c, threads = r["communication"], r["threads"]
    line_bytes = r["run"]["line_bytes"]

    for name, rows in (("process", r["processes"]), ("thread", threads),
                       ("site", c["sites"])):
        need([x["id"] for x in rows] == list(range(len(rows))),
             name + ": ids are not 0, 1, 2")
    for x in threads + c["lines"] + c["objects"]:
        need(x["process"] < len(r["processes"]), "no such process")
    for x in c["cells"]:
        need(x["b"] < len(threads), "no such thread")
        need(x["a"] < x["b"] or threads[x["a"]]["count"] > 1,
             "a thread shares with itself")
        need(threads[x["a"]]["process"] == threads[x["b"]]["process"],
             "sharing between processes")
    for x in c["lines"]:
        need(int(x["line"], 16) % line_bytes == 0, "a line at no boundary")
        need(all(i < len(c["sites"]) for i in x["sites"]), "no such site")
        need(len(x["threads"]) > 0 and
             all(i < len(threads) for i in x["threads"]), "no such thread")
        need(x["true"] + x["false"] > 0, "a line of nothing")
    for x in c["sites"]:
        need(x["loads"] or x["stores"], "a site that does nothing")

def thread_rows(r):
    names = ("cpu_ns", "interrupts", "samples", "loads", "stores", "traps",
             "arms")

    for t in r["threads"]:
        need(t["count"] > 0, "a row of no thread")
        for name in names:
            need((name in t) != ("unknown" in t),
                 "%s of thread %d" % (name, t["id"]))
        need(("accesses" in t) == ("accesses_kind" in t), "accesses")
        if "unknown" in t:
            continue
        s = t["samples"]
        need(s["uniform"] + s["stalled"] <= t["interrupts"],
             "more samples than interrupts")
        need(max(t["loads"], t["stores"]) <= s["uniform"] <=
             t["loads"] + t["stores"], "loads and stores are not the uniform "
             "samples")

def report(r):
    fits(r, REPORT, "report")
    causes = set(re.findall(r'^\s*X\([A-Z_]+,\s*"([a-z_]+)"',
                            open(sys.argv[2]).read(), re.M))
    need(len(causes) > 5 and set(r["loss"]) == causes, "loss: %s" %
         (set(r["loss"]) ^ causes))
    need(all(count(v) for v in r["loss"].values()), "loss: a value")
    need(r["run"]["complete"] == all(p["complete"] for p in r["processes"]),
         "complete")
    need("reuse" not in r, "reuse was not measured, and is there")
    thread_rows(r)
    if "communication" in r:
        sums(r["communication"])
        references(r)
        if "slices" in r["communication"]:
            slices(r)

def names(v):
    if type(v) is dict:
        for k, x in v.items():
            yield k
            yield from () if k == "loss" else names(x)
    elif type(v) is list:
        for x in v:
            yield from names(x)

def documented(r):
    words = set(re.findall("[a-z_0-9]+", open(sys.argv[3]).read()))
    missing = set(names(r)) - words
    need(not missing, "not documented: %s" % missing)

def refuses(r, text, change):
    other = copy.deepcopy(r)
    change(other)
    try:
        report(other)
    except Wrong:
        return
    sys.exit("FAIL: not noticed: " + text)

def set_(path, value):
    def change(r):
        *way, last = path
        for step in way:
            r = r[step]
        if value is None:
            del r[last]
        else:
            r[last] = value
    return change

def swap(r):
    cell = r["communication"]["cells"][0]
    cell["a"], cell["b"] = cell["b"], cell["a"]

def refuse_changes(r):
    c = "communication"
    total = r[c]["total"]["estimate"]
    for text, path, value in (
            ("a name that is missing", ("run", "kernel"), None),
            ("a number as text", ("threads", 0, "tid"), "17"),
            ("a truth value as number", ("run", "complete"), 1),
            ("a total that is no sum", (c, "total", "estimate"), total + 1),
            ("a cell that is no sum", (c, "cells", 0, "true"), total + 1),
            ("a core cell too much",
             (c, "core_cells", 0, "all"), total + 1),
            ("a slice too much", (c, "slices", "true", 0), total + 1),
            ("a slice that is missing", (c, "slices", "samples", 0), None),
            ("a line too much", (c, "lines", 0, "false"), total + 1),
            ("a thread that is not there", (c, "cells", 0, "b"), 9999),
            ("a site that is not there", (c, "lines", 0, "sites"), [9999]),
            ("an address as number", (c, "lines", 0, "line"), 64),
            ("an interval beside the estimate",
             (c, "false_share", "high"), -1.0),
            ("a cause of loss that is missing",
             ("loss", sorted(r["loss"])[0]), None),
            ("reuse, which was not measured", ("reuse",), [])):
        refuses(r, text, set_(path, value))
    refuses(r, "a > b", swap)

r = load(sys.argv[1])
try:
    if "sources" in r:
        fits(r, DOCTOR, "doctor")
    else:
        report(r)
        documented(r)
        if sys.argv[4:] == ["--changed"]:
            refuse_changes(r)
except Wrong as wrong:
    sys.exit("FAIL: %s: %s" % (sys.argv[1], wrong))
PYTHON

# valid FILE [--changed] - check a report; then that each change is refused
valid()
{
	python3 valid.py "$1" "$(find "$TOP/src" -name loss.h)" \
		"$TOP/docs/report-json.md" \
		"${@:2}" || exit 1
}

# Two threads share: report the whole, without names, and thread by thread.
"$TOOL" record -g -o shared -- "$B/microbench/demo" --seconds 3 >log 2>&1 ||
	fail "record demo: $(cat log)"
json shared shared.json
holds shared.json 'est("total") > 0' "a program that shares"
valid shared.json --changed
"$TOOL" report --json --no-symbols shared >bare.json || fail "--no-symbols"
valid bare.json
for thread in 0 1; do
	"$TOOL" report --json --thread $thread shared >one.json ||
		fail "--thread $thread"
	valid one.json
done

# A script starts a program with threads.
printf '%s\n' '#!/bin/sh' "'$B/microbench/demo' --seconds 1" 'exit 3' \
	>script && chmod +x script
"$TOOL" record --children -o family -- ./script >log 2>&1
[ $? = 3 ] || fail "record --children: $(cat log)"
json family family.json
holds family.json 'len(r["processes"]) >= 2 and len(r["threads"]) >= 4' \
	"a script and what it started"
valid family.json

# A program without samples, and one that is killed.
"$TOOL" record -o asleep -- sleep 0.1 2>log || fail "record sleep: $(cat log)"
json asleep asleep.json
holds asleep.json 'not ({"false_share", "core_cells"} & set(c)) and not c["cells"]' \
	"nothing measured is absent, not zero"
valid asleep.json
"$TOOL" record -o killed -- sh -c 'kill -9 $$' 2>log
[ $? = 137 ] || fail "a killed program: $(cat log)"
json killed killed.json
holds killed.json 'r["processes"][0]["state"] == "killed"' "a killed program"
valid killed.json

"$TOOL" doctor --json >doctor.json
valid doctor.json
for call in perf_event_open perf_event_open,timer_create; do
	"$B/tests/programs/help_deny" $call EPERM "$TOOL" doctor --json >doctor.json
	valid doctor.json
done
echo "the JSON objects are as documented, and their sums agree"
