#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_hooks - the preload changes nothing that a program can see
#
# Every case of the programs help_hook_* runs without a preload, with the hooks
# on a runtime that only counts (hooks/fake_runtime.c, ten times the sampling
# rate), and with libcomdet.so. Output and exit status must be the same. Cases
# with pending signals run once more with hooks that take long to give a signal
# back, so that a sample comes meanwhile. The counts of the counting runtime are
# compared with what the case did. As a control, the comparison must fail for a
# preload that claims the signal and hooks nothing.

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
CC=${CC:-gcc}
failed=0 passed=0

t=$(mktemp -d) || exit 1
trap 'rm -rf "$t"' EXIT
unset COMDET_RUN COMDET_CHILDREN COMDET_SOURCE HOOKS_LEFT LD_PRELOAD

fail()
{
	echo "FAIL $*"
	failed=$((failed + 1))
}

for p in action signal handler stack inside posix calls raw wait masked owns process thread; do
	if [ ! -x "$B/tests/programs/help_hook_$p" ]; then
		echo "$B/tests/programs/help_hook_$p is not built"
		exit 1
	fi
done

flags="-std=gnu11 -D_GNU_SOURCE -O2 -g -fPIC -fvisibility=hidden -pthread -I$TOP"
counting=$t/libcounting.so
handing=$t/libhanding.so
nothing=$t/libnothing.so
other=$t/libother.so
echo '{ local: *; };' >"$t/nothing.map"
echo 'extern int nothing; int nothing;' >"$t/other.c"
requeue=$(grep -l '^void signal_requeue(' "$TOP"/preload/signal/*.c)
awk '/^void signal_requeue\(/ { print "void in_hand(void), given_back(void);"; on = 1 }
	on && /^}/ { print "\tgiven_back();"; on = 0; n++ }
	{ print }
	on && /^\tbool more = / { print "\tin_hand();"; n++ }
	END { exit n != 2 }' "$requeue" >"$t/handing.c" ||
	{ echo "$requeue is not what is expected here"; exit 1; }

# compile SOURCE OBJECT - compile for a shared library
compile()
{
	# shellcheck disable=SC2086
	$CC $flags -I"$TOP/preload/signal" -c -o "$2" "$1"
}

# library FILE [OPTION...] OBJECT... - link a shared library
library()
{
	$CC -pthread -shared -Wl,-z,now -Wl,-Bsymbolic-functions -o "$@" -ldl
}

# The objects are compiled once, side by side.
hooks=()
for source in "$TOP"/preload/{hooks,signal}/*.c "$t/handing.c" \
	"$TOP"/preload/core/{local,preload_list}.c "$TOP"/src/base/loaded.c \
	"$TOP/tests/programs/hooks/fake_runtime.c"; do
	folder=${source%/*}
	object=$t/${folder##*/}.$(basename "$source" .c).o
	compile "$source" "$object" &
	case $source in
	"$requeue") unchanged=$object ;;
	"$t/handing.c") handed=$object ;;
	*) hooks+=("$object") ;;
	esac
	[ "$(jobs -rp | wc -l)" -lt "$(nproc)" ] || wait -n || exit 1
done
wait
library "$handing" -Wl,-z,defs "${hooks[@]}" "$handed" &&
	library "$counting" -Wl,-z,defs "${hooks[@]}" "$unchanged" &&
	library "$nothing" "-Wl,--version-script=$t/nothing.map" \
		"${hooks[@]}" "$unchanged" &&
	$CC -fPIC -shared -o "$other" "$t/other.c" &&
	cp "$other" "$t/libthird.so" || exit 1

# run PRELOAD PROGRAM CASE - write the output to $t/out, print the exit status.
# The preload goes into the program alone, not into timeout.
run()
{
	(
		ulimit -c 0
		timeout -k 5 600 env "LD_PRELOAD=$1" "HOOKS_LOG=$t/log" \
			"COMDET_OUT=$t/profile" "$B/tests/programs/help_hook_$2" "$3" \
			>"$t/out" 2>"$t/err"
		echo $?
	) 2>/dev/null
	grep -v '^comdet: ' "$t/err" >>"$t/out"
}

# same LIBRARY PROGRAM CASE - true if output and exit status are those without
# the library, which are in $t/plain and $plain. LD_PRELOAD also has a library
# of somebody else, which must stay there.
same()
{
	rm -f "$t/log"
	status=$(run "$1:$other" "$2" "$3")
	[ "$status" = "$plain" ] && cmp -s "$t/plain" "$t/out"
}

# counted NAME - print a number of the last line that the counting runtime wrote
counted()
{
	tail -n 1 "$t/log" 2>/dev/null |
		sed -nE "s/.*(^| )$1=([0-9]+).*/\\2/p"
}

# expect CASE NAME NUMBER - the counting runtime has counted NUMBER
expect()
{
	local is

	is=$(counted "$2")
	[ "$is" = "$3" ] || fail "$1: $2 is ${is:-missing}, not $3"
}

# expect_least CASE NAME NUMBER - it has counted NUMBER or more
expect_least()
{
	local is

	is=$(counted "$2")
	[ "${is:-0}" -ge "$3" ] ||
		fail "$1: $2 is ${is:-missing}, not $3 or more"
}

# expectations CASE - the counting runtime has counted what the case did
expectations()
{
	case $1 in
	values) expect "$1" begun 12 ;;
	short_threads) expect "$1" begun 2000 ;;
	detached_threads) expect "$1" begun 500 ;;
	many_live_threads) expect "$1" begun 700 ;;
	smallest_stacks) expect "$1" begun 4 ;;
	depth_of_signals) expect "$1" begun 1 ;;
	c11) expect "$1" begun 3 ;;
	failing)
		expect "$1" discarded 600
		expect "$1" begun 10
		;;
	forks_among_threads)
		expect "$1" forks 40
		expect "$1" not_followed 40
		;;
	# ten forks, _Fork, ten vforks, three spawns, system twice, popen
	plain | with_blocked | with_ignored | with_handler)
		expect "$1" forks 11
		expect "$1" not_followed 27
		;;
	failed_exec)
		expect "$1" execs 20
		expect "$1" failed_execs 20
		;;
	leave_by_exit | leave_by_Exit | leave_quickly) expect "$1" exits 1 ;;
	int3_handled) expect "$1" forwarded 1000 ;;
	# A signal that seemed to be dropped is forwarded once more when it
	# comes after all, and ends there.
	raise_handled) expect_least "$1" forwarded 1000 ;;
	through_signalfd) expect "$1" stops 1 ;;
	esac
	case $1 in
	main_exits_first | thread_exits_process) ;;
	*) expect "$1" ended "$(counted begun)" ;;
	esac
}

# Use a copy, because somebody may be building.
real=
if [ -e "$B/libcomdet.so" ]; then
	real=$t/libcomdet.so
	cp "$B/libcomdet.so" "$real"
fi
samples=0
control=0
for p in action signal handler stack inside posix calls raw wait masked owns process thread; do
	for c in $("$B/tests/programs/help_hook_$p"); do
		plain=$(run "$other" "$p" "$c")
		mv "$t/out" "$t/plain"
		slow=
		case $p/$c in
		# Another thread has the pending signal in hand at that moment.
		wait/waits_for_whoever) ;;
		raw/foreign_blocks) ;;
		# With it a sample waits beside each held signal and is delivered
		# first. No sample comes then: the clock stands still.
		posix/suspend_order | posix/unblock_order) ;;
		handler/* | stack/* | inside/* | posix/* | calls/* | \
			raw/* | wait/* | masked/*) slow=$handing ;;
		esac
		unset COMDET_FREQ
		# Few of their samples look so far ahead.
		case $c in
		hidden_constants | watched_pointer) export COMDET_FREQ=5000 ;;
		esac
		for library in "$counting" $slow $real; do
			# The counting runtime has a handler of its own.
			[ "$c" = foreign_blocks ] && [ "$library" != "$real" ] &&
				continue
			if same "$library" "$p" "$c"; then
				passed=$((passed + 1))
			else
				fail "$c with ${library##*/}: exit status" \
					"$status, without $plain"
				diff "$t/plain" "$t/out" | head -n 20
			fi
			if [ "$library" = "$counting" ] && [ -e "$t/log" ]; then
				expectations "$c"
				samples=$((samples + $(counted samples)))
			fi
		done
		case $c in
		query | blocked_kill | with_ignored)
			if same "$nothing" "$p" "$c"; then
				fail "the control: $c is the same without hooks"
			else
				control=$((control + 1))
			fi
			;;
		esac
	done
done

# preload_becomes PRELOAD WANTED - a child that is not followed finds WANTED in
# LD_PRELOAD
preload_becomes()
{
	local is

	rm -f "$t/log"
	run "$1" process one_child >/dev/null
	is=$(sed -nE 's/.* preload (.*) extra .*/\1/p' "$t/out")
	if [ "$is" = "$2" ]; then
		passed=$((passed + 1))
	else
		fail "LD_PRELOAD=$1 becomes $is, not $2"
	fi
}
third=$t/libthird.so
preload_becomes "$counting" none
preload_becomes "$counting:$other" "$other"
preload_becomes "$other:$counting" "$other"
preload_becomes "$other:$counting:$third" "$other:$third"
preload_becomes "$other $counting $third" "$other $third"
preload_becomes "$other $third:$counting" "$other $third"
preload_becomes "::$counting:" none
preload_becomes " $counting : $other" "$other"
preload_becomes "$t/./libcounting.so:$other" "$other"
preload_becomes "$other" "$other"

# With --children the entry stays, and each child writes a line to the log.
rm -f "$t/log"
status=$(COMDET_CHILDREN=1 run "$counting:$other" process forked_child_goes_on)
preloads=$(COMDET_CHILDREN=1 run "$counting:$other" process one_child >/dev/null
	sed -nE 's/.* preload (.*) extra .*/\1/p' "$t/out")
if [ "$status" = 0 ] && [ "$preloads" = "$counting:$other" ] &&
	[ "$(wc -l <"$t/log")" -ge 3 ]; then
	passed=$((passed + 1))
else
	fail "with --children: LD_PRELOAD is $preloads, $(wc -l <"$t/log") logs"
fi

# After twenty execs the last program is still sampled.
rm -f "$t/log"
run "$counting:$other" process execs_on >/dev/null
if [ "$(wc -l <"$t/log")" = 1 ]; then
	passed=$((passed + 1))
else
	fail "the program after twenty execs was not profiled"
fi

if [ $samples = 0 ]; then
	echo "no samples: perf_events with synchronous signals are not to be had"
	[ $failed = 0 ] && exit 77
fi
[ -n "$real" ] || echo "libcomdet.so is not built: only the hooks were tested"
echo "$passed comparisons the same, $failed failed, $samples samples taken," \
	"$control controls"
[ $failed = 0 ]
