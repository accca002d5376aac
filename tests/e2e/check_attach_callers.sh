#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_attach_callers - attach -g names the calls that led to both accesses
#
# In programs whose calls are known (C, linked dynamically and statically; C++
# with inlined functions; Go) every path is one of theirs, from the access to
# the function that the thread began with, under attach and record --outside.
# Of the samples of python3, perl and these at most one in a hundred has no whole
# path. Without -g there are none. A program that was watched so goes on.
#
# covers: analysis/outside src/callers src/unwind

. "$(dirname "$0")/e2e.sh"
. "$(dirname "$0")/attach.sh"
cd "$WORK" || exit 1
[ "$(nproc)" -ge 2 ] || skip "one processor"
can_attach

cat >paths.py <<'PYTHON'
import json, sys
name, report, *functions = sys.argv[1:]
r = json.load(open(report))
c = r["communication"]
allowed = {tuple(f.split("<")) for f in functions}
sides = alone = 0
for p in c.get("call_paths", []):
    for side in "publisher", "detector":
        path = tuple("memset" if "memset" in f.get("function", "") else
                     f.get("function", "?") for f in p[side])
        sides += p["detections"]
        if len(path) > 1 or path in allowed:
            assert path in allowed or not allowed, path
        else:
            alone += p["detections"]
samples = sum(t["samples"]["uniform"] + t["samples"]["stalled"]
              for t in r["threads"])
lost = r["loss"].get("no_path", 0)
print("%s: %d sides of detections, %d without calls; %d of %d samples without "
      "a whole path" % (name, sides, alone, lost, samples))
assert alone * 10 <= sides, (alone, sides)
assert lost * 100 <= samples, (lost, samples)
assert not allowed or sides >= 40
PYTHON

# paths NAME REPORT PATH... - the paths are among these, and enough are whole
paths()
{
	python3 paths.py "$@" || fail "$1: $("$TOOL" report "$WORK/out" | head -60)"
}

calls="left_inner<left_middle<left left_middle<left left
	right_inner<right_middle<right right_fill<right_middle<right
	memset<right_fill<right_middle<right right_middle<right right"

# watched NAME PROGRAM... - attach to it until enough is found, and let it end
watched()
{
	local name=$1

	shift
	"$@" >end 2>&1 &
	pid=$!
	sleep 0.2
	finds "$name" 'est("total") > 40' -g "$pid"
	kill -0 "$pid" 2>/dev/null || fail "$name has ended: $(cat end)"
	finish
}

program=$B/tests/programs/help_callers
watched dynamic "$program" 120
# shellcheck disable=SC2086
paths dynamic r.json $calls
"$TOOL" report out >text || fail "report"
grep -q '^Call paths' text || fail "the text has no paths"
grep -Eq '(left_inner|right_inner) help_callers.c:[0-9]+ < (left|right)_middle' \
	text || fail "the text has no path of the program: $(cat text)"
"$TOOL" export -f collapsed -o collapsed out || fail "export"
grep -Eq ';(left;left|right;right)_middle;store in (left|right)_inner ' \
	collapsed || fail "no calls in the stacks: $(cat collapsed)"

if command -v gcc >/dev/null && gcc -O2 -g -static -pthread -w -I "$TOP" \
	-o static "$TOP/tests/programs/help_callers.c" 2>gcc.err; then
	watched static ./static 120
	# shellcheck disable=SC2086
	paths static r.json $calls
fi

cat >inlined.cc <<'END'
#include <algorithm>
#include <thread>
#include <unistd.h>
#include <vector>
struct alignas(64) pair_of { long a, b; } both;
struct adder {
	long *p;
	void operator()(int v) const { __atomic_fetch_add(p, v, 0); }
};
using numbers = std::vector<int>;
template <class F> static inline void each(const numbers &v, F f)
{
	std::for_each(v.begin(), v.end(), f);
}
extern "C" __attribute__((noinline)) void sum(const numbers &v, long *p)
{
	each(v, adder{ p });
	__asm__ volatile("" ::: "memory");
}
extern "C" __attribute__((noinline)) void all(const numbers &v, long *p)
{
	sum(v, p);
	__asm__ volatile("" ::: "memory");
}
extern "C" void begin(long *p)
{
	numbers v(1000, 1);
	for (;;)
		all(v, p);
}
int main()
{
	std::thread a(begin, &both.a), b(begin, &both.b);
	sleep(120);
	_exit(0);
}
END
if command -v g++ >/dev/null && g++ -O2 -g -pthread -o inlined inlined.cc; then
	watched C++ ./inlined
	paths C++ r.json 'adder::operator()(int) const<all<begin' 'sum<all<begin' \
		'all<begin'
fi

cat >share.go <<'END'
package main

import "time"

var both [8]int64

//go:noinline
func leaf(n int) int { return n + 1 }

//go:noinline
func inner(p *int64) {
	for i := 0; i < 50; i++ {
		*p += int64(i)
	}
	leaf(1)
}

//go:noinline
func middle(p *int64) { inner(p); leaf(2) }

func main() {
	for i := 0; i < 2; i++ {
		go func(p *int64) {
			for {
				middle(p)
			}
		}(&both[i])
	}
	time.Sleep(120 * time.Second)
}
END
if command -v go >/dev/null && go build -o share share.go 2>go.err; then
	watched Go ./share
	paths Go r.json 'main.inner<main.middle<main.main.func1' \
		'main.inner<main.middle<main.main.func1<main.main.func2'
fi

cat >work.py <<'END'
import json, re
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
for i in range(6000):
    fib(15); json.dumps({"a": [1, 2, {"b": i}]})
    re.sub("a+", "b", "aaab" * 20); sorted(range(500), key=lambda x: -x)
END
# shellcheck disable=SC2016
for name in python3 perl; do
	case $name in
	python3) set -- /usr/bin/python3 work.py ;;
	perl) set -- perl -e 'for my $i (1 .. 300000) { $h{"k$i"} = [$i]; }
		my $s = join(",", sort { $a cmp $b } keys %h); $s =~ s/k(\d+)/x$1/g;' ;;
	esac
	command -v "$1" >/dev/null || continue
	rm -rf out
	"$TOOL" record --outside -g -F 1000 -o out -- "$@" 2>record.err ||
		fail "$name: $(cat record.err)"
	json out r.json
	paths "$name" r.json
done

"$program" 60 &
pid=$!
finds "without -g" 'est("total") > 10' "$pid"
finish
grep -q call_paths r.json && fail "paths that nobody asked for"
exit 0
