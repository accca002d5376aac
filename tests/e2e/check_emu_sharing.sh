#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_emu_sharing - which sharing the source emu calls false
#
# guest_parts stores in a known way, and another thread loads one byte.

. "$(dirname "$0")/e2e.sh"

PLUGIN=$B/libcomdet-qemu.so
PARTS=$B/tests/programs/emu/guest_parts

command -v qemu-x86_64 >/dev/null ||
	skip 'qemu-x86_64 is missing: install the package qemu-user'
[ -x "$PARTS" ] || fail 'guest_parts is missing: make tests'

# emulate SETTINGS COMMAND... - run it under the plugin, report to $WORK/json
emulate()
{
	local settings=$1

	shift
	rm -rf "$WORK/out"
	timeout -k 5 600 qemu-x86_64 -cpu max \
		-plugin "$PLUGIN,out=$WORK/out$settings" "$@" >"$WORK/said" ||
		fail "$*: exit status $?"
	json "$WORK/out" "$WORK/json"
}

# In each round the byte's line goes to the reader once. That is false sharing
# if the byte is not among those of the last access that stored to the line.
# However many parts QEMU makes of an instruction's access, it is one.
an_instruction_makes_one_access()
{
	local kind byte sharing line

	while read -r kind byte sharing; do
		emulate ,exact=1,slice=50,period=0 "$PARTS" 100 "$kind" "$byte"
		line=$(cat "$WORK/said")
		holds "$WORK/json" "([(l['all'], l['$sharing'])
			for l in r['exact']['lines']
			if l['line'] == '$line'] == [(100, 100)])" \
			"$kind, byte $byte"
	done <<-EOT
		store_8 0 true
		store_8 8 false
		store_16 0 true
		store_16 15 true
		store_16 16 false
		store_32 0 true
		store_32 12 true
		store_32 31 true
		store_32 32 false
		unaligned_32 2 false
		unaligned_32 3 true
		unaligned_32 34 true
		unaligned_32 35 false
		crossing_32 47 false
		crossing_32 48 true
		crossing_32 63 true
		crossing_32 64 true
		crossing_32 79 true
		crossing_32 80 false
		load_32_store_8 0 false
		load_32_store_8 24 true
		x87 0 true
		x87 9 true
		x87 10 false
		compare_exchange 0 true
		compare_exchange 15 true
		compare_exchange 16 false
		two_stores 0 false
		two_stores 8 true
		two_vectors 0 false
		two_vectors 32 true
		one_in_a_loop 0 false
		one_in_a_loop 8 true
		vector_in_a_loop 0 false
		vector_in_a_loop 31 true
		string 14 false
		string 15 true
		pushes 0 true
		pushes 8 false
	EOT
}

# The samples of the parts of an access are samples of the access: the estimate
# stays right, and so does the judgement.
estimates_take_parts_for_one_access()
{
	local kind

	for kind in store_8 store_16 store_32; do
		emulate ,exact=1,slice=50,period=100,seed=5,algorithm=epoch \
			"$PARTS" 20000 $kind 0
		# About 200 samples of stores to the line, or 400, or 800.
		holds "$WORK/json" 'abs(c["total"]["estimate"] /
			r["exact"]["all"] - 1) < 0.25' "$kind: the estimate"
		holds "$WORK/json" 'abs(est("false_sharing") /
			c["total"]["estimate"] - r["exact"]["false"] /
			r["exact"]["all"]) < 0.08' "$kind: false sharing"
	done
}

# A thread stores 1,000 times in each round, as often as the period is long, and
# another one reads a tenth of it. Samples at the same place of each round would
# see all of these stores or none: then two or three intervals in eight hold.
a_loop_as_long_as_the_period_is_sampled_everywhere()
{
	local seed held=0

	for seed in 1 2 3 4 5 6 7 8; do
		emulate ",exact=1,slice=400,period=1000,seed=$seed" \
			"$B/tests/programs/instr/ways.plain" resonance 200
		held=$((held + $(ask "$WORK/json" 'int(c["total"]["low"] <=
			r["exact"]["all"] <= c["total"]["high"])')))
	done
	[ "$held" -ge 5 ] || fail "$held of 8 intervals hold the count"
}

run_claims "${1-}" an_instruction_makes_one_access \
	estimates_take_parts_for_one_access \
	a_loop_as_long_as_the_period_is_sampled_everywhere
