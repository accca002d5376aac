#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_bias - the sampled mix of accesses is the true mix
#
# microbench/mix has loops whose mix of accesses is known. For ten of them the
# uniform samples, at least 3,000, may differ from that mix by a total variation
# distance of 3 %. Over all loops a sample may take at most 0.3 traps of
# execution breakpoints and watchpoints. An eleventh loop has a body that is
# longer than a window can be: its distance is printed and has no limit. The rate
# is forty times the default, to save time.
#
# With OUTSIDE=1 the samples are those of attach, at 2,000 Hz: the limit is 5 %,
# for the loops whose addresses are in registers alone.

. "$(dirname "$0")/e2e.sh"
mix=$B/microbench/mix
loops=$("$mix" --list | awk '{ print $1 }')
[ "$(echo "$loops" | wc -l)" -ge 10 ] || fail "fewer than ten loops"

# sampled COMMAND... - run it, with its profile in $WORK/out
sampled()
{
	if [ "${OUTSIDE:-}" ]; then
		rm -rf "$WORK/out"
		"$@" &
		until grep -q ^run "$WORK/$loop.txt"; do sleep 0.05; done
		"$TOOL" attach -F 2000 -o "$WORK/out" $! 2>"$WORK/err" &&
			wait $!
	else
		COMDET_FREQ=8000 preload "$WORK/out" "$@"
	fi
}

# uniform LOOP - print the number of its uniform samples
uniform()
{
	ask "$WORK/$1.json" 'sum(t["samples"]["uniform"] for t in r["threads"])'
}

for loop in $loops; do
	seconds=${SECONDS_EACH:-1} # of CPU time: other programs do not matter
	for _ in 1 2 3 4; do
		COMDET_SAMPLE_LOG=$WORK/$loop.log \
			sampled "$mix" "$loop" --cpu-seconds "$seconds" >"$WORK/$loop.txt" ||
			fail "$loop ended with status $?"
		json "$WORK/out" "$WORK/$loop.json"
		n=$(uniform "$loop")
		[ "$n" -lt 3100 ] || break
		seconds=$((seconds * 3600 / (n + 1) + 1))
	done
done

python3 - "$WORK" "${OUTSIDE:-}" $loops <<'EOF'
import json, struct, sys

work, outside, loops = sys.argv[1], sys.argv[2], sys.argv[3:]
bad = []
traps = samples = 0
print(f"{'loop':12} {'samples':>8} {'distance':>8} {'stores':>7} {'traps':>6}")
for loop in loops:
    regions, where = [], []
    for line in open(f"{work}/{loop}.txt"):
        w = line.split()
        if w and w[0] == "region":
            regions.append((w[1], int(w[2], 0), int(w[3], 0), float(w[4]),
                            float(w[5])))
            where.append((w[1], int(w[2], 0), int(w[3], 0)))
        if w and w[0] == "also":
            where.append((w[1], int(w[2], 0), int(w[3], 0)))
    log = open(f"{work}/{loop}.log", "rb").read()
    hits = {r[0]: 0 for r in regions}
    stores = {r[0]: 0 for r in regions}
    n = other = 0
    for off in range(0, len(log), 32):
        addr, ip, length, flags, kind, thread = struct.unpack_from(
            "<QQIIII", log, off)
        if not length:
            break
        if kind != 0:
            continue
        for name, start, size in where:
            if start <= addr < start + size:
                hits[name] += 1
                stores[name] += bool(flags & 2)
                n += 1
                break
        else:
            other += 1
    # The other samples are of start-up and of the loop's rare bookkeeping.
    total = n + other
    tv = (sum(abs(hits[r[0]] / max(total, 1) - r[3]) for r in regions) +
          other / max(total, 1)) / 2
    st = max((abs(stores[r[0]] / hits[r[0]] - r[4]) for r in regions
              if hits[r[0]] > 200), default=0)
    report = json.load(open(f"{work}/{loop}.json"))
    t = sum(x["exec_traps"] + x["traps"] for x in report["threads"])
    s = sum(x["samples"]["uniform"] + x["samples"]["stalled"]
            for x in report["threads"])
    traps += t
    samples += s
    print(f"{loop:12} {total:8} {100 * tv:7.2f}% {100 * st:6.2f}% "
          f"{t / max(s, 1):6.3f}")
    if outside:
        memory = report["processes"][0]["samples_by_memory"]
        print("            ", memory)
        if loop in ("chase", "threads", "gather") and tv > 0.05:
            bad.append(f"{loop}: distance {100 * tv:.2f} % is above 5 %")
        continue
    if loop == "huge-body":  # longer than a window can be: a known limit
        continue
    if total < 3000:
        bad.append(f"{loop}: {total} samples are fewer than 3,000")
    if tv > 0.03:
        bad.append(f"{loop}: distance {100 * tv:.2f} % is above 3 %")
if traps > 0.3 * samples and not outside:
    bad.append(f"{traps / samples:.2f} traps a sample are above 0.3")
for text in bad:
    print("FAIL:", text)
sys.exit(bool(bad))
EOF
status=$?
[ $status = 0 ] || exit 1
[ "${OUTSIDE:-}" ] || echo "ten loops within 3 % of their true mix"
