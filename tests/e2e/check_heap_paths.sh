#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_heap_paths - the paths of heap blocks are the calls that led there
#
# tests/oracle/heap_paths.c walks the whole stack by libunwind at one in EVERY
# allocations of each program, and compares what libcomdet-heap.so says of that
# block at the thread's next call. A path that is short, wrong or missing counts
# as wrong. EVERY=5 compares more (make check-heap-paths).
#
#	tests/e2e/check_heap_paths.sh
#
# covers: preload/heap src/unwind

. "$(dirname "$0")/e2e.sh"
every=${EVERY:-50}
oracle=$B/tests/oracle/libheap_paths.so
[ -e "$oracle" ] || fail "$oracle is not built"
missing=

cat >"$WORK/work.py" <<-'END'
	import ast, json, re
	source = open(ast.__file__).read()
	for i in range(20):
	    json.dumps({"a": [1, 2, {"b": i}]})
	    re.sub("a+", "b", "aaab" * 20); sorted(range(500), key=lambda x: -x)
	    d = {j % 50: (str(j), [j]) for j in range(5000)}
	    re.compile("(a|b)*c%d[0-9]+x?" % i)
	ast.dump(ast.parse(source))
END
cat >"$WORK/map.cc" <<-'END'
	#include <map>
	#include <string>
	#include <thread>
	#include <vector>
	static void churn(unsigned long x)
	{
		std::map<std::string, std::vector<int>> m;

		for (long i = 0; i < 50000; i++) {
			x = x * 6364136223846793005ul + 1442695040888963407ul;
			auto key = "key number " + std::to_string((x >> 40) % 20000);
			if (x >> 63)
				m[key].resize(20 + (x >> 33) % 100);
			else
				m.erase(key);
		}
	}
	int main()
	{
		std::thread a(churn, 1), b(churn, 2);

		a.join();
		b.join();
	}
END
cat >"$WORK/compile.cc" <<-'END'
	#include <map>
	#include <regex>
	#include <string>
	bool f(std::map<std::string, std::string> &m)
	{
		return std::regex_match(m["a"], std::regex("a+"));
	}
END

# try NAME MOST PROGRAM ARGUMENT... - at most MOST percent are named wrongly
try()
{
	local name=$1 most=$2

	shift 2
	if ! command -v "$1" >/dev/null; then
		missing="$missing $name"
		return
	fi
	COMDET_PATHS=1 HEAP_PATHS_EVERY=$every HEAP_PATHS_SHOW=3 \
		LD_PRELOAD="$B/libcomdet-heap.so $oracle" \
		"$@" >/dev/null 2>"$WORK/err" ||
		fail "$name: $(tail -n 20 "$WORK/err")"
	python3 - "$name" "$most" "$WORK/err" <<-'PYTHON' ||
		import re, sys
		name, most, text = sys.argv[1], float(sys.argv[2]), open(sys.argv[3]).read()
		n = {k: int(v) for v, k in re.findall(r"(\d+) (\w+)",
		     text[text.rindex("heap_paths: "):])}
		bad = n["short"] + n["wrong"] + n["unnamed"]
		compared = n["right"] + bad
		print(f"{name}: {n['allocations']} allocations, {compared} compared, "
		      f"{100 * bad / compared:.3f} % named wrongly "
		      f"({n['short']} short, {n['wrong']} wrong, {n['unnamed']} not named); "
		      f"{n['sites']} sites, {100 * n['mixed'] / compared:.2f} % beside "
		      f"other callers further out")
		sys.exit(compared < 1000 or 100 * bad / compared > most)
	PYTHON
		fail "$name: $(head -n 60 "$WORK/err")"
}

# Not the allocator of its own.
PYTHONMALLOC=malloc try python3 0.5 /usr/bin/python3 "$WORK/work.py"
try perl 0.5 perl -e 'for my $i (1 .. 50000) { $h{"k$i"} = [$i]; }
	my $s = join(",", sort { $a cmp $b } keys %h); $s =~ s/k(\d+)/x$1/g;'
try sqlite3 0.5 sqlite3 :memory: 'create table t(a, b);
	with recursive c(x) as (select 1 union all select x + 1 from c
	where x < 50000) insert into t select x, hex(randomblob(8)) from c;
	create index i on t(b); select count(*) from t a join t b on a.b = b.b;'
if command -v g++ >/dev/null; then
	g++ -O2 -pthread -o "$WORK/map" "$WORK/map.cc" &&
		g++ -std=c++17 -E -o "$WORK/compile.ii" "$WORK/compile.cc" ||
		fail "g++"
	try map 0.5 "$WORK/map"
	try cc1plus 5 "$(g++ -print-prog-name=cc1plus)" -fpreprocessed -quiet -O2 \
		-w -o "$WORK/compile.s" "$WORK/compile.ii"
else
	missing="$missing g++"
fi
[ -z "$missing" ] || echo "not installed:$missing"
