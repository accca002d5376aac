#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_run - the runner of the tests counts, selects, orders and kills
#
#	check_run.sh [CLAIM]
#
# tests/run runs small scripts and programs that this check writes.
#
# covers: tests

. "$(dirname "$0")/e2e.sh"

cd "$WORK" || exit 1
mkdir build
export B=$WORK/build

# script NAME LINE... - a test NAME with these lines
script()
{
	printf '%s\n' '#!/bin/bash' "${@:2}" >"$1"
	chmod +x "$1"
}

# check_program NAME CHECKS FAILURES STATUS - prints what a Check program does
check_program()
{
	script "$1" "echo '50%: Checks: $2, Failures: $3, Errors: 0'" "exit $4"
}

# run STATUS ARGUMENT... - tests/run prints to $WORK/said
run()
{
	local wanted=$1 status

	"$TOP/tests/run" "${@:2}" >said 2>&1
	status=$?
	[ $status = "$wanted" ] || fail "run ${*:2}: status $status: $(cat said)"
}

says()
{
	grep -qxE -- "$1" said || fail "no line '$1' in: $(cat said)"
}

closes_with()
{
	[ "$(tail -n 1 said)" = "$1" ] || fail "not '$1': $(tail -n 3 said)"
}

checks_are_counted_and_the_last_line_is_the_sum()
{
	check_program test_a 7 0 0
	script b.sh true
	script c.sh 'echo no such device; exit 77'
	run 0 suite=unit ./test_a suite=scripts ./b.sh ./c.sh
	closes_with '8 passed, 0 failed, 1 skipped'
	says 'ok   unit     test_a                      7  [0-9.]+ s'
	says 'unit +7 passed, 0 failed, 0 skipped'
	says 'scripts +1 passed, 0 failed, 1 skipped'
	says 'not run on this machine:'
	says '  scripts c.sh: no such device'
}

failures_are_counted_and_shown_in_full()
{
	check_program test_a 7 2 1
	check_program test_none 0 0 0
	script b.sh 'echo one; echo two; exit 3'
	script c.sh 'kill -SEGV $$'
	check_program test_ends_badly 4 0 1
	run 1 suite=s ./test_a ./test_none ./b.sh ./c.sh ./test_ends_badly \
		./absent.sh
	closes_with '8 passed, 7 failed, 0 skipped'
	says 'FAIL s        test_a                      2 of 7 .*'
	says 'FAIL s        test_none .* no checks counted'
	says 'FAIL s        b.sh .* exit status 3'
	says '    \| two'
	says 'FAIL s        c.sh .* killed by SIGSEGV'
	says 'FAIL s        test_ends_badly             1 of 4 .*'
	says 'FAIL s        absent.sh .*'
}

# is_gone PID TEXT - it has ended, or does so within a second
is_gone()
{
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		grep -q '^State:[^Z]*$' "/proc/$1/status" 2>/dev/null ||
			return 0
		sleep 0.1
	done
	fail "$2"
}

# The child ignores the request to end; a process of another group must stay.
a_test_that_exceeds_the_limit_is_killed_with_its_group()
{
	local other

	sleep 60 &
	other=$!
	script a.sh 'trap "" TERM' '(trap "" TERM; echo $BASHPID >child
		while :; do sleep 0.1; done) &' 'echo begun; wait; wait'
	sed "s/^GRACE_S = .*/GRACE_S = 1/" "$TOP/tests/run" >run
	chmod +x run
	./run --limit 4 ./a.sh >said 2>&1 && fail "status 0: $(cat said)"
	says 'FAIL .* not done after 4 s'
	says '    \| begun'
	is_gone "$(cat child)" 'its child lives'
	kill $other || fail 'a process of another group is gone'
}

what_a_test_leaves_running_is_killed()
{
	script a.sh 'sleep 60 & echo $! >child'
	run 0 ./a.sh
	is_gone "$(cat child)" 'its child lives'
}

# Each test waits for the file that the other one makes.
tests_run_side_by_side()
{
	local wait='until [ -e $2 ]; do sleep 0.01; done'

	rm -f one two
	script a.sh 'touch one' "${wait//\$2/two}"
	script b.sh 'touch two' "${wait//\$2/one}"
	run 0 --jobs 2 --limit 20 ./a.sh ./b.sh
	closes_with '2 passed, 0 failed, 0 skipped'
}

# A test of the serial lane finds no other running, and comes last.
serial_tests_run_alone_and_last()
{
	local alone='[ ! -e busy ] || exit 1; touch busy; sleep 0.3; rm busy'

	rm -f busy log
	script a.sh "# serial: it measures time" "$alone" 'echo a >>log'
	script b.sh "# serial: it measures time" "$alone" 'echo b >>log'
	script c.sh 'touch busy; sleep 0.3; rm busy; echo c >>log'
	run 0 --jobs 3 ./a.sh ./b.sh ./c.sh
	[ "$(head -n 1 log)" = c ] || fail "the serial lane came first"
}

words_and_patterns_select_tests()
{
	script check_mrc.sh 'exit 1'
	check_program test_mrc 3 0 0
	check_program test_mrc_long 3 0 0
	set -- suite=unit ./test_mrc ./test_mrc_long suite=scripts ./check_mrc.sh
	run 0 --only unit/ "$@"
	closes_with '6 passed, 0 failed, 0 skipped'
	run 0 --only '*/test_mrc' "$@"
	closes_with '3 passed, 0 failed, 0 skipped'
	run 1 --only 'test_mrc_long scripts/*' "$@"
	closes_with '3 passed, 1 failed, 0 skipped'
	run 0 --only mrc --list "$@"
	[ "$(cat said)" = "$(printf './%s\n' test_mrc test_mrc_long check_mrc.sh)" ] ||
		fail "listed: $(cat said)"
	run 1 --only nothing "$@"
	grep -q 'no test matches nothing' said || fail "$(cat said)"
}

the_longest_test_starts_first()
{
	local name

	rm -f log build/tests.times
	for name in short long middle; do
		script $name.sh "echo $name >>log"
	done
	printf 'tests/%s.sh %s 0\n' short 1 long 30 middle 5 >build/tests.times
	run 0 --jobs 1 ./short.sh ./long.sh ./middle.sh
	[ "$(paste -sd' ' log)" = 'long middle short' ] || fail "$(cat log)"
	grep -qE '^tests/long.sh [0-9.]+ [0-9.]+$' build/tests.times ||
		fail "times are not kept: $(cat build/tests.times)"
}

# The quick check chooses by folder and name.
each_source_has_a_quick_test()
{
	local untested chosen

	untested=$("$TOP/tests/quick" --untested) || fail 'tests/quick'
	[ -z "$untested" ] || fail "no quick test of $untested"
	chosen=$("$TOP/tests/quick" --list src/engine/board.c)
	[ "${chosen%%$'\n'*}" = tests/src/engine/test_board ] ||
		fail "the first test of board.c is not its own: $chosen"
}

make_help_has_each_target()
{
	local help target

	help=$(make -s -C "$TOP" help) || fail 'make help'
	for target in $(sed -nE 's/^\.PHONY: ([^$]*)$/\1/p' "$TOP/Makefile") \
		check check-unit check-asan check-tsan check-scripts; do
		case $target in
		all | help | test-programs) continue ;;
		esac
		grep -qwE -- "$target" <<<"$help" || fail "no $target"
	done
}

run_claims "${1-}" each_source_has_a_quick_test make_help_has_each_target \
	checks_are_counted_and_the_last_line_is_the_sum \
	failures_are_counted_and_shown_in_full \
	a_test_that_exceeds_the_limit_is_killed_with_its_group \
	what_a_test_leaves_running_is_killed tests_run_side_by_side \
	serial_tests_run_alone_and_last words_and_patterns_select_tests \
	the_longest_test_starts_first
