#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Summarize the runs of tests/bench/bench.sh: ratios with their intervals.

A pair's ratio is its run with the preload over its run without. The summary has
the median over pairs and its 95 % interval from order statistics, which
assumes nothing about the distribution. The figures over all programs are the
median and the largest of the programs' medians; their intervals are found by
resampling the pairs of each program 2,000 times.
"""
import csv
import math
import random
import sys


def median(values):
    v = sorted(values)
    n = len(v)
    return v[n // 2] if n % 2 else (v[n // 2 - 1] + v[n // 2]) / 2


def median_interval(values):
    """The narrowest pair of order statistics that covers 95 %, or None."""
    v = sorted(values)
    n = len(v)
    below = 0.0
    k = -1
    # P(fewer than k + 1 of n values are below the median) at most 2.5 %
    while k + 1 < n // 2:
        p = math.comb(n, k + 1) / 2**n
        if below + p > 0.025:
            break
        below += p
        k += 1
    return (v[k], v[n - 1 - k]) if k >= 0 else None


def interval_text(interval):
    if not interval:
        return "(too few pairs)"
    return "[%.3f, %.3f]" % interval


def read_pairs(path):
    """
    {way: {program: [(without, with), ...]}}, each a dict of numbers; a way is
    "with", "with2", ...
    """
    runs, ways = {}, set()
    with open(path, newline="") as f:
        for row in csv.DictReader(f):
            pair = runs.setdefault(row["program"], {}).setdefault(
                int(row["pair"]), {})
            ways.add(row["how"])
            pair[row["how"]] = {
                "wall": float(row["wall_s"]),
                "cpu": float(row["user_s"]) + float(row["system_s"]),
                "rss": int(row["maxrss_kib"]),
            }
    return {way: {name: [(p["without"], p[way]) for p in pairs.values()
                         if "without" in p and way in p]
                  for name, pairs in runs.items()}
            for way in sorted(ways - {"without"})}


def ratios(pairs, what):
    return [b[what] / a[what] for a, b in pairs]


def over_programs(programs, what):
    """Median and largest of the programs' medians, with intervals."""
    rng = random.Random(1)
    per_program = [ratios(pairs, what) for pairs in programs.values()]
    drawn_median, drawn_worst = [], []
    for _ in range(2000):
        medians = [median(rng.choices(r, k=len(r))) for r in per_program]
        drawn_median.append(median(medians))
        drawn_worst.append(max(medians))
    medians = [median(r) for r in per_program]

    def middle(values):
        v = sorted(values)
        return v[int(0.025 * len(v))], v[int(0.975 * len(v))]

    return (median(medians), middle(drawn_median),
            max(medians), middle(drawn_worst))


def print_way(way, programs):
    print("%-8s %5s %7s  %-24s %-24s %s" % (
        way, "pairs", "run s", "wall ratio, 95 %", "CPU ratio, 95 %",
        "peak memory MiB, without with more"))
    for name, pairs in programs.items():
        wall, cpu = ratios(pairs, "wall"), ratios(pairs, "cpu")
        rss = [median([p[i]["rss"] for p in pairs]) / 1024 for i in (0, 1)]
        print("%-8s %5d %7.1f  %.3f %-18s %.3f %-18s %.1f %.1f %+.1f" % (
            name, len(pairs), median([a["wall"] for a, _ in pairs]),
            median(wall), interval_text(median_interval(wall)),
            median(cpu), interval_text(median_interval(cpu)),
            rss[0], rss[1], rss[1] - rss[0]))
    for what, label in (("wall", "wall"), ("cpu", "CPU")):
        mid, mid_i, worst, worst_i = over_programs(programs, what)
        print("%s over programs: median %.3f %s, worst %.3f %s" % (
            label, mid, interval_text(mid_i), worst, interval_text(worst_i)))


def main():
    ways = {way: {n: p for n, p in programs.items() if p}
            for way, programs in read_pairs(sys.argv[1]).items()}
    if not any(ways.values()):
        sys.exit("bench: no complete pair of runs in " + sys.argv[1])
    for way, programs in ways.items():
        print_way("program" if len(ways) == 1 else way, programs)


if __name__ == "__main__":
    main()
