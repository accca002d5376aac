#!/bin/bash
# SPDX-License-Identifier: MIT
#
# bench - measure the run time and peak memory that profiling costs
#
#	tests/bench/bench.sh [PROGRAM...]      (make bench BENCH="..." PAIRS=N)
#
# CPU-bound programs with two threads run in PAIRS pairs (default 20), without
# and with the preload in turn (help_ratio.c). "With" is the preload with its
# defaults, and the variables in WITH ("COMDET_CLOCK=timer"). Several ways are
# measured in the same pairs with "|" between them ("COMDET_FREQ=200 |
# COMDET_FREQ=1000"): with, with2, ... A first run finds
# the amount of work that takes SECONDS_EACH (default 11); all others do that
# amount. Programs of Debian that are not among the default ones: zstd, sort,
# python3, sqlite3, perl.
#
# With BESIDE=1 the runs of a pair go on at the same time, on one processor in
# turns: where the host of a virtual machine is busy, ratios of CPU time vary much
# less. Two such benches can run side by side with taskset. SECONDS_EACH is the CPU
# time of one run then, and wall times say nothing.
#
# The numbers of every run go to build/bench.csv, the summary to stdout. Only a
# quiet machine gives useful figures. The bench prints figures and judges none.

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
PAIRS=${PAIRS:-20}
SECONDS_EACH=${SECONDS_EACH:-11}
csv=${CSV:-$B/bench.csv}

all='nbody stencil join pigz xz'
more='matmul chase lines'
debian='zstd sort python3 sqlite3 perl' # programs that share nothing, or little

die()
{
	echo "bench: $*" >&2
	exit 1
}

# command NAME AMOUNT - set $cmd to the command that does that much work
command_of()
{
	case $1 in
	nbody | matmul | join | stencil | chase | lines)
		cmd=("$B/microbench/kernel" --kernel "$1" --threads 2 --rounds "$2")
		;;
	pigz)
		"$B/tests/programs/help_text" "$2" >"$dir/text"
		cmd=(pigz -11 -p 2 -c "$dir/text")
		;;
	xz)
		"$B/tests/programs/help_text" "$2" >"$dir/text"
		cmd=(xz -T 2 --block-size=4MiB -c "$dir/text")
		;;
	zstd)
		"$B/tests/programs/help_text" "$2" >"$dir/text"
		cmd=(zstd -q -T2 -15 -c "$dir/text")
		;;
	sort)
		"$B/tests/programs/help_text" "$2" >"$dir/text"
		cmd=(sort --parallel=2 -k 2 "$dir/text")
		;;
	python3)
		cmd=(python3 -c "
d = {}
for i in range($2 * 20000):
    d[i * 7919 % 50021] = d.get(i % 50021, 0) + i
print(len(d))")
		;;
	sqlite3)
		cmd=(sqlite3 :memory: "with recursive c(x) as (select 1 union all
			select x + 1 from c where x < $2 * 20000)
			select count(*), sum(x * 7919 % 50021) from c")
		;;
	perl)
		cmd=(perl -e "for my \$i (1 .. $2 * 20000) {
			\$h{\$i * 7919 % 50021} .= 'x' } print scalar(keys %h)")
		;;
	*)
		die "no program $1; there are: $all $more $debian"
		;;
	esac
}

# milliseconds COMMAND... - print how long it runs
milliseconds()
{
	local start

	start=$(date +%s%N)
	"$@" >/dev/null || die "$1 fails without the preload"
	echo $((($(date +%s%N) - start) / 1000000))
}

# calibrate NAME - set $amount to the work that takes SECONDS_EACH
calibrate()
{
	local ms

	case $1 in
	pigz | xz | zstd | sort) amount=4 ;;
	*) amount=50 ;;
	esac
	for _ in 1 2 3 4 5 6; do
		command_of "$1" "$amount"
		ms=$(milliseconds "${cmd[@]}")
		[ "$ms" -lt 1500 ] || break
		amount=$((amount * 4))
	done
	amount=$((amount * SECONDS_EACH * 1000 / ms + 1))
	command_of "$1" "$amount"
}

# samples DIR - print the number of samples, to see that the run was profiled
samples()
{
	"$B/reusetrack" report --json "$1" | python3 -c '
import json, sys
threads = json.load(sys.stdin)["threads"]
print(sum(t["samples"]["uniform"] + t["samples"]["stalled"] for t in threads))'
}

# WITH, and for each way an output directory of its own; the first one's is out
ways_with_files()
{
	local ways i

	IFS='|' read -ra ways <<<"${WITH-}"
	printf 'COMDET_OUT=%s %s' "$dir/out" "${ways[0]-}"
	for ((i = 1; i < ${#ways[@]}; i++)); do
		printf '|COMDET_OUT=%s %s' "$dir/out$i" "${ways[i]}"
	done
}

[ -e "$B/libcomdet.so" ] || die "$B/libcomdet.so is not built"
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT

echo program,pair,how,first,wall_s,user_s,system_s,maxrss_kib >"$csv"
for name in ${*:-$all}; do
	calibrate "$name"
	echo "$name: $PAIRS pairs of" "${cmd[@]}" >&2
	RATIO_WITH="LD_PRELOAD=$B/libcomdet.so" RATIO_WAYS=$(ways_with_files) \
		${BESIDE:+env RATIO_BESIDE=1} \
		"$B/tests/programs/help_ratio" "$PAIRS" "$name" "${cmd[@]}" >>"$csv" ||
		die "$name failed"
	taken=$(samples "$dir/out") && [ "$taken" -gt 0 ] ||
		die "$name was not profiled: nothing was measured"
	echo "$name: $taken samples in the last run" >&2
	rm -rf "$dir"/out*
done

grep -m 1 'model name' /proc/cpuinfo | sed 's/.*: //'
echo "Linux $(uname -r | cut -d- -f1), $(nproc) CPUs, $(date +%F), load $(cut -d' ' -f1-3 /proc/loadavg)"
echo "commit $(git -C "$TOP" describe --always --dirty 2>/dev/null || echo unknown)"
i=0
IFS='|' read -ra ways <<<"${WITH-}"
for way in "${ways[@]}"; do
	i=$((i + 1))
	[ $i = 1 ] && echo "with: $way" || echo "with$i: $way"
done
python3 "$TOP/tests/bench/bench_summary.py" "$csv"
