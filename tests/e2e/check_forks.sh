#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_forks - with --children a fork costs little, and leaves a file only if
# the child was sampled
#
# covers: preload/start/child.c preload/start/process.c preload/hooks/process.c
# covers: preload/sources/clock/wake.c preload/hooks/limit.c

. "$(dirname "$0")/e2e.sh"
HELP=$B/tests/programs/help_forks

# children OUT COMMAND... - run it under the library, which follows children
children()
{
	COMDET_CHILDREN=1 preload "$@" 2>"$WORK/err" >"$WORK/stdout" ||
		fail "${*:2}: status $?: $(cat "$WORK/err")"
	[ ! -s "$WORK/err" ] || fail "${*:2}: $(cat "$WORK/err")"
}

# files OUT - how many processes have one
files()
{
	find "$1" -name '*.cdp' | wc -l
}

sums_to()
{
	[ "$(cat "$WORK/stdout")" = "$1" ] ||
		fail "the children's statuses sum to $(cat "$WORK/stdout"), not $1"
}

# Chance gives a child of no work a sample once in a hundred times, or so.
a_child_without_a_sample_has_no_file()
{
	COMDET_FREQ=20 children "$WORK/out" "$HELP" 100 0
	sums_to 300
	[ "$(files "$WORK/out")" -le 20 ] ||
		fail "$(files "$WORK/out") files of 101 processes"
	"$TOOL" report "$WORK/out" >/dev/null || fail "report: status $?"
}

# calls COMMAND... - print the system calls of a child, in the mean
calls()
{
	"$B/tests/programs/help_calls" "$@" 2>"$WORK/calls" >/dev/null
	case $? in
	0) ;;
	77) skip "$(cat "$WORK/calls")" ;;
	*) fail "$*: $(cat "$WORK/calls")" ;;
	esac
	tail -n 1 "$WORK/calls" | awk '$1 != 50 { exit 1 } { print int($2 / $1) }' ||
		fail "not 50 children: $(cat "$WORK/calls")"
}

# It had 240 more when each child began anew.
a_child_makes_few_system_calls()
{
	local without with

	without=$(calls "$HELP" 50 0) || exit
	with=$(COMDET_FREQ=20 calls env COMDET_CHILDREN=1 \
		COMDET_OUT="$WORK/calls.out" LD_PRELOAD="$LIB" "$HELP" 50 0) ||
		exit
	echo "a child makes $without system calls, $with when it is followed"
	[ "$with" -le $((without + 20)) ] || fail "too many"
}

# faults COMMAND... - the page faults of a fork, in parent and child; the least of
# three runs, since the kernel sometimes has to try again
faults()
{
	python3 -c '
import resource, subprocess, sys
def so_far():
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt
runs = []
for _ in range(3):
    before = so_far()
    subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
    runs.append(so_far() - before)
print(min(runs) // 1000)' "$@"
}

# The child has no page of code, and copies each that it writes; so does its
# parent. There were 13 more when our code and variables for a fork lay all over
# the library, 7 when the Makefile linked them beside each other, 2 or 3 since the
# child writes one page and calls nothing of libc.
a_fork_faults_in_few_pages()
{
	local without with

	without=$(faults "$HELP" 1000 0) || exit
	with=$(COMDET_FREQ=20 faults env COMDET_CHILDREN=1 \
		COMDET_OUT="$WORK/faults.out" LD_PRELOAD="$LIB" \
		"$HELP" 1000 0) || exit
	echo "a fork has $without page faults, $with when it is followed"
	[ "$with" -le $((without + 5)) ] || fail "too many"
}

# mappings [VARIABLE=VALUE...] - of a child of bash that executes nothing; the least
# of three, since a child that is sampled has more
mappings()
{
	# shellcheck disable=SC2016
	for _ in 1 2 3; do
		env "$@" bash -c '(
			n=0
			while read -r _; do n=$((n + 1)); done </proc/self/maps
			echo $n
		)
		:'
	done | sort -n | head -n 1
}

# Each is copied by the fork and removed at the child's end. There were 14: six of
# the library, five of Zydis, three of memory, one of them 68 KiB of the parent's
# thread.
a_child_inherits_few_mappings()
{
	local without with

	without=$(mappings)
	with=$(mappings COMDET_FREQ=20 COMDET_CHILDREN=1 \
		COMDET_OUT="$WORK/mappings.out" LD_PRELOAD="$LIB")
	echo "a child has $without mappings, $with when it is followed"
	[ "$with" -le $((without + 11)) ] || fail "too many"
}

# works WAY FILES EXPRESSION - the profile of a child that works for long; FILES
# is a pattern
works()
{
	children "$WORK/out" "$HELP" 1 400 "$1"
	sums_to 3
	# shellcheck disable=SC2053
	[[ $(files "$WORK/out") == $2 ]] ||
		fail "$1: $(ls "$WORK/out") instead of $2 files"
	json "$WORK/out" "$WORK/json"
	holds "$WORK/json" "$3" "$1"
}

all_samples='sum(sum(t["samples"].values()) for t in r["threads"])'
ended='[p["state"] for p in r["processes"]]'

a_child_that_works_is_profiled()
{
	local way

	for way in '' trap; do
		works "$way" 2 "$all_samples >= 20"
		holds "$WORK/json" "$ended == ['ended'] * 2" "$way: its end"
	done
	# The child between, or before, may have a sample while it forks or executes.
	works deep '[23]' "$all_samples >= 20"
	works exec '[23]' "$all_samples >= 20"
	works threads 2 "$all_samples >= 40"
	holds "$WORK/json" 'est("total") > 0' 'what the threads share'
}

a_child_inherits_a_held_signal()
{
	works held 2 "$all_samples >= 20"
}

# Each began its profile too late: without rights to make its file.
a_child_that_gives_up_rights_is_profiled()
{
	local way ways='fsize nofile'

	[ "$(id -u)" != 0 ] || ways="$ways user root"
	for way in $ways; do
		works "$way" 2 "$all_samples >= 20"
	done
}

# The sampling clock of a process without a file must not outlive its reasons. It
# comes once in the second after the child began: hardly ever before the child asks
# for the filter, and surely while it works.
a_child_in_a_sandbox_is_left_alone()
{
	COMDET_FREQ=1 COMDET_CHILDREN=1 preload "$WORK/out" "$HELP" 1 1200 filter \
		>"$WORK/stdout" 2>"$WORK/err" || fail "status $?"
	sums_to 3
	grep -q 'profiling stopped: the program uses seccomp' "$WORK/err" ||
		fail "it says $(cat "$WORK/err")"
	[ "$(files "$WORK/out")" = 1 ] || fail "$(ls "$WORK/out")"
}

a_child_outlives_its_parent()
{
	local i

	COMDET_CHILDREN=1 preload "$WORK/out" "$HELP" 1 300 daemon \
		>"$WORK/stdout" 2>"$WORK/err" || fail "status $?"
	for i in {1..600}; do
		[ "$(cat "$WORK/stdout")" = done ] && break
		sleep 0.1
	done
	for i in {1..100}; do
		json "$WORK/out" "$WORK/json"
		[ "$(ask "$WORK/json" "$ended == ['ended'] * 2")" = True ] && return
		sleep 0.1
	done
	fail "the child's file: $(ask "$WORK/json" "$ended")"
}

# samples OUT - print how many there are
samples()
{
	json "$1" "$WORK/json"
	ask "$WORK/json" "$all_samples"
}

# Children of half a period are sampled every other time or less, since the
# first interrupt waits for a tick, and a busy machine has ticks at odd times.
short_children_are_sampled_now_and_then()
{
	local n

	COMDET_FREQ=200 children "$WORK/out" "$HELP" 400 2.5
	n=$(samples "$WORK/out") || exit
	echo "$n samples of 400 children of half a period"
	[ "$n" -ge 20 ] && [ "$n" -le 300 ] || fail "150 to 200 were expected"
}

# One in eight is sampled, or fewer on a busy machine. It was one in three: most
# of those whose work lasted for a tick.
a_failed_exec_does_not_bring_a_sample()
{
	local n

	COMDET_FREQ=50 children "$WORK/out" "$HELP" 400 2.5 absent
	sums_to 1200
	n=$(files "$WORK/out")
	echo "$n files of 400 children that failed to execute a program"
	[ "$n" -ge 5 ] && [ "$n" -le 80 ] || fail "30 to 50 were expected"
}

run_claims "${1:-}" a_child_without_a_sample_has_no_file \
	a_child_makes_few_system_calls a_fork_faults_in_few_pages \
	a_child_inherits_few_mappings a_child_that_works_is_profiled \
	a_failed_exec_does_not_bring_a_sample \
	a_child_inherits_a_held_signal a_child_that_gives_up_rights_is_profiled \
	a_child_in_a_sandbox_is_left_alone a_child_outlives_its_parent \
	short_children_are_sampled_now_and_then
