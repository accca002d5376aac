#!/bin/bash
# SPDX-License-Identifier: MIT
#
# bench_callers - how long the signal handler takes to find a path (record -g)
#
# Of programs of Debian, median and 99th percentile: tests/oracle/callers_time.c.
# It takes half a minute.

. "$(dirname "$0")/../e2e/e2e.sh"
timed=$B/tests/libcomdet-timed.so
cd "$WORK" || exit 1

# try NAME PROGRAM ARGUMENT...
try()
{
	local name=$1

	shift
	echo "$name"
	COMDET_PATHS=1 COMDET_OUT=$WORK/out LD_PRELOAD=$timed "$@" \
		2>&1 >/dev/null | sed -n 's/^callers_time: /  /p'
	rm -rf out
}

try python3 /usr/bin/python3 -c 'import json, re
for i in range(60000):
    json.dumps({"a": [1, 2, {"b": i}]}); re.sub("a+", "b", "aaab" * 20)'
try perl perl -e 'for my $i (1 .. 900000) { $h{"k$i"} = [$i]; }
	my $s = join(",", sort { $a cmp $b } keys %h); $s =~ s/k(\d+)/x$1/g;'
try sqlite3 sqlite3 :memory: 'create table t(a, b);
	with recursive c(x) as (select 1 union all select x + 1 from c
	where x < 600000) insert into t select x, hex(randomblob(8)) from c;
	create index i on t(b); select count(*) from t a join t b on a.b = b.b;'
try xz xz -6 -k -c "$TOOL"
if command -v g++ >/dev/null; then
	echo '#include <regex>' >compile.cc
	g++ -std=c++17 -E -o compile.ii compile.cc || fail "g++"
	try cc1plus "$(g++ -print-prog-name=cc1plus)" -fpreprocessed -quiet -O2 \
		-w -o compile.s compile.ii
fi
