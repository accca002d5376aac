#!/bin/bash
# SPDX-License-Identifier: MIT
#
# bench - what the source emu costs, over native and over the smallest plugin
#
#	bench.sh [PROGRAM...]
#
# Each program runs natively, under QEMU with the plugin that only counts, and
# under QEMU with ours, sampled and exact, in turn, ROUNDS times (default 3).
# Printed is the CPU time, user and system, in the median, and its ratios. CPU
# time and not wall time, since that depends on what else the machine does.
# MEGABYTES is the size of the input (default 64).

set -u
TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
ROUNDS=${ROUNDS:-3}
MEGABYTES=${MEGABYTES:-64}
WORK=$(mktemp -d) || exit 1
trap 'rm -rf "$WORK"' EXIT
unset "${!COMDET_@}"
# A column of random numbers: neither all entropy nor all repetition.
python3 -c "
import random, sys
random.seed(1)
left = $MEGABYTES << 20
while left > 0:
    line = '%d %s\n' % (random.randrange(10**9), 'x' * random.randrange(40))
    sys.stdout.write(line)
    left -= len(line)" >"$WORK/in"

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
	rm -rf "$WORK/out"
	case $how in
	native) seconds "$@" ;;
	count) seconds qemu-x86_64 -cpu max -plugin \
		"$B/tests/emu/count_plugin.so" "$@" ;;
	sampled) seconds qemu-x86_64 -cpu max -plugin \
		"$B/libcomdet-qemu.so,out=$WORK/out" "$@" ;;
	exact) seconds qemu-x86_64 -cpu max -plugin \
		"$B/libcomdet-qemu.so,out=$WORK/out,exact=1" "$@" ;;
	esac
}

median()
{
	sort -n | awk '{ x[NR] = $1 } END { print x[int((NR + 1) / 2)] }'
}

command_of()
{
	case $1 in
	loop) echo "$B/tests/emu/guest_loop 2 $((MEGABYTES * 4000000))" ;;
	pigz) echo "$(command -v pigz) -p2 -kc $WORK/in" ;;
	xz) echo "$(command -v xz) -T2 -1 -kc --block-size=8MiB $WORK/in" ;;
	zstd) echo "$(command -v zstd) -q -T2 -c $WORK/in" ;;
	sort) echo "$(command -v sort) --parallel=2 $WORK/in" ;;
	esac
}

printf '%-8s %9s %9s %9s %9s  %s\n' program native count sampled exact \
	'sampled/count exact/count sampled/native exact/native'
for program in ${*:-loop pigz xz zstd sort}; do
	command=$(command_of "$program")
	[ -x "${command%% *}" ] || {
		echo "$program is not installed"
		continue
	}
	for ((i = 0; i < ROUNDS; i++)); do
		for how in native count sampled exact; do
			run $how $command >>"$WORK/$program.$how"
		done
	done
	for how in native count sampled exact; do
		median <"$WORK/$program.$how"
	done | paste -s -d ' ' | awk -v p="$program" '{
		printf "%-8s %9.2f %9.2f %9.2f %9.2f  %.2f %.2f %.1f %.1f\n",
			p, $1, $2, $3, $4, $3 / $2, $4 / $2, $3 / $1, $4 / $1 }'
done
