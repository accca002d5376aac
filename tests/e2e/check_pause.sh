#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_pause - programs pause and resume sampling through comdet.h
#
# covers: src/base/comdet.h preload/start/comdet_h.c preload/core/config.c

. "$(dirname "$0")/e2e.sh"
cd "$WORK" || exit 1
PAUSE=$B/tests/programs/help_pause

[ "$("$PAUSE" 0.01)" = without ] || fail "alone"
gcc -O2 -g -I"$TOP" -pthread -static -o static "$TOP/tests/programs/help_pause.c" &&
	[ "$(./static 0.01)" = without ] || fail "a static program"
g++ -x c++ -fsyntax-only -Wall -Werror -I"$TOP" - <<<'#include "src/base/comdet.h"
int main() { comdet_pause(); comdet_resume(); }' || fail "C++"

# Only what is between is found, in whichever way the program is recorded. On a
# busy machine the threads need longer to meet.
record()
{
	local seconds

	for seconds in 0.6 2 6 20; do
		[ "$("$TOOL" record -F 1000 -o out "$@" -- \
			"$PAUSE" $seconds 2>said)" = with ] ||
			fail "record $*: $(cat said)"
		json out r.json
		[ "$(ask r.json 'est("false_sharing") > 5')" != True ] || break
	done
	holds r.json 'est("false_sharing") > 5 and
		{l["object"].split("+")[0] for l in c["lines"]} == {"between"}' \
		"lines of record $*"
}
holds()
{
	[ "$(ask "$1" "$(tr '\n\t' '  ' <<<"$2")")" = True ] ||
		fail "$3: not $2: $("$TOOL" report out)"
}
record
record --delay -1
json out r.json
holds r.json 'any("comdet_resume" in p.get("note", "") for p in r["processes"])' \
	"the note"
samples='sum(sum(t["samples"].values()) for t in r["threads"])'

# Nothing is sampled without a comdet_resume().
"$TOOL" record -F 1000 -o never --delay -1 -- "$B/microbench/demo" >/dev/null 2>said
json never r.json
holds r.json "$samples == 0" "a program that never resumes"

# Where the program cannot end the delay, it is refused.
"$TOOL" record --outside --delay -1 -o refused -- "$PAUSE" 0.01 2>said &&
	fail "--outside --delay -1 is accepted"
grep -q 'delay -1' said && [ "$(wc -l <said)" = 1 ] || fail "it says: $(cat said)"
"$TOOL" record -s emu --delay -1 -o refused -- "$PAUSE" 0.01 2>said &&
	fail "-s emu --delay -1 is accepted"
grep -q 'delay -1' said || fail "it says: $(cat said)"
echo ok
