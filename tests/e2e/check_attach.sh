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
	# Memory has no names to miss.
	"$TOOL" report out >report
	! grep -q 'Names that are missing' report || fail "$kind: $(tail report)"
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

# Where each process is profiled alone, the report does not say "no sharing" and
# nothing more.
gcc -O2 -o both -x c - <<'EOF2' || fail "cannot compile both"
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
int main(void)
{
	volatile long *word = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	fork();
	while (clock() < CLOCKS_PER_SEC / 4)
		for (int i = 0; i < 100000; i++)
			++*word;
	wait(NULL);
}
EOF2
"$TOOL" record --children -F 1000 -o alone -- ./both 2>err || fail "both: $(cat err)"
said=$("$TOOL" report alone --no-symbols | head -8 | tr '\n' ' ')
[[ $said = *'between processes was not looked for'* ]] ||
	fail "each alone: the report says $said"

# One thread alone is watched with --tid.
start ./c false
tid=$(ls "/proc/$pid/task" | grep -vx "$pid")
finds "--tid" "len(r['threads']) == 1 and r['threads'][0]['tid'] == $tid" \
	--tid "$tid"
finish

# Not even the threads that it makes are watched beside it.
"$B/tests/programs/help_short_threads" 1 20 20 20 20 20 20 20 20 >/dev/null &
pid=$!
until grep -qs '^20 ms' "/proc/$pid/task"/*/comm; do
	kill -0 $pid 2>/dev/null || fail "help_short_threads ended"
	sleep 0.01
done
"$TOOL" attach -F 1000 --tid "$pid" --duration 0.5 -o maker 2>err ||
	fail "--tid of a maker: status $?: $(cat err)"
finish
json maker r.json
holds r.json "all(t['tid'] == $pid for t in r['threads'])" "--tid of a maker"

# A report is there while the file is written, and Ctrl-C ends it well.
start ./c false
watch "$pid"
until_true "while it runs" 'sum(t["interrupts"] for t in r["threads"]) > 5'
holds r.json 'r["processes"][0]["state"] == "running"' "while it runs"
unwatch
grep -q 'samples, .* in .*out; next: reusetrack report ' attach ||
	fail "after SIGINT: $(cat attach)"
holds r.json 'r["processes"][0]["state"] == "stopped"' "after SIGINT"
finish

# A budget of 1 % of a processor, where samples would take a third of one. What
# attaching itself takes is not in it.
start ./c false
"$TOOL" attach -F 5000 --budget 1 --duration 4 -o frugal "$pid" 2>err ||
	fail "--budget: status $?: $(cat err)"
finish
taken=$(sed -n 's/.*CPU time, \(.*\) % of a processor.*/\1/p' err)
python3 -c "import sys; sys.exit(not 0 < float('$taken') < 4)" ||
	fail "--budget 1: the watcher took $taken %"
json frugal r.json
holds r.json 'r["loss"]["watcher_budget"] > 0' "--budget: what was let go"
holds r.json 'sum(sum(t["samples"].values()) for t in r["threads"]) > 0' \
	"--budget: samples"

# Idle, with a child at work that is not watched: that is what the report says.
start sh -c 'sleep 1000 & echo ready; wait'
"$TOOL" attach --duration 0.1 -o idle "$pid" 2>err || fail "idle: $(cat err)"
grep -q 'not profiled: 1; --children includes them' err || fail "idle: $(cat err)"
said=$("$TOOL" report idle --no-symbols | head -5 | tr '\n' ' ')
[[ $said = *'watch it while it works, or the processes that it started, with --children'* ]] ||
	fail "idle: the report says $said"
kill "$(pgrep -P "$pid")"
finish

# It ends with the program, whose profile is then complete.
start ./c false
ends_with "$pid"
json ended ended.json
holds ended.json 'r["processes"][0]["state"] == "ended"' "after the end"
echo ok
