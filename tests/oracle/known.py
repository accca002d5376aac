#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
known - false sharing of known programs: is what the report says so?

  known.py BUILD [SEEDS]

Compiles tests/programs/known with g++ and rustc and runs it under QEMU. Truth is
1 - transfers with the cure / without, both counted in turns of the same length.
Beside it: the avoidable share that the run without the cure counts, and what
SEEDS (default 20) sampled runs at each of three periods say, with the parts of
the intervals that hold the run's own counts. A table in Markdown.
"""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import coverage

SOURCES = os.path.join(os.path.dirname(__file__), "../programs/known")
PATTERNS = {"regression": ("cc", 20000), "locks": ("cc", 6000),
            "locked": ("cc", 10000), "quiescent": ("cc", 4000),
            "queue": ("rs", 4000), "shards": ("rs", 10000)}
WATCHES = "epoch", "chain", "chain arming=1000"
PERIODS = 200, 500, 2000
TURN = 50


def compiled(work):
    subprocess.run(["g++", "-std=c++17", "-O2", "-g", "-pthread", "-o",
                    f"{work}/cc", f"{SOURCES}/known.cc"], check=True)
    subprocess.run(["rustc", "-C", "opt-level=2", "-g", "-o", f"{work}/rs",
                    f"{SOURCES}/known.rs"], check=True)


def run(build, work, settings, command):
    out = f"{work}/out"
    shutil.rmtree(out, ignore_errors=True)
    plugin = (f"{build}/libcomdet-qemu.so,out={out},exact=1,slice={TURN},"
              f"{settings}")
    subprocess.run(["qemu-x86_64", "-cpu", "max", "-plugin", plugin, *command],
                   timeout=300, check=True, stdout=subprocess.DEVNULL)
    return coverage.reported(build, out)


def row(build, work, name, watch, seeds, truth):
    language, steps = PATTERNS[name]
    said = [coverage.figures(run(
        build, work, f"period={p},seed={s}" + coverage.WATCHES[watch],
        [f"{work}/{language}", name, str(steps)]))
        for p in PERIODS for s in range(1, seeds + 1)]
    found = coverage.kinds(said)
    counted = [t for _, _, _, _, t in found["avoidable"]]
    off = [abs(e - truth) for _, e, _, _, _ in found["avoidable"]]
    ratio = [e / t for _, e, _, _, t in found["total"]]
    return (
        f"| {name} | {watch} | {truth:.3f} | {statistics.median(counted):.3f}"
        f" | {100 * statistics.median(off):.1f}"
        f" | {statistics.median(ratio):.2f} |"
        f" {statistics.median([r['samples'] for r in said]):.0f} | "
        + " | ".join(coverage.percent(coverage.held(found[k]))
                     for k in ("total", "cell", "false", "avoidable"))
        + f" | {sum(bool(r['warned']) for r in said)} |")


def main(build, seeds="20"):
    work = tempfile.mkdtemp()
    print("| pattern | watches | truth | counted | sampled: median off, points"
          " | total / count, median | samples, median | totals held | cells |"
          " false shares | avoidable shares | warned |")
    print("|" + "---|" * 12)
    try:
        compiled(work)
        for name, (language, steps) in PATTERNS.items():
            before, after = (
                run(build, work, "period=0", [f"{work}/{language}", name,
                                              str(steps), *cured])
                for cured in ([], ["cured"]))
            truth = max(0, 1 - after["exact"]["all"] / before["exact"]["all"])
            for watch in WATCHES:
                print(row(build, work, name, watch, int(seeds), truth),
                      flush=True)
    finally:
        shutil.rmtree(work)


main(*sys.argv[1:])
