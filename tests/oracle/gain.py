#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""gain - predicted against measured savings of eight planted problems

	gain.py BUILD [RUNS]

Records each problem RUNS times (default 3) in its bad version, and times the
bad and the good version natively before and after each recording. Prints the
predicted share of the run time that padding saves with its interval, and the
measured one, then how many have the predicted sign and how many lie in the
interval. The machine must be quiet.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

PROBLEMS = "static array blocks tls lock nested ring config".split()
ROUNDS = "500000000"


def seconds(program, problem, version):
    begin = time.monotonic()
    subprocess.run([program, problem, version, ROUNDS], check=True)
    return time.monotonic() - begin


def predicted(tool, program, problem, out):
    subprocess.run([tool, "record", "-o", out, "--", program, problem, "bad",
                    ROUNDS], check=True, stderr=subprocess.DEVNULL)
    report = json.loads(subprocess.run([tool, "report", out, "--json"],
                                       check=True, capture_output=True).stdout)
    fixes = report["communication"]["fixes"]
    gain = fixes[0].get("gain") if fixes else None
    run = report["run"]["wall_ns"] / 1e9
    return gain and {k: gain[k] / run for k in ("seconds", "low", "high")} | {
        "trip": gain["round_trip_ns"]}


def main():
    build, runs = sys.argv[1], int((sys.argv[2:] or ["3"])[0])
    tool, here = build + "/reusetrack", os.path.dirname(__file__)
    count = dict.fromkeys(("runs", "told", "sign", "inside"), 0)
    widest = 0
    with tempfile.TemporaryDirectory() as work:
        program = work + "/planted"
        subprocess.run(["gcc", "-O2", "-g", "-pthread", "-o", program,
                        here + "/../programs/planted/planted.c"], check=True)
        print("problem  round trip  predicted (interval)     measured")
        for problem in PROBLEMS * runs:
            times = {"bad": [], "good": []}
            gain = None
            for part in range(4):
                if part == 2:
                    gain = predicted(tool, program, problem, work + "/out")
                for version in times:
                    times[version].append(seconds(program, problem, version))
            bad, good = (statistics.median(times[v]) for v in times)
            saved = 1 - good / bad
            count["runs"] += 1
            if not gain:
                print(f"{problem:8} no prediction{'':25} {saved:6.0%}",
                      flush=True)
                continue
            inside = gain["low"] <= saved <= gain["high"]
            widest = max(widest, gain["high"] / gain["low"])
            count["told"] += 1
            count["sign"] += (saved > 0) == (gain["seconds"] > 0)
            count["inside"] += inside
            print(f"{problem:8} {gain['trip']:7.0f} ns  {gain['seconds']:6.0%} "
                  f"({gain['low']:4.0%} to {gain['high']:4.0%})   "
                  f"{saved:12.0%}  {'in' if inside else 'out'}", flush=True)
    print("{runs} runs, {told} with a prediction: {sign} of the predicted sign,"
          " {inside} in the interval".format(**count))
    print(f"the widest interval: a factor of {widest:.2f}")


if __name__ == "__main__":
    main()
