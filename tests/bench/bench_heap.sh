#!/bin/bash
# SPDX-License-Identifier: MIT
#
# bench_heap - what it costs to know who allocated heap blocks
#
# libcomdet-heap.so alone, without and with the paths of calls: nanoseconds of a
# pair of malloc and free, then CPU time and most memory of programs. Each
# figure is the least of RUNS, taken in turns. It takes a core for two minutes.
#
#	RUNS=7 tests/bench/bench_heap.sh

. "$(dirname "$0")/../e2e/e2e.sh"

python3 - "$B" "${RUNS:-7}" <<'PYTHON'
import os, re, subprocess, sys

build, runs = sys.argv[1], int(sys.argv[2])
heap = build + "/libcomdet-heap.so"
oracle = build + "/tests/oracle/libheap_paths.so"
MODES = {"alone": {}, "with": {"LD_PRELOAD": heap},
         "with paths": {"LD_PRELOAD": heap, "COMDET_PATHS": "1"}}
CHURN = "d={}\nfor i in range(700000): d[i%50000]=[str(i),(i,i+1)]"
# The same at other rates.
RATE = ("d={}\nz=(0,)*%d\n"
        "for i in range(%d): d[i%%50000]=[str(i),(i,i+1)]; sum(z)")
SLOW = ("import json\nfor i in range(60000): "
        "json.dumps([i, {'a': str(i)}, list(range(50))])")
PROGRAMS = [
    ("python3, PYTHONMALLOC=malloc, strings and tuples",
     {"PYTHONMALLOC": "malloc"}, ["/usr/bin/python3", "-c", CHURN]),
    ("python3, PYTHONMALLOC=malloc, the same with other work",
     {"PYTHONMALLOC": "malloc"}, ["/usr/bin/python3", "-c",
                                   RATE % (450, 350000)]),
    ("python3, PYTHONMALLOC=malloc, with more other work",
     {"PYTHONMALLOC": "malloc"}, ["/usr/bin/python3", "-c",
                                   RATE % (8000, 40000)]),
    ("python3, its own allocator, json", {}, ["/usr/bin/python3", "-c", SLOW]),
    ("perl, 300,000 strings into a hash", {},
     ["perl", "-e", 'for my $i (1 .. 300000) { $h{"k$i"} = "v$i"; }']),
    ("sqlite3, 100,000 rows", {}, ["sqlite3", ":memory:",
     "create table t(a, b); with recursive c(x) as (select 1 union all select "
     "x + 1 from c where x < 100000) insert into t select x, "
     "hex(randomblob(8)) from c; create index i on t(b);"]),
]


def with_mode(mode, more=None, before=""):
    env = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
    env.update(mode)
    env.update(more or {})
    loaded = " ".join(filter(None, [mode.get("LD_PRELOAD"), before]))
    if loaded:
        env["LD_PRELOAD"] = loaded
    return env


def cost(command, env):
    """CPU seconds and the most memory in MB."""
    pid = os.fork()
    if not pid:
        null = os.open(os.devnull, os.O_RDWR)
        for fd in range(3):
            os.dup2(null, fd)
        os.execvpe(command[0], command, env)
    _, status, used = os.wait4(pid, 0)
    if status:
        sys.exit("%s failed: %d" % (command[0], status))
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def allocator(name):
    found = re.search(r"=> (/\S*%s)" % re.escape(name), subprocess.run(
        ["ldconfig", "-p"], capture_output=True, text=True).stdout)
    return found and found.group(1)


print("nanoseconds of a pair of malloc and free")
for name in "", "libjemalloc.so.2", "libtcmalloc_minimal.so.4":
    path = allocator(name) if name else ""
    if path is None:
        continue
    least = {}
    for _ in range(runs):
        for mode, env in MODES.items():
            out = subprocess.run(
                [build + "/tests/bench/bench_heap"], check=True, text=True,
                env=with_mode(env, before=path), capture_output=True).stdout
            least[mode] = min(least.get(mode, 1e9), float(out))
    print("  %-26s" % (name or "C library"), ", ".join(
        "%s %.1f (%+.1f)" % (m, ns, ns - least["alone"])
        for m, ns in least.items()))

print("programs: CPU time and most memory, against alone")
for name, more, command in PROGRAMS:
    cpu, memory = {}, {}
    for _ in range(runs):
        for mode, env in MODES.items():
            seconds, mb = cost(command, with_mode(env, more))
            cpu[mode] = min(cpu.get(mode, 1e9), seconds)
            memory[mode] = min(memory.get(mode, 1e9), mb)
    counted = subprocess.run(
        command, env=with_mode(MODES["with"],
                               dict(more, HEAP_PATHS_EVERY="1000000000"),
                               oracle), text=True, capture_output=True).stderr
    rate = int(re.search(r"(\d+) allocations", counted).group(1)) / cpu["alone"]
    print("  %s: %.2f s, %.2f million allocations a second, %.0f MB" % (
        name, cpu["alone"], rate / 1e6, memory["alone"]))
    for mode in list(MODES)[1:]:
        print("    %-10s CPU time %.3f, memory %.2f" % (
            mode, cpu[mode] / cpu["alone"], memory[mode] / memory["alone"]))
PYTHON
