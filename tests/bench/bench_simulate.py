#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The rows of bench_simulate.sh, which describes them."""
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import time

BUILD = os.environ['B']
WORK = pathlib.Path(os.environ['WORK'])
ROUNDS = int(os.environ['ROUNDS'])
MACHINE = os.environ['MACHINE']
TOOL = f'{BUILD}/reusetrack'
DESIGNS = ['--set', 'l2.size=256K/512K/1M', '--set', 'core.width=2/4']


def run(command, processors=None):
    """Its output, CPU time, run time and the most memory in MB."""
    pin = ['taskset', '-c', processors] if processors else []
    with open(WORK / 'output', 'w+') as output:
        before = time.monotonic()
        child = subprocess.Popen(pin + command, stdout=output,
                                 stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        after = time.monotonic()
        if status:
            sys.exit(f'bench: fails: {" ".join(command)}')
        output.seek(0)
        text = output.read()
    return (text, usage.ru_utime + usage.ru_stime, after - before,
            usage.ru_maxrss / 1024)


def record(program, size):
    """The trace of the program, and the CPU time of recording it."""
    out = WORK / 'out'
    subprocess.run(['rm', '-rf', out], check=True)
    cpu = run([TOOL, 'record', '-s', 'emu', '-m', 'trace', '-o', str(out),
               '--', program, '--size', str(size)])[1]
    return next(out.glob('*.trace')), cpu


def median(values):
    return statistics.median(list(values))


def row(name):
    program = f'{BUILD}/microbench/workloads/{name}'
    native, recorded = [], []
    for _ in range(ROUNDS if int(os.environ['RECORD']) else 0):
        native.append(run([program, '--size', os.environ['RECORD']])[1])
        recorded.append(record(program, os.environ['RECORD'])[1])
    trace = record(program, os.environ['SIZE'])[0]
    simulate = [TOOL, 'simulate', '--json', '--machine', MACHINE]
    one, memory, alone, both = [], [], [], []
    for turn in range(ROUNDS):
        text, cpu, _, peak = run(simulate + [str(trace)])
        insns = json.loads(text)['instructions'] / 1e6
        one.append(insns / cpu)
        memory.append(peak)
        ways = [('0', '1', alone), ('0,1', '2', both)]
        for processors, jobs, to in ways[::-1 if turn % 2 else 1]:
            text, _, seconds, peak = run(
                simulate + DESIGNS + ['--jobs', jobs, str(trace)], processors)
            to.append(insns * text.count('\n') / seconds)
            memory.append(peak)
    return [median(r / n for r, n in zip(recorded, native))
            if native else math.nan,
            trace.stat().st_size / insns / 1e6, median(one), max(memory),
            median(alone), median(both),
            median(b / a for a, b in zip(alone, both))]


def print_row(name, values):
    print(f'{name:12}' + ''.join(
        f'{"-":>9}' if math.isnan(v) else f'{v:9.2f}' for v in values),
        flush=True)


def print_bounds(rows):
    """What the columns are to be, and what they are."""
    record, size, speed, memory, _, _, ratio = zip(*rows)
    times = median(record)
    print(f'''
recording at most 40 times CPU time    \
{"not measured" if math.isnan(times) else f"median {times:.2f}"}
bytes of an instruction at most 2      median {median(size):.2f}
5 million instructions a second        least {min(speed):.2f}, \
median {median(speed):.2f}
200 MB besides the simulated caches    most {max(memory):.0f}, with them
two processors at least 1.8 times one  median {median(ratio):.2f}, \
least {min(ratio):.2f}, {sum(r >= 1.8 for r in ratio)} of {len(ratio)}''')


def main():
    names = sys.argv[1:] or sorted(
        p.name for p in pathlib.Path(BUILD, 'microbench/workloads').iterdir()
        if p.is_file() and not p.suffix)
    print(f'{"workload":12}' + ''.join(f'{c:>9}' for c in (
        'record', 'bytes', 'MIPS', 'MB', '1', '2', '2 / 1')), flush=True)
    rows = []
    for name in names:
        rows.append(row(name))
        print_row(name, rows[-1])
    print_row('median', [median(column) for column in zip(*rows)])
    print_bounds(rows)


if __name__ == '__main__':
    main()
