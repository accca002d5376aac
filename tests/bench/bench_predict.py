#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
bench_predict - measure what profiles and predictions cost

  bench_predict.py [WORKLOAD...]      (make bench-predict BENCH="...")

Each workload is recorded in four threads with SIZE million instructions
(default 20) and predicted with 64 micro-traces. The bench prints

  first   milliseconds of CPU time a design, where core, caches and memory are
          all others than before
  known   the same where the caches were known, and the core is another one
  shared  the same in a space of 3,600 designs, in which parts of a design are
          often those of another
  one, all  designs of that space in a second, with one processor and with all
  simulate  how many times as many as simulate does in a second of CPU time;
          of a trace of the same program, on golden-c3
  qemu, trace, profile  CPU time over that of the program itself: under QEMU
          alone, with the plugin that traces, and until the profile is there
  MB      of the profile

Times are medians of ROUNDS (default 3), without the time in which the profile
is read. It prints figures and judges none. COST=0 leaves out what profiling
costs, which takes longest.
"""
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

BUILD = os.environ.get("B", "build")
TOOL = f"{BUILD}/reusetrack"
ROUNDS = int(os.environ.get("ROUNDS", 3))
SIZE = os.environ.get("SIZE", "20")
CORES = [f"{2 + i % 5} + {100 + 3 * i}" for i in range(40)]
SPACES = {
    "first": ("core.width + core.rob + l2.ways + l2.size + "
              "memory.latency_ns = " +
              " | ".join(f"{core} + {i % 20 + 1} + "
                         f"{(i % 20 + 1) << 14 + i // 20} + {40 + i}"
                         for i, core in enumerate(CORES)) + "\n", 40),
    "known": ("core.width + core.rob = " + " | ".join(CORES) + "\n", 40),
    "shared": ("core.width + core.rob = 2 + 64 | 4 + 128 | 6 + 256\n"
               "core.predictor = one_bit | tournament\n"
               "l1d.size = 16K | 32K\n"
               "l2.size = 128K | 256K | 512K\nl2.latency = 8 | 12\n"
               "llc.size = 2M | 4M | 8M | 16M | 32M\nllc.latency = 30 | 40\n"
               "memory.latency_ns = 40 | 50 | 60 | 70 | 80\n", 3600),
}


def run(*command):
    """CPU time and run time."""
    before = time.monotonic()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        sys.exit(f"bench: fails: {' '.join(command)}")
    return usage.ru_utime + usage.ru_stime, time.monotonic() - before


def sweep(where, name, profile, *options):
    path = f"{where}/{name}"
    with open(path, "w") as f:
        f.write("like = golden-c3\n" + SPACES[name][0])
    return run(TOOL, "sweep", "--space", path, "--micro-traces", "64",
               *options, profile)


def median(values):
    return statistics.median(list(values))


def times(where, name, profile):
    """CPU milliseconds a design; designs in a second with one and all jobs."""
    designs, cpu, single, whole = SPACES[name][1], [], [], []
    for _ in range(ROUNDS):
        one = sweep(where, name, profile, "--samples", "1", "--jobs", "1")
        alone = sweep(where, name, profile, "--jobs", "1")
        both = sweep(where, name, profile)
        cpu.append((alone[0] - one[0]) / (designs - 1) * 1e3)
        single.append((designs - 1) / max(alone[1] - one[1], 1e-3))
        whole.append((designs - 1) / max(both[1] - one[1], 1e-3))
    return median(cpu), median(single), median(whole)


def simulation(where, name):
    """CPU seconds of a simulation, without the time to read the trace."""
    out = f"{where}/trace"
    run(TOOL, "record", "-s", "emu", "-m", "trace", "-o", out, "--",
        *program_of(name, SIZE))
    machine = ("--machine", "golden-c3")
    once = run(TOOL, "simulate", *machine, out)[0]
    twice = run(TOOL, "simulate", *machine, "--machine", "golden-c4", out)[0]
    shutil.rmtree(out)
    return max(twice - once, 1e-3)


def program_of(name, size):
    return [f"{BUILD}/microbench/workloads/{name}", "--threads", "4", "--size",
            size]


def recording(where, name):
    """What profiling costs, and a profile."""
    program = program_of(name, os.environ.get("RECORD", "100"))
    out = f"{where}/out"
    record = [TOOL, "record", "-s", "emu", "-o", out, "-m"]
    cpu = [[], [], [], []]
    ratios = []
    if os.environ.get("COST") != "0":
        for _ in range(ROUNDS):
            for k, command in enumerate((program,
                                         ["qemu-x86_64", "-cpu", "max"] +
                                         program,
                                         record + ["trace", "--"] + program,
                                         record + ["profile", "--"] +
                                         program)):
                shutil.rmtree(out, ignore_errors=True)
                cpu[k].append(run(*command)[0])
        ratios = [median(c / n for c, n in zip(cpu[k], cpu[0]))
                  for k in (1, 2, 3)]
        shutil.rmtree(out)
    run(*record, "profile", "--", *program_of(name, SIZE))
    return ratios, str(next(pathlib.Path(out).glob("*.profile")))


def row(where, name):
    ratios, profile = recording(where, name)
    size = os.path.getsize(profile) / 1e6
    first = times(where, "first", profile)[0]
    known = times(where, "known", profile)[0]
    shared, one, rate = times(where, "shared", profile)
    ratio = simulation(where, name) / (shared / 1e3)
    return [first, known, shared, one, rate, ratio, size] + ratios


def main():
    names = sys.argv[1:] or sorted(
        p.name for p in pathlib.Path(BUILD, "microbench/workloads").iterdir()
        if p.is_file() and not p.suffix)
    columns = ("first", "known", "shared", "one", "all", "simulate", "MB",
               "qemu", "trace", "profile")
    if os.environ.get("COST") == "0":
        columns = columns[:-3]
    print(f'{"workload":12}' + "".join(f"{c:>10}" for c in columns))
    rows = []
    for name in names:
        with tempfile.TemporaryDirectory() as where:
            rows.append(row(where, name))
        print(f"{name:12}" + "".join(f"{v:10.2f}" for v in rows[-1]),
              flush=True)
    print(f'{"median":12}' +
          "".join(f"{median(c):10.2f}" for c in zip(*rows)))


if __name__ == "__main__":
    main()
