#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
cures - what padding avoids, said by threads that run freely

  cures.py BUILD SOURCE [SECONDS [PATTERN...]]

Runs the microbenchmark cures under the source instr or clock, for SECONDS
(default 6) a pattern, and prints a table in Markdown. Truth is that of exact
counts under QEMU with and without the cure, where threads take turns: at two
lengths of turns, because threads that run freely have turns of all lengths.
With hooks the same run also counts; then "off" is the distance from that count,
otherwise from the two truths.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile

PATTERNS = (
    "mutex pool ticket seqlock refcount ring structs heap lock-beside flag"
    " vector bitmap"
).split()
TURNS = 50, 200
ITERATIONS = 20000


def report(build, out):
    text = subprocess.run([f"{build}/reusetrack", "report", out, "--json"],
                          capture_output=True, check=True).stdout
    return json.loads(text)


def run(command, env, out, build):
    shutil.rmtree(out, ignore_errors=True)
    subprocess.run(command, env=env, check=True, timeout=600,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return report(build, out)


def truth(build, out, pattern, turn):
    """1 - transfers with the cure / without, in turns."""
    counted = []
    for cured in [], ["--cured"]:
        plugin = (f"{build}/libcomdet-qemu.so,out={out},exact=1,period=0,"
                  f"slice={turn}")
        r = run(["qemu-x86_64", "-cpu", "max", "-plugin", plugin,
                 f"{build}/microbench/cures", "--pattern", pattern,
                 "--iterations", str(ITERATIONS), *cured], None, out, build)
        counted.append(r["exact"]["all"])
    return max(0, 1 - counted[1] / counted[0])


def said(build, out, pattern, source, seconds):
    env = {k: v for k, v in os.environ.items() if k[:7] != "COMDET_"}
    env.update(LD_PRELOAD=f"{build}/libcomdet.so", COMDET_SOURCE=source,
               COMDET_OUT=out)
    if source == "instr":
        env.update(COMDET_PERIOD="100", COMDET_EXACT="1")
        program = f"{build}/microbench/instr/cures"
    else:
        env["COMDET_FREQ"] = "1000"
        program = f"{build}/microbench/cures"
    # Four threads with tickets on two processors nearly stand still.
    threads = "2" if pattern == "ticket" else "4"
    return run([program, "--pattern", pattern, "--seconds", seconds,
                "--threads", threads], env, out, build)


def row(build, source, seconds, pattern, out):
    truths = [truth(build, out, pattern, turn) for turn in TURNS]
    r = said(build, out, pattern, source, seconds)
    c = r["communication"]
    share = c.get("avoidable_share")
    exact = r.get("exact", {})
    n = c.get("judged", c.get("by_trap", 0))
    found = (f"{share['estimate']:.2f} | {share['low']:.2f} to"
             f" {share['high']:.2f}" if share else "none | ")
    own = ""
    if exact.get("all") and "avoidable" in exact:
        truths_here = [exact["avoidable"] / exact["all"]]
        own = f"{truths_here[0]:.2f} of {exact['all']}"
    else:
        truths_here = truths
    off = max(0, min(truths_here) - share["estimate"],
              share["estimate"] - max(truths_here)) if share else 1
    return (f"| {pattern} | {' | '.join(f'{t:.2f}' for t in truths)} | {own} |"
            f" {found} | {n} | {100 * off:.0f} |")


def main(build, source, seconds="6", *patterns):
    work = tempfile.mkdtemp()
    print("| pattern | " + " | ".join(f"truth, turns of {t}" for t in TURNS) +
          " | counted in this run | avoidable | 95 % interval | detections |"
          " off, points |")
    print("|" + "---|" * (6 + len(TURNS)))
    try:
        for pattern in patterns or PATTERNS:
            print(row(build, source, seconds, pattern, f"{work}/out"),
                  flush=True)
    finally:
        shutil.rmtree(work)


main(*sys.argv[1:])
