#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
sample_coverage - how often intervals of sampled simulations hold the full time

  sample_coverage.py BUILD SEEDS TRACE...   a row for each trace, in Markdown

Bias, error (root of the mean square) and half width are of the full time in
percent; the ratio is CPU time of the full simulation over that of a sample.
"""

import json
import os
import statistics
import subprocess
import sys

MACHINE = os.environ.get("MACHINE", "golden-c3")


def simulate(build, *args):
    """The result, and the CPU time that it took."""
    before = os.times().children_user
    out = subprocess.run([build + "/reusetrack", "simulate", "--json",
                          "--machine", MACHINE, *args], check=True,
                         capture_output=True, text=True).stdout
    return json.loads(out), os.times().children_user - before


def holds(sampled, cycles):
    """Whether the interval holds @cycles; None if there is none."""
    if sampled["low"] is None:
        return None
    return sampled["low"] <= cycles <= sampled["high"]


def text(held):
    held = [h for h in held if h is not None]
    return f"{sum(held)} of {len(held)}"


def row(build, seeds, trace):
    full, full_time = simulate(build, trace)
    cycles = full["cycles"]
    held, threads, off, half, times = [], [], [], [], []
    for seed in range(seeds):
        one, time = simulate(build, "--sampled", "--seed", str(seed), trace)
        sampled = one["sampled"]
        times.append(time)
        off.append(100 * (one["cycles"] / cycles - 1))
        held.append(holds(sampled, cycles))
        if held[-1] is not None:
            half.append(50 * (sampled["high"] - sampled["low"]) / cycles)
        threads += [holds(s["sampled"], f["cycles"])
                    for f, s in zip(full["threads"], one["threads"])]
    error = statistics.fmean(x * x for x in off) ** 0.5
    return (f"| {os.path.basename(trace)} | {cycles:,} | {text(held)} "
            f"| {text(threads)} | {statistics.fmean(off):+.2f} | {error:.2f} "
            f"| {statistics.fmean(half) if half else float('nan'):.2f} "
            f"| {sampled['units']} | {full_time / statistics.fmean(times):.1f} |")


def main():
    build, seeds, traces = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    print("| trace | cycles | program | threads | bias | error | half width "
          "| units | ratio |\n|---|---|---|---|---|---|---|---|---|")
    for trace in traces:
        print(row(build, seeds, trace), flush=True)


if __name__ == "__main__":
    main()
