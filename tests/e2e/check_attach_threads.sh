#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_attach_threads - threads and processes that are short, many, or new
#
# Threads that live 100, 10 and 2 ms are sampled like long ones; 500 live
# threads, thousands of short ones, forks, and programs that are executed do not
# disturb it; no detection is charged to a process that had no part in it, also
# where the kernel uses numbers again.
#
# covers: analysis/outside/clocks.c analysis/outside/follow.c

. "$(dirname "$0")/e2e.sh"
. "$(dirname "$0")/attach.sh"
PROGRAMS=$B/tests/programs
cd "$WORK" || exit 1
can_attach

# unharmed WANTED COMMAND... - watch it from its start to its end; it prints
# WANTED, unless that is empty
unharmed()
{
	local wanted=$1

	shift
	rm -rf out out.old
	"$TOOL" record --outside --children -o out -- "$@" >said 2>err ||
		fail "$*: status $?: $(cat err)"
	[ -z "$wanted" ] || [ "$(cat said)" = "$wanted" ] ||
		fail "$*: it printed $(cat said)"
}

# The same, and the report is in r.json.
watched()
{
	unharmed "$@"
	json out r.json
}

# At the default rate, a sample in 5 ms. By the CPU time that the threads had:
# a busy machine delays ticks of all threads alike, so the long thread's rate is
# the measure, and four standard errors are chance.
threads_of_all_lengths_are_sampled()
{
	watched "" "$PROGRAMS/help_short_threads" 1 100 10 2
	python3 - said r.json <<-'EOF2' || fail "see above"
	import json, sys
	cpu = dict(tuple(map(int, line.split())) for line in open(sys.argv[1]))
	threads = json.load(open(sys.argv[2]))['threads']
	n = {ms: sum(t['interrupts'] for t in threads
	             if t['name'] == f'{ms} ms') for ms in cpu}
	bad = n[0] < 80
	for ms, least in (100, .9), (10, .7), (2, .7):
	    share = n[ms] / cpu[ms] / (n[0] / cpu[0]) if n[0] else 0
	    error = (1 / max(n[ms], 1) + 1 / max(n[0], 1)) ** .5
	    bad |= share + 4 * error < least
	    print(f'{ms} ms: {n[ms] * 5e6 / cpu[ms]:.3f} of the CPU time is'
	          f' sampled, {share:.3f} of the long thread\'s rate,'
	          f' +- {error:.3f}')
	sys.exit(bool(bad))
	EOF2
}

# Each of the live threads has 8 ms of CPU time. Threads of less than a tick
# (1 ms) have no sample, but are followed.
many_threads_are_followed()
{
	watched "" "$PROGRAMS/help_threads" live 500 8
	holds r.json 'sum(t["interrupts"] for t in r["threads"]) > 500 * 8 / 5 / 4' \
		"500 live threads"
	unharmed "$("$PROGRAMS/help_threads" short 20)" \
		"$PROGRAMS/help_threads" short 10000
}

# own_processes WHAT - each detection is of two threads of one process
own_processes()
{
	holds r.json 'all(r["threads"][x["a"]]["process"] ==
		r["threads"][x["b"]]["process"] for x in c["cells"])' "$1"
}

# Each child's two threads share a line, at an address that all children have.
forks_and_executed_programs_are_told_apart()
{
	watched 120 "$PROGRAMS/help_forks" 40 20 threads
	holds r.json 'len(r["processes"]) > 20 and est("total") > 0' "forks"
	own_processes "forks"
	holds r.json 'est("true_sharing") == 0' "forks"
	watched 60 "$PROGRAMS/help_forks" 20 20 exec
	holds r.json 'len(r["processes"]) > 10 and est("total") == 0' "exec"
	unharmed 900 "$PROGRAMS/help_forks" 300 0.1
}

# In a pid namespace of our own, the next processes get the same numbers.
a_number_used_again_is_another_process()
{
	unshare -p --fork --mount-proc sh -c \
		'echo 300 >/proc/sys/kernel/ns_last_pid' 2>/dev/null ||
		{ echo "numbers cannot be chosen here: not tried"; return; }
	cat >again <<-'EOF2'
	for i in 1 2 3 4 5 6; do
		echo 3000 >/proc/sys/kernel/ns_last_pid
		"$1" 1 60 threads
	done
	EOF2
	rm -rf out
	unshare -p --fork --mount-proc "$TOOL" record --outside --children \
		-F 1000 -o out -- sh again "$PROGRAMS/help_forks" >said 2>err ||
		fail "numbers used again: status $?: $(cat err)"
	[ "$(sort -u said)" = 3 ] || fail "numbers used again: $(cat said)"
	json out r.json
	holds r.json 'max([p["pid"] for p in r["processes"]].count(n)
		for n in range(3001, 3003)) >= 3' "numbers used again"
	own_processes "numbers used again"
	holds r.json 'est("total") > 0 and est("true_sharing") == 0' \
		"numbers used again"
}

run_claims "${1:-}" threads_of_all_lengths_are_sampled \
	many_threads_are_followed \
	forks_and_executed_programs_are_told_apart \
	a_number_used_again_is_another_process
echo ok
