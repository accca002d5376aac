#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
#
# run - test suites of other programs, natively and under the preload
#
#	tests/suites/run.py [--keep FILE] [SUITE[/PART]...]
#
# CPython's regression tests, redis's own tests, the POSIX Test Suite and the
# stressors of stress-ng try signals, threads, processes, timers and memory
# harder than we do. Each part runs natively and then under the preload in each
# mode; each test must end as it does natively. A test that does not is run
# again, alone, three times each way, one of POSIX twelve times: if it then
# differs natively too, it is called unstable, and the difference is not ours.
# All others are printed, and the run fails.
#
# MODES chooses modes, LIMIT the seconds of one part (default 300; a test of
# POSIX always has 60). The last line is "N passed, N failed, N skipped", counted in parts and modes.

import argparse
import concurrent.futures
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as xml

import posix_tests

TOP = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
BUILD = os.environ.get("B", TOP + "/build")
LIBRARY = BUILD + "/libcomdet.so"
LIMIT = int(os.environ.get("LIMIT", "300"))

MODES = {
    "default": {},
    "fast": {"COMDET_FREQ": "1000"},
    "children": {"COMDET_CHILDREN": "1", "COMDET_FREQ": "1000"},
    "rtsig": {"COMDET_DELIVERY": "rtsig", "COMDET_FREQ": "1000"},
}


class Part:
    """A program that runs some tests; mode None is native."""

    AGAIN = 3  # runs each way of what differs,
    ALONE_MAX = 8  # alone, if it is so few tests, else the whole part

    def __init__(self, suite, name):
        self.suite, self.name = suite, name

    def full_name(self):
        return self.suite + "/" + self.name

    def environment(self, mode, out):
        env = {k: v for k, v in os.environ.items()
               if not k.startswith("COMDET_") and k != "LD_PRELOAD"}
        if mode is not None:
            env.update(MODES[mode])
            env.update(LD_PRELOAD=LIBRARY, COMDET_OUT=out)
        return env

    def run(self, mode, only=None):
        """The results {test: outcome} and the output."""
        with tempfile.TemporaryDirectory(prefix="comdet-suite-") as work:
            out = work + "/profile"
            env = self.environment(mode, out)
            output, status = execute(self.command(work, only), work, env)
            results = self.results(work, output, status)
            results["(the run)"] = status if isinstance(status, str) else \
                "status %d" % status
            if mode is not None and not has_profile(out):
                results["(the run)"] += ", without a profile"
            return results, output


def has_profile(out):
    return any(name.endswith(".cdp") for _, _, names in os.walk(out)
               for name in names)


def fetch(tree, package, *patterns):
    """Fetch a source package of Debian to @tree; None, or why it failed."""
    got = subprocess.run([TOP + "/tests/suites/debian_source.sh", package,
                          tree, *patterns], capture_output=True, text=True)
    if not got.returncode:
        return None
    return (got.stderr.strip().splitlines() or ["no source of " + package])[-1]


def execute(command, work, env, limit=LIMIT):
    """Run in a process group of its own, which ends with it."""
    with open(work + "/output", "w+b") as output:
        p = subprocess.Popen(command, cwd=work, env=env, stdout=output,
                             stderr=subprocess.STDOUT,
                             stdin=subprocess.DEVNULL, start_new_session=True)
        try:
            status = p.wait(limit)
        except subprocess.TimeoutExpired:
            status = "not done in time"
        try:
            os.killpg(p.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        p.wait()
        output.seek(0)
        return output.read().decode(errors="replace"), status


class PythonPart(Part):
    """A module of CPython's test package, which Debian has apart."""

    PYTHON = "/usr/bin/python3"

    MODULES = """test_signal test_threadsignals test_threading test_thread
        test_threading_local test_fork1 test_eintr test_faulthandler
        test_subprocess test_multiprocessing_fork
        test_multiprocessing_forkserver test_multiprocessing_spawn
        test_multiprocessing_main_handling test_concurrent_futures test_socket
        test_socketserver test_asyncio test_mmap test_ctypes test_posix
        test_os test_wait3 test_wait4 test_popen test_pty test_select
        test_selectors test_poll test_epoll test_queue test_sched
        test_time test_resource""".split()

    def command(self, work, only):
        # test_socketserver runs only with "network"; a virtual machine's own
        # sockets may never connect, natively too
        command = [PythonPart.PYTHON, "-m", "test", "-v", "-u", "network",
                   "-i", "*VSOCK*", "--junit-xml", work + "/results.xml"]
        for test in only or []:
            command += ["-m", test]
        return command + [self.name]

    def results(self, work, output, status):
        found = {}
        try:
            cases = xml.parse(work + "/results.xml").iter("testcase")
        except (OSError, xml.ParseError):
            cases = []
        for case in cases:
            outcome = "ok"
            for kind in ("failure", "error", "skipped"):
                if case.find(kind) is not None:
                    outcome = kind
            found[case.get("name")] = outcome
        return found

    @staticmethod
    def parts():
        if subprocess.run([PythonPart.PYTHON, "-c", "import test.test_signal"],
                          capture_output=True).returncode:
            return "no package of CPython's tests"
        return [PythonPart("cpython", m) for m in PythonPart.MODULES]


class RedisPart(Part):
    """A file of redis's tests; the server is what the preload profiles."""

    FILES = """unit/auth unit/protocol unit/keyspace unit/scan unit/info
        unit/type/string unit/type/incr unit/type/list unit/type/list-2
        unit/type/set unit/type/zset unit/type/hash unit/type/stream unit/sort
        unit/expire unit/other unit/multi unit/quit unit/dump unit/bitops
        unit/pubsub unit/scripting unit/introspection unit/introspection-2
        unit/slowlog unit/limits unit/tracking unit/client-eviction
        unit/shutdown unit/aofrw unit/geo unit/hyperloglog unit/lazyfree
        unit/pause unit/querybuf unit/oom-score-adj unit/obuf-limits
        unit/latency-monitor unit/networking integration/rdb
        integration/aof integration/aof-race integration/logging
        integration/block-repl integration/replication
        integration/psync2-reg integration/convert-ziplist-hash-on-load
        integration/redis-cli integration/redis-benchmark""".split()
    PORT = 21000 + os.getpid() % 300 * 100

    def environment(self, mode, out):
        env = Part.environment(self, mode, out)
        for name in [n for n in env if n in ("LD_PRELOAD",)
                     or n.startswith("COMDET_")]:
            env["SUITE_" + name] = env.pop(name)
        return env

    def command(self, work, only):
        tree = work + "/redis"
        shutil.copytree(RedisPart.tree, tree, symlinks=True)
        os.makedirs(tree + "/src", exist_ok=True)
        for name in ("redis-cli", "redis-benchmark", "redis-check-aof",
                     "redis-check-rdb"):
            replace(tree + "/src/" + name, "/usr/bin/" + name)
        with open(tree + "/src/redis-server", "w") as f:
            f.write(SERVER)
        os.chmod(tree + "/src/redis-server", 0o755)
        command = ["tclsh", "tests/test_helper.tcl", "--single", self.name,
                   "--clients", "1", "--baseport", str(RedisPart.PORT),
                   "--portcount", "90", "--skipfile", "/dev/null",
                   "--tags", "-needs:debug -large-memory"]
        for test in only or []:
            command += ["--only", test]
        return ["sh", "-c", 'cd redis && exec "$@"', "sh"] + command

    def results(self, work, output, status):
        words = {"ok": "ok", "err": "failure", "exception": "error",
                 "skip": "skipped", "ignore": "skipped", "timeout": "error"}
        plain = re.sub("\033\\[[0-9;]*m", "", output)
        return {name: words[kind] for kind, name in re.findall(
            r"^\[(ok|err|exception|skip|ignore|timeout)\]: (.*?)(?: \(\d+ ms\))?$",
            plain, re.M)}

    @staticmethod
    def parts():
        tree = os.path.join(BUILD, "suites/redis")
        if not shutil.which("redis-server") or not shutil.which("tclsh"):
            return "no redis-server or no tclsh"
        version = subprocess.run(
            ["dpkg-query", "-W", "-f", "${Version}", "redis-server"],
            capture_output=True, text=True).stdout
        error = fetch(tree, "redis=" + version, "*/tests", "*/redis.conf",
                      "*/sentinel.conf", "*/src/*.h", "*/utils", "*/runtest",
                      "*/src/commands")
        if error:
            return error
        RedisPart.tree = tree
        return [RedisPart("redis", f) for f in RedisPart.FILES
                if os.path.exists(tree + "/tests/" + f + ".tcl")]


SERVER = """#!/bin/sh
for name in COMDET_OUT COMDET_FREQ COMDET_CHILDREN COMDET_DELIVERY LD_PRELOAD; do
	eval value=\\$SUITE_$name
	[ -z "$value" ] || export "$name=$value"
done
exec /usr/bin/redis-server "$@"
"""


def replace(link, target):
    if os.path.lexists(link):
        os.remove(link)
    os.symlink(target, link)


class StressPart(Part):
    """A stressor, for as many operations as it does in a moment."""

    ALONE_MAX = 0

    STRESSORS = {
        "alarm": 50, "sigabrt": 200, "sigchld": 2000, "sigfd": 20000,
        "sigfpe": 5000, "sigio": 200, "signal": 20000, "signest": 500,
        "sigpending": 20000, "sigpipe": 2000, "sigq": 20000, "sigrt": 5000,
        "sigsegv": 5000, "sigsuspend": 5000, "sigtrap": 5000, "kill": 20000,
        "fork": 300, "vfork": 300, "vforkmany": 2, "clone": 60,
        "daemon": 50, "exec": 100, "wait": 300, "zombie": 300, "pidfd": 300,
        "session": 100, "exit-group": 50, "resched": 200,
        "pthread": 2000, "mutex": 20000, "futex": 20000, "sem": 300,
        "sem-sysv": 20000, "tsearch": 3, "schedpolicy": 60, "switch": 20000,
        "yield": 300, "membarrier": 200, "rseq": 200, "set": 1000,
        "timer": 20000, "timerfd": 2000, "itimer": 5000, "nanosleep": 100,
        "clock": 500, "cyclic": 500, "cpu-online": 1, "poll": 100,
        "malloc": 20000, "mmap": 20, "mmapfork": 5, "mmapmany": 5,
        "mmapfixed": 500, "mremap": 20, "msync": 50, "madvise": 50,
        "mprotect": 500, "brk": 20000, "stack": 5, "stackmmap": 20,
        "vm": 2000, "vm-rw": 20, "vm-splice": 1000, "userfaultfd": 50,
        "shm": 5, "shm-sysv": 20, "bigheap": 50, "bad-altstack": 50,
        "memfd": 20, "mlock": 100, "pkey": 200, "ptrace": 2000, "prctl": 50,
        "pipe": 20000, "eventfd": 20000, "sock": 200, "sockpair": 2000,
        "context": 5000, "longjmp": 20000, "sigbus": 500, "munmap": 5,
        "physpage": 20, "resources": 5, "rlimit": 200, "loadavg": 5,
        "nice": 50, "getrandom": 1000, "vdso": 20000, "syscall": 20,
    }

    def command(self, work, only):
        return ["stress-ng", "--" + self.name, "1", "--%s-ops" % self.name,
                str(self.STRESSORS[self.name]), "--timeout",
                "%ds" % min(LIMIT // 2, 20), "--verify", "--temp-path", work]

    def results(self, work, output, status):
        """Lines of failures, without what differs natively."""
        found = {}
        for line in output.splitlines():
            m = re.match(r"stress-ng: (fail|error|warn|info): *\[\d+\] (.*)",
                         line)
            if not m or not (m.group(1) in ("fail", "error") or re.search(
                    "passed|failed|skip|successful", m.group(2))):
                continue
            text = re.sub(r"0x[0-9a-f]+|\d+(\.\d+)?", "N", m.group(2))
            text = re.sub(r"run completed in .*", "run completed", text)
            found[text] = m.group(1)
        return found

    @staticmethod
    def parts():
        if not shutil.which("stress-ng"):
            return "no stress-ng"
        known = subprocess.run(["stress-ng", "--stressors"],
                               capture_output=True, text=True).stdout.split()
        return [StressPart("stress-ng", s) for s in StressPart.STRESSORS
                if s in known]


class PosixPart(Part):
    """Interfaces of POSIX, each with some tests, of which each is a program."""

    AGAIN = 12  # a test takes a moment, and many depend on who is faster
    ALONE_MAX = 1000
    AT_ONCE = 12  # most of them sleep; tests of one interface share names
    LIMIT = 60

    def run(self, mode, only=None):
        with tempfile.TemporaryDirectory(prefix="comdet-suite-") as work, \
                concurrent.futures.ThreadPoolExecutor(self.AT_ONCE) as pool:
            def interface(name):
                return [self.run_one(mode, program, work)
                        for program in PosixPart.tests[self.name][name]
                        if only is None or
                        posix_tests.name_of(program) in only]
            found = [f for some in pool.map(
                interface, PosixPart.tests[self.name]) for f in some]
        return ({name: outcome for name, outcome, _ in found},
                "".join("--- %s: %s\n%s" % f for f in found))

    def run_one(self, mode, program, work):
        name = posix_tests.name_of(program)
        here = os.path.join(work, name)
        os.makedirs(here)
        env = self.environment(mode, here + "/profile")
        output, status = execute([program], here, env, PosixPart.LIMIT)
        if isinstance(status, int):
            status = posix_tests.OUTCOMES.get(status, "status %d" % status)
        if mode is not None and not has_profile(here):
            status += ", without a profile"
        return name, status, output

    @staticmethod
    def parts():
        tree = os.path.join(BUILD, "suites/posix")
        error = fetch(tree, "posixtestsuite")
        if error:
            return error
        PosixPart.tests = posix_tests.tests(tree)
        return [PosixPart("posix", name) for name in sorted(PosixPart.tests)]


SUITES = {"cpython": PythonPart, "redis": RedisPart, "posix": PosixPart,
          "stress-ng": StressPart}


def compare(native, other):
    return {t: (native.get(t, "did not run"), other.get(t, "did not run"))
            for t in sorted(set(native) | set(other))
            if native.get(t) != other.get(t)}


def judge(part, mode, difference, log):
    """Run what differs alone, some times each way; what stays is returned."""
    tests = [t for t in difference if t != "(the run)" and
             difference[t][1] != "did not run"]
    again = tests if tests and len(tests) <= part.ALONE_MAX else None
    ways = {None: [], mode: []}
    for _ in range(part.AGAIN):
        for way in ways:
            results, output = part.run(way, again)
            ways[way].append(results)
            if way:
                log.write(output)
    left = {}
    for t, (was, became) in difference.items():
        native = [r.get(t, "did not run") for r in ways[None]] + [was]
        ours = [r.get(t, "did not run") for r in ways[mode]] + [became]
        if set(ours) <= set(native):
            continue
        left[t] = "natively %s; %s: %s" % (count(native), mode, count(ours))
    return left


def count(outcomes):
    return ", ".join("%s %d of %d" % (o, outcomes.count(o), len(outcomes))
                     for o in sorted(set(outcomes)))


def chosen_parts(names):
    parts, skipped = [], []
    for suite, kind in SUITES.items():
        mine = [n for n in names if n.split("/")[0] == suite]
        if names and not mine:
            continue
        found = kind.parts()
        if isinstance(found, str):
            skipped.append("%s: %s" % (suite, found))
            continue
        parts += [p for p in found if not names or suite in mine
                  or p.full_name() in mine]
    return parts, skipped


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--keep", help="also write the table to this file")
    parser.add_argument("--logs", default=os.path.join(BUILD, "suites/logs"))
    parser.add_argument("part", nargs="*")
    args = parser.parse_args()
    modes = os.environ.get("MODES", "").split() or list(MODES)
    if not os.path.exists(LIBRARY):
        sys.exit("%s is not built" % LIBRARY)
    os.makedirs(args.logs, exist_ok=True)
    parts, skipped = chosen_parts(args.part)
    rows, differences = [], []
    passed = failed = 0
    for part in parts:
        start = time.monotonic()
        native, output = part.run(None)
        tests = len([t for t in native if t != "(the run)"])
        row = [part.full_name(), str(tests)]
        if not tests:
            skipped.append("%s: it ran no test: %s" % (
                part.full_name(), output.strip().splitlines()[-1:]))
            continue
        log_name = part.full_name().replace("/", "-")
        with open(os.path.join(args.logs, log_name), "w") as log:
            log.write(output)
            for mode in modes:
                results, output = part.run(mode)
                log.write("\n=== %s\n%s" % (mode, output))
                left = compare(native, results)
                if left:
                    left = judge(part, mode, left, log)
                row.append("%d differ" % len(left) if left else "same")
                failed += bool(left)
                passed += not left
                differences += ["%s %s: %s: %s" % (part.full_name(), mode, t, d)
                                for t, d in left.items()]
        rows.append(row)
        print("%-45s %s  (%d s)" % (row[0], "  ".join(row[1:]),
                                    time.monotonic() - start), flush=True)
        for d in differences[-8:] if "differ" in " ".join(row) else []:
            print("    " + d[:300], flush=True)
    table = ["| part | tests | " + " | ".join(modes) + " |",
             "|---" * (len(modes) + 2) + "|"]
    table += ["| " + " | ".join(row) + " |" for row in rows]
    text = "\n".join(table + [""] + ["- " + d for d in differences]
                     + ["- skipped: " + s for s in skipped])
    print("\n" + text)
    if args.keep:
        with open(args.keep, "w") as f:
            f.write(text + "\n")
    print("\n%d passed, %d failed, %d skipped" % (passed, failed, len(skipped)))
    return 1 if failed else 0


sys.exit(main())
