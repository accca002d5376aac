#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
sync_table - synchronization events of the workloads, as RPPM's table III has them

  sync_table.py BUILD MILLIONS [WORKLOAD...]

Each workload is traced with four threads, and its events are counted from the
trace by a second reader (trace_events.py). In the table are

  critical sections  locks that were taken, those of readers too
  barriers           as often as all threads of one passed it together
  condition variables, semaphores  waits
  threads            created by others

OpenMP's own waits are events `await`, which are counted beside those.
"""

import collections
import glob
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
KINDS = ("critical sections", "barriers", "condition variables", "semaphores",
         "threads", "other waits")
KIND_OF = {"lock": 0, "read_lock": 0, "cond_wait": 2, "sem_wait": 3,
           "create": 4, "await": 5}


def lines_of(build, name, millions):
    with tempfile.TemporaryDirectory() as where:
        subprocess.run([f"{build}/reusetrack", "record", "-s", "emu", "-m",
                        "trace", "-o", f"{where}/out", "--",
                        f"{build}/microbench/workloads/{name}", "--threads",
                        "4", "--size", millions], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        trace, = glob.glob(f"{where}/out/*.trace")
        return subprocess.run([sys.executable, f"{HERE}/trace_events.py", trace],
                              check=True, text=True,
                              stdout=subprocess.PIPE).stdout.splitlines()


def counts_of(lines):
    waits, counts = collections.Counter(), [0] * len(KINDS)
    for line in lines:
        _, _, event, _, argument = line.split()
        event = event.rstrip("*")
        if event == "barrier":
            waits[int(argument)] += 1
        elif event in KIND_OF:
            counts[KIND_OF[event]] += 1
    counts[1] = sum(n // threads for threads, n in waits.items())
    return counts


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    build, millions = sys.argv[1:3]
    names = sys.argv[3:] or sorted(
        os.path.basename(p)[:-2] for p in
        glob.glob(f"{HERE}/../../microbench/workloads/*.c"))
    print("| program | " + " | ".join(KINDS) + " |")
    print("|---" * (len(KINDS) + 1) + "|")
    for name in names:
        counts = counts_of(lines_of(build, name, millions))
        print(f"| {name} | " + " | ".join(f"{n:,}" if n else "-"
                                           for n in counts) + " |", flush=True)


main()
