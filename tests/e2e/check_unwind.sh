#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_unwind - call paths of real programs are those of libunwind
#
# help_unwind stops each program at random moments and steps it on, and compares
# our unwinder with libunwind's. At every stop all frames have to be the same,
# and ours have to reach the start of the thread. STOPS=1000 compares more of
# each program (make check-unwind).

. "$(dirname "$0")/e2e.sh"
stops=${STOPS:-120}
compare=$B/tests/programs/help_unwind

[ -x "$compare" ] || fail "help_unwind is not built"
"$compare" -n 1 -- sleep 1 >"$WORK/log" 2>&1
[ $? != 2 ] || skip "ptrace is not permitted here"

cat >"$WORK/work.py" <<-'END'
	import json, re
	def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
	for i in range(2000):
	    fib(11); json.dumps({"a": [1, 2, {"b": i}]})
	    re.sub("a+", "b", "aaab" * 20); sorted(range(500), key=lambda x: -x)
END
cat >"$WORK/work.cc" <<-'END'
	template <int N> struct t { static int f(int x) { return t<N - 1>::f(x * N) + x; } };
	template <> struct t<0> { static int f(int x) { return x; } };
	struct a { virtual int g(int x) { return t<60>::f(x); } virtual ~a() {} };
	struct b : a { int g(int x) override { return t<50>::f(x) * 3; } };
	int h(a *p, int n) { int s = 0; for (int i = 0; i < n; i++) s += p->g(i); return s; }
END
programs=0 missing=

# try NAME PROGRAM ARGUMENT... - compare the program's paths
try()
{
	local name=$1

	shift
	if ! command -v "$1" >/dev/null; then
		missing="$missing $name"
		return
	fi
	timeout 900 "$compare" -n "$stops" -k 8 -- "$@" >"$WORK/log" 2>&1 ||
		fail "$name: $(tail -n 60 "$WORK/log")"
	echo "$name: $(tail -n 1 "$WORK/log")"
	programs=$((programs + 1))
}

try python3 /usr/bin/python3 "$WORK/work.py"
try perl perl -e 'for my $i (1 .. 300000) { $h{"k$i"} = [$i]; }
	my $s = join(",", sort { $a cmp $b } keys %h); $s =~ s/k(\d+)/x$1/g;'
try sqlite3 sqlite3 :memory: 'create table t(a, b);
	with recursive c(x) as (select 1 union all select x + 1 from c
	where x < 200000) insert into t select x, hex(randomblob(8)) from c;
	create index i on t(b); select count(*) from t a join t b on a.b = b.b;'
try cc1plus "$(g++ -print-prog-name=cc1plus)" -quiet -O2 -w \
	-o "$WORK/work.s" "$WORK/work.cc"
try xz xz -9 -k -c "$compare"
try bash bash -c 'for ((i = 0; i < 60000; i++)); do s=$((s + i)); done'
[ $programs -ge 5 ] || [ -n "$missing" ] || fail "only $programs programs"

shapes=$TOP/tests/programs/unwind_shapes.c
for compiler in gcc clang; do
	command -v $compiler >/dev/null || {
		missing="$missing $compiler"
		continue
	}
	for options in "-O0" "-O2 -fomit-frame-pointer" "-O3 -g" \
		"-O2 -fno-omit-frame-pointer -no-pie"; do
		# shellcheck disable=SC2086
		$compiler $options -fPIE -o "$WORK/shapes" "$shapes" ||
			fail "$compiler $options"
		try "$compiler $options" "$WORK/shapes"
	done
done
[ -z "$missing" ] || echo "not installed:$missing"
