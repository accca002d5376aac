#!/bin/bash
# SPDX-License-Identifier: MIT
#
# bench - what the hooks of the source instr cost, alone and profiling
#
#	bench.sh [KERNEL...]
#
# Each kernel runs without hooks, with them, and with them under the preload,
# in turn, ROUNDS times (default 3), for some SECONDS_EACH (default 10) with
# hooks, by the number of turns that takes. ribench is the microbenchmark, with
# two threads, the others are of tests/instr/kernels.c. Printed is the CPU time, user and system, in the
# median, and its ratios; then their medians over the kernels but vector_loop,
# which shows what hooks do to code that the compiler otherwise vectorises.

set -u
TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
ROUNDS=${ROUNDS:-3}
SECONDS_EACH=${SECONDS_EACH:-10}
WORK=$(mktemp -d) || exit 1
trap 'rm -rf "$WORK"' EXIT
unset "${!COMDET_@}"

# seconds COMMAND... - CPU time
seconds()
{
	/usr/bin/env bash -c 'TIMEFORMAT="%U %S"; time "$@" >/dev/null 2>&1' \
		bash "$@" 2>&1 </dev/null | awk 'END { print $1 + $2 }'
}

run()
{
	local how=$1

	shift
	local plain=$B/tests/instr/kernels.plain hooks=$B/tests/instr/kernels

	if [ "$1" = ribench ]; then
		plain=$B/microbench/ribench hooks=$B/microbench/instr/ribench
		set -- --case short-bell-2 --threads 2 --outer "$2"
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

# turns KERNEL - how many take SECONDS_EACH with hooks
turns()
{
	local n=10 took

	while took=$(run hooks "$1" $n) &&
		awk "BEGIN { exit !($took < 0.3) }"; do
		n=$((n * 4))
	done
	awk "BEGIN { print int($n * $SECONDS_EACH / $took) + 1 }"
}

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
