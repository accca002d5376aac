#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
bench_daemon_cost - what the daemon costs the processes that it watches

    bench_daemon_cost.py BUILD PAIRS SECONDS

Ten processes with two threads each do a fixed amount of work at the same time:
eight use lines of their own, two fight for lines. Together they take SECONDS on
two processors, without and with `reusetrack daemon` at its defaults, in an
order that changes from pair to pair. Prints their CPU time with : without for
each pair and in the median, and the daemon's own CPU time.
"""
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

BUILD, PAIRS, SECONDS = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
NULL = subprocess.DEVNULL
CLEAN, FIGHTING = 8, 2


def start(*command):
    return subprocess.Popen(command, stdout=NULL, stderr=NULL)


def cpu_of(process):
    """Wait for its end: its CPU time, and that of its children, in s."""
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f'{process.args[0]} failed')
    return usage.ru_utime + usage.ru_stime


def processes(work, rounds):
    clean = [work + 'clean', '--kernel', 'nbody', '--threads', '2',
             '--rounds', str(rounds[0])]
    fight = [work + 'fight', '--threads', '2', '--false', '1',
             '--iterations', str(rounds[1])]
    return [start(*clean) for _ in range(CLEAN)] + [
        start(*fight) for _ in range(FIGHTING)]


def one(work, rounds, watched):
    """CPU times of the ten, and of the daemon."""
    daemon, own = None, 0
    if watched:
        daemon = start(f'{BUILD}/reusetrack', 'daemon', '--name',
                       os.path.basename(work) + '*', '-o', work + '.out')
        time.sleep(0.5)
    times = [cpu_of(p) for p in processes(work, rounds)]
    if daemon:
        daemon.terminate()
        own = cpu_of(daemon)
        shutil.rmtree(work + '.out')
    return times, own


def amount(work, rounds):
    """So many rounds take each process its share of SECONDS of two processors."""
    times, _ = one(work, rounds, False)
    wanted = 2 * SECONDS / (CLEAN + FIGHTING)
    return [max(1, int(n * wanted / statistics.mean(t)))
            for n, t in zip(rounds, (times[:CLEAN], times[CLEAN:]))]


def main():
    folder = tempfile.mkdtemp()
    work = f'{folder}/rtb{os.getpid()}'
    shutil.copy(f'{BUILD}/microbench/kernel', work + 'clean')
    shutil.copy(f'{BUILD}/microbench/false_sharing', work + 'fight')
    try:
        rounds = amount(work, amount(work, [20, 1000000]))
        ratios, owns, busy = [], [], []
        for pair in range(PAIRS):
            order = (False, True) if pair % 2 else (True, False)
            found = {watched: one(work, rounds, watched) for watched in order}
            with_it, without = sum(found[True][0]), sum(found[False][0])
            ratios.append(with_it / without)
            owns.append(found[True][1])
            busy.append(with_it)
            print(f'pair {pair + 1}: CPU time {with_it:.2f} : {without:.2f} s'
                  f' = {ratios[-1]:.3f}, the daemon {owns[-1]:.2f} s',
                  flush=True)
        print(f'median {statistics.median(ratios):.3f},'
              f' {min(ratios):.3f} to {max(ratios):.3f}; the daemon took'
              f' {100 * statistics.median(owns) / statistics.median(busy):.2f}'
              ' % of their CPU time')
    finally:
        shutil.rmtree(folder)


main()
