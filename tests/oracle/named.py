#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""named - how many detections have a name, and whether gdb agrees

    named.py [-n CHECKED] [-s SEED] -t REUSETRACK [-p PARTS_OF]
             NAME=DIRECTORY...

For each recorded directory: the share of the detections whose object is a
variable, a heap block of a known call, a thread's stack, or, where heaps are not
known, a type whose members cover the accessed bytes; and of those that
lie in a structure, or in an object whose type is not known, the share whose
accessed bytes all have members. A line lies in no structure if the program says
so: its variable is a number; or it is of a heap block in which no object is known
to reach there, and debug information declares the pointers that lead there as
pointers to numbers, characters or pointers, at least one of them, and none as a
pointer to a structure (tests/oracle/parts_of.c). Such a pointer may
lead to a member all the same; a row below the table counts how often it did on
lines whose members are known.

Then it draws detections at random, from each program in turn, and prints each
line of them once, with how often it was drawn. gdb reads the program's debug
information by itself, and is asked for each: is the source line of the instruction the one that
the report shows; does the variable lie at these bytes of a page; does the
member lie at this offset and have this size. gdb skips rows of the line table
that begin no statement; there addr2line decides. Where the text of a source line
has neither the member nor the variable, the row is marked "eye": somebody
should look at it. Of library code that was inlined gdb is asked for the file
only: it skips rows of the line table that begin no statement; check_names.sh
compares these lines with addr2line. Exits with 1 if gdb contradicts a name.
"""
import argparse
import functools
import json
import linecache
import os
import random
import re
import subprocess
import sys

GDB = r"""
import gdb, json, os
gdb.execute("set confirm off")
gdb.execute("set language c")
out = []
for q in json.load(open(os.environ["QUESTIONS"])):
    try:
        if "pc" in q:
            at = gdb.find_pc_line(int(q["pc"], 16))
            out.append([at.symtab.fullname(), at.line] if at.symtab else None)
        else:
            gdb.execute("set language " + q["language"])
            for n, ask in enumerate(q["ask"], 1):
                try:
                    out.append(int(gdb.parse_and_eval(ask)))
                    break
                except gdb.error:
                    if n == len(q["ask"]):
                        raise
    except gdb.error as e:
        out.append(str(e))
json.dump(out, open(os.environ["ANSWERS"], "w"))
"""


SITES_SHOWN = 6


def ask_gdb(module, questions):
    base = f"/tmp/named.{os.getpid()}"
    with open(base + ".py", "w") as f:
        f.write(GDB)
    with open(base + ".q", "w") as f:
        json.dump(questions, f)
    env = dict(os.environ, QUESTIONS=base + ".q", ANSWERS=base + ".a")
    run = subprocess.run(["gdb", "-nx", "-batch", "-x", base + ".py", module],
                         env=env, capture_output=True, text=True, check=False)
    try:
        with open(base + ".a") as f:
            return json.load(f)
    except OSError:
        sys.exit(f"gdb: {run.stderr}")
    finally:
        for end in (".py", ".q", ".a"):
            if os.path.exists(base + end):
                os.unlink(base + end)


def addr2line_says(module, question, expected):
    """Rows of the line table that begin no statement are known to addr2line."""
    if "pc" not in question:
        return False
    run = subprocess.run(["addr2line", "-i", "-e", module, question["pc"]],
                         capture_output=True, text=True, check=False)
    for place in run.stdout.splitlines():
        file, _, number = place.split(" ")[0].rpartition(":")
        if number.isdigit() and agrees([file, int(number)], expected):
            return True
    return False


@functools.lru_cache(maxsize=None)
def lowest_address(module):
    """Offsets count from the address at which the file's first byte lies."""
    run = subprocess.run(["readelf", "-lW", module], capture_output=True,
                         text=True, check=False)
    m = re.search(r"LOAD +0x0+ 0x([0-9a-f]+)", run.stdout)
    return int(m[1], 16) if m else 0


def kinds(c):
    return {(o["process"], o["object"]): o for o in c["objects"]}


def is_named(line, objects):
    o = objects.get((line["process"], re.sub(r"\+\d+$", "", line["object"])))
    kind = o["kind"] if o else ""
    if "allocated" in line:
        return bool(line["allocated"].get("function") or
                    line["allocated"].get("location"))
    return kind in ("static variable", "stack")


def accessed(line):
    got = set()
    for row in line["bytes"]:
        each = 64 // len(row["map"])
        for i, letter in enumerate(row["map"]):
            if letter != ".":
                got.update(range(i * each, (i + 1) * each))
    return got


def is_bare(names):
    return bool(names) and not any("." in f["name"] for f in names)


def in_cpp(sites):
    return any("::" in s.get("function", "") or
               re.search(r"\.(cc|cpp|cxx|hpp)(:|$)|/c\+\+/", s.get("location", ""))
               for s in sites)


def no_structure(line, sites, pointers):
    """Why the line lies in no structure: "variable", "buffer", or ""."""
    names, types = line.get("fields", []), line.get("types", [])
    kinds = {pointers.get(s["id"], "?") for s in sites}
    if names and not is_bare(names):
        return ""
    if any(re.match(r"(struct|class|union) ", t.get("type", "")) for t in types):
        return ""
    if names:
        # "__atomic_base<int>" is a part of an object that is not known.
        part = in_cpp(sites) and any("variable" not in t for t in types)
        return "" if part else "variable"
    # A stack has more than its variables; so has what nobody is known to own.
    if "allocated" not in line or line.get("inside"):
        return ""
    return "buffer" if "plain" in kinds and "structure" not in kinds else ""


def members(line, sites=(), pointers={}):
    """None: of no structure; else whether every accessed byte has a member"""
    names = line.get("fields", [])
    if no_structure(line, sites, pointers):
        return None
    if is_bare(names) and in_cpp(sites) and any(
            "variable" not in t for t in line.get("types", [])):
        return False
    covered = set()
    for f in names:
        covered.update(range(f["byte"], f["byte"] + f["bytes"]))
    return bool(names) and accessed(line) <= covered


def pointers_of(c, parts_of):
    """By a site's id: "structure", "plain" or "?", what its pointer leads to"""
    found, by_module = {}, {}
    for s in c["sites"]:
        if s.get("module", "").startswith("/"):
            by_module.setdefault(s["module"], []).append(s)
    for module, sites in by_module.items():
        asked = [hex(int(s["offset"], 16) + lowest_address(module))
                 for s in sites]
        run = subprocess.run([parts_of, module, "kind"], text=True,
                             input="\n".join(asked) + "\n",
                             capture_output=True, check=False)
        for s, said in zip(sites, run.stdout.splitlines()):
            found[s["id"]] = said.partition("|")[2]
    return found


def mark_inside(lines):
    """line["inside"]: what other lines show of an object reaches into this one"""
    objects = [(line["process"], int(t["start"], 16), t["size"])
               for line in lines for t in line.get("types", [])]
    for line in lines:
        start = int(line["line"], 16)
        line["inside"] = any(
            p == line["process"] and at <= start + b < at + size
            for b in accessed(line) for p, at, size in objects)


def sites_of(c, line):
    by_id = c["by_id"]
    return [by_id[i] for i in line["sites"] if i in by_id]


def open_run(tool, parts_of, name, directory):
    text = subprocess.run([tool, "report", "--json", directory],
                          capture_output=True, text=True, check=True).stdout
    whole = json.loads(text)
    c = whole["communication"]
    c["name"] = name
    c["program"] = whole["processes"][0]["exe"]
    c["by_id"] = {s["id"]: s for s in c["sites"]}
    c["pointers"] = pointers_of(c, parts_of)
    mark_inside(c["lines"])
    return c


def table(runs):
    sums = [0, 0, 0, 0, 0]
    print("| program | detections | with a name | in buffers | of structures | "
          "with a member |\n|---|---|---|---|---|---|")
    shares = [[], []]
    for c in runs + [None]:
        row = [0, 0, 0, 0, 0]
        if c:
            objects = kinds(c)
            for line in c["lines"]:
                n = line["true"] + line["false"]
                sites = sites_of(c, line)
                whole = members(line, sites, c["pointers"])
                row[0] += n
                row[4] += n * (no_structure(line, sites, c["pointers"])
                               == "buffer")
                row[1] += n * (is_named(line, objects) or whole is True)
                if whole is not None:
                    row[2] += n
                    row[3] += n * whole
            sums = [a + b for a, b in zip(sums, row)]
            for i in (0, 2):
                if row[i]:
                    shares[i // 2].append(row[i + 1] / row[i])
        else:
            row = sums
        print(f"| {c['name'] if c else 'all'} | {row[0]} | "
              f"{100 * row[1] / max(row[0], 1):.1f} % | {row[4]} | {row[2]} | "
              f"{100 * row[3] / max(row[2], 1):.1f} % |")
    named, member = (100 * sum(x) / max(len(x), 1) for x in shares)
    print(f"| mean of the programs' shares | | {named:.1f} % | | | "
          f"{member:.1f} % |")


def rule_of_buffers(runs):
    """How the rule would do on the lines whose members are known"""
    said = {}
    for c in runs:
        for line in c["lines"]:
            sites = sites_of(c, line)
            if members(line, sites, c["pointers"]) is not True:
                continue
            without = dict(line, fields=[], types=[], inside=False,
                           allocated={})
            why = no_structure(without, sites, c["pointers"])
            n = line["true"] + line["false"]
            row = said.setdefault(c["name"], [0, 0])
            row[0] += n
            row[1] += n * (why == "buffer")
    print("Detections with members that the pointers alone would take for "
          "buffers: " + ", ".join(f"{name} {b} of {a}"
                                  for name, (a, b) in said.items()))


def unnamed(c):
    objects = kinds(c)
    for line in c["lines"]:
        whole = members(line, sites_of(c, line), c["pointers"])
        if whole is False or not (whole or is_named(line, objects)):
            sites = [c["sites"][i] for i in line["sites"][:3]]
            print(f"  {c['name']}: {line['true'] + line['false']} of "
                  f"{line['object']} {[f['name'] for f in line.get('fields', [])]}"
                  f" at {[s.get('location', s['module']) for s in sites]}")


def spellings(base, sites):
    """A type's name for gdb, which wants its namespace: one of the functions'"""
    if base.startswith(("struct ", "class ", "union ")):
        return [base]
    names = [base, f"'{base}'"]
    for s in sites:
        words = re.sub(r"[<(].*", "", s.get("function", "")).split("::")
        for n in range(1, len(words)):
            names.append("'" + "::".join(words[:n] + [base]) + "'")
    return list(dict.fromkeys(names))


def questions_of(c, line, sites):
    """What gdb is asked of this line: (module, question, expected, what)"""
    asked = []
    for s in sites:
        place = s.get("inlined", s).get("location")
        if place and "inlined" in s:
            place = place.rsplit(":", 1)[0]
        if place:
            pc = int(s["offset"], 16) + lowest_address(s["module"])
            asked.append((s["module"], {"pc": hex(pc)}, place,
                          f"line of {s['offset']}"))
    own = [s for s in sites if not s["module"].startswith(("/lib", "/usr/lib"))]
    program = own[0]["module"] if own else c["program"]
    allocator = [s["module"] for s in sites if s not in own][:1]
    language = "c"
    if sites and re.search(r"\.(cc|cpp|cxx|h|hpp)(:|$)",
                           sites[0].get("location", "")):
        language = "c++"
    start = int(line["line"], 16)
    for f in line.get("fields", []):
        m = re.match(r"((?:struct |class |union )?[^.\[#]+)( #\d+)?(.*)$",
                     f["name"])
        base, path = m[1], m[3]
        fits = [t for t in line.get("types", [])
                if base in (t.get("variable"), t.get("type"))
                and int(t["start"], 16) <= start + f["byte"]
                < int(t["start"], 16) + t["size"]]
        if len(fits) != 1:
            continue
        # The C library's own, beside the program's objects.
        module = program
        if allocator and re.match(r"main_arena|struct (malloc|tcache)_", base):
            module = allocator[0]
        off = start + f["byte"] - int(fits[0]["start"], 16)
        roots, mask = [f"*({r} *)0" for r in spellings(base, sites)], ""
        if fits[0].get("variable") == base:
            roots, mask = [base, f"'{base}'"], " & 4095"
            asked.append((module, {"ask": [f"(unsigned long)&{r} & 4095"
                                           for r in roots],
                                   "language": language},
                          int(fits[0]["start"], 16) & 4095, f"&{base}"))
            off += int(fits[0]["start"], 16)
            off &= 4095
        whole = [f"(({r}){path})" for r in roots]
        asked.append((module, {"ask": [f"(unsigned long)&{w}{mask}"
                                       for w in whole],
                               "language": language}, off,
                      f"offset of {f['name']}"))
        # A member is shown up to the end of the line.
        room = 64 - f["byte"]
        asked.append((module, {"ask": [
            f"sizeof({w}) < {room} ? sizeof({w}) : {room}" for w in whole],
                               "language": language}, f["bytes"],
                      f"size of {f['name']}"))
    return asked


def text_of(place):
    m = re.match(r"(.*):(\d+)$", place)
    return linecache.getline(m[1], int(m[2])).strip() if m else ""


def agrees(answer, expected):
    if isinstance(expected, int):
        return answer == expected
    if not isinstance(answer, list):
        return False
    file, _, number = expected.partition(":")
    return os.path.normpath(answer[0]).endswith(
        os.path.basename(file)) and (not number or int(number) == answer[1])


def check(runs, count, seed):
    rng = random.Random(seed)
    piles = []
    for c in runs:
        pile = [(c, line) for line in c["lines"]
                for _ in range(line["true"] + line["false"])]
        rng.shuffle(pile)
        piles.append(pile)
    # From each program in turn, so that none has most of them.
    drawn = [pile[i] for i in range(max(map(len, piles), default=0))
             for pile in piles if i < len(pile)][:count]
    totals = {"agree": 0, "differ": 0, "unanswered": 0, "eye": 0}
    times = {}
    for c, line in drawn:
        key = c["name"], line["process"], line["line"]
        times[key] = times.get(key, (c, line, 0))[:2] + (times.get(
            key, (c, line, 0))[2] + 1,)
    for c, line, n in times.values():
        sites = sites_of(c, line)
        rows = questions_of(c, line, sites)
        verdict, said = "agree", []
        for module in {r[0] for r in rows}:
            mine = [r for r in rows if r[0] == module]
            for r, a in zip(mine, ask_gdb(module, [r[1] for r in mine])):
                if agrees(a, r[2]) or addr2line_says(module, r[1], r[2]):
                    continue
                said.append(f"{r[3]}: {a}, not {r[2]}")
                unanswered = isinstance(a, str) or a is None
                if verdict != "differ":
                    verdict = "unanswered" if unanswered else "differ"
        texts = [text_of(s.get("location", "")) for s in sites]
        words = {w for f in line.get("fields", [])
                 for w in re.findall(r"\w+", f["name"])[-1:]}
        words.add(re.split(r"[+\[. ]", line["object"])[0])
        eye = not any(w in t for w in words for t in texts)
        totals[verdict] += n
        totals["eye"] += n * eye
        print(f"{n} {verdict}{' eye' if eye else ''}: {c['name']}: "
              f"{line['object']} {[f['name'] for f in line.get('fields', [])]}")
        for s, t in list(zip(sites, texts))[:SITES_SHOWN]:
            print(f"    {s.get('location')} {s.get('function')}: {t}")
        for s in said:
            print("   ", s)
    print(f"{len(drawn)} drawn, of {len(times)} lines: {totals}")
    return totals["differ"] > 0


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("-n", type=int, default=100)
    p.add_argument("-s", type=int, default=1)
    p.add_argument("-t", default="build/reusetrack")
    p.add_argument("-p", default=None)
    p.add_argument("runs", nargs="+")
    o = p.parse_args()
    parts_of = o.p or os.path.join(os.path.dirname(o.t), "tests/oracle/parts_of")
    runs = [open_run(o.t, parts_of, *r.split("=", 1)) for r in o.runs]
    table(runs)
    rule_of_buffers(runs)
    print("Without a name or a member:")
    for c in runs:
        unnamed(c)
    sys.exit(check(runs, o.n, o.s))


if __name__ == "__main__":
    main()
