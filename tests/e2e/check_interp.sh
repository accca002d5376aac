#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_interp - predicted accesses of real programs agree with single steps
#
# help_stepper stops each program at random moments, lets the interpreter
# predict its next accesses, and steps the program along the prediction. At
# least 50,000 accesses of six programs are compared, and all must agree. The
# backward decoder may be wrong in one of a hundred answers about the access
# that an interrupt stalled on, and in none about the access that trapped.
# Programs that are not installed are named and left out.

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
stepper=$B/tests/programs/help_stepper
each=6000 # accesses compared in each program

[ -x "$stepper" ] || { echo "help_stepper is not built"; exit 1; }
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
"$stepper" -w 1 -- sort /dev/null >"$dir/log" 2>&1
if [ $? = 2 ]; then
	echo "ptrace is not permitted here"
	exit 77
fi

seq 1 300000 >"$dir/numbers"
numbers=$(printf "$dir/numbers %.0s" {1..40})
echo 'scale=600; 4*a(1)' >"$dir/pi"
seq 1 2 300000 | xz -1 >"$dir/numbers.xz"
cat >"$dir/sum.c" <<-'END'
	#include <stdio.h>
	#include <stdlib.h>
	#include <string.h>
	int main(void) { printf("%d\n", rand()); return 0; }
END
gcc -E "$dir/sum.c" >"$dir/sum.i" 2>/dev/null
cc1=$(gcc -print-prog-name=cc1 2>/dev/null)
python=/usr/bin/python3

total=0 programs=0 bad=0 missing=
stalled_answers=0 stalled_wrong=0 trapped_answers=0 trapped_wrong=0
printf '%-12s %8s %9s %11s %9s %8s %8s\n' program windows accesses \
	divergences stalled trapped seconds

# try NAME PROGRAM ARGUMENT... - compare the program's accesses, print a row
try()
{
	local name=$1 start=$SECONDS

	shift
	if ! command -v "$1" >/dev/null; then
		missing="$missing $name"
		return
	fi
	timeout 600 "$stepper" -n $each -- "$@" >"$dir/log" 2>&1 </dev/null
	local status=$?
	set -- $(sed -n 's/^total windows \(.*\) accesses \(.*\) divergences \(.*\) decoders \(.*\)$/\1 \2 \3 \4/p' \
		"$dir/log")
	local windows=${1:-0} accesses=${2:-0} diverged=${3:-0}
	set -- $(sed -nE 's/^(stalled|trapped): .* wrong ([0-9]+) of ([0-9]+) .*/\2 \3/p' \
		"$dir/log")
	stalled_wrong=$((stalled_wrong + ${1:-0}))
	stalled_answers=$((stalled_answers + ${2:-0}))
	trapped_wrong=$((trapped_wrong + ${3:-0}))
	trapped_answers=$((trapped_answers + ${4:-0}))
	printf '%-12s %8d %9d %11d %9s %8s %8d\n' "$name" "$windows" \
		"$accesses" "$diverged" "${1:-0}/${2:-0}" "${3:-0}/${4:-0}" \
		$((SECONDS - start))
	total=$((total + accesses))
	[ "$accesses" = 0 ] || programs=$((programs + 1))
	if [ $status != 0 ]; then
		bad=$((bad + 1))
		grep -vE '^(windows|blocked|total|unchecked)' "$dir/log" |
			head -n 12 | sed 's/^/    /'
	fi
}

try gzip gzip -9 -c "$dir/numbers"
try xz xz -c "$dir/numbers"
try unxz xz -dc "$dir/numbers.xz"
try bzip2 bzip2 -c "$dir/numbers"
try sort sort -R "$dir/numbers"
try python3 $python -c 'print(sum(i * 1.5 for i in range(300000)))'
try perl perl -e 'for ($i = 0; $i < 900000; $i++) { $h{$i % 999} .= "a" }'
try awk awk '{ s += $1 * 1.5 } END { print s }' "$dir/numbers"
try grep grep -P '(1|2)+[3-5]*9x$' "$dir/numbers"
try openssl openssl dgst -sha256 $numbers
try sqlite3 sqlite3 :memory: 'with recursive c(x) as (select 1 union all
	select x + 1 from c where x < 200000) select sum(x * x) from c'
try bash bash -c 'for ((i = 0; i < 60000; i++)); do s=$((s + i)); done'
try bc bc -l "$dir/pi"
[ -z "$cc1" ] || try cc1 "$cc1" -O2 -quiet -o /dev/null "$dir/sum.i"

[ -z "$missing" ] || echo "not installed:$missing"
if [ $programs -lt 6 ] && [ $bad = 0 ]; then
	echo "only $programs of the programs are installed"
	exit 77
fi
status=0
[ $bad = 0 ] && [ $total -ge 50000 ] || status=1
[ $((stalled_wrong * 100)) -le $stalled_answers ] || status=1
[ $trapped_wrong = 0 ] && [ $trapped_answers -gt 0 ] || status=1
echo "$total accesses of $programs programs compared, $bad programs differ;" \
	"backward: stalled $stalled_wrong of $stalled_answers wrong," \
	"trapped $trapped_wrong of $trapped_answers"
exit $status
