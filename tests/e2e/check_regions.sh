#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_regions - programs name regions through comdet.h, and the report counts
#
# covers: src/base/comdet.h preload/start/comdet_h.c preload/sources/regions.c
# covers: src/store/named_regions.c analysis/report/regions.c

. "$(dirname "$0")/e2e.sh"
cd "$WORK" || exit 1
REGIONS=$B/tests/programs/help_regions

[ "$("$REGIONS" 0.01)" = without ] || fail "alone"
gcc -O2 -g -I"$TOP" -pthread -static -o static "$TOP/tests/programs/help_regions.c" &&
	[ "$(./static 0.01)" = without ] || fail "a static program"
g++ -x c++ -fsyntax-only -Wall -Werror -I"$TOP" - <<<'#include "src/base/comdet.h"
int main() { comdet_begin("a"); comdet_end("a"); }' || fail "C++"

region='{g.get("name", ""): g for g in r["regions"]}'
fight='[g for g in r.get("regions", []) if g.get("name") == "fight"]'
holds()
{
	[ "$(ask r.json "$(tr '\n\t' '  ' <<<"$1")")" = True ] ||
		fail "$2: not $1: $("$TOOL" report out)"
}
# The detections are of "fight", but for one in a thousand runs in which a sample
# hits the barrier that the threads meet at. On a busy machine they need longer to
# meet. What is counted by region is all that there is.
record()
{
	local seconds program=$1

	shift
	for seconds in 0.3 1 3 10 30; do
		[ "$("$TOOL" record -o out "${options[@]}" -- "$program" \
			$seconds "$@" 2>said)" = with ] ||
			fail "record ${options[*]} $program: $(cat said)"
		json out r.json
		[ "$(ask r.json "sum(g['false'] for g in $fight) > 20")" != True ] ||
			break
	done
	holds "$region['fight']['false'] > 20" "$program $*"
	holds "sum(g['detections'] for n, g in $region.items()
		if n != 'fight') <= 1" "$program $*: detections elsewhere"
	holds "sum(g['detections'] for g in r['regions']) == int(est('false_sharing')
		+ est('true_sharing'))" "$program $*: the sum of detections"
	holds "sum(sum(g['samples'].values()) for g in r['regions']) ==
		sum(sum(t['samples'].values()) for t in r['threads'])" \
		"$program $*: the sum of samples"
	"$TOOL" report out >text || fail "report"
	grep -q ' fight$' text || fail "the text: $(cat text)"
}
options=(-F 1000)
record "$REGIONS"
holds "set($region) <= {'all', 'fight', 'peace', ''} and
	sum($region['peace']['samples'].values()) > 0" "names"
options=(-F 1000 --children)
record "$REGIONS" fork
echo ok
