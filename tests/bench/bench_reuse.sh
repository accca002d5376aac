#!/bin/bash
# SPDX-License-Identifier: MIT
#
# bench_reuse - measure the speed of exact stack distances and of conversions
#
# The input is uniformly random lines, and the first ten million loads and
# stores of real programs, which valgrind's lackey prints. The bench takes one
# core for some two minutes.

. "$(dirname "$0")/../e2e/e2e.sh"

BENCH=$B/tests/bench/bench_reuse
ACCESSES=${ACCESSES:-10000000}

"$BENCH" random 1000000 20000000
seq 30000 -1 1 >"$WORK/numbers"
head -c 300000 "$BENCH" >"$WORK/bytes"
mkfifo "$WORK/trace"
while read -r name command; do
	# shellcheck disable=SC2086
	valgrind --tool=lackey --trace-mem=yes --log-fd=9 $command \
		9>"$WORK/trace" >/dev/null 2>&1 </dev/null &
	grep -a -m "$ACCESSES" -E '^ [LSM]' "$WORK/trace" |
		"$BENCH" trace "$name"
	# lackey would go on without a reader, and xz after SIGTERM.
	kill -KILL $! 2>/dev/null
	wait $! 2>/dev/null
done <<-EOF
	sort sort $WORK/numbers
	gzip gzip -c $WORK/bytes
	xz xz -1 -T1 -c $WORK/bytes
	python3 /usr/bin/python3 -c sum(range(1000000))
EOF
"$BENCH" convert
