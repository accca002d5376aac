#!/bin/bash
# SPDX-License-Identifier: MIT
#
# score_traces - miss ratio curves of whole programs against exact LRU stacks
#
#	score_traces.sh [NAME...]
#
# Five bundled kernels and five programs of Debian, one thread each, under the
# source emu: the curve from sampled uses of lines beside the stack distances
# of every access of the same run. Then cachegrind, over the same command, with
# the first and last level cache of this machine. Some three minutes; PERIOD= is
# that of the samples, KEEP= a directory for the reports.

. "$(dirname "$0")/../e2e/e2e.sh"

SCORE=$TOP/tests/oracle/curve_score.py
PERIOD=${PERIOD:-500}
KEEP=${KEEP:-$WORK}
CACHES=/sys/devices/system/cpu/cpu0/cache
mkdir -p "$KEEP" || exit 1

# Input that is the same everywhere: words as frequent as words are.
python3 - "$WORK" <<-'EOF' || fail 'the inputs'
	import random, sys
	random.seed(1)
	words = ["".join(random.choices("etaoinshrdlu", k=random.randint(2, 9)))
	         for _ in range(5000)]
	shares = [1 / (i + 1) for i in range(len(words))]
	with open(sys.argv[1] + "/text", "w") as f:
	    f.write(" ".join(random.choices(words, shares, k=110000)))
	with open(sys.argv[1] + "/numbers", "w") as f:
	    f.writelines(f"{random.randrange(10**6)}\n" for _ in range(50000))
	with open(sys.argv[1] + "/sql", "w") as f:
	    f.write("""
	create table t(a integer, b text);
	with recursive c(x) as (select 1 union all select x + 1 from c
	where x < 20000) insert into t select (x * 7919) % 20011, 'row ' || x from c;
	create index i on t(a);
	select count(*), sum(a) from t where a between 100 and 9000;
	select t1.a, count(*) from t t1 join t t2 on t1.a = t2.a
	group by t1.a order by 2 desc limit 5;
	""")
	with open(sys.argv[1] + "/py", "w") as f:
	    f.write("""
	d = {}
	for i in range(60000):
	    d[i * 7919 % 50021] = str(i)
	print(sum(len(v) for v in d.values()), sorted(d.values())[:3])
	""")
EOF

# command_of NAME - what it runs, in $command
command_of()
{
	case $1 in
	matmul | stencil | join | chase)
		command=("$B/microbench/kernel" --kernel "$1" --threads 1
			--rounds 1)
		;;
	histogram) command=("$B/microbench/histogram" --threads 1 --rounds 1) ;;
	sort) command=(sort "$WORK/numbers") ;;
	gzip) command=(gzip -c "$WORK/text") ;;
	xz) command=(xz -1 -T1 -c "$WORK/text") ;;
	sqlite3) command=(sqlite3 :memory: ".read $WORK/sql") ;;
	python3) command=(/usr/bin/python3 -I "$WORK/py") ;;
	*) fail "there is no trace '$1'" ;;
	esac
}

# geometry LEVEL - "BYTES,WAYS,LINE" of this machine's data cache
geometry()
{
	local c

	for c in "$CACHES"/index*; do
		[ "$(<"$c/level")" = "$1" ] || continue
		[ "$(<"$c/type")" = Instruction ] && continue
		echo "$(($(sed s/K/*1024/ "$c/size"))),$(
			paste -d, "$c/ways_of_associativity" \
				"$c/coherency_line_size")"
	done
}

# cachegrind NAME - $command again, into $KEEP/NAME.cachegrind
cachegrind()
{
	timeout 900 valgrind --tool=cachegrind --cache-sim=yes \
		--cachegrind-out-file=/dev/null --I1=32768,8,64 \
		--D1="$(geometry 1)" --LL="$(geometry 3)" \
		--log-file="$KEEP/$1.cachegrind" \
		"${command[@]}" >/dev/null 2>&1 </dev/null
}

names=("$@")
[ $# -gt 0 ] || names=(matmul stencil join chase histogram sort gzip xz
	sqlite3 python3)
for name in "${names[@]}"; do
	command_of "$name"
	command -v "${command[0]}" >/dev/null ||
		fail "${command[0]} is missing: run make deps-programs"
	rm -rf "$WORK/out"
	"$TOOL" record -s emu -m reuse --exact -p "$PERIOD" -o "$WORK/out" -- \
		"${command[@]}" >/dev/null 2>"$WORK/errors" </dev/null ||
		fail "$name: $(<"$WORK/errors")"
	json "$WORK/out" "$KEEP/$name.json"
	rm -f "$KEEP/$name.cachegrind"
	cachegrind "$name" ||
		echo "$name: cachegrind cannot simulate these caches"
	python3 "$SCORE" trace "$name" "$KEEP"
done
python3 "$SCORE" all "$KEEP" "${names[@]}"
