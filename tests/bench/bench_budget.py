#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench_budget - the shares that a changing rate finds, against a fixed one

    bench_budget.py BUILD RUNS SECONDS      (make bench-budget RUNS=N)

help_two_times shares one line early and another one late, equally often, with
quiet in between. It is recorded RUNS times at a fixed rate, at the default one
and with --budget 1, in turn. For each, the share of the early line and the sum
of weights are printed with their standard errors, and how many intervals hold
one half. Nothing is judged.
"""
import json
import math
import os
import subprocess
import sys
import tempfile

BUILD = os.path.abspath(sys.argv[1])
RUNS, SECONDS = int(sys.argv[2]), sys.argv[3]
TOOL = BUILD + "/reusetrack"
OPTIONS = (("-F", "200"), (), ("--budget", "1"))


def record(option, out):
    subprocess.run([TOOL, "record", *option, "-s", "clock", "-o", out, "--",
                    BUILD + "/tests/programs/help_two_times", SECONDS],
                   check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    report = json.loads(subprocess.run(
        [TOOL, "report", "--json", out], check=True,
        stdout=subprocess.PIPE).stdout)
    c = report["communication"]
    early, all_ = c["false_sharing"]["estimate"], c["total"]["estimate"]
    return {
        "early": early,
        "late": c["true_sharing"]["estimate"],
        "all": all_,
        "share": early / all_ if all_ else math.nan,
        "holds": (c["false_share"]["low"] or 0) <= 0.5 <=
                 (c["false_share"]["high"] or 1),
        "samples": sum(sum(t["samples"].values()) for t in report["threads"]),
    }


def mean(rows, name):
    x = [r[name] for r in rows]
    m = sum(x) / len(x)
    return "%.4g (%.2g)" % (m, math.sqrt(sum((a - m) ** 2 for a in x) /
                                         max(1, len(x) - 1) / len(x)))


rows = {o: [] for o in OPTIONS}
with tempfile.TemporaryDirectory() as directory:
    for i in range(RUNS):
        for o in OPTIONS:
            rows[o].append(record(o, "%s/%d%s" % (directory, i, "".join(o))))
print("option, samples, share early, early, late, all, intervals with 1/2")
for o in OPTIONS:
    print(" ".join(o) or "default", *(mean(rows[o], n) for n in
                         ("samples", "share", "early", "late", "all")),
          "%d of %d" % (sum(r["holds"] for r in rows[o]), RUNS), sep=", ")
