#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
#
# usr_bin - programs of /usr/bin behave the same under the preload
#
#	tests/real/usr_bin.py [NAME...]
#
# Each line of usr_bin.txt runs natively and under the preload at 1,000 Hz, in a
# fresh directory with the same files. Standard output, standard error and exit
# status must be the same, and a profile must exist. If they differ, the line
# runs twice more each way: if it then differs from itself natively, it is
# called unstable and fails the check too, because it shows nothing. COMDET_*
# variables of the caller stay. The last line is "N passed, N failed, N skipped".

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get("B", HERE + "/../../build")
LIBRARY = os.path.abspath(BUILD) + "/libcomdet.so"
LIMIT = int(os.environ.get("LIMIT", "120"))
WANTED = 100


def make_files(at):
    """The same each time."""
    draw = random.Random(7)
    words = ["".join(draw.choice("abcdefghiklmnopqrstuw")
                     for _ in range(draw.randint(2, 9))) for _ in range(3000)]

    def write(name, lines):
        with open(os.path.join(at, name), "w") as f:
            f.write("\n".join(lines) + "\n")

    write("words", words)
    write("text", [" ".join(draw.choices(words, k=8)) for _ in range(30000)])
    write("numbers", [str(draw.randrange(10**9)) for _ in range(30000)])
    write("sorted", sorted(set(words)))
    write("sorted2", sorted(set(draw.sample(words, 2000))))
    write("code.c", ["int f%d(int x) { return x * %d + f%d(x - 1); }"
                     % (i, i, i - 1) if i else "int f0(int x) { return x; }"
                     for i in range(300)])
    with open(os.path.join(at, "data.json"), "w") as f:
        json.dump([{"n": i, "s": w} for i, w in enumerate(words)], f)
    for i in range(40):
        os.makedirs(os.path.join(at, "tree/d%d" % (i % 7)), exist_ok=True)
        write("tree/d%d/f%d" % (i % 7, i), words[:i * 20 + 1])


def run(line, files, preload):
    """(stdout, stderr, status) and whether there is a profile."""
    with tempfile.TemporaryDirectory(prefix="comdet-usr-bin-") as work:
        here, out = work + "/here", work + "/profile"
        shutil.copytree(files, here)
        env = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
        env.update(LC_ALL="C.UTF-8", PATH="/usr/bin:/bin", HOME=here)
        if preload:
            env.setdefault("COMDET_FREQ", "1000")
            # sh itself is not profiled.
            line = "export LD_PRELOAD=%s COMDET_OUT=%s\n%s" % (LIBRARY, out,
                                                            line)
        try:
            p = subprocess.run(["sh", "-c", line], cwd=here, env=env,
                               stdin=subprocess.DEVNULL, capture_output=True,
                               timeout=LIMIT)
            result = (p.stdout, p.stderr, p.returncode)
        except subprocess.TimeoutExpired:
            result = (b"", b"", "not done in %d s" % LIMIT)
        profiled = any(n.endswith(".cdp") for _, _, names in os.walk(out)
                       for n in names)
        # Directories have other names each time.
        return tuple(x.replace(work.encode(), b"") if isinstance(x, bytes)
                     else x for x in result), profiled


def verdict_of(line, files):
    """None if it is the same both ways, or what is not."""
    native, _ = run(line, files, False)
    ours, profiled = run(line, files, True)
    if native == ours:
        return None if profiled else "there is no profile"
    others = {run(line, files, False)[0] for _ in range(2)} | {native}
    again = [run(line, files, True)[0] for _ in range(2)]
    if len(others) > 1:
        return "unstable: it differs from itself natively"
    parts = [what for what, a, b in zip(("stdout", "stderr", "status"), native,
                                        ours) if a != b]
    return "another %s (%d of 3 times): %.300r natively, %.300r" % (
        " and ".join(parts), 1 + sum(r != native for r in again), native, ours)


def main():
    passed = failed = skipped = 0
    with tempfile.TemporaryDirectory(prefix="comdet-usr-bin-") as files, \
            open(HERE + "/usr_bin.txt") as table:
        make_files(files)
        for row in table:
            name, _, line = row.rstrip("\n").partition("\t")
            if not line or sys.argv[1:] and name not in sys.argv[1:]:
                continue
            if not os.path.exists("/usr/bin/" + name):
                print("skip %s: there is no /usr/bin/%s" % (name, name))
                skipped += 1
                continue
            verdict = verdict_of(line, files)
            passed += verdict is None
            failed += verdict is not None
            if verdict:
                print("FAIL %s: %s" % (name, verdict), flush=True)
    if not sys.argv[1:] and passed + failed < WANTED:
        print("FAIL: only %d programs are here" % (passed + failed))
        failed += 1
    print("\n%d passed, %d failed, %d skipped" % (passed, failed, skipped))
    return 1 if failed else 0


sys.exit(main())
