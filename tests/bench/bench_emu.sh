#!/bin/bash
# SPDX-License-Identifier: MIT
#
# bench_emu - measure what the source emu costs
#
#	bench_emu.sh [--keep FILE] [PROGRAM...]
#
# Each program runs natively, under QEMU with the plugin that only counts, and
# under QEMU with ours, sampled and exact, in turn, ROUNDS times (default 5);
# every other round reverses the order. With these inputs the smallest plugin
# takes ten seconds of CPU time and more; SCALE multiplies them. The bench
# prints the median CPU time, user and system, and the median, the least and the
# greatest ratio of the rounds. It measures CPU time, because wall time depends
# on the other programs of the machine.
#
# --keep FILE also writes the table, in Markdown, to FILE.

set -u
TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
ROUNDS=${ROUNDS:-5}
SCALE=${SCALE:-1}
keep=
if [ "${1:-}" = --keep ]; then
	keep=$2
	shift 2
fi
WORK=$(mktemp -d) || exit 1
trap 'rm -rf "$WORK"' EXIT
unset "${!COMDET_@}"
export LC_ALL=C

# seconds COMMAND... - print its CPU time
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
		"$B/tests/programs/emu/count_plugin.so" "$@" ;;
	sampled) seconds qemu-x86_64 -cpu max -plugin \
		"$B/libcomdet-qemu.so,out=$WORK/out" "$@" ;;
	exact) seconds qemu-x86_64 -cpu max -plugin \
		"$B/libcomdet-qemu.so,out=$WORK/out,exact=1" "$@" ;;
	esac
}

scaled()
{
	awk -v n="$1" -v s="$SCALE" 'BEGIN { printf "%d\n", n * s + 0.5 }'
}

# A column of random numbers can be compressed, but not to nothing.
input()
{
	python3 - "$(scaled "$1")" <<-'EOF' >"$WORK/in"
		import random, sys
		random.seed(1)
		left = int(sys.argv[1]) << 20
		while left > 0:
		    line = '%d %s\n' % (random.randrange(10**9),
		                        'x' * random.randrange(40))
		    sys.stdout.write(line)
		    left -= len(line)
	EOF
}

# command_of PROGRAM - make its input, print its command
command_of()
{
	case $1 in
	loop) echo "$B/tests/programs/emu/guest_loop 2 $(scaled 700000000)" ;;
	pigz)
		input 64
		echo "$(command -v pigz) -p2 -kc $WORK/in"
		;;
	xz)
		input 20
		echo "$(command -v xz) -T2 -1 -kc --block-size=4MiB $WORK/in"
		;;
	zstd)
		input 150
		echo "$(command -v zstd) -q -T2 -c $WORK/in"
		;;
	sort)
		input 90
		echo "$(command -v sort) --parallel=2 $WORK/in"
		;;
	esac
}

{
	echo '| program | native, s | count | sampled | exact | sampled / count | exact / count | sampled / native | exact / native |'
	echo '|---|---|---|---|---|---|---|---|---|'
} >"$WORK/table"
for program in ${*:-loop pigz xz zstd sort}; do
	command=$(command_of "$program")
	[ -x "${command%% *}" ] || {
		echo "$program is not installed"
		continue
	}
	for ((i = 0; i < ROUNDS; i++)); do
		order='native count sampled exact'
		[ $((i % 2)) = 0 ] || order='exact sampled count native'
		for how in $order; do
			declare "t_$how=$(run "$how" $command)"
		done
		echo "$t_native $t_count $t_sampled $t_exact"
	done | tee "$WORK/rounds" | sed "s/^/$program /"
	python3 - "$program" "$WORK/rounds" <<-'EOF' >>"$WORK/table"
		import statistics, sys
		rounds = [[float(x) for x in line.split()]
		          for line in open(sys.argv[2])]
		print('|', sys.argv[1], end=' ')
		for i in range(4):
		    print('| %.1f' % statistics.median(r[i] for r in rounds), end=' ')
		for a, b in (2, 1), (3, 1), (2, 0), (3, 0):
		    x = [r[a] / r[b] for r in rounds]
		    print('| %.2f [%.2f, %.2f]' % (statistics.median(x), min(x),
		                                   max(x)), end=' ')
		print('|')
	EOF
done
python3 - "$WORK/table" <<-'EOF' >"$WORK/median"
	import statistics, sys
	rows = [line.split('|') for line in open(sys.argv[1])][2:]
	if rows:
	    print('| median over programs | | | | ' + ''.join(
	        '| %.2f ' % statistics.median(float(r[i].split()[0]) for r in rows)
	        for i in range(6, 10)) + '|')
EOF
cat "$WORK/median" >>"$WORK/table"
echo
cat "$WORK/table"
[ -z "$keep" ] || cp "$WORK/table" "$keep"
