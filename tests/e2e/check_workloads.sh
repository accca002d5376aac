#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_workloads - every workload is right, and can be traced and simulated
#
# covers: microbench/workloads preload/emu analysis/model

. "$(dirname "$0")/e2e.sh"

cd "$WORK" || exit 1
workloads=$B/microbench/workloads
n=0
for source in "$TOP"/microbench/workloads/*.c; do
	name=$(basename "$source" .c)
	for threads in 1 2 4 7; do
		"$workloads/$name" --size 1 --threads $threads >out.txt 2>&1 ||
			fail "$name with $threads threads: $(cat out.txt)"
	done
	grep -qF "| \`$name\` |" "$TOP/docs/workloads.md" ||
		fail "docs/workloads.md has no $name"
	n=$((n + 1))
done
[ $n -ge 16 ] || fail "only $n workloads"
"$workloads/lu" --size 0 2>err && fail 'a size of 0 was accepted'
grep -q 'not a number' err || fail "$(cat err)"

command -v qemu-x86_64 >/dev/null ||
	skip 'qemu-x86_64 is missing: install the package qemu-user'

# One of each kind of waiting.
for name in bfs fluid kmeans pipeline producers stencil table unbalanced; do
	rm -rf out
	"$TOOL" record -s emu -m trace -o out -- "$workloads/$name" --size 1 \
		>out.txt 2>err || fail "$name under QEMU: $(cat out.txt err)"
	"$TOOL" simulate --json --machine golden-c3 out >json 2>err ||
		fail "$name cannot be simulated: $(cat err)"
	python3 - "$name" <<-'EOF' || fail "$name: $(cat json)"
		import json, sys
		s = json.load(open('json'))
		sync = [t['stack']['sync'] for t in s['threads']]
		adds_up = all(abs(sum(t['stack'].values()) - t['cycles']) < 1
		              for t in s['threads'])
		sys.exit(not (len(sync) >= 4 and max(sync) > 0 and adds_up))
	EOF
done
echo "$n workloads are right with 1 to 7 threads, 8 are simulated"
