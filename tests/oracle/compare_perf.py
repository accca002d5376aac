#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare the samples that reusetrack reads with those that perf prints.

    compare_perf.py REUSETRACK PERF FILE [--ibs]

Every sample, kernel or user, by process, thread, time, event, instruction,
data address, data source as a number and weight. With --ibs what is known of
an access comes from the registers, which perf prints only with -D. Prints how
many samples agree; exits with 1 and the first differences otherwise.
"""
import re
import subprocess
import sys


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout.splitlines()


def ours(reusetrack, file):
    rows = []
    for line in run(reusetrack, "import", "--samples", file):
        task, _cpu, time, event, rest = line.split(" ", 4)
        fields = dict(f.split("=", 1) for f in rest.split(" "))
        rows.append((task, time, event, fields))
    return rows


def perf_rows(perf, file):
    """What perf script prints of a memory sample; cpu is not always there."""
    rows = []
    for line in run(perf, "script", "--ns", "-i", file, "-F",
                    "pid,tid,time,event,addr,data_src,weight,ip"):
        found = re.match(
            r"\s*(\S+)\s+(\S+):\s+(.+?):\s+([0-9a-f]+)\s+([0-9a-f]+) "
            r"\|.*?\s(\d+)\s+([0-9a-f]+)\s*$", line)
        if not found:
            sys.exit(f"cannot read what perf says: {line}")
        rows.append(found.groups())
    return rows


def compare(mine, theirs):
    mine, theirs = sorted(mine), sorted(theirs)
    if not theirs:
        sys.exit("perf prints no samples")
    if mine != theirs:
        print(f"{len(mine)} samples here, {len(theirs)} in perf")
        for row in [r for r in mine if r not in theirs][:3]:
            print("only here:   ", row)
        for row in [r for r in theirs if r not in mine][:3]:
            print("only in perf:", row)
        sys.exit(1)
    print(f"{len(mine)} samples agree")


def compare_intel(reusetrack, perf, file):
    mine = [(task, time, event, f["addr"], f["data_src"], f["weight"], f["ip"])
            for task, time, event, f in ours(reusetrack, file)]
    compare(mine, perf_rows(perf, file))


# DataSrc as AMD numbers it, of Zen 4 and later, loads that missed L2.
ZEN4 = {1: "l3", 2: "peer_cache", 3: "dram", 5: "remote_cache", 6: "pmem",
        7: "io", 8: "cxl"}


def ibs_rows(perf, file):
    """From the registers that perf script -D decodes ahead of a sample."""
    rows, regs = [], {}
    for line in run(perf, "script", "--ns", "-D", "-i", file):
        found = re.match(r"(ibs_op_data[23]?|IbsOpRip|IbsDCLinAd):\s+([0-9a-f]+)"
                         r"(.*)", line)
        if found:
            words = dict(re.findall(r"(\w+)\s+(\d+)", found[3]))
            regs[found[1]] = (found[2], words)
            continue
        found = re.search(r"(\d+) 0x\w+ \[0x\w+\]: PERF_RECORD_SAMPLE\(.*?\): "
                          r"(\d+/\d+):", line)
        if not found:
            continue
        d3, d2 = regs["ibs_op_data3"][1], regs["ibs_op_data2"][1]
        load, store = d3["LdOp"] == "1", d3["StOp"] == "1"
        missed = d3["DcMiss"] == "1"
        source = "l1"
        if missed:
            source = "l2"
        if missed and d3["L2Miss"] == "1":
            source = ZEN4.get(int(d2["DataSrc"]), "unknown") if load \
                else "unknown"
            if source == "dram" and d2["RmtNode"] == "1":
                source = "remote_dram"
            if source in ("l3", "peer_cache", "remote_cache") and \
               not int(regs["ibs_op_data2"][0], 16) >> 5 & 1:
                source += ",hitm"
        rows.append((found[2], found[1], regs["IbsOpRip"][0].lstrip("0"),
                     regs["IbsDCLinAd"][0].lstrip("0"),
                     ("load" if load else "") + ("store" if store else ""),
                     d3["OpMemWidth"], source,
                     d3["DcMissLat"] if load and missed else "0"))
        regs = {}
    return rows


def compare_ibs(reusetrack, perf, file):
    mine = []
    for task, time, _event, f in ours(reusetrack, file):
        seconds, rest = time.split(".")
        mine.append((task, str(int(seconds) * 10**9 + int(rest)), f["ip"],
                     f["addr"], f["access"], f["len"], f["source"],
                     f["latency"]))
    compare(mine, ibs_rows(perf, file))


if __name__ == "__main__":
    if "--ibs" in sys.argv[4:]:
        compare_ibs(*sys.argv[1:4])
    else:
        compare_intel(*sys.argv[1:4])
