#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
rppm_choice - is the design that a sweep names the fastest one?

  rppm_choice.py run BUILD DIR MILLIONS SPACE    trace each workload once, and
        simulate it on all machines of the design space. It goes on where it was
        stopped. WORKLOADS= chooses some.
  rppm_choice.py table BUILD DIR MILLIONS SPACE  predict the same designs, and
        print a table in Markdown, as table V of the RPPM paper

A line of DIR/designs is one simulation. The deficiency is how much slower than
the fastest design the one is that was predicted to be; or, with a bound, the
best of those that are predicted to be within the bound of that. Designs whose
simulations take the same time have the mean of their ranks.
"""

import csv
import json
import os
import statistics
import subprocess
import sys

import rppm_table

MANY = 20  # designs that are simulated at a time
BOUNDS = 0, 1, 3, 5


def designs_of(build, space, where):
    """By number of the design: what differs from the machine of the space."""
    lines = [x.split("#")[0].strip() for x in open(space)]
    base = [x.split("=")[1].strip() for x in lines if x.startswith("like")][0]
    axes = [x.split("=", 1) for x in lines if x and not x.startswith("like")]
    axes = [([k.strip() for k in keys.split("+")],
             [[v.strip() for v in value.split("+")]
              for value in values.split("|")]) for keys, values in axes]
    designs = [{}]
    for keys, values in reversed(axes):
        designs = [dict(zip(keys, v)) | d for d in designs for v in values]
    paths = []
    os.makedirs(f"{where}/machines", exist_ok=True)
    for i, design in enumerate(designs):
        paths.append(f"{where}/machines/design{i}")
        with open(paths[-1], "w") as f:
            f.write(f"like = {base}\n")
            f.writelines(f"{k} = {v}\n" for k, v in design.items())
    return paths


def simulated(where, millions):
    """Times by workload and design."""
    times = {}
    try:
        for line in open(f"{where}/designs"):
            row = json.loads(line)
            if row["millions"] == millions:
                times.setdefault(row["name"], {})[row["design"]] = row["ns"]
    except FileNotFoundError:
        pass
    return times


def run(build, where, millions, space):
    machines = designs_of(build, space, where)
    for name in os.environ.get("WORKLOADS", rppm_table.NAMES).split():
        left = [i for i in range(len(machines))
                if i not in simulated(where, millions).get(name, {})]
        while left:
            now, left = left[:MANY], left[MANY:]
            trace = rppm_table.trace_of(build, where, name, millions)
            arguments = []
            for i in now:
                arguments += ["--machine", machines[i]]
            out = rppm_table.tool(build, "simulate", "--json", "--jobs", "1",
                                  *arguments, trace)
            with open(f"{where}/designs", "a") as f:
                for i, line in zip(now, out.splitlines()):
                    ns = json.loads(line)["time_ns"]
                    f.write(json.dumps({"millions": millions, "name": name,
                                        "design": i, "ns": ns}) + "\n")
            print(name, len(machines) - len(left), "designs", flush=True)


def predicted(build, profile, space, where, *options):
    table = f"{where}/sweep.csv"
    rppm_table.tool(build, "sweep", "--space", space, "--csv", table, *options,
                    profile)
    with open(table) as f:
        return {int(r["design"]): float(r["time_ns"])
                for r in csv.DictReader(f)}


def ranks(values):
    order = sorted(values)
    first, n = {}, {}
    for i, v in enumerate(order):
        first.setdefault(v, i)
        n[v] = n.get(v, 0) + 1
    return [first[v] + (n[v] - 1) / 2 for v in values]


def rank_correlation(a, b):
    return statistics.correlation(ranks(a), ranks(b))


def judge(truth, guess):
    """By bound the deficiency and how many designs; and the correlation."""
    best, cells = min(guess.values()), []
    for bound in BOUNDS:
        near = [i for i in guess if guess[i] <= best * (1 + bound / 100)]
        most = min(truth[i] for i in near)
        cells.append((100 * (most / min(truth.values()) - 1), len(near)))
    order = sorted(truth)
    return cells, rank_correlation([truth[i] for i in order],
                                   [guess[i] for i in order])


def table(build, where, millions, space):
    times = simulated(where, millions)
    all_designs = len(designs_of(build, space, where))
    for options in ([], ["--micro-traces", "64"]):
        print(f"\n{' '.join(options) or 'all micro-traces'}\n")
        print("| program | spread | " +
              " | ".join(f"{b} % | n" for b in BOUNDS) +
              " | rank correlation | mean error |")
        print("|---" * (4 + 2 * len(BOUNDS)) + "|")
        rows = []
        for name in sorted(n for n in times if len(times[n]) == all_designs):
            truth = times[name]
            profile = rppm_table.profile_of(build, f"{where}/{millions}/{name}")
            guess = predicted(build, profile, space, where, *options)
            cells, correlation = judge(truth, guess)
            error = statistics.mean(abs(guess[i] / truth[i] - 1)
                                    for i in truth)
            rows.append([c[0] for c in cells] + [correlation, error])
            spread = max(truth.values()) / min(truth.values())
            print(f"| {name} | {spread:.2f} | " +
                  " | ".join(f"{d:.2f} | {n}" for d, n in cells) +
                  f" | {correlation:.3f} | {100 * error:.1f} |", flush=True)
        if rows:
            mean = [statistics.mean(column) for column in zip(*rows)]
            print("| mean | | " +
                  " | ".join(f"{d:.2f} |" for d in mean[:len(BOUNDS)]) +
                  f" | {mean[-2]:.3f} | {100 * mean[-1]:.1f} |")


def main():
    if len(sys.argv) == 6 and sys.argv[1] in ("run", "table"):
        globals()[sys.argv[1]](*sys.argv[2:4], int(sys.argv[4]), sys.argv[5])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
