#!/bin/bash
# SPDX-License-Identifier: MIT
#
# agreement - estimates of transfers against every access of the same run
#
#	agreement.sh hw|sw
#
# Each row is a program whose lines were watched, with debug registers or in
# software, while every access of it went through the exact directory: transfers
# counted, how far the estimate is off, both by stores to the lines, false
# sharing, counted, how many points the estimate is off, traps. Two threads on
# two processors, with real-time priority where that is permitted, because a
# thread that waits for a processor shares nothing. Programs run SECONDS_EACH
# (default 2) or so many rounds.

set -u
TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
SECONDS_EACH=${SECONDS_EACH:-2}
WATCH=${1:-hw}
WORK=$(mktemp -d) || exit 1
trap 'rm -rf "$WORK"' EXIT
unset "${!COMDET_@}"
FIRST=()
chrt -r 3 true 2>/dev/null && FIRST=(chrt -r 3)

# row PERIOD PROGRAM ARGUMENT...
row()
{
	local period=$1 program=$2

	shift 2
	rm -rf "$WORK/out"
	"${FIRST[@]}" env COMDET_WATCH="$WATCH" COMDET_EXACT=1 \
		COMDET_PERIOD="$period" COMDET_OUT="$WORK/out" \
		LD_PRELOAD="$B/libcomdet.so" "$B/$program" "$@" >/dev/null ||
		exit 1
	"$B/reusetrack" report --json "$WORK/out" | python3 -c '
import json, sys
r = json.load(sys.stdin)
c, e = r["communication"], r["exact"]
t, f = c["total"], c["false_sharing"]
stores = sum(l["stores"] for l in e["lines"] if l["all"] > 100)
share = f["estimate"] / max(1, t["estimate"])
exact = e["false"] / max(1, e["all"])
print("| %s | %s | %d | %+.0f [%+.0f, %+.0f] | %.2f | %.2f | %.1f | %+.1f | %d |" % (
    sys.argv[1], sys.argv[2], e["all"],
    *(100 * (t[k] / max(1, e["all"]) - 1) for k in ("estimate", "low", "high")),
    e["all"] / max(1, stores), t["estimate"] / max(1, stores),
    100 * exact, 100 * (share - exact),
    sum(t["traps"] for t in r["threads"])))' "${program##*/} $*" "$period"
}

# free PERIOD PROGRAM ARGUMENT... - threads that wait for nothing
free()
{
	row "$1" "microbench/instr/$2" "${@:3}" --threads 2 --pin compact \
		--seconds "$SECONDS_EACH" | sed 's/ --threads [^|]* |/ |/'
}

echo '| program | period | transfers | error, % | a store | estimated | false, % | points | traps |'
echo '|---|---|---|---|---|---|---|---|---|'
for share in 0 0.1 0.25 0.5 0.75 0.9 1; do
	free 50000 false_sharing --false $share
done
free 50000 write_volume --sharing 1
free 50000 write_volume --sharing 0.5
free 20000 write_volume --sharing 0.1
free 5000 write_volume --sharing 0.01
free 500 write_volume --sharing 0.001
free 50000 point_to_point
for what in same other both; do
	row 100 tests/programs/instr/transfers 30000 1 $what
	row 100 tests/programs/instr/transfers 30000 2 $what
done
