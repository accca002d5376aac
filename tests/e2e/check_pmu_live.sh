#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_pmu_live - PEBS or IBS on a processor that has them
#
# If doctor says that one of the two works, record a program with false sharing,
# by the preload and from outside. The report must find the false sharing, and
# the counted accesses, which the preload alone has, must agree with the number
# of samples.

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}

choice=$("$B/reusetrack" doctor --json | python3 -c '
import json, sys
sources = {s["name"]: s for s in json.load(sys.stdin)["sources"]}
for name in "pebs", "ibs":
    if sources[name]["usable"]:
        print(name)
        break
else:
    print("none; pebs: %s; ibs: %s" % (sources["pebs"]["reason"],
                                       sources["ibs"]["reason"]))')
case $choice in
pebs | ibs) ;;
*)
	echo "no hardware source works here: ${choice#none; }"
	exit 77
	;;
esac

tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
status=0
for outside in '' --outside; do
	rm -rf "$tmp/out"
	"$B/reusetrack" record $outside -s "$choice" -p 100000 -o "$tmp/out" -- \
		"$B/microbench/false_sharing" 2>"$tmp/said" >/dev/null || {
		cat "$tmp/said"
		exit 1
	}
	"$B/reusetrack" report "$tmp/out" --json | python3 -c '
import json, sys
r = json.load(sys.stdin)
source, outside = sys.argv[1:]
samples = sum(t.get("samples", {}).get("uniform", 0) for t in r["threads"])
counted = sum(t.get("accesses", 0) for t in r["threads"])
c = r["communication"]
share = c["false_sharing"]["estimate"] / max(1, c["total"]["estimate"])
print(f"{source} {outside}: {samples} samples, {counted} accesses, "
      f"{c['"'"'total'"'"']['"'"'estimate'"'"']} detections, {share:.0%} false")
bad = [what for what, right in (
    ("the source is another", r["run"]["source"] == source),
    ("few samples", samples >= 100),
    ("accesses and samples do not agree",
     outside or 0.5 < samples * r["run"]["period"] / max(1, counted) < 2),
    ("little false sharing", share > 0.9)) if not right]
print("\n".join(bad))
sys.exit(bool(bad))' "$choice" "$outside" || status=1
done
exit $status
