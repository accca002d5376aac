#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_cures - what padding avoids, said of twelve lines whose cure is known
#
# Each pattern of the microbenchmark cures runs with and without the cure, and
# all transfers of both runs are counted. The difference is the truth.

. "$(dirname "$0")/e2e.sh"

PLUGIN=$B/libcomdet-qemu.so
CURES=$B/microbench/cures
PATTERNS='mutex pool ticket seqlock refcount ring structs heap lock-beside flag
	vector bitmap'

command -v qemu-x86_64 >/dev/null ||
	skip 'qemu-x86_64 is missing: install the package qemu-user'

# counted PATTERN SETTINGS OPTION... - report the run in $WORK/json
counted()
{
	local pattern=$1 settings=$2

	shift 2
	rm -rf "$WORK/out"
	timeout -k 5 120 qemu-x86_64 -cpu max \
		-plugin "$PLUGIN,out=$WORK/out,slice=50,exact=1$settings" \
		"$CURES" --pattern "$pattern" --iterations 20000 "$@" \
		>"$WORK/said" || fail "cures $pattern: exit status $?"
	json "$WORK/out" "$WORK/json"
}

# Transfers are counted with and without the cure; the run without it says what
# the cure avoids, from its counts and from samples. The estimator chain follows
# only lines that are used again and again, so no line of the program's start
# counts for many.
counts_and_samples_tell_what_padding_avoids()
{
	local pattern after truth

	for pattern in $PATTERNS; do
		counted "$pattern" ,period=0 --cured
		after=$(ask "$WORK/json" 'r["exact"]["all"]')
		counted "$pattern" ,period=200,seed=1,algorithm=chain
		truth=$(ask "$WORK/json" "max(0, 1 - $after / r['exact']['all'])")
		echo "$pattern: avoidable $truth," "$(ask "$WORK/json" \
			'([(k, r["exact"][k] / r["exact"]["all"])
			for k in ("avoidable", "useless", "false")] +
			[("sampled", c["avoidable_share"]["estimate"])])')"
		holds "$WORK/json" "abs(r['exact']['avoidable'] /
			r['exact']['all'] - $truth) <= 0.05" "$pattern, counted"
		holds "$WORK/json" "abs(c['avoidable_share']['estimate'] -
			$truth) <= 0.05" "$pattern, sampled"
	done
}

run_claims "${1-}" counts_and_samples_tell_what_padding_avoids
