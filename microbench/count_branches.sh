#!/bin/sh
# SPDX-License-Identifier: MIT
#
# count_branches - run programs under a library that counts its own branches
#
# usage: count_branches.sh LIBRARY BUILD - for make PGO=1. LIBRARY was compiled
# with -fprofile-generate and writes what it counted beside its object files.
# BUILD has reusetrack and the microbenchmarks; the other programs are Debian's
# essential ones. None of tests/bench is among them, which measures the result.
# Without samples nothing that matters was counted: that is an error.

LEAST=1000 # samples; there are 5,000 where the clock works

lib=$1 build=$2
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT

# counted MODE COMMAND... - run it profiled, without its output
counted()
{
	mode=$1
	shift
	rm -rf "$dir/out"
	COMDET_MODE=$mode COMDET_FREQ=1000 COMDET_OUT=$dir/out \
		LD_PRELOAD=$lib "$@" >"$dir/said" 2>&1 || {
		echo "count_branches: $* failed: $(tail -n 1 "$dir/said")" >&2
		exit 1
	}
	[ "$mode" = comm ] || return 0 # not every machine can measure reuse
	n=$("$build/reusetrack" report --json "$dir/out" | python3 -c '
import json, sys
print(sum(sum(t["samples"].values()) for t in json.load(sys.stdin)["threads"]))') ||
		exit 1
	samples=$((samples + n))
}

samples=0

perl -e 'srand 1; print join(" ", map { chr(97 + rand 26) x (1 + rand 5) } 1 .. 12),
	"\n" for 1 .. 60000' >"$dir/text" || exit 1
for loop in $("$build/microbench/mix" --list | awk '{ print $1 }'); do
	counted comm "$build/microbench/mix" "$loop" --cpu-seconds 0.4
done
counted comm gzip -9 -c "$dir/text"
counted comm sort -r "$dir/text"
counted comm sha256sum "$dir/text" "$dir/text" "$dir/text" "$dir/text"
counted comm awk '{ n[$1 % 1000] += length($0) } END { for (i in n) print i, n[i] }' \
	"$dir/text"
counted comm perl -e 'for (1 .. 600000) {
	$h{$_ % 5000} .= "x" if $_ % 3; $s += length($h{$_ % 77} // "") }'
counted reuse gzip -9 -c "$dir/text"

echo "branches counted in $samples samples"
[ "$samples" -ge $LEAST ] || {
	echo "count_branches: too few: PGO=1 needs a machine that samples" \
		"(reusetrack doctor)" >&2
	exit 1
}
