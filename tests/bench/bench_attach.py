#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench_attach - what attach costs the programs that it watches

    bench_attach.py BUILD CSV PAIRS SECONDS [PROGRAM...]

CPU-bound programs run in PAIRS pairs, alone and with `reusetrack attach` with
its defaults from just after their start, in an order that changes from pair to
pair. A first run finds the amount of work that takes SECONDS of CPU time. Times of the
programs alone, without the watcher's, go to CSV, which bench_summary.py reads;
its own CPU time, and how much that is a sample, is printed here. No time is
judged.

The program `ratio` is another measure: detections per sample of pair.c, under
the preload and under attach in turn.
"""
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

BUILD, CSV = os.path.abspath(sys.argv[1]), sys.argv[2]
PAIRS, SECONDS = int(sys.argv[3]), float(sys.argv[4])
TOOL = BUILD + "/reusetrack"
TOP = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
NULL = subprocess.DEVNULL

PYTHON = """
import sys
d, n = {}, 0
for i in range(int(sys.argv[1]) * 20000):
    k = i * 7919 % 65537
    d[k] = d.get(k, 0) + i
    n += len(str(k))
print(n, len(d))
"""
SQL = """
create table t(a integer primary key, b, c);
with recursive n(x) as (select 1 union all select x + 1 from n where x < %d)
 insert into t select x, x * 7919 %% 65537, hex(x * x) from n;
create index i on t(b);
select count(*), sum(length(c)) from t where b between 100 and 60000;
select b %% 97, count(*), max(c) from t group by 1 order by 2 desc limit 5;
"""


def text(size, words=False):
    path = "text%d%s" % (size, "w" if words else "")
    if not os.path.exists(path):
        out = subprocess.run([BUILD + "/tests/programs/help_text", str(size)],
                             stdout=subprocess.PIPE, check=True).stdout
        with open(path, "wb") as f:
            f.write(out.replace(b" ", b"\n") if words else out)
    return path


def sql(amount):
    with open("sql", "w") as f:
        f.write(SQL % (amount * 20000))
    return ["sqlite3", ":memory:", ".read sql"]


PROGRAMS = {  # name: (amount to begin with, command of an amount)
    "pigz": (4, lambda n: ["pigz", "-11", "-p", "2", "-c", text(n)]),
    "xz": (4, lambda n: ["xz", "-T", "2", "--block-size=1MiB", "-c", text(n)]),
    "sort": (8, lambda n: ["sort", "--parallel=2", "-S", "1G", text(n, True)]),
    "python3": (4, lambda n: [sys.executable, "-S", "-c", PYTHON, str(n)]),
    "sqlite3": (4, sql),
}


def end_of(process):
    """Wait for it; its status and what it used."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    return status, usage


def run(command, attach=False):
    """(wall, usage, None or (watcher's CPU time, samples, that of the loop))"""
    begin = time.monotonic()
    target = subprocess.Popen(command, stdout=NULL, stdin=NULL,
                              env=dict(os.environ, LC_ALL="C"))
    watcher = attach and subprocess.Popen(
        [TOOL, "attach", "-o", "out", str(target.pid)], stdin=NULL,
        stdout=NULL, stderr=subprocess.PIPE, text=True)
    status, usage = end_of(target)
    wall = time.monotonic() - begin
    if status:
        sys.exit("bench_attach: %s: status %#x" % (command[0], status))
    if not attach:
        return wall, usage, None
    said = watcher.stderr.read()
    status, own = end_of(watcher)
    samples = re.search(r"([0-9,]+) samples?,", said)
    watching = re.search(r"took ([0-9.]+) (us|ms|s) of CPU time", said)
    if status or not samples or not watching:
        sys.exit("bench_attach: attach: status %#x: %s" % (status, said))
    shutil.rmtree("out")
    shutil.rmtree("out.old", ignore_errors=True)
    return wall, usage, (
        own.ru_utime + own.ru_stime, int(samples[1].replace(",", "")),
        float(watching[1]) * {"us": 1e-6, "ms": 1e-3, "s": 1}[watching[2]])


def amount_of(name):
    amount, command = PROGRAMS[name]
    for _ in range(6):
        usage = run(command(amount))[1]
        cpu = usage.ru_utime + usage.ru_stime
        if cpu > 0.3 * SECONDS:
            break
        amount *= 4
    return max(1, round(amount * SECONDS / cpu))


def bench(name, csv):
    command = PROGRAMS[name][1](amount_of(name))
    own = []
    for pair in range(PAIRS):
        for i in range(2):
            attach = (pair + i) % 2 == 1
            wall, usage, watcher = run(command, attach)
            if watcher:
                own.append(watcher + (wall,))
            print("%s,%d,%s,%d,%.4f,%.4f,%.4f,%d" % (
                name, pair, "with" if attach else "without", i == 0, wall,
                usage.ru_utime, usage.ru_stime, usage.ru_maxrss), file=csv)
    cpu, samples, loop, wall = map(sum, zip(*own))
    print("%-8s the watcher took %.1f us a sample, %.2f %% of a processor; "
          "its start and its end took %.0f ms more; %d samples a run" % (
              name, 1e6 * loop / max(samples, 1), 100 * loop / wall,
              1000 * (cpu - loop) / PAIRS, samples / PAIRS))


def density(mode, attach):
    """(detections, samples) of the pair for SECONDS."""
    command = ["./pair", mode]
    env = dict(os.environ)
    if not attach:
        env.update(LD_PRELOAD=BUILD + "/libcomdet.so", COMDET_OUT="out")
    target = subprocess.Popen(command, stdout=subprocess.PIPE, stdin=NULL,
                              env=env)
    target.stdout.readline()
    if attach:
        subprocess.run([TOOL, "attach", "-o", "out", "--duration",
                        str(SECONDS), str(target.pid)], stderr=NULL,
                       check=True)
    else:
        time.sleep(SECONDS)
    target.kill()
    target.wait()
    report = json.loads(subprocess.run(
        [TOOL, "report", "--json", "--no-symbols", "out"],
        stdout=subprocess.PIPE, check=True).stdout)
    shutil.rmtree("out")
    cells = report["communication"].get("cells", [])
    return (sum(c["all"] for c in cells),
            sum(sum(t["samples"].values()) for t in report["threads"]))


def ratio():
    subprocess.run(["gcc", "-O2", "-g", "-pthread", "-o", "pair",
                    TOP + "/tests/programs/attach/pair.c"], check=True)
    for mode in "false", "true":
        sums = {False: [0, 0], True: [0, 0]}
        ratios = []
        for pair in range(PAIRS):
            each = {}
            for i in range(2):
                attach = (pair + i) % 2 == 1
                each[attach] = density(mode, attach)
                for k in range(2):
                    sums[attach][k] += each[attach][k]
            if each[False][0] and each[True][1]:
                ratios.append(each[True][0] / each[True][1] /
                              (each[False][0] / each[False][1]))
        rate = {a: 1000 * d / max(n, 1) for a, (d, n) in sums.items()}
        print("%s sharing: detections per 1,000 samples: preload %.0f "
              "(%d of %d), attach %.0f (%d of %d); ratio %.2f, median over "
              "pairs %.2f" % (
                  mode, rate[False], *sums[False], rate[True], *sums[True],
                  rate[True] / rate[False] if rate[False] else 0,
                  statistics.median(ratios) if ratios else 0))


def main():
    names = sys.argv[5:] or list(PROGRAMS)
    csv_path = os.path.abspath(CSV)
    with tempfile.TemporaryDirectory() as at, open(csv_path, "w") as csv:
        os.chdir(at)
        print("program,pair,how,first,wall_s,user_s,system_s,maxrss_kib",
              file=csv)
        for name in names:
            if name == "ratio":
                ratio()
            elif not shutil.which(PROGRAMS[name][1](1)[0]):
                print("%-8s is not installed" % name)
            else:
                bench(name, csv)
            sys.stdout.flush()
        os.chdir("/")


main()
