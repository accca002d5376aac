#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""compare_addr2line - names of random addresses, ours and addr2line's

    compare_addr2line.py [-n COUNT] [-s SEED] [-v] FRAMES_OF FILE...

Draws COUNT addresses of code from the files, each of a file's bytes of code
with the same chance, and compares what frames_of and addr2line -i say of each:
the number of functions through inlining, each one's name, file and line. The
exit status is 1 if they differ in a way that LISTED does not explain.
"""
import argparse
import os
import random
import re
import shutil
import subprocess
import sys
from collections import Counter

# Differences that are none of ours, each with a rule and the reason.
LISTED = {
    "line 0": "DWARF says line 0, code that the compiler made up: addr2line "
              "prints \"?\"",
    "no DWARF": "without DWARF at this address addr2line may print the file "
                "symbol of the symbol table; we print no file",
    "padding": "addr2line names the function before; the address is behind "
               "its last byte",
    "alias": "several symbols have this address, and DWARF names none",
    "clone": "addr2line prints the symbol of a part or copy that gcc made "
             "(.cold, .part, .constprop, .isra); we print the function",
    "bare": "DWARF has no linkage name of the innermost function, inlined: "
            "addr2line prints the symbol of the address in its place, the "
            "outermost one's",
    "short": "addr2line prints DWARF's name of an outer function, we its "
             "symbol, which has the names of classes and namespaces too",
    "doubled": "addr2line and llvm-symbolizer put a relative directory of the "
               "compilation (-ffile-prefix-map) before a name that has it",
    "llvm": "llvm-symbolizer prints our files, lines and number of functions. "
            "addr2line of binutils 2.40 takes wrong files from DWARF 5, does "
            "not read DW_FORM_rnglistx, and misses inlined functions",
}
CLONE = re.compile(r"(\.(cold|lto_priv|part|constprop|isra)(\.\d+)*|"
                   r"\[clone[^]]*\])+$")


def code_of(path):
    """The addresses of the sections with code, as (start, bytes)."""
    out = subprocess.run(["readelf", "-SW", path], capture_output=True,
                         text=True, check=True).stdout
    found = []
    for m in re.finditer(r"\] (\.text\S*|\.init|\.fini)\s+PROGBITS\s+"
                         r"(\w+) \w+ (\w+) ", out):
        found.append((int(m.group(2), 16), int(m.group(3), 16)))
    return found


def draw(rng, path, n):
    code = code_of(path)
    total = sum(size for _, size in code)
    found = []
    while len(found) < n:
        at = rng.randrange(total)
        for start, size in code:
            if at < size:
                found.append(start + at)
                break
            at -= size
    return sorted(set(found))


def parse(text):
    """{address: [(function, file, line)]}"""
    frames, out, at = None, {}, None
    lines = text.split("\n")
    i = 0
    while i < len(lines):
        if re.fullmatch(r"0x[0-9a-f]+", lines[i]):
            frames = out[int(lines[i], 16)] = []
            i += 1
        elif lines[i] and i + 1 < len(lines):
            place = re.sub(r" \(discriminator \d+\)$", "", lines[i + 1])
            file, _, line = place.rpartition(":")
            frames.append((lines[i].replace(" ", ""),
                           os.path.normpath(file) if file != "??" else "??",
                           int(line) if line.isdigit() else 0))
            i += 2
        else:
            i += 1
    return out


def ask(command, addresses):
    text = "".join("0x%x\n" % a for a in addresses)
    return parse(subprocess.run(command, input=text, capture_output=True,
                                text=True, check=True).stdout)


def symbols_of(path):
    """{address: [(name, bytes)]}"""
    symbols = {}
    for option in "-C", "-CD":
        out = subprocess.run(["nm", "-S", option, path], capture_output=True,
                             text=True).stdout
        for line in out.split("\n"):
            m = re.match(r"([0-9a-f]{16}) ([0-9a-f]{16} )?[a-zA-Z] (.*)", line)
            if m:
                symbols.setdefault(int(m.group(1), 16), []).append(
                    (m.group(3).replace(" ", "").split("@")[0],
                     int(m.group(2) or "0", 16)))
    return symbols


def why_function(address, x, y, symbols, inlined):
    """Why our name x and addr2line's y of a function differ."""
    if CLONE.sub("", y) == x:
        return "clone"
    if "::%s(" % y in x + "(":
        return "short"
    for start, names in symbols.items():
        if start <= address and y in (n for n, _ in names):
            size = max(n for _, n in names)
            if x == "??" and address >= start + size:
                return "padding"
            if x in (n for n, _ in names):
                return "alias"
            if inlined and address < start + size:
                return "bare"
    return "function"


def is_doubled(ours, theirs):
    """True if theirs is DIR/ours, where ours begins with DIR."""
    front = theirs[:-len(ours) - 1]
    return theirs == front + "/" + ours and ours.startswith(front + "/")


def explain(address, ours, theirs, symbols):
    """The keys of LISTED that explain the difference, or what differs."""
    if ours == theirs:
        return set()
    if len(ours) != len(theirs):
        return {"number of functions"}
    what = set()
    for i, (x, y) in enumerate(zip(ours, theirs)):
        if x[2] != y[2] or x[1] != y[1]:
            if x[2] == y[2] == 0:
                what.add("line 0" if x[1] != "??" else "no DWARF")
            elif x[2] == y[2] and is_doubled(x[1], y[1]):
                what.add("doubled")
            else:
                what.add("line" if x[1] == y[1] else "file")
        if x[0] != y[0]:
            inlined = i == 0 and len(ours) > 1
            what.add(why_function(address, x[0], y[0], symbols, inlined))
    return what


def same_as_llvm(address, ours, llvm):
    """Names of llvm-symbolizer are of another demangler: places decide."""
    found = llvm.get(address, [])
    return len(found) == len(ours) and all(
        x[2] == y[2] and (x[1] == y[1] or is_doubled(x[1], y[1]))
        for x, y in zip(ours, found))


def compare(args, path):
    """Print one row; return how many differences LISTED does not explain."""
    addresses = draw(random.Random(args.s), path, args.n)
    ours = ask([args.frames_of, path], addresses)
    theirs = ask(["addr2line", "-a", "-f", "-i", "-C", "-e", path], addresses)
    llvm = {}
    if shutil.which("llvm-symbolizer"):
        llvm = ask(["llvm-symbolizer", "-a", "-f", "-i", "-C",
                    "--output-style=GNU", "--obj=" + path], addresses)
    symbols = symbols_of(path)
    found, chains, lines, bad = Counter(), 0, 0, 0
    for a in addresses:
        chains += len(ours[a]) > 1
        lines += ours[a][0][2] > 0
        what = explain(a, ours[a], theirs[a], symbols)
        if not what <= set(LISTED) and same_as_llvm(a, ours[a], llvm):
            what = {"llvm"}
        why = ", ".join(sorted(what))
        found[why] += bool(why)
        if not what <= set(LISTED):
            bad += 1
            if args.v and found[why] <= 2:
                print("0x%x: %s\n  ours   %s\n  theirs %s" %
                      (a, why, ours[a], theirs[a]))
    print("%-32s %4d addresses, %4d with a line, %4d inlined; differ: %s" %
          (os.path.basename(path), len(addresses), lines, chains,
           ", ".join("%s %d" % f for f in sorted(found.items()) if f[1])
           or "none"), flush=True)
    return bad


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-n", type=int, default=1000)
    parser.add_argument("-s", type=int, default=1)
    parser.add_argument("-v", action="store_true")
    parser.add_argument("frames_of")
    parser.add_argument("files", nargs="+")
    args = parser.parse_args()
    bad = sum(compare(args, path) for path in args.files)
    print("%d differences that are not listed" % bad)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
