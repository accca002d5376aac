#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
real_time - simulated and predicted against measured ratios of two ways

  real_time.py measure BUILD DIR N   measure N pairs of runs of each case, the
        order changing, with a line's round trip before and after each run;
        describe this machine before each round of them
  real_time.py trace BUILD DIR       trace each case of microbench/variants in
        both ways, simulate and predict it on the machine that was described:
        how much of its LLC a virtual machine has changes from second to
        second, and the description with the median of it counts
  real_time.py table DIR             print the table in Markdown

CASES= chooses some. RUN= comes before each program that is measured, and before
machine: with RUN="chrt -f 1" no other program interrupts them. The ratio is time
of the first way / time of the second. A pair counts if the round trips around its
runs are of one regime: within a factor of 1.5 of the median of those below 1 us,
which is longer than any line takes; beyond it the threads did not run side by
side. For the cases that need it the LLC has to be there: a load of chains through
4 MiB of each core, before and after each run, takes less than twice what the
description says of the LLC.
"""

import glob
import json
import os
import re
import shutil
import statistics
import subprocess
import sys

# Case: times the work is done when traced, and when measured.
CASES = {
    "transpose": (6, 40), "multiply": (1, 8), "count": (12, 400),
    "balance": (12, 200), "branches": (12, 200), "list": (4, 8),
    "sums": (12, 800), "divide": (12, 200), "look-up": (12, 40),
    "members": (12, 800),
}
WAYS = ([], ["--second"])
BEFORE = os.environ.get("RUN", "").split()
SIDE_BY_SIDE_NS = 1000
TRIPS = 2000
ROOMY = "list", "look-up"
ROOMS = 4
ROOM = 2  # times the latency of the LLC
NODES = 1 << 16  # of a thread's chain of 4 MiB, as in variants.c


def chosen():
    names = os.environ.get("CASES", "").split() or CASES
    return {name: CASES[name] for name in names}


def tool(build, *arguments, before=()):
    return subprocess.run([*before, f"{build}/reusetrack", *arguments],
                          check=True, stdout=subprocess.PIPE).stdout


def seconds(build, case, rounds, way):
    err = subprocess.run(
        [*BEFORE, f"{build}/microbench/variants", "--case", case, "--rounds",
         str(rounds), *way], check=True, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True).stderr
    return float(re.match(r"([0-9.]+) s", err)[1])


def trip_ns(build):
    return seconds(build, "turns", TRIPS, []) / TRIPS * 1e9


def room_ns(build):
    return seconds(build, "room", ROOMS, []) / ROOMS / NODES * 1e9


def per_round(times, rounds):
    """Caches are cold in the first round, and when measured in none."""
    return (times[1] - times[0]) / rounds


def describe(build, machine):
    text = tool(build, "machine", "--host", "--measure", before=BEFORE)
    with open(machine, "wb") as f:
        f.write(text)


def llc(machine):
    """Of two with the same size the slower one comes later."""
    text = open(machine).read()
    size, unit = re.search(r"^llc\.size = ([0-9]+)([KM]?)", text, re.M).groups()
    latency = re.search(r"^llc\.latency = ([0-9]+)", text, re.M)[1]
    return int(size) << {"": 0, "K": 10, "M": 20}[unit], int(latency)


def choose_machine(build, where):
    machine = f"{where}/machine"
    known = sorted(glob.glob(f"{where}/machine.*"), key=llc)
    if known:
        shutil.copy(known[len(known) // 2], machine)
    elif not os.path.exists(machine):
        describe(build, machine)
    return machine


def trace(build, where):
    os.makedirs(where, exist_ok=True)
    machine = choose_machine(build, where)
    for case, (rounds, _) in chosen().items():
        row = {"case": case, "simulated": [], "predicted": []}
        for i, way in enumerate(WAYS):
            times = {"simulate": [], "predict": []}
            for n in (1, rounds + 1):
                out = f"{where}/{case}.{i}.{n}"
                if not os.path.exists(out):
                    tool(build, "record", "-s", "emu", "-m", "trace", "--roi",
                         "region_begin,region_end", "-o", out, "--",
                         f"{build}/microbench/variants", "--case", case,
                         "--rounds", str(n), *way)
                for verb in times:
                    times[verb].append(json.loads(tool(
                        build, verb, "--json", "--machine", machine,
                        out))["time_ns"])
            row["simulated"].append(per_round(times["simulate"], rounds))
            row["predicted"].append(per_round(times["predict"], rounds))
        with open(f"{where}/models", "a") as f:
            print(json.dumps(row), file=f, flush=True)
        print(row, flush=True)


def measure(build, where, n):
    os.makedirs(where, exist_ok=True)
    before = len(glob.glob(f"{where}/machine.*"))
    for i in range(n):
        describe(build, f"{where}/machine.{before + i}")
        for case, (_, rounds) in chosen().items():
            row = {"case": case, "ns": [0, 0], "trip": [],
                   "room": []}
            for k in (0, 1) if i % 2 else (1, 0):
                row["trip"].append(trip_ns(build))
                if case in ROOMY:
                    row["room"].append(room_ns(build))
                row["ns"][k] = seconds(build, case, rounds,
                                       WAYS[k]) / rounds * 1e9
            row["trip"].append(trip_ns(build))
            if case in ROOMY:
                row["room"].append(room_ns(build))
            with open(f"{where}/measured", "a") as f:
                print(json.dumps(row), file=f, flush=True)


def number(text, key):
    return float(re.search(rf"^{key} = ([0-9.]+)", text, re.M)[1])


def llc_ns(machine):
    text = open(machine).read()
    return sum(number(text, key) for key in (
        "l1d.tag", "l2.tag", "llc.latency")) / number(text, "frequency_ghz")


def rows(name):
    return [json.loads(line) for line in open(name)]


def table(where):
    models = {r["case"]: r for r in rows(f"{where}/models")}
    runs = rows(f"{where}/measured")
    middle = statistics.median(t for r in runs for t in r["trip"]
                               if t < SIDE_BY_SIDE_NS)
    room = llc_ns(f"{where}/machine")
    errors = {"simulated": [], "predicted": []}
    print(f"A line's round trip: {middle:.0f} ns in the median.\n")
    print("| case | pairs | first, us | second, us | measured ratio "
          "| simulated | off | predicted | off |")
    print("|---|---|---|---|---|---|---|---|---|")
    wrong = []
    for case, model in models.items():
        good = [r["ns"] for r in runs if r["case"] == case and
                all(middle / 1.5 <= t <= middle * 1.5 for t in r["trip"]) and
                (case not in ROOMY or
                 all(t <= room * ROOM for t in r["room"]))]
        if not good:
            print(f"| {case} | 0 | | | | | | | |")
            continue
        ratio = statistics.median(a / b for a, b in good)
        cells = []
        for key in errors:
            a, b = model[key]
            off = (a / b) / ratio - 1
            cells += [f"{a / b:.2f}", f"{100 * off:+.0f} %"]
            if abs(ratio - 1) >= 0.05:
                errors[key].append(abs(off))
                if (a / b > 1) != (ratio > 1):
                    wrong.append((case, key))
        print(f"| {case} | {len(good)} "
              f"| {statistics.median(a for a, _ in good) / 1e3:.1f} "
              f"| {statistics.median(b for _, b in good) / 1e3:.1f} "
              f"| {ratio:.2f} | {' | '.join(cells)} |")
    for key, values in errors.items():
        print(f"\n{key}: {len(values)} cases that differ by 5 % or more; "
              f"median error of the ratio {100 * statistics.median(values):.0f}"
              f" %, worst {100 * max(values):.0f} %")
    print("\nwrong sign:", wrong or "none")


def main():
    what, *rest = sys.argv[1:] or [""]
    if what == "trace" and len(rest) == 2:
        trace(*rest)
    elif what == "measure" and len(rest) == 3:
        measure(rest[0], rest[1], int(rest[2]))
    elif what == "table" and len(rest) == 1:
        table(*rest)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
