#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench_switches - what a switch from thread to thread costs more

    bench_switches.py BUILD ROUNDS SECONDS    (make bench-switches ROUNDS=N)

The two threads of help_passing pass the turn on one processor, after no store
and after 20,000. CPU time of all threads for each switch, in turns of all ways:
medians, and the least and largest of the rounds. Nothing is judged.
"""
import os
import statistics
import subprocess
import sys
import tempfile

BUILD = os.path.abspath(sys.argv[1])
ROUNDS, SECONDS = int(sys.argv[2]), sys.argv[3]
WAYS = (("natively", None), ("defaults", {}), ("-F 50", {"COMDET_FREQ": "50"}),
        ("-F 200", {"COMDET_FREQ": "200"}),
        ("-F 1000", {"COMDET_FREQ": "1000"}),
        ("COMDET_CLOCK=timer", {"COMDET_CLOCK": "timer"}))


def run(settings, stores, out):
    """The program's CPU time in us for each switch."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("COMDET_")}
    if settings is not None:
        env.update(settings, COMDET_OUT=out, LD_PRELOAD=BUILD + "/libcomdet.so")
    child = os.posix_spawn(BUILD + "/tests/programs/help_passing",
                           ["help_passing", stores, SECONDS], env)
    _, status, used = os.wait4(child, 0)
    if status:
        sys.exit("help_passing ended with status %d" % status)
    return ((used.ru_utime + used.ru_stime) * 1e6 /
            (used.ru_nvcsw + used.ru_nivcsw))


os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
print("stores, way, us a switch (least to largest), more, ratio")
for stores in "0", "20000":
    rows = {name: [] for name, _ in WAYS}
    with tempfile.TemporaryDirectory() as directory:
        for i in range(ROUNDS):
            for name, settings in WAYS:
                rows[name].append(run(settings, stores,
                                      "%s/%d%s" % (directory, i, name)))
    native = statistics.median(rows["natively"])
    for name, _ in WAYS:
        us = rows[name]
        print(stores, name, "%.2f (%.2f to %.2f)" %
              (statistics.median(us), min(us), max(us)),
              "%.2f" % (statistics.median(us) - native),
              "%.2f" % (statistics.median(us) / native), sep=", ")
