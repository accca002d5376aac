#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
bands - how often the bands of miss ratio curves hold the exact ratios

  bands.py run BUILD DIR SEEDS [WORD...]    record runs below DIR, those that
                                            it has not yet; the words choose
                                            programs, "judge" or "train"
  bands.py table BUILD DIR [WORD...]        report on them: tables in Markdown

Each run samples uses and also keeps the exact LRU stack, over the same
accesses. A point is one cache size, a power of two from 4 KiB to 1 GiB.
"""

import collections
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import zlib

PERIODS = [int(p) for p in
           os.environ.get("PERIODS", "200 500 1000 2000 5000").split()]

# Bundled programs and their arguments.
BUNDLED = {
    "nbody": "kernel --kernel nbody --threads 1 --rounds 20",
    "matmul": "kernel --kernel matmul --threads 1 --rounds 1",
    "join": "kernel --kernel join --threads 2 --rounds 1",
    "stencil": "kernel --kernel stencil --threads 1 --rounds 1",
    "chase": "kernel --kernel chase --threads 1 --rounds 1",
    "lines": "kernel --kernel lines --threads 1 --rounds 1",
    "histogram": "histogram --threads 2 --rounds 1",
    "stream": "adjacent --kernel stream --kib 2048 --threads 1"
              " --iterations 1500000",
    "random": "adjacent --kernel random --kib 512 --threads 2"
              " --iterations 400000",
    "many-lines": "patterns --pattern lines --lines 20000 --threads 2"
                  " --iterations 300000",
    "private": "patterns --pattern private --threads 4 --iterations 300000",
    "ring": "patterns --pattern ring --threads 4 --iterations 40000",
    "read-write": "read_write --threads 3 --iterations 400000",
    "write-volume": "write_volume --threads 3 --sharing 0.3"
                    " --iterations 600000",
    "short-bell": "ribench --case short-bell --threads 1 --outer 4",
    "long-decreasing": "ribench --case long-decreasing --threads 1 --outer 1",
}
# Programs of Debian; {} is the directory of their input.
DEBIAN = {
    "sort": "sort {}/numbers",
    "gzip": "gzip -c {}/text",
    "bzip2": "bzip2 -c {}/small",
    "xz": "xz -1 -T1 -c {}/text",
    "zstd": "zstd --single-thread -c {}/text",
    "sqlite3": "sqlite3 :memory: '.read {}/sql'",
    "python3": "/usr/bin/python3 -I {}/py",
    "perl": "perl {}/pl",
    "mawk": "mawk -f {}/awk {}/text",
    "jq": "jq [.[]|select(.k>500)|.v]|sort|length {}/json",
}
# What the sizes of the band were chosen on.
TRAIN = {
    "t-join": "kernel --kernel join --threads 1 --rounds 3",
    "t-random": "adjacent --kernel random --kib 4096 --threads 1"
                " --iterations 700000",
    "t-mixed": "adjacent --kernel mixed --kib 256 --threads 2"
               " --iterations 300000",
    "t-lines": "patterns --pattern lines --lines 2000 --threads 4"
               " --iterations 200000",
    "t-bursts": "patterns --pattern bursts --threads 4 --iterations 200000",
    "t-bell": "ribench --case long-bell-1 --threads 1 --outer 1",
    "t-multi": "ribench --case short-multi --threads 2 --outer 3",
    "t-words": "words --threads 2 --iterations 500000",
    "t-bc": "bc {}/bc",
    "t-diff": "diff {}/text1 {}/text2",
    "t-grep": "grep -cE a.*b.*c.*d {}/text",
    "t-lz4": "lz4 -9 -c {}/text",
    "t-openssl": "openssl enc -aes-128-cbc -pbkdf2 -iter 1000 -k x -S 00"
                 " -a -in {}/small",
    "t-sed": "sed -E s/([aeiou])(.)/\\2\\1/g {}/small",
    "t-find": "find /usr/include /usr/lib/python3 -name *.h",
    "t-git": "git diff --no-index --stat {}/text1 {}/text2",
    "t-bash": "bash {}/sh",
    "t-gcc": "/usr/lib/gcc/x86_64-linux-gnu/12/cc1 -quiet -O1 {}/c.c -o {}/c.s",
}


def inputs(work):
    """Make the input, the same everywhere: words as frequent as words are."""
    os.makedirs(work, exist_ok=True)
    random.seed(1)
    words = ["".join(random.choices("etaoinshrdlu", k=random.randint(2, 9)))
             for _ in range(5000)]
    shares = [1 / (i + 1) for i in range(len(words))]

    def write(name, text):
        with open(f"{work}/{name}", "w") as file:
            file.write(text)

    text = random.choices(words, shares, k=110000)
    write("text", " ".join(
        w + "\n" * (i % 11 == 10) for i, w in enumerate(text)))
    write("small", " ".join(text[:25000]) + "\n")
    for name in "text1", "text2":
        write(name, "\n".join(
            w for w in text[:30000] if random.random() < 0.97) + "\n")
    write("numbers", "".join(
        f"{random.randrange(10**6)}\n" for _ in range(30000)))
    write("sql", """
create table t(a integer, b text);
with recursive c(x) as (select 1 union all select x + 1 from c
where x < 10000) insert into t select (x * 7919) % 20011, 'row ' || x from c;
create index i on t(a);
select count(*), sum(a) from t where a between 100 and 9000;
select t1.a, count(*) from t t1 join t t2 on t1.a = t2.a
group by t1.a order by 2 desc limit 5;
""")
    write("py", """
d = {}
for i in range(30000):
    d[i * 7919 % 50021] = str(i)
print(sum(len(v) for v in d.values()), sorted(d.values())[:3])
""")
    write("pl", """
my %n; my $x = 1;
for my $i (1 .. 60000) { $x = $x * 1103515245 % 2147483648 + 12345;
$n{$x % 9973} .= chr(97 + $i % 26); }
my @k = sort { length $n{$a} <=> length $n{$b} || $a <=> $b } keys %n;
print scalar(@k), " $k[0]\\n";
""")
    write("awk", """
{ for (i = 1; i <= NF; i++) n[$i]++ }
END { for (w in n) if (n[w] > most) { most = n[w]; best = w } print best, most }
""")
    write("json", json.dumps([
        {"k": random.randrange(1000), "v": random.choice(words)}
        for _ in range(12000)]))
    write("bc", "scale=700\na(1)*4\ne(1)\n")
    write("sh", """
declare -A n
for ((i = 0; i < 6000; i++)); do
	((n[$((i * 7919 % 997))] += i))
done
echo ${#n[@]}
""")
    write("c.c", "".join(
        f"int f{i}(int *a, int n) {{ int s = {i}; for (int j = 0; j < n; j++)"
        f" s += a[j] * (j % {i + 2}); return s; }}\n" for i in range(60)))


def command_of(build, work, name):
    for of in BUNDLED, DEBIAN, TRAIN:
        if name in of:
            words = of[name].replace("{}", work)
    words = words.split("'")
    words = words[0].split() + words[1:2]
    if os.path.exists(f"{build}/microbench/{words[0]}"):
        words[0] = f"{build}/microbench/{words[0]}"
    elif not shutil.which(words[0]):
        sys.exit(f"{words[0]} is missing: run make deps-programs")
    return words


def chosen(words):
    judge, train = [*BUNDLED, *DEBIAN], [*TRAIN]
    names = [n for n in judge + train if n in words]
    return names or (train if "train" in words else judge)


def run(build, directory, seeds, *words):
    work = f"{directory}/input"
    inputs(work)
    for seed in range(1, int(seeds) + 1):
        for name in chosen(words):
            for period in PERIODS:
                out = f"{directory}/{name}.{period}.{seed}"
                if os.path.exists(f"{out}/done"):
                    continue
                shutil.rmtree(out, ignore_errors=True)
                # Programs begin alike: the same seed would sample the same.
                env = {k: v for k, v in os.environ.items()
                       if k[:7] != "COMDET_"}
                env["COMDET_SEED"] = str(
                    zlib.crc32(f"{name} {period} {seed}".encode()))
                r = subprocess.run(
                    [f"{build}/reusetrack", "record", "-s", "emu", "-m",
                     "reuse", "--exact", "-p", str(period), "-o", out, "--",
                     *command_of(build, work, name)],
                    env=env, stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
                if not os.path.isdir(out):
                    sys.exit(f"{name}: {r.stderr.decode()}")
                open(f"{out}/done", "w").close()


Point = collections.namedtuple(
    "Point", "name period estimate low high truth falls")


def stream(rows):
    """The private stream of lines, of all threads."""
    for r in rows:
        if (r["scope"], r["granularity"]) == ("private", "line") and (
            "thread" not in r
        ):
            return r["miss_ratio_curve"]
    sys.exit("no private stream of lines in a report")


def points_of(build, directory, name, period):
    for entry in sorted(os.listdir(directory)):
        if entry.split(".")[:2] != [name, str(period)]:
            continue
        if not os.path.exists(f"{directory}/{entry}/done"):
            continue
        text = subprocess.run(
            [f"{build}/reusetrack", "report", f"{directory}/{entry}",
             "--json"], capture_output=True, check=True).stdout
        report = json.loads(text)
        truth = [p["lru"] for p in stream(report["reuse_exact"])]
        for i, p in enumerate(stream(report["reuse"])):
            after = truth[min(i + 1, len(truth) - 1)]
            yield Point(name, period, p["lru"], p["low"], p["high"], truth[i],
                        after < 0.97 * truth[i])


def percent(part, whole):
    return f"{100 * part / whole:.1f} %" if whole else ""


def row(points):
    """Held, and by what the bands were missed; widths of the bands."""
    def held(some):
        n = sum(p.low - 1e-9 <= p.truth <= p.high + 1e-9 for p in some)
        return f"{percent(n, len(some))} of {len(some)}" if some else ""

    width = [p.high - p.low for p in points]
    part = [(p.high - p.low) / p.truth for p in points if p.truth]
    error = [abs(p.estimate - p.truth) for p in points]
    return " | ".join([
        held(points),
        percent(sum(p.truth < p.low - 1e-9 for p in points), len(points)),
        percent(sum(p.truth > p.high + 1e-9 for p in points), len(points)),
        held([p for p in points if p.falls]),
        f"{statistics.median(width):.4f}", f"{statistics.mean(width):.4f}",
        f"{100 * statistics.median(part):.0f} %",
        f"{statistics.mean(error):.4f}", f"{max(error):.4f}",
    ])


def table(build, directory, *words):
    points = [p for name in chosen(words) for period in PERIODS
              for p in points_of(build, directory, name, period)]
    groups = collections.OrderedDict(all=points)
    for p in points:
        of = [k for k, names in (("bundled", BUNDLED), ("Debian", DEBIAN))
              if p.name in names]
        for key in *of, f"period {p.period}", p.name:
            groups.setdefault(key, []).append(p)
    order = ["all", "bundled", "Debian", *(f"period {p}" for p in PERIODS)]
    print("| | held | truth below | above | held where the curve falls |"
          " width, median | mean | median, of the truth | mean error | worst |")
    print("|" + "---|" * 10)
    for key in order + [k for k in groups if k not in order]:
        if groups.get(key):
            print(f"| {key} | {row(groups[key])} |")


if __name__ == "__main__":
    {"run": run, "table": table}[sys.argv[1]](*sys.argv[2:])
