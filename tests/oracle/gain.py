#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""gain - predicted against measured savings of eight planted problems

	gain.py BUILD [RUNS [SECONDS [FILE]]]

Records each problem in its bad version, and times the bad and the good version
natively before and after the recording, until each problem has RUNS
measurements (default 3) or SECONDS (default 400) have passed. The cores of a
virtual machine move, so a line's round trip is probed between all these runs.
A measurement counts only if its probes, that of the recording among them, are
of one regime: all near or all far. FILE keeps the measurements, so that a
further call goes on.

Prints for each measurement the predicted share of the run time that padding
saves with its interval, and the measured one. The k-th measurements of the
eight problems in one regime are a round. The exit status is 0 if in each
complete round eight have the predicted sign and six lie in the interval, 1 if
not, 3 if no round is complete.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

from real_time import trip_ns

PROBLEMS = "static array blocks tls lock nested ring config".split()
ROUNDS = "300000000"
APART_NS = 140    # between the two regimes
STALLED_NS = 1000 # a processor was taken away meanwhile
INSIDE_OF_EIGHT = 6
PROBES = 3        # at a time, of which the least counts


def round_trip(build):
    """A probe that loses a processor says too much, never too little."""
    return min(trip_ns(build) for _ in range(PROBES))


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


def regime(trips):
    """The one regime of all these round trips, or why there is none."""
    if max(trips) > STALLED_NS:
        return "stalled"
    if max(trips) < APART_NS:
        return "near"
    return "far" if min(trips) >= APART_NS else "moved"


def measure(build, program, problem, work):
    times = {"bad": [], "good": []}
    trips = [round_trip(build)]
    for part in range(2):
        for version in times:
            times[version].append(seconds(program, problem, version))
        trips.append(round_trip(build))
        if not part:
            gain = predicted(build + "/reusetrack", program, problem,
                             work + "/out")
            trips += [gain["trip"]] if gain else []
            trips.append(round_trip(build))
    bad, good = (statistics.median(times[v]) for v in times)
    return {"problem": problem, "regime": regime(trips), "trips": trips,
            "gain": gain, "saved": 1 - good / bad}


def is_inside(m):
    return m["gain"]["low"] <= m["saved"] <= m["gain"]["high"]


def has_sign(m):
    return (m["saved"] > 0) == (m["gain"]["seconds"] > 0)


def print_one(m):
    gain, trips = m["gain"], m["trips"]
    say = "no prediction"
    if gain:
        say = (f"{gain['seconds']:4.0%} ({gain['low']:4.0%} to "
               f"{gain['high']:4.0%})")
    print(f"{m['problem']:8} {m['regime']:8}"
          f"{min(trips):5.0f} to {max(trips):4.0f} ns  {say:22}"
          f"{m['saved']:6.0%}  "
          f"{'' if not gain else 'in' if is_inside(m) else 'out'}",
          flush=True)


def counted(kept, name, problem):
    return [m for m in kept if (m["problem"], m["regime"]) == (problem, name)]


def judge(kept):
    """Print each complete round. Returns whether each holds; None: none is."""
    holds = []
    for name in ("near", "far"):
        columns = [counted(kept, name, p) for p in PROBLEMS]
        for k, row in enumerate(zip(*columns), 1):
            told = [m for m in row if m["gain"]]
            sign = sum(map(has_sign, told))
            inside = sum(map(is_inside, told))
            print(f"{name} {k}: of {len(row)} problems {len(told)} have a "
                  f"prediction, {sign} the predicted sign, {inside} lie in "
                  "the interval")
            holds.append(sign == len(row) and inside >= INSIDE_OF_EIGHT)
    return all(holds) if holds else None


def next_problem(kept, runs):
    """That with the fewest measurements that count; None: all have @runs."""
    counts = {p: max(len(counted(kept, name, p)) for name in ("near", "far"))
              for p in PROBLEMS}
    fewest = min(PROBLEMS, key=counts.get)
    return fewest if counts[fewest] < runs else None


def main():
    build = sys.argv[1]
    runs, limit = (int(a) for a in (sys.argv[2:4] + ["3", "400"][
        len(sys.argv[2:4]):]))
    path = sys.argv[4] if len(sys.argv) > 4 else None
    here, end = os.path.dirname(__file__), time.monotonic() + limit
    kept = []
    if path and os.path.exists(path):
        kept = [json.loads(line) for line in open(path, encoding="ascii")]
    for m in kept:
        print_one(m)
    with tempfile.TemporaryDirectory() as work:
        program = work + "/planted"
        subprocess.run(["gcc", "-O2", "-g", "-pthread", "-o", program,
                        here + "/../programs/planted/planted.c"], check=True)
        while (problem := next_problem(kept, runs)):
            if time.monotonic() > end:
                print(f"stopped after {limit} s")
                break
            m = measure(build, program, problem, work)
            print_one(m)
            kept.append(m)
            if path:
                with open(path, "a", encoding="ascii") as f:
                    f.write(json.dumps(m) + "\n")
    lost = sum(m["regime"] in ("moved", "stalled") for m in kept)
    told = [m["gain"] for m in kept if m["gain"]]
    print(f"{len(kept)} measurements, of which {lost} do not count: the round "
          "trip changed meanwhile")
    if told:
        print("the widest interval: a factor of "
              f"{max(g['high'] / g['low'] for g in told):.2f}")
    holds = judge(kept)
    if holds is None:
        print("no round of eight problems in one regime is complete")
    return 3 if holds is None else not holds


if __name__ == "__main__":
    sys.exit(main())
