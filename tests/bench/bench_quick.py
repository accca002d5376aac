#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench_quick - what a quick profile costs

    bench_quick.py BUILD ROUNDS [WORKLOAD...]   (make bench-quick ROUNDS=N)

CPU time of each of sixteen workloads in four threads with SIZE million
instructions (default 200): natively, under QEMU alone, and with record
-m profile --quick until the profile is there. In turns; the median of the
rounds, of the program alone three runs in each. The ratios are to the program
alone. Last comes the median of the ratios. Nothing is judged.
"""
import os
import statistics
import subprocess
import sys
import tempfile

BUILD, ROUNDS = os.path.abspath(sys.argv[1]), int(sys.argv[2])
NAMES = sys.argv[3:] or """bfs cluster counters dynamic fluid kmeans lu nbody
particles pipeline pricing producers stencil table tasks unbalanced""".split()
SIZE = os.environ.get("SIZE", "200")


def run(*command):
    """CPU time in seconds."""
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    if status:
        sys.exit("bench: fails: " + " ".join(command))
    return used.ru_utime + used.ru_stime


def row(name):
    """Medians: the program alone, QEMU, a quick profile."""
    program = (f"{BUILD}/microbench/workloads/{name}", "--threads", "4",
               "--size", SIZE)
    alone, qemu, quick = [], [], []
    for _ in range(ROUNDS):
        alone.append(statistics.median(run(*program) for _ in range(3)))
        qemu.append(run("qemu-x86_64", "-cpu", "max", *program))
        with tempfile.TemporaryDirectory() as where:
            quick.append(run(f"{BUILD}/reusetrack", "record", "-s", "emu",
                             "-m", "profile", "--quick", "-o", where + "/out",
                             "--", *program))
    return [statistics.median(x) for x in (alone, qemu, quick)]


print(f'{"workload":12}{"native, ms":>12}{"QEMU, s":>10}{"ratio":>8}'
      f'{"quick, s":>10}{"ratio":>8}')
ratios = []
for name in NAMES:
    alone, qemu, quick = row(name)
    ratios.append((qemu / alone, quick / alone))
    print(f"{name:12}{alone * 1e3:12.1f}{qemu:10.2f}{ratios[-1][0]:8.1f}"
          f"{quick:10.2f}{ratios[-1][1]:8.1f}", flush=True)
print(f'{"median":12}' + "".join(f"{'':{gap}}{statistics.median(x):8.1f}"
                                 for gap, x in zip((22, 10), zip(*ratios))))
