#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_sync_table - synchronization events of the workloads, counted in a trace
#
# The oracle is the source of each workload: how often it locks, waits at
# barriers and creates threads follows from --size and four threads. How often
# the stages of pipeline wait depends on the order of the threads.
#
# covers: preload/emu preload/emu/guest microbench/workloads

. "$(dirname "$0")/e2e.sh"

command -v qemu-x86_64 >/dev/null ||
	skip 'qemu-x86_64 is missing: install the package qemu-user'
command -v zstd >/dev/null ||
	skip 'zstd is missing: install the package zstd'
threads=4
size=2000000

python3 "$TOP/tests/oracle/sync_table.py" "$B" 2 chase fluid nbody pipeline \
	producers stencil table unbalanced >"$WORK/table" ||
	fail "sync_table.py fails"

# row NAME LOCKS BARRIERS SEMAPHORES THREADS - the workload has so many
row()
{
	local found

	found=$(tr -d ',' <"$WORK/table" | sed 's/ - / 0 /g' |
		awk -v n="$1" '$2 == n { print $4, $6, $10, $12 }')
	[ "$found" = "$2 $3 $4 $5" ] ||
		fail "$1 has $found, not $2 $3 $4 $5: $(cat "$WORK/table")"
}

row chase 0 0 0 3
gifts=$((size / (threads * 3 * 30)))
row fluid $((gifts * threads * 3)) 0 0 3
row nbody 0 $((4 * 2)) 0 3
items=$((size / (threads * 300 * 14)))
row pipeline $((items * 2 * (threads - 1))) 0 0 3
producers=$((threads / 2))
items=$((size / (producers * 200 * 44)))
row producers $((items * threads)) 0 $((items * threads)) 3
row stencil 0 64 0 3
turns=$((size / (threads * 64 * 8)))
row table $((turns * threads)) 0 0 3
row unbalanced 0 0 0 $((8 * 3))
echo "events of eight workloads are as often as their sources say"
