#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_attach - attach finds the sharing of running programs, and that alone
#
# C, static C and C++; threads and processes that share memory; names of lines
# and sources; a report while the file is written.
#
# covers: analysis/outside analysis/cmd/attach.c

. "$(dirname "$0")/e2e.sh"
. "$(dirname "$0")/attach.sh"
PROGRAMS=$TOP/tests/programs
PAIR=$B/tests/programs/help_shared_pair
cd "$WORK" || exit 1
can_attach

gcc -O2 -g -pthread -o c "$PROGRAMS/attach/pair.c" &&
	gcc -O2 -g -pthread -static -o static "$PROGRAMS/attach/pair.c" &&
	g++ -O2 -g -pthread -o cxx "$PROGRAMS/attach/pair.cc" ||
	fail "cannot compile the programs"

# The line with most detections, and where it is stored to.
NAMED='"counters" in c["lines"][0]["object"] and "pair.c" in str(c["sites"])'

for program in ./c ./static ./cxx; do
	start $program false
	finds "$program false" "est('false_sharing') > 5 and $NAMED" "$pid"
	holds r.json 'c["true_sharing"]["estimate"] == 0' "$program false"
	finish
	start $program true
	finds "$program true" "est('true_sharing') > 5 and $NAMED" "$pid"
	holds r.json 'c["false_sharing"]["estimate"] == 0' "$program true"
	finish
	start $program clean
	silent "$program clean" "$pid"
	finish
done

# Between processes: the line is one, whatever its address in each.
BETWEEN='len(r["processes"]) == 2 and len(c["lines"]) == 1 and
	{r["threads"][t]["process"] for t in c["lines"][0]["threads"]} == {0, 1}'
BETWEEN=$(echo $BETWEEN)

for kind in memfd anonymous system_v posix; do
	start "$PAIR" $kind false
	finds "$kind false" "est('false_sharing') > 3 and $BETWEEN" $line
	holds r.json 'c["true_sharing"]["estimate"] == 0' "$kind false"
	finish
done
start "$PAIR" memfd true
finds "memfd true" "est('true_sharing') > 3 and $BETWEEN" "$pid" --children
holds r.json 'c["false_sharing"]["estimate"] == 0' "memfd true"
finish
start "$PAIR" memfd clean
silent "memfd clean" $line
finish
start "$PAIR" private false
silent "private memory at one address" $line
finish

# One thread alone is watched with --tid.
start ./c false
tid=$(ls "/proc/$pid/task" | grep -vx "$pid")
finds "--tid" "len(r['threads']) == 1 and r['threads'][0]['tid'] == $tid" \
	--tid "$tid"

# A report is there while the file is written, and Ctrl-C ends it well.
watch "$pid"
until_true "while it runs" 'sum(t["interrupts"] for t in r["threads"]) > 5'
holds r.json 'r["processes"][0]["state"] == "running"' "while it runs"
unwatch
grep -q 'samples, .* in .*out; next: reusetrack report ' attach ||
	fail "after SIGINT: $(cat attach)"
holds r.json 'r["processes"][0]["state"] == "stopped"' "after SIGINT"
finish

# It ends with the program, whose profile is then complete.
start ./c false
"$TOOL" attach -o ended "$pid" 2>err &
watcher=$!
sleep 0.5
finish
wait $watcher || fail "after the end: status $?: $(cat err)"
json ended ended.json
holds ended.json 'r["processes"][0]["state"] == "ended"' "after the end"
echo ok
