#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
instr_ratio - transfers that the source instr estimates, divided by the count

  instr_ratio.py BUILD RUNS PERIOD [PROGRAM...]

Sums over RUNS runs of each program, whose threads do little but race for lines,
with the standard error of the ratio. Every access is also counted exactly.
"""

import json
import math
import os
import subprocess
import sys
import tempfile

PROGRAMS = {
    "false_sharing": "microbench/instr/false_sharing --threads 2 --false 0.5 "
                     "--iterations 600000",
    "write_volume": "microbench/instr/write_volume --threads 3 --sharing 0.3 "
                    "--iterations 450000",
    "stack": "tests/programs/instr/ways stack 12000",
    "readers": "tests/programs/instr/ways readers 15000",
    "log": "tests/programs/instr/ways log 24000",
    "stencil": "tests/programs/instr/ways stencil 60",
}


def run(build, period, command):
    with tempfile.TemporaryDirectory() as scratch:
        out = f"{scratch}/out"
        env = {k: v for k, v in os.environ.items() if k[:7] != "COMDET_"}
        env.update(
            LD_PRELOAD=f"{build}/libcomdet.so",
            COMDET_SOURCE="instr",
            COMDET_OUT=out,
            COMDET_EXACT="1",
            COMDET_PERIOD=period,
            COMDET_ALGORITHM="epoch",
        )
        subprocess.run([f"{build}/{command[0]}", *command[1:]], env=env,
                       stdout=subprocess.DEVNULL, check=True)
        report = json.loads(subprocess.run(
            [f"{build}/reusetrack", "report", "--json", out],
            stdout=subprocess.PIPE, check=True).stdout)
    return (report["communication"]["total"]["estimate"],
            report["exact"]["all"])


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__.strip())
    build, runs, period = os.path.abspath(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    print("| program | period | count | estimate / count |")
    print("|---|---|---|---|")
    for name in sys.argv[4:] or PROGRAMS:
        pairs = [run(build, period, PROGRAMS[name].split())
                 for _ in range(runs)]
        count = sum(c for _, c in pairs)
        ratio = sum(e for e, _ in pairs) / count
        error = math.sqrt(sum((e - ratio * c) ** 2 for e, c in pairs)) / count
        print(f"| {name} | {period} | {count} | {ratio:.3f} +- {error:.3f} |",
              flush=True)


if __name__ == "__main__":
    main()
