#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
curve_score - miss ratio curves from samples against those of exact LRU stacks

  curve_score.py trace NAME DIR      one trace, from DIR/NAME.json and
                                     DIR/NAME.cachegrind if that is there
  curve_score.py all DIR NAME...     means and the worst of them; status 1 if
                                     a bound is missed that the model meets

Errors are absolute differences of miss ratios over the powers of two from
4 KiB to 1 GiB. "Model" is StatStack, and AET, made of every reuse instead of
samples: what is left is what their assumption costs.
"""

import collections
import json
import re
import sys

MEAN, WORST = 0.01, 0.03

Errors = collections.namedtuple("Errors", "mean worst at")


def stream(rows):
    """The private stream of lines, of all threads."""
    for r in rows:
        if (r["scope"], r["granularity"]) == ("private", "line") and (
            "thread" not in r
        ):
            return r
    sys.exit("no private stream of lines in the report")


def errors(points, name, exact):
    d = [abs(p[name] - e["lru"]) for p, e in zip(points, exact)]
    worst = max(d)
    return Errors(sum(d) / len(d), worst, exact[d.index(worst)]["bytes"])


def read(name, directory):
    with open(f"{directory}/{name}.json") as file:
        report = json.load(file)
    sampled, exact = stream(report["reuse"]), stream(report["reuse_exact"])
    # emu counts them
    sampled["counted"] = [
        sum(t["counted"][k] for t in report["threads"])
        for k in ("loads", "stores")
    ]
    sampled["own"] = report.get("simulated_caches", {}).get("caches", [])
    points, truth = sampled["miss_ratio_curve"], exact["miss_ratio_curve"]
    return sampled, exact, {
        "statstack": errors(points, "lru", truth),
        "aet": errors(points, "aet", truth),
        "model": errors(truth, "statstack", truth),
        "model_aet": errors(truth, "aet", truth),
    }


def size(n):
    for unit in "B KiB MiB GiB".split():
        if n < 1024:
            return f"{n:.0f} {unit}"
        n /= 1024


def simulated(path):
    """[references, misses of D1, of LL], each [loads, stores]."""
    try:
        with open(path) as file:
            text = file.read()
    except FileNotFoundError:
        return None
    found = []
    for what in "D   refs", "D1  misses", "LLd misses":
        m = re.search(
            rf"{what}: +[\d,]+ +\( *([\d,]+) rd *\+ *([\d,]+) wr", text
        )
        if not m:
            return None
        found.append([int(n.replace(",", "")) for n in m.groups()])
    return found


def percent(misses, references):
    """Of all, of loads, of stores."""
    return [100 * sum(misses) / sum(references)] + [
        100 * m / r for m, r in zip(misses, references)
    ]


def three(of_all, loads, stores):
    return f"{of_all:.2f} ({loads:.2f}, {stores:.2f})"


def against_cachegrind(sampled, path):
    """
    Misses by cachegrind's references: emu counts an access of 16 bytes as two,
    and the second never misses. Then the caches that emu simulated itself.
    """
    truth = simulated(path)
    if not truth:
        return
    references = truth[0]
    caches = sampled["caches"]
    for name, misses, c in ("D1", truth[1], caches[0]), (
        "LL",
        truth[2],
        caches[-1],
    ):
        # of several threads the outer caches are none of the private stream's
        if name == "LL" and c["name"] != "L3":
            continue
        found = [c["loads"], c["stores"]]
        found = [r * n for r, n in zip(found, sampled["counted"])]
        a, b = percent(misses, references), percent(found, references)
        apart = max(abs(x - y) for x, y in zip(a, b))
        print(
            f"  {name} {size(c['bytes'])}: misses in % cachegrind {three(*a)},"
            f" report {three(*b)}, apart {apart:.2f}"
        )
        for o in sampled["own"]:
            if o["name"] != c["name"]:
                continue
            b = percent(
                [o[k]["misses"] for k in ("loads", "stores")], references
            )
            apart = max(abs(x - y) for x, y in zip(a, b))
            print(f"    simulated {three(*b)}, apart {apart:.2f}")


def trace(name, directory):
    sampled, exact, e = read(name, directory)
    print(
        f"{name}: {exact['weight'] / 1e6:.1f} M accesses,"
        f" {sampled['samples']} uses"
    )
    for key, text in (
        ("statstack", "StatStack"),
        ("aet", "AET"),
        ("model", "StatStack of every reuse"),
        ("model_aet", "AET of every reuse"),
    ):
        print(
            f"  {text}: mean {e[key].mean:.4f}, worst {e[key].worst:.4f}"
            f" at {size(e[key].at)}"
        )
    against_cachegrind(sampled, f"{directory}/{name}.cachegrind")
    sys.stdout.flush()


def all_traces(directory, *names):
    found = {n: read(n, directory)[2] for n in names}
    status = 0
    for key in "statstack", "aet":
        means = [e[key].mean for e in found.values()]
        worst = max(found, key=lambda n: found[n][key].worst)
        print(
            f"{key}: {len(names)} traces, mean {sum(means) / len(means):.4f},"
            f" worst {found[worst][key].worst:.4f} ({worst})"
        )
    for name, e in found.items():
        mine, model = e["statstack"], e["model"]
        if mine.mean <= MEAN and mine.worst <= WORST:
            continue
        by_model = model.mean > MEAN or model.worst > WORST - 0.01
        print(
            f"{name}: beyond {MEAN} on average or {WORST} at worst,"
            f" {'by the model' if by_model else 'by the SAMPLES'}"
        )
        status |= not by_model
    sys.exit(status)


{"trace": trace, "all": all_traces}[sys.argv[1]](*sys.argv[2:])
