#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_profile - record -m profile, and what predict makes of it
#
# The same program is traced and simulated. A prediction from the profile must
# be within a tenth of that on each machine. So must those of two workloads with
# four threads, roughly, and those of two runs of them.
#
# covers: analysis/predict analysis/record analysis/cmd

. "$(dirname "$0")/e2e.sh"

command -v qemu-x86_64 >/dev/null ||
	skip 'qemu-x86_64 is missing: install the package qemu-user'

cd "$WORK" || exit 1
cat >p.c <<'END'
#include <stdio.h>
static int x[1 << 15];
static unsigned int next(unsigned int r)
{
	return r * 1664525 + 1013904223;
}
__attribute__((noinline)) void begin(void) { __asm__ volatile(""); }
__attribute__((noinline)) void end(void) { __asm__ volatile(""); }
int main(void)
{
	unsigned int r = 1, sum = 0;

	begin();
	for (int i = 0; i < 300000; i++) {
		r = next(r);
		if (r >> 28 & 1)
			sum += x[r >> 17];
		else
			x[r >> 17] = sum / 7;
	}
	end();
	printf("%u\n", sum);
}
END
gcc -O2 -static -o p p.c || skip 'gcc cannot link statically'
expected=$(./p)

"$TOOL" record -s emu -m profile --roi begin,end -o out -- ./p >text 2>err ||
	fail "record -m profile: $(<err)"
[ "$(<text)" = "$expected" ] || fail 'the program printed something else'
grep -q '1 thread in the profile .*out/p\..*\.profile;' err || fail "$(<err)"
grep -q 'next: reusetrack predict --machine golden-c3 out$' err ||
	fail "record does not say what to do next: $(<err)"
"$TOOL" report out | head -4 >text
grep -q 'reusetrack predict --machine' text || fail "report: $(<text)"
ls out/*.trace 2>/dev/null && fail 'the trace is still there'
"$TOOL" record -s emu -m trace --roi begin,end -o traced -- ./p >text 2>err ||
	fail "record -m trace: $(<err)"

# near MACHINE CHANGE... - the prediction is near the simulation
near()
{
	local machine=$1 set=()

	shift
	for change; do set+=(--set "$change"); done
	"$TOOL" predict --json --machine "$machine" "${set[@]}" out \
		>predicted || fail "predict $machine $*"
	"$TOOL" simulate --json --machine "$machine" "${set[@]}" traced \
		>simulated || fail "simulate $machine $*"
	python3 - "$machine $*" <<'END' || fail 'the prediction is off'
import json, sys
p = json.load(open("predicted"))
s = json.load(open("simulated"))
assert p["machine"] == s["machine"]
assert set(p["threads"][0]["stack"]) == set(s["threads"][0]["stack"])
error = p["time_ns"] / s["time_ns"] - 1
print(f"{sys.argv[1]}: {p['time_ns']:.0f} ns, {100 * error:+.1f} %")
sys.exit(abs(error) > 0.1)
END
}

for m in golden-c1 golden-c3 golden-c5; do
	near $m
	near $m core.predictor=one_bit
	near $m l1d.size=4K
	near $m l2.ways=4 l2.size=32K l1d.size=16K
	near $m uop.mul32='20 on 1' core.issue_queue=10
done

# Text; the time, its limits, and the parts of the stack.
"$TOOL" predict --machine golden-c3 out >text || fail 'predict'
grep -q ' on golden-c3 (.* to .*): .* cycles$' text || fail "$(<text)"
grep -q 'branch .*%' text || fail "$(<text)"

# The text says whose time it is, has no limits where there are none, and gives
# the simulator's time to four digits as well.
"$TOOL" predict --machine golden-c3 --equations paper out >text || fail 'paper'
head -1 text | grep -q ' to ' && fail "an equation has limits: $(head -1 text)"
"$TOOL" predict --machine golden-c3 --model main out >text || fail 'main'
head -1 text | grep -q 'the first thread without its waits: ' ||
	fail "--model main: $(head -1 text)"
"$TOOL" simulate --machine golden-c3 traced >text || fail 'simulate'
"$TOOL" simulate --json --machine golden-c3 traced >simulated
python3 - "$(head -1 text)" <<'END' || fail "rounded: $(head -1 text)"
import json, sys
value, unit = sys.argv[1].split()[:2]
ns = float(value) * {"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1}[unit]
sys.exit(abs(ns / json.load(open("simulated"))["time_ns"] - 1) > 1e-3)
END

# The same from the trace; what is no profile is refused in a line.
"$TOOL" predict --json --machine golden-c3 out >a || fail 'of the profile'
"$TOOL" predict --json --machine golden-c3 traced >b || fail 'of the trace'
cmp a b || fail 'a profile and its trace differ'
"$TOOL" predict --json --machine golden-c3 --keep kept traced >/dev/null ||
	fail '--keep'
"$TOOL" predict --json --machine golden-c3 kept >b || fail 'of the kept profile'
cmp a b || fail 'a profile that predict kept differs'
"$TOOL" predict --machine golden-c3 --keep kept traced >b 2>err &&
	fail '--keep wrote over a file'
grep -q 'cannot write kept: File exists' err || fail "$(<err)"
head -c 1000 out/*.profile >cut
"$TOOL" predict --machine golden-c3 cut 2>err && fail 'a cut profile was read'
[ "$(wc -l <err)" = 1 ] && grep -q 'cut short' err || fail "$(<err)"
for wrong in p.c /dev/null p; do
	"$TOOL" predict --machine golden-c3 $wrong 2>err && fail "$wrong was read"
	[ "$(wc -l <err)" = 1 ] || fail "$wrong: $(<err)"
done
grep -q 'no profile and no trace; record a profile' err || fail "$(<err)"
"$TOOL" record -m profile -- ./p 2>err && fail 'clock wrote a profile'
grep -q 'needs the source emu' err || fail "$(<err)"
"$TOOL" record -s emu -m profile,comm -- ./p 2>err && fail 'profile,comm'
grep -q 'goes with no other' err || fail "$(<err)"

# The short form of make rppm-table: predicted and simulated time of four threads
# differ by at most 23 percent, the worst case of the RPPM paper. And profiles of
# two runs predict within 3 percent of each other, whoever came first to locks.
for name in kmeans pipeline; do
	for run in 1 2; do
		"$TOOL" record -s emu -m trace -o "$name$run" -- \
			"$B/microbench/workloads/$name" --threads 4 --size 2 \
			>text 2>err || fail "record $name: $(<err)"
		"$TOOL" predict --json --machine rppm-c3 "$name$run" \
			>"$name$run.json" || fail "predict $name"
	done
	"$TOOL" simulate --json --machine rppm-c3 ${name}1 >simulated ||
		fail "simulate $name"
	python3 - $name <<'END' || fail "$name is off"
import json, sys
name = sys.argv[1]
a, b, s = [json.load(open(f))["time_ns"]
           for f in (f"{name}1.json", f"{name}2.json", "simulated")]
print(f"{name}: {100 * (a / s - 1):+.1f} % from the simulation, "
      f"two runs {100 * (b / a - 1):+.2f} %")
sys.exit(abs(a / s - 1) > 0.23 or abs(b / a - 1) > 0.03)
END
done

# A profile whose reuse times are sampled predicts within 5 percent of the exact
# one; what is recorded for something else is refused in a line.
workload=("$B/microbench/workloads/lu" --threads 4 --size 5)
"$TOOL" record -s emu -m profile -o exact -- "${workload[@]}" >text 2>err ||
	fail "record -m profile: $(<err)"
"$TOOL" record -s emu -m reuse,global -p 100 -o sampled -- "${workload[@]}" \
	>text 2>err || fail "record -m reuse,global: $(<err)"
for m in rppm-c1 rppm-c3 rppm-c5; do
	"$TOOL" predict --json --machine $m exact >a || fail "predict $m"
	"$TOOL" predict --json --machine $m --memory sampled exact >b ||
		fail "predict --memory $m"
	python3 - $m <<'END' || fail "$m: sampled reuse times are off"
import json, sys
exact, sampled = [json.load(open(f))["time_ns"] for f in "ab"]
print(f"{sys.argv[1]}: sampled {100 * (sampled / exact - 1):+.2f} %")
sys.exit(exact == sampled or abs(sampled / exact - 1) > 0.05)
END
done

# So does one of a trace that is whole in parts only.
"$TOOL" record -s emu -m profile --quick -o quick -- "${workload[@]}" >text \
	2>err || fail "record --quick: $(<err)"
for m in rppm-c1 rppm-c3 rppm-c5; do
	"$TOOL" predict --json --machine $m exact >a || fail "predict $m"
	"$TOOL" predict --json --machine $m quick >b || fail "predict $m quick"
	python3 - $m <<'END' || fail "$m: the quick profile is off"
import json, sys
exact, quick = [json.load(open(f)) for f in "ab"]
error = quick["time_ns"] / exact["time_ns"] - 1
print(f"{sys.argv[1]}: quick {100 * error:+.2f} %")
a, b = [sum(t["instructions"] for t in p["threads"]) for p in (exact, quick)]
sys.exit(not error or abs(error) > 0.05 or abs(b / a - 1) > 0.001 or
         exact["quick"] or not quick["quick"])
END
done
says_quick='^The profile is quick: '
"$TOOL" predict --machine rppm-c3 exact >text || fail 'predict as text'
grep -q "$says_quick" text && fail 'predict takes an exact profile for quick'
"$TOOL" predict --machine rppm-c3 quick >text || fail 'predict quick as text'
grep -q "$says_quick" text || fail "predict does not say it: $(<text)"

# exact_and_quick WORKLOAD MILLIONS MACHINE
# Predict it by both profiles, to a and b.
exact_and_quick()
{
	local passing=("$B/microbench/workloads/$1" --threads 4 --size "$2")

	"$TOOL" record -s emu -m profile -o "$1-exact" -- "${passing[@]}" \
		>text 2>err || fail "record $1: $(<err)"
	"$TOOL" record -s emu -m profile --quick -o "$1-quick" -- \
		"${passing[@]}" >text 2>err || fail "record --quick $1: $(<err)"
	"$TOOL" predict --json --machine "$3" "$1-exact" >a || fail "predict $1"
	"$TOOL" predict --json --machine "$3" "$1-quick" >b ||
		fail "predict $1, quick"
}

# A line that another thread stored to has left the thread's table: all its uses
# are in the trace, so waits for it are as many as in an exact profile.
exact_and_quick counters 2 rppm-c3
python3 - <<'END' || fail 'counters: the quick profile lacks coherence'
import json, sys
exact, quick = [sum(t["stack"]["coherence"] for t in json.load(open(f))["threads"])
                for f in "ab"]
print(f"counters: quick {100 * (quick / exact - 1):+.2f} % of coherence")
sys.exit(abs(quick / exact - 1) > 0.1)
END

# Nor does a line that threads pass on behind a lock wait more often than it does:
# another thread's store does not come between the load and the store of an
# instruction.
exact_and_quick table 5 rppm-c1
python3 - <<'END' || fail 'table: the quick profile has too many waits'
import json, sys
exact, quick = [json.load(open(f))["time_ns"] for f in "ab"]
print(f"table: quick {100 * (quick / exact - 1):+.2f} %")
sys.exit(abs(quick / exact - 1) > 0.1)
END

"$TOOL" record -s emu -m trace --quick -- ./p 2>err && fail '-m trace --quick'
grep -q 'needs -m profile' err || fail "$(<err)"

# A sweep with them predicts what predict does for each design.
cat >space <<'END'
like = rppm-c3
core.width + core.rob = 2 + 64 | 6 + 288
l2.size = 128K | 1M
END
"$TOOL" sweep --space space --memory sampled --csv table exact >text 2>err ||
	fail "sweep --memory: $(<err)"
for design in '2 64 128K' '2 64 1M' '6 288 128K' '6 288 1M'; do
	read -r width rob size <<<"$design"
	"$TOOL" predict --json --machine rppm-c3 --memory sampled \
		--set core.width="$width" --set core.rob="$rob" \
		--set l2.size="$size" exact >a || fail "predict $design"
	python3 - "$width,$rob,$size" <<'END' || fail "sweep --memory: $design"
import json, sys
time = json.load(open("a"))["time_ns"]
row = [line for line in open("table") if line.strip().endswith(sys.argv[1])]
sys.exit(len(row) != 1 or abs(float(row[0].split(",")[1]) / time - 1) > 1e-9)
END
done
grep -q "$says_quick" text && fail 'sweep takes an exact profile for quick'
"$TOOL" sweep --space space quick >text || fail 'sweep of a quick profile'
grep -q "$says_quick" text || fail "sweep does not say it: $(<text)"
"$TOOL" sweep --json --space space quick >text || fail 'sweep --json'
grep -q '"quick": true' text || fail "sweep --json: $(<text)"
"$TOOL" sweep --json --merge table >text || fail 'sweep --json --merge'
grep -q '"quick"' text && fail 'sweep --merge knows what no table says'
"$TOOL" sweep --merge --memory sampled table 2>err && fail '--memory --merge'
grep -q 'does not go with --merge' err || fail "$(<err)"

"$TOOL" record -s emu -m reuse -p 1000 -o own -- "${workload[@]}" >text 2>err ||
	fail "record -m reuse: $(<err)"
"$TOOL" predict --machine rppm-c3 --memory own exact 2>err &&
	fail 'reuse times of each thread were enough for four'
grep -q '^reusetrack: predict: --memory own: has no reuse times among' err ||
	fail "$(<err)"
"$TOOL" predict --machine rppm-c3 --memory own out 2>err &&
	fail 'a recording of another program was taken'
grep -q '1 process with 4 threads; the profile has one with 1$' err ||
	fail "$(<err)"
"$TOOL" predict --adjacent-line-prefetch --memory own out 2>err &&
	fail '--memory without --machine'
grep -q 'need --machine' err || fail "$(<err)"
