# SPDX-License-Identifier: MIT
#
# posix_tests - the POSIX Test Suite, built from Debian's source package
#
# Each test is a program of its own, whose exit status says how it ended.

import concurrent.futures
import os
import subprocess

OUTCOMES = {0: "ok", 1: "failure", 2: "unresolved", 4: "unsupported",
            5: "untested"}

# A part: the interfaces whose names begin with one of these words.
PARTS = {
    "aio": "aio_ lio_", "mqueue": "mq_", "attributes": "pthread_attr_",
    "barrier": "pthread_barrier",
    "cancel": "pthread_cancel pthread_cleanup pthread_setcancel "
              "pthread_testcancel",
    "cond": "pthread_cond", "mutex": "pthread_mutex", "rwlock": "pthread_rwlock",
    "thread": "pthread_", "sched": "sched_", "semaphore": "sem_",
    "signal": "sig kill raise", "timer": "timer_ nanosleep clock",
    "other": "",
}


def group_of(interface):
    """The part of @interface, by the longest word that it begins with."""
    return max(((len(word), part) for part, words in PARTS.items()
                for word in words.split() or [""]
                if interface.startswith(word)))[1]


def name_of(path):
    """Interface and test, of the path of its source or program."""
    return os.path.splitext(path.split("/interfaces/")[1])[0]


def sets_the_clock(path):
    """Such a test is left out: the machine's time stays as it is."""
    with open(path, errors="replace") as f:
        text = f.read()
    return any(word in text for word in
               ("clock_settime", "settimeofday", "stime("))


def build(source):
    """Build one test; True if there is a program."""
    program = source[:-2] + ".test"
    if os.path.exists(program):
        return True
    top = source[:source.index("/conformance/")]
    with open(source, errors="replace") as f:
        if "main" not in f.read():
            return False
    return not subprocess.run(
        ["gcc", "-w", "-O2", "-std=gnu99", "-D_POSIX_C_SOURCE=200112L",
         "-D_XOPEN_SOURCE=600", "-D_GNU_SOURCE", "-I" + top + "/include",
         "-include", "errno.h", "-include", "sys/stat.h", "-o", program,
         source, "-lpthread", "-lrt", "-lm"], capture_output=True).returncode


def tests(tree):
    """The programs of the suite, built in @tree, by part and interface."""
    found = {}
    sources = [os.path.join(place, name)
               for place, _, names in os.walk(tree + "/conformance/interfaces")
               for name in names if name.endswith(".c")]
    sources = sorted(s for s in sources if not sets_the_clock(s))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for source, built in zip(sources, pool.map(build, sources)):
            interface = name_of(source).split("/")[0]
            if built:
                found.setdefault(group_of(interface), {}).setdefault(
                    interface, []).append(source[:-2] + ".test")
    return found
