#!/bin/bash
# SPDX-License-Identifier: MIT
#
# bench_simulate - measure what traces and simulations cost
#
#	bench_simulate.sh [WORKLOAD...]      (make bench-simulate BENCH="...")
#
# Each workload is recorded with SIZE million instructions (default 5), and
# its trace simulated on MACHINE (default golden-c3) in ROUNDS rounds (default
# 3), with one design and with six, which differ in the size of L2 and the
# width, on one and on two processors. The bench prints
#
#	record	CPU time of the recording over that of the program itself, both
#		with RECORD million instructions (default 300; 0: not measured,
#		which leaves a few minutes)
#	bytes	of the trace for each instruction
#	MIPS	million instructions for each second of CPU time, one design
#	MB	the most memory that this takes
#	1, 2	million instructions of all designs for each second of run time,
#		on one processor and on two, and their ratio
#
# as medians of the rounds, and under them what these figures are to be. The
# last two need a machine of two processors with nothing else to do. The rounds
# alternate which of them comes first.

set -u
TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
export ROUNDS=${ROUNDS:-3} SIZE=${SIZE:-5} RECORD=${RECORD:-300}
export MACHINE=${MACHINE:-golden-c3} B
unset "${!COMDET_@}"
WORK=$(mktemp -d) || exit 1
trap 'rm -rf "$WORK"' EXIT
export WORK LC_ALL=C

exec python3 "$TOP/tests/bench/bench_simulate.py" "$@"
