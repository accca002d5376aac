#!/bin/bash
# SPDX-License-Identifier: MIT
#
# bench_instr - measure what the hooks of the source instr cost
#
#	bench_instr.sh [KERNEL...]
#	bench_instr.sh --reuse [KERNEL...]	reuse times, watched in software
#	bench_instr.sh --reuse-hw [KERNEL...]	by debug registers
#
# In the first form each kernel runs without hooks, with hooks, and with hooks
# under the preload, in turn, ROUNDS times (default 3). The number of turns is
# such that a run with hooks takes SECONDS_EACH (default 10). ribench is the
# microbenchmark with two threads; programs/instr/kernels.c has the others. The
# bench prints the median CPU time, user and system, and its ratios, then their
# medians over all kernels but vector_loop: hooks keep the compiler from
# vectorising that one.
#
# The other forms compare hooks alone with record -m reuse at PERIOD (default
# 100,000), pair by pair (help_ratio.c): CPU time and peak memory.

set -u
TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
ROUNDS=${ROUNDS:-3}
SECONDS_EACH=${SECONDS_EACH:-10}
WORK=$(mktemp -d) || exit 1
trap 'rm -rf "$WORK"' EXIT
unset "${!COMDET_@}"

# seconds COMMAND... - print its CPU time
seconds()
{
	/usr/bin/env bash -c 'TIMEFORMAT="%U %S"; time "$@" >/dev/null 2>&1' \
		bash "$@" 2>&1 </dev/null | awk 'END { print $1 + $2 }'
}

# ribench is ribench-short-bell-2
ribench_case()
{
	local name=${1#ribench}

	name=${name#-}
	echo "${name:-short-bell-2}"
}

# run plain|hooks|preload KERNEL TURNS - print its CPU time
run()
{
	local how=$1

	shift
	local plain=$B/tests/programs/instr/kernels.plain hooks=$B/tests/programs/instr/kernels

	if [[ $1 = ribench* ]]; then
		plain=$B/microbench/ribench hooks=$B/microbench/instr/ribench
		set -- --case "$(ribench_case "$1")" --threads 2 --outer "$2"
	fi
	case $how in
	plain) seconds "$plain" "$@" ;;
	hooks) seconds "$hooks" "$@" ;;
	preload)
		rm -rf "$WORK/out"
		seconds env COMDET_OUT="$WORK/out" LD_PRELOAD="$B/libcomdet.so" \
			"$hooks" "$@"
		;;
	esac
}

median()
{
	sort -n | awk '{ x[NR] = $1 } END { print x[int((NR + 1) / 2)] }'
}

# turns KERNEL - print the number of turns that take SECONDS_EACH with hooks
turns()
{
	local n=10 took

	while took=$(run hooks "$1" $n) &&
		awk "BEGIN { exit !($took < 0.3) }"; do
		n=$((n * 4))
	done
	awk "BEGIN { print int($n * $SECONDS_EACH / $took) + 1 }"
}

# profiled VARIABLES KERNEL... - run pairs of hooks alone and with VARIABLES
profiled()
{
	local variables=$1 csv=$WORK/csv command

	shift
	echo program,pair,how,first,wall_s,user_s,system_s,maxrss_kib >"$csv"
	for kernel; do
		n=$(turns "$kernel")
		if [[ $kernel = ribench* ]]; then
			command=("$B/microbench/instr/ribench" --case
				"$(ribench_case "$kernel")" --threads 2
				--outer "$n")
		else
			command=("$B/tests/programs/instr/kernels" "$kernel" "$n")
		fi
		RATIO_WITH="LD_PRELOAD=$B/libcomdet.so COMDET_OUT=$WORK/out $variables" \
			"$B/tests/programs/help_ratio" "$ROUNDS" "$kernel" \
			"${command[@]}" >>"$csv" || exit 1
		"$B/reusetrack" report "$WORK/out" >"$WORK/report" &&
			grep -qi reuse "$WORK/report" ||
			{ echo "$kernel was not profiled"; exit 1; }
		rm -rf "$WORK"/out*
	done
	grep -m 1 'model name' /proc/cpuinfo | sed 's/.*: //'
	python3 "$TOP/tests/bench/bench_summary.py" "$csv"
}

reuse="COMDET_MODE=reuse COMDET_PERIOD=${PERIOD:-100000}"
all='quicksort search_tree matrix_multiply reuse_loop scalar_loop random_lines
	ribench-short-bell-2 ribench-long-bell-2'
case ${1-} in
--reuse)
	shift
	# shellcheck disable=SC2086
	profiled "$reuse" ${*:-$all}
	exit
	;;
--reuse-hw)
	shift
	# shellcheck disable=SC2086
	profiled "$reuse COMDET_WATCH=hw COMDET_GRANULARITY=address" \
		${*:-random_lines ribench-short-bell-2 ribench-long-bell-2}
	exit
	;;
esac

printf '%-16s %9s %9s %9s  %s\n' kernel plain hooks preload \
	'hooks/plain preload/hooks'
# shellcheck disable=SC2048
for kernel in ${*:-quicksort search_tree matrix_multiply ribench \
	scalar_loop vector_loop}; do
	n=$(turns "$kernel")
	for ((i = 0; i < ROUNDS; i++)); do
		for how in plain hooks preload; do
			run $how "$kernel" "$n" >>"$WORK/$kernel.$how"
		done
	done
	for how in plain hooks preload; do
		median <"$WORK/$kernel.$how"
	done | paste -s -d ' ' | awk -v k="$kernel" '{
		printf "%-16s %9.2f %9.2f %9.2f  %.2f %.3f\n",
			k, $1, $2, $3, $2 / $1, $3 / $2 }'
done | tee "$WORK/table"
grep -v vector_loop "$WORK/table" | awk '{ print $5 }' | median >"$WORK/a"
grep -v vector_loop "$WORK/table" | awk '{ print $6 }' | median >"$WORK/b"
echo "median without vector_loop: hooks $(cat "$WORK/a") times plain," \
	"preload $(cat "$WORK/b") times hooks"
