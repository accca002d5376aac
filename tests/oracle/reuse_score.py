#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
reuse_score - how close measured histograms of reuse times are to the truth

  reuse_score.py ribench DIR JSON  against what ribench --histogram printed
  reuse_score.py exact DIR         samples against every access, by line
  reuse_score.py outcomes DIR      weights by scope and outcome, of samples
  reuse_score.py times DIR         shares and mean times of the same, by thread
  reuse_score.py stack DIR         accesses by stack distance, the low end of its bin

Reads the files of DIR by the description in docs/format.md. Prints one line of
JSON: S, that is 1 - half the sum of the absolute differences of the shares,
and what belongs to it.
"""

import collections
import glob
import json
import struct
import sys

PAGE, PAGE_HEADER, SECTION = 4096, 64, 7
RECORD = struct.Struct("<6BHIIQQ4dQQ16x")
BIN, PAIR, EXACT, STACK = 1, 2, 3, 4
REUSED, INVALIDATED, OWN, DANGLING, COLD = 1, 2, 3, 4, 5
ADDRESS, LINE = 0, 1
SCOPES = "private shared global".split()

Reuse = collections.namedtuple(
    "Reuse",
    "kind scope granularity outcome pairing spatial domain thread bin "
    "use_ip end_ip weight squares offset offset_squares count generation",
)


def records(directory):
    """All records of reuses in the files of a directory."""
    for name in glob.glob(directory + "/*.cdp"):
        with open(name, "rb") as file:
            data = file.read()
        for at in range(PAGE, len(data) - PAGE + 1, PAGE):
            section, committed = struct.unpack_from("<II", data, at)
            if section != SECTION:
                continue
            for i in range(committed):
                yield Reuse._make(
                    RECORD.unpack_from(data, at + PAGE_HEADER + i * RECORD.size)
                )


def low(number):
    """The lowest time of a bin."""
    octave = (number >> 3) - 1
    return number if octave < 1 else (number - (octave << 3)) << octave


def time(record):
    """The mean time of what is in a bin."""
    return low(record.bin) + record.offset / record.weight


def shares(weights):
    total = sum(weights.values())
    return {k: w / total for k, w in weights.items()} if total else {}


def score(a, b):
    a, b = shares(a), shares(b)
    return 1 - sum(abs(a.get(k, 0) - b.get(k, 0)) for k in a.keys() | b) / 2


def thesis_bin(t, first):
    """[0, first), [first, 2 first), [2 first, 4 first), ..."""
    number = 0
    while t >= first << number:
        number += 1
    return number


def expected(what, first):
    bins = collections.Counter()
    for row in what["reuses"]:
        bins[thesis_bin(row["time"], first)] += row["uses"]
    bins["invalidated"] = what["invalidated"]
    return bins


def ribench(directory, text):
    truth = json.loads(text)
    first = truth["first_bin"]
    found = collections.Counter()
    decided = dangling = 0
    for r in records(directory):
        if (r.kind, r.scope, r.granularity) != (BIN, 0, ADDRESS):
            continue
        if r.outcome == REUSED:
            found[thesis_bin(time(r), first)] += r.weight
        elif r.outcome == INVALIDATED:
            found["invalidated"] += r.weight
        else:
            dangling += r.weight
            continue
        decided += r.count
    share = shares(found).get("invalidated", 0)
    wanted = expected(truth["true"], first)
    return {
        "case": truth["case"],
        "threads": truth["threads"],
        "decided": decided,
        "dangling": dangling,
        "S": round(score(found, wanted), 4),
        "published": round(
            score(found, expected(truth["published"], first)), 4
        ),
        "invalidated": round(share, 4),
        "true_invalidated": round(shares(wanted).get("invalidated", 0), 4),
    }


def exact(directory):
    """By scope: octaves of time, and what was invalidated or dangles."""
    sampled = collections.defaultdict(collections.Counter)
    truth = collections.defaultdict(collections.Counter)
    decided = collections.Counter()
    for r in records(directory):
        if r.granularity != LINE or r.outcome == COLD:
            continue
        key = (
            int(time(r)).bit_length()
            if r.outcome in (REUSED, OWN)
            else "end"
        )
        if r.kind == BIN:
            sampled[r.scope][r.outcome, key] += r.weight
            decided[r.scope] += r.count
        elif r.kind == EXACT:
            truth[r.scope][r.outcome, key] += r.weight
    return {
        SCOPES[s]: {
            "S": round(score(sampled[s], truth[s]), 4),
            "uses": decided[s],
            "accesses": round(sum(truth[s].values())),
        }
        for s in sorted(truth)
    }


def outcomes(directory):
    names = " reused invalidated own dangling".split(" ")
    found = collections.defaultdict(collections.Counter)
    for r in records(directory):
        if r.kind == BIN:
            found[SCOPES[r.scope]][names[r.outcome]] += r.weight
    return found


def times(directory):
    names = " reused invalidated own dangling".split(" ")
    found = collections.defaultdict(collections.Counter)
    for r in records(directory):
        if r.kind == BIN:
            where = "%s %d" % (SCOPES[r.scope], r.thread)
            found[where][names[r.outcome]] += r.weight
            found[where]["time", names[r.outcome]] += r.weight * time(r)
    return {
        where: {
            o: [w / sum(s.get(n, 0) for n in names), s["time", o] / w]
            for o, w in s.items()
            if o in names
        }
        for where, s in found.items()
    }


def stack(directory):
    found = collections.Counter()
    for r in records(directory):
        if r.kind == STACK and r.outcome == REUSED:
            found[low(r.bin)] += r.weight
    return found


def main():
    what, arguments = sys.argv[1], sys.argv[2:]
    print(
        json.dumps(
            {
                "ribench": ribench,
                "exact": exact,
                "outcomes": outcomes,
                "times": times,
                "stack": stack,
            }[what](*arguments)
        )
    )


main()
