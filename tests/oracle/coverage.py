#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
coverage - how often intervals of transfers hold the exact counts

  coverage.py run BUILD FILE SEEDS [WORD...]   append runs to FILE, those that
                                               it has not yet; the words choose
                                               watches or patterns
  coverage.py table FILE...                    print tables in Markdown

Each run samples and counts exactly over the same accesses: programs under
QEMU, or compiled with the hooks of the source instr. A line of FILE is one run.
"""

import collections
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

PERIODS = [int(p) for p in os.environ.get("PERIODS", "200 1000 5000").split()]
# Fine enough for many transfers; shorter turns take longer on a busy machine.
TURN = 400

# Those of tests/programs/instr/ways.c, and microbenchmarks.
WAYS = {
    "once": 30000, "deque": 10000, "pipeline": 16000, "gather": 100000,
    "log": 8000, "stencil": 400, "readers": 5000, "table": 5000,
    "pingpong": 1000, "stats": 10000, "stack": 4000, "publish": 6000,
    "transpose": 400, "resonance": 200,
}
MICROBENCH = {
    "write_volume": ("write_volume --threads 3 --sharing 0.3", 150000),
    "false_sharing": ("false_sharing --threads 2 --false 0.5", 200000),
    "bursts": ("patterns --pattern bursts --threads 4", 100000),
    "ring": ("patterns --pattern ring --threads 4", 10000),
    "lock": ("patterns --pattern lock --threads 4", 100000),
}
# Transfers of such a run. With SAMPLES= runs are as long as that many samples of
# them take.
TRANSFERS = {
    "once": 30120, "deque": 2534, "pipeline": 34463, "gather": 300128,
    "log": 8416, "stencil": 123412, "readers": 3460, "table": 29282,
    "pingpong": 2578, "stats": 3700, "stack": 7994, "publish": 8756,
    "transpose": 228972, "resonance": 20400, "write_volume": 2335,
    "false_sharing": 4020, "bursts": 6380, "ring": 22732, "lock": 16200,
}
SAMPLES = os.environ.get("SAMPLES")
# The programs run longer where samples are few.
LONG_PERIOD, LONGER = 5000, 4
# With hooks the threads run freely. On a busy machine they wait long for each
# other, and some programs do little else.
FREE_SHARE = collections.defaultdict(lambda: 3, {
    "once": 0.3, "pipeline": 0.3, "gather": 0.3, "stencil": 0.05,
    "transpose": 0.05, "pingpong": 0.3, "ring": 0.1, "table": 1,
})

# With SAMPLES= such a program is run again, with more to do, until so many
# samples of its counted transfers are due, or it has run for SECONDS.
SECONDS = float(os.environ.get("SECONDS", "8"))
MOST_TIMES = 16  # longer from one run to the next

WATCHES = {
    "epoch": "",
    "epoch registers=4": ",registers=4",
    "chain": ",algorithm=chain",
    "chain arming=1000": ",algorithm=chain,arming=1000",
    "epoch cover=chunks": ",cover=chunks,registers=4",
    # Programs with hooks: their settings in the environment.
    "instr": "COMDET_ALGORITHM=epoch",
    "instr hw": "COMDET_WATCH=hw",
}


def has_hooks(watch):
    return watch.startswith("instr")


def times_of(watch, name, period):
    times = LONGER if period >= LONG_PERIOD else 1
    if has_hooks(watch):
        return times * FREE_SHARE[name]
    return float(SAMPLES) * period / TRANSFERS[name] if SAMPLES else times


def command_of(build, watch, name, times):
    n = WAYS[name] if name in WAYS else MICROBENCH[name][1]
    if name in WAYS:
        hooks = "" if has_hooks(watch) else ".plain"
        return [f"{build}/tests/programs/instr/ways{hooks}", name,
                str(max(8, int(times * n)))]
    words = MICROBENCH[name][0]
    hooks = "instr/" if has_hooks(watch) else ""
    return [f"{build}/microbench/{hooks}{words.split()[0]}",
            *words.split()[1:], "--iterations", str(int(times * n))]


def start(build, watch, period, seed, command, out):
    if has_hooks(watch):
        env = {k: v for k, v in os.environ.items() if k[:7] != "COMDET_"}
        env.update(
            LD_PRELOAD=f"{build}/libcomdet.so",
            COMDET_SOURCE="instr",
            COMDET_OUT=out,
            COMDET_EXACT="1",
            COMDET_PERIOD=str(period),
        )
        env.update([WATCHES[watch].split("=")])
        return command, env
    plugin = (
        f"{build}/libcomdet-qemu.so,out={out},exact=1,period={period},"
        f"seed={seed},slice={TURN}{WATCHES[watch]}"
    )
    return ["qemu-x86_64", "-cpu", "max", "-plugin", plugin, *command], None


def figures(report):
    """What a run says and what is true: [name, estimate, low, high, truth]."""
    said, exact = report["communication"], report["exact"]
    total = said["total"]
    rows = [["total", total["estimate"], total["low"], total["high"],
             exact["all"]]]
    for kind, share, part in (
        ("false", "false_share", "false"),
        ("avoidable", "avoidable_share", "avoidable"),
    ):
        if share in said and exact["all"]:
            s = said[share]
            rows.append([kind, s["estimate"], s["low"], s["high"],
                         exact[part] / exact["all"]])
    truth = collections.Counter()
    for cell in exact["cells"]:
        truth[frozenset((cell["from"], cell["to"]))] += cell["all"]
    for c in said["cells"]:
        rows.append(["cell", c["all"], c["low"], c["high"],
                     truth[frozenset((c["a"], c["b"]))]])
    return {
        "samples": said["by_trap"],
        "warned": said.get("warnings", []),
        "rows": rows,
    }


def reported(build, out):
    text = subprocess.run([f"{build}/reusetrack", "report", out, "--json"],
                          capture_output=True, check=True).stdout
    return json.loads(text)


def run_once(build, watch, name, period, seed, times):
    work = tempfile.mkdtemp()
    try:
        out = f"{work}/out"
        command, env = start(build, watch, period, seed,
                             command_of(build, watch, name, times), out)
        subprocess.run(command, env=env, timeout=300, check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return figures(reported(build, out))
    finally:
        shutil.rmtree(work)


def one(build, watch, name, period, seed):
    """A run; with hooks the first that is long enough, by what was counted."""
    times, before = times_of(watch, name, period), 0
    while True:
        begun = time.monotonic()
        found = run_once(build, watch, name, period, seed, times)
        took = time.monotonic() - begun
        wanted = float(SAMPLES or 0) * period
        count = found["rows"][0][4]
        # Some programs have no more lines to fill.
        if (not has_hooks(watch) or count >= wanted or took >= SECONDS
                or count < 1.1 * before):
            return found
        before = count
        times *= max(1.5, min(1.2 * wanted / max(count, 1), MOST_TIMES,
                              2 * SECONDS / took))


def run(build, path, seeds, *words):
    done = set()
    key = lambda r: (r["watch"], r["pattern"], r["period"], r["seed"])
    if os.path.exists(path):
        with open(path) as file:
            done = {key(json.loads(line)) for line in file}
    for seed, watch in (
        (s, w) for s in range(1, int(seeds) + 1) for w in WATCHES
    ):
        for name, period in (
            (n, p) for n in [*WAYS, *MICROBENCH] for p in PERIODS
        ):
            r = {"watch": watch, "pattern": name, "period": period,
                 "seed": seed}
            if key(r) in done or words and not {watch, name} & {*words}:
                continue
            r.update(one(build, watch, name, period, seed))
            with open(path, "a") as file:
                file.write(json.dumps(r) + "\n")


def held(rows):
    return [low - 1e-9 <= truth <= high + 1e-9 for _, _, low, high, truth in rows]


def percent(flags):
    n = len(flags)
    return f"{100 * sum(flags) / n:.1f} % of {n}" if n else "none"


def width(rows):
    """The median width, as a part of the truth; of shares, in points."""
    w = [
        100 * (high - low) if kind in ("false", "avoidable")
        else 100 * (high - low) / truth
        for kind, _, low, high, truth in rows
        if truth or kind in ("false", "avoidable")
    ]
    return f"{statistics.median(w):.0f}" if w else ""


def table(*paths):
    runs = []
    for path in paths:
        with open(path) as file:
            runs += [json.loads(line) for line in file]
    groups = collections.defaultdict(list)
    for r in runs:
        groups[r["watch"]].append(r)
    print("| watches | runs | warned | totals held | width, % | cells held |"
          " width, % | false shares held | width, points | avoidable held |"
          " width, points |")
    print("|" + "---|" * 11)
    for watch, of_watch in groups.items():
        print(f"| {watch} |", " | ".join(cells(of_watch)), "|")
    for watch, of_watch in groups.items():
        print(f"\n{watch}:\n")
        print("| pattern | period | estimate / exact: median [least, greatest]"
              " | totals | cells | false shares | false, median off | warned |")
        print("|" + "---|" * 8)
        of_row = collections.defaultdict(list)
        for r in of_watch:
            of_row[r["pattern"], r["period"]].append(r)
        for (name, period), rs in of_row.items():
            print(f"| {name} | {period} |", " | ".join(row(rs)), "|")


def kinds(runs):
    found = collections.defaultdict(list)
    for r in runs:
        for f in r["rows"]:
            found[f[0]].append(f)
    return found


def cells(runs):
    warned = sum(bool(r["warned"]) for r in runs)
    found = kinds([r for r in runs if not r["warned"]])
    yield str(len(runs))
    yield f"{100 * warned / len(runs):.0f} %"
    for kind in "total", "cell", "false", "avoidable":
        yield percent(held(found[kind]))
        yield width(found[kind])


def row(runs):
    found = kinds(runs)
    ratio = [e / t for _, e, _, _, t in found["total"] if t]
    yield (
        f"{statistics.median(ratio):.2f} [{min(ratio):.2f}, {max(ratio):.2f}]"
        if ratio else "none"
    )
    for kind in "total", "cell", "false":
        yield percent(held(found[kind]))
    off = [100 * (e - t) for _, e, _, _, t in found["false"]]
    yield f"{statistics.median(off):+.1f}" if off else ""
    yield str(sum(bool(r["warned"]) for r in runs))


if __name__ == "__main__":
    {"run": run, "table": table}[sys.argv[1]](*sys.argv[2:])
