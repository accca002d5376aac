#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_emu_order - under emu, the same program with the same input interleaves
# the same way, however busy the host is

. "$(dirname "$0")/e2e.sh"
. "$(dirname "$0")/burn.sh"

PLUGIN=$B/libcomdet-qemu.so
what=all
ORDER=$B/tests/programs/emu/guest_order

command -v qemu-x86_64 >/dev/null ||
	skip 'qemu-x86_64 is missing: install the package qemu-user'
setarch -R true 2>/dev/null || skip 'address randomisation cannot be switched off'
kinds=$("$ORDER" --list) || fail 'guest_order does not run: make tests'

# emulate SETTINGS COMMAND... - run it under the plugin, record into $WORK/out.
# The program's stack must not depend on the environment of the test.
emulate()
{
	local settings=$1

	shift
	rm -rf "$WORK/out"
	env -i PATH="$PATH" timeout -k 5 600 setarch -R qemu-x86_64 -cpu max \
		-seed 1 -plugin "$PLUGIN,out=$WORK/out$settings" "$@"
}

# facts FILE - print the report without what a clock or a process number says;
# if $what is transfers, without the accesses of threads
facts()
{
	python3 - "$1" "$what" <<-'EOF'
		import json, sys
		clocks = {'id', 'wall_ns', 'cpu_ns', 'start_real_ns', 'pid',
		          'parent_pid', 'tid'}
		def strip(x, at=''):
		    if isinstance(x, dict):
		        return {k: strip(v, k) for k, v in x.items()
		                if k not in clocks or at in ('sites', 'thread')}
		    return [strip(v, at) for v in x] if isinstance(x, list) else x
		r = json.load(open(sys.argv[1]))
		if sys.argv[2] == 'transfers':
		    r['threads'] = r['exact']['threads'] = 0
		for name in 'run', 'processes', 'threads':
		    r[name] = strip(r[name])
		r['communication'].pop('slices', None)  # by the host's time
		json.dump(r, sys.stdout, indent=1, sort_keys=True)
	EOF
}

# twice NAME SETTINGS COMMAND... - the second time with burners
twice()
{
	local name=$1 settings=$2 i

	shift 2
	for i in 1 2; do
		[ $i != 2 ] || burn
		emulate "$settings" "$@" >"$WORK/said" 2>/dev/null ||
			fail "$name ended with status $?"
		[ $i != 2 ] || stop_burning
		json "$WORK/out" "$WORK/json"
		facts "$WORK/json" >"$WORK/facts.$i"
		sed 's/tid [0-9]*//' "$WORK/said" >"$WORK/said.$i"
		holds "$WORK/json" '(r["run"]["turns"]["by_time"],
			r["run"]["turns"]["unordered"]) == (0, 0)' \
			"$name, run $i: the order is the program's alone"
		cmp -s "$WORK/said.1" "$WORK/said.$i" ||
			fail "$name: run $i printed something else"
		cmp -s "$WORK/facts.1" "$WORK/facts.$i" ||
			fail "$name: run $i counted something else:" \
				"$(diff "$WORK/facts.1" "$WORK/facts.$i" | head -20)"
	done
}

programs_that_meet_in_every_way_interleave_the_same_way()
{
	local kind

	for kind in $kinds; do
		twice "$kind" ,exact=1,period=500 "$ORDER" "$kind"
	done
}

# They print the numbers of their threads, which may have more digits the second
# time.
microbenchmarks_count_the_same()
{
	local m=$B/microbench what=transfers

	twice write_volume ,exact=1,period=500 "$m/write_volume" \
		--threads 3 --iterations 20000
	twice false_sharing ,exact=1,period=500,algorithm=chain,arming=1000 \
		"$m/false_sharing" --threads 2 --iterations 100000
	twice ring ,exact=1,period=500,slice=20 "$m/patterns" \
		--pattern ring --threads 4 --iterations 10000
	twice read_write ,exact=1,period=500,algorithm=comdetective \
		"$m/read_write" --threads 3 --iterations 20000
}

# Not xz: its waits have a time limit, by the host's clock.
real_programs_count_the_same()
{
	local program

	seq 1 20000 | sed 's/$/ some words that can be compressed/' >"$WORK/in"
	for program in 'pigz -p3 -kc' 'sort --parallel=3 -S 20M' \
		'zstd -q -T2 -c'; do
		command -v ${program%% *} >/dev/null || continue
		twice "${program%% *}" ,exact=1,period=5000 \
			"$(command -v ${program%% *})" ${program#* } "$WORK/in"
	done
}

running_free_gives_no_estimates()
{
	emulate ,slice=free,period=500 "$ORDER" race >/dev/null || fail race
	json "$WORK/out" "$WORK/json"
	holds "$WORK/json" '(r["run"]["algorithm"] == "comdetective" and
		"turns" not in r["run"] and c["quantity"] != "transfers")' 'slice=free'
	emulate ,slice=free,algorithm=epoch "$ORDER" race 2>&1 |
		grep -q 'estimates need turns' || fail 'slice=free,algorithm=epoch'
}

# says_hardly_overlapped PROGRAM... - true if the report does
says_hardly_overlapped()
{
	emulate ,exact=1 "$@" >/dev/null || fail "$*"
	"$TOOL" report "$WORK/out" | tr -s ' \n' ' ' | grep -q 'hardly ever overlapped'
}

threads_that_hardly_overlap_are_told()
{
	says_hardly_overlapped "$ORDER" one_by_one || fail 'one_by_one'
	says_hardly_overlapped "$ORDER" race && fail 'race'
	true
}

run_claims "${1:-}" \
	programs_that_meet_in_every_way_interleave_the_same_way \
	microbenchmarks_count_the_same \
	real_programs_count_the_same \
	running_free_gives_no_estimates \
	threads_that_hardly_overlap_are_told
