#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
rppm_table - predicted against simulated time of the workloads

  rppm_table.py run BUILD DIR MILLIONS [MACHINE...]  trace each workload once,
        simulate it on each machine, and keep both in DIR. It goes on where it
        was stopped.
  rppm_table.py table BUILD DIR    predict again what was simulated, and print
        tables in Markdown

WORKLOADS= chooses some.

The truth is the simulator on the same trace. A line of DIR/simulated is one
simulation; a profile is made again if the tool that made it has changed.
"""

import collections
import glob
import json
import os
import statistics
import subprocess
import sys

NAMES = ("bfs chase cluster counters dynamic fluid kmeans lu nbody particles "
         "pipeline pricing producers stencil table tasks unbalanced")
MACHINES = [f"rppm-c{i}" for i in (3, 1, 5, 2, 4)]
MODELS = "rppm", "main", "crit"


def tool(build, *arguments):
    return subprocess.run([f"{build}/reusetrack", *arguments], check=True,
                          stdout=subprocess.PIPE).stdout


def trace_of(build, where, name, millions):
    out = f"{where}/{millions}/{name}"
    if not os.path.exists(f"{out}/done"):
        subprocess.run(["rm", "-rf", out], check=True)
        os.makedirs(f"{where}/{millions}", exist_ok=True)
        tool(build, "record", "-s", "emu", "-m", "trace", "-o", out, "--",
             f"{build}/microbench/workloads/{name}", "--threads", "4",
             "--size", str(millions))
        open(f"{out}/done", "w").close()
    return out


def simulations(where):
    rows = {}
    try:
        for line in open(f"{where}/simulated"):
            row = json.loads(line)
            rows[row["millions"], row["name"], row["machine"]] = row
    except FileNotFoundError:
        pass
    return rows


def run(build, where, millions, machines):
    names = os.environ.get("WORKLOADS", NAMES).split()
    for machine in machines or MACHINES:
        for name in names:
            if (millions, name, machine) in simulations(where):
                continue
            out = trace_of(build, where, name, millions)
            row = json.loads(tool(build, "simulate", "--json", "--machine",
                                  machine, out))
            row |= {"millions": millions, "name": name, "machine": machine}
            with open(f"{where}/simulated", "a") as f:
                f.write(json.dumps(row) + "\n")
            print(name, machine, row["instructions"], flush=True)


def profile_of(build, out):
    profile = f"{out}/made.profile"
    made = f"{build}/reusetrack"
    if not os.path.exists(profile) or \
       os.path.getmtime(profile) < os.path.getmtime(made):
        subprocess.run(["rm", "-f", profile], check=True)
        tool(build, "predict", "--machine", "golden-c3", "--keep", profile,
             glob.glob(f"{out}/*.trace")[0])
    return profile


def predictions(build, out, machines):
    """By model and machine."""
    found = {}
    for model in MODELS:
        arguments = ["predict", "--json", "--model", model]
        for machine in machines:
            arguments += ["--machine", machine]
        lines = tool(build, *arguments, profile_of(build, out)).splitlines()
        for machine, line in zip(machines, lines):
            found[model, machine] = json.loads(line)
    return found


def component_errors(predicted, simulated):
    """Of all threads together, in percent of the simulated cycles."""
    sums = collections.Counter()
    for row, sign in (predicted, 1), (simulated, -1):
        for thread in row["threads"]:
            for name, cycles in thread["stack"].items():
                sums[name] += sign * cycles
    total = sum(sum(t["stack"].values()) for t in simulated["threads"])
    return {k: 100 * v / total for k, v in sums.items()}


def table_of(build, where, millions, rows):
    machines = sorted({r["machine"] for r in rows})
    errors = collections.defaultdict(list)
    print(f"\n{millions} million instructions\n")
    print("| program | M | " + " | ".join(machines) + " | MAIN | CRIT |")
    print("|---" * (len(machines) + 4) + "|")
    parts = []
    for name in sorted({r["name"] for r in rows}):
        of = {r["machine"]: r for r in rows if r["name"] == name}
        predicted = predictions(build, f"{where}/{millions}/{name}", list(of))
        cells, others = [], collections.defaultdict(list)
        for machine in machines:
            if machine not in of:
                cells.append("")
                continue
            for model in MODELS:
                error = 100 * (predicted[model, machine]["time_ns"] /
                               of[machine]["time_ns"] - 1)
                errors[model].append(error)
                others[model].append(error)
            cells.append(f"{others['rppm'][-1]:+.1f}")
            part = component_errors(predicted["rppm", machine], of[machine])
            worst = sorted(part.items(), key=lambda x: -abs(x[1]))[:4]
            parts.append((abs(others["rppm"][-1]), name, machine, worst))
        n = max(r["instructions"] for r in of.values()) / 1e6
        for model in MODELS[1:]:
            cells.append(f"{statistics.mean(others[model]):+.0f}")
        print(f"| {name} | {n:.0f} | " + " | ".join(cells) + " |", flush=True)
    print("\n| error, in percent | points | median | mean | worst |\n"
          "|---|---|---|---|---|")
    for model in MODELS:
        sizes = [abs(e) for e in errors[model]]
        print(f"| {model} | {len(sizes)} | {statistics.median(sizes):.1f} | "
              f"{statistics.mean(sizes):.1f} | {max(sizes):.1f} |")
    print("\nThe components that are most off, in percent of all cycles:\n")
    for error, name, machine, worst in sorted(parts, reverse=True)[:10]:
        print(f"- {name} on {machine}, {error:.1f}: " +
              ", ".join(f"{k} {v:+.1f}" for k, v in worst))


def table(build, where):
    names = os.environ.get("WORKLOADS", NAMES).split()
    rows = [r for r in simulations(where).values() if r["name"] in names]
    for millions in sorted({r["millions"] for r in rows}):
        table_of(build, where, millions,
                 [r for r in rows if r["millions"] == millions])


def main():
    if sys.argv[1:2] == ["run"] and len(sys.argv) >= 5:
        run(*sys.argv[2:4], int(sys.argv[4]), sys.argv[5:])
    elif sys.argv[1:2] == ["table"] and len(sys.argv) == 4:
        table(*sys.argv[2:])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
