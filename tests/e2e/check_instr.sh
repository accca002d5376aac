#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_instr - the source instr: counts, behaviour, transfers
#
#	check_instr.sh [CLAIM]
#
# The counts are compared with what the program says of itself. The same source
# without hooks runs under the source emu and under valgrind's lackey: the
# difference of two runs gives their counts for one turn of a loop.

. "$(dirname "$0")/e2e.sh"

INSTR=$B/tests/programs/instr
ulimit -c 0

# hooked SETTINGS COMMAND... - run it under the preload, record into $WORK/out
hooked()
{
	local settings=$1

	shift
	rm -rf "$WORK/out"
	# shellcheck disable=SC2086
	timeout -k 5 600 env $settings COMDET_OUT="$WORK/out" \
		LD_PRELOAD="$LIB" "$@"
}

# counts - print "loads stores load_bytes store_bytes" of the first thread
counts()
{
	json "$WORK/out" "$WORK/json"
	ask "$WORK/json" '" ".join(str(r["threads"][0]["counted"][k]) for k in
		("loads", "stores", "load_bytes", "store_bytes"))'
}

# counted PROGRAM ARGUMENT... - record programs/instr/PROGRAM, print its counts
counted()
{
	local program=$1

	shift
	hooked COMDET_PERIOD=0 "$INSTR/$program" "$@" >/dev/null ||
		fail "$program $*"
	counts
}

# emulated PROGRAM ARGUMENT... - print the counts that the source emu finds in
# the program without hooks
emulated()
{
	local program=$1

	shift
	rm -rf "$WORK/out"
	timeout -k 5 600 qemu-x86_64 -cpu max -plugin \
		"$B/libcomdet-qemu.so,out=$WORK/out,period=0" \
		"$INSTR/$program.plain" "$@" >/dev/null || fail "$program $*"
	counts
}

# traced PROGRAM ARGUMENT... - print the counts that lackey finds, then the
# loads and stores of 4 bytes, of 8 and of 16. Lackey has rows of their own for
# floating point.
traced()
{
	local program=$1

	shift
	timeout -k 5 600 valgrind --tool=lackey --detailed-counts=yes \
		"$INSTR/$program.plain" "$@" 2>&1 >/dev/null | awk '
		$2 ~ /^[IFV][0-9]+$/ {
			gsub(",", "")
			bytes = substr($2, 2) / 8
			l += $3; s += $4; lb += $3 * bytes; sb += $4 * bytes
			of[bytes] = $3 + of[bytes]; to[bytes] = $4 + to[bytes]
		} END {
			print l, s, lb, sb, of[4], to[4], of[8], to[8], \
				of[16], to[16]
		}'
}

# per_turn TURNS "A" "B" - print the difference of two runs, divided by TURNS
per_turn()
{
	echo "$2 $3" | awk -v turns="$1" '{
		for (i = 1; i <= NF / 2; i++)
			printf("%s%.10g", i > 1 ? " " : "",
				($(NF / 2 + i) - $i) / turns)
	}'
}

# kinds HOW - write a row for each kind of programs/instr/kinds: its name,
# whether the processor makes the same accesses, then loads, stores and their
# bytes for one turn, as the source has them and as HOW counts them. Each kind
# runs in a thread of its own.
kinds()
{
	local turns

	# Both numbers have four digits: reading them takes the same accesses.
	for turns in 1500 2500; do
		$1 kinds --all $turns >/dev/null
		mv "$WORK/json" "$WORK/$turns"
	done
	"$INSTR/kinds" --list | python3 -c '
import json, sys
less, more = (json.load(open(f))["threads"][1:] for f in sys.argv[1:])
rows = sys.stdin.read().splitlines()
assert len(rows) == len(less) == len(more), (rows, less, more)
for row, a, b in zip(rows, less, more):
    print(row, *("%.10g" % ((b["counted"][k] - a["counted"][k]) / 1000)
                 for k in ("loads", "stores", "load_bytes", "store_bytes")))
' "$WORK/1500" "$WORK/2500" >"$WORK/kinds" || fail "kinds --all, $1"
}

counts_are_what_the_source_says()
{
	local row

	kinds counted
	while read -r -a row; do
		[ "${row[*]:2:4}" = "${row[*]:6}" ] || fail "${row[*]}"
	done <"$WORK/kinds"
}

need_emu()
{
	command -v qemu-x86_64 >/dev/null || {
		echo 'qemu-x86_64 is missing: not compared with emu'
		return 1
	}
}

need_lackey()
{
	command -v valgrind >/dev/null || {
		echo 'valgrind is missing: not compared with lackey'
		return 1
	}
}

# A hook of a range counts one access where the processor makes many, of the
# same bytes. It makes a few more: those of the call, and of ends copied twice.
kinds_agree_with_emu_but_for_ranges()
{
	local row

	need_emu || return 0
	kinds emulated
	while read -r -a row; do
		if [ "${row[1]}" = same ]; then
			[ "${row[*]:2:4}" = "${row[*]:6}" ] ||
				fail "${row[*]}"
			continue
		fi
		echo "${row[*]}" | awk '{
			l = $9 - $5; s = $10 - $6
			exit !(l >= 0 && l <= 96 && s >= 0 && s <= 96 &&
				$7 + $8 > $3 + $4)
		}' || fail "${row[*]}"
	done <"$WORK/kinds"
}

# kernel HOW NAME - print the counts of one turn
kernel()
{
	per_turn 2 "$($1 kernels "$2" 1)" "$($1 kernels "$2" 3)"
}

# agree NAME A B WORDS - the counts differ by no more than printing another
# number takes
agree()
{
	echo "$2 $3" | awk '{
		if (NF < 4 || NF % 2)
			exit 1
		for (i = 1; i <= NF / 2; i++)
			if (($i - $(NF / 2 + i)) ^ 2 > 25 ^ 2)
				exit 1
	}' || fail "$1: $2 against $3, $4"
}

columns()
{
	cut -d' ' -f"$1"
}

# If the compiler makes one access of the machine for each access of the source,
# the counts are the same. A vector of two makes half as many accesses of twice
# the bytes. Accesses to the stack have 8 bytes, those of the source 4.
kernels_agree_with_lackey_but_for_what_the_compiler_did()
{
	local name mine theirs

	need_lackey || return 0
	for name in search_tree reuse_loop scalar_loop; do
		mine=$(kernel counted $name)
		agree $name "$mine" "$(kernel traced $name | columns 1-4)" \
			'access by access'
	done
	mine=$(kernel counted vector_loop)
	theirs=$(kernel traced vector_loop)
	agree vector_loop "$(echo "$mine" | columns 3-4)" \
		"$(echo "$theirs" | columns 3-4)" 'bytes'
	echo "$mine $theirs" | awk '{ exit !($1 > 3.9 * $5 && $2 > 3.9 * $6) }' ||
		fail "vector_loop: $mine against $theirs are no vectors"
	mine=$(kernel counted quicksort)
	theirs=$(kernel traced quicksort)
	agree quicksort "$(echo "$mine" | columns 1-2)" \
		"$(echo "$theirs" | columns 5-6)" 'of 4 bytes'
	# The compiler keeps one factor of two products of matrix_multiply.
	mine=$(kernel counted matrix_multiply)
	theirs=$(kernel traced matrix_multiply)
	echo "$mine $theirs" | awk '{ exit !($1 > 8e6 && $7 > 0.7 * $3 &&
		$7 <= $3 && ($4 - $8) ^ 2 < 25 ^ 2) }' ||
		fail "matrix_multiply: $mine against $theirs"
}

kernels_agree_with_emu()
{
	local name

	need_emu || return 0
	for name in search_tree scalar_loop; do
		agree $name "$(kernel counted $name)" \
			"$(kernel emulated $name)" 'access by access'
	done
	agree vector_loop "$(kernel counted vector_loop | columns 3-4)" \
		"$(kernel emulated vector_loop | columns 3-4)" 'bytes'
}

# The thread makes 400,000 additions, and stores and loads errno.
every_thread_has_its_own_counts()
{
	local setting

	for setting in COMDET_PERIOD=0 COMDET_PERIOD=1000 \
		COMDET_ALGORITHM=comdetective COMDET_EXACT=1; do
		hooked $setting "$INSTR/process" threads >/dev/null ||
			fail "threads with $setting"
		json "$WORK/out" "$WORK/json"
		holds "$WORK/json" '([tuple(t["counted"].values())
			for t in r["threads"]][1:] == 4 * [(400001, 400001,
			8 * 400000 + 4, 8 * 400000 + 4)])' "$setting"
		holds "$WORK/json" '([t["accesses_kind"]
			for t in r["threads"]] == 5 * ["exact"])' "$setting"
	done
	hooked COMDET_PERIOD=0 "$INSTR/process" many_threads >/dev/null ||
		fail many_threads
	json "$WORK/out" "$WORK/json"
	holds "$WORK/json" '(sum(t["counted"]["stores"] for t in r["threads"][1:])
		== 300 * 40001)' 'threads, one after the other'
	# Accesses of a handler count for the thread that it interrupts.
	hooked COMDET_PERIOD=0 "$INSTR/process" handlers >/dev/null ||
		fail handlers
	json "$WORK/out" "$WORK/json"
	holds "$WORK/json" '(sum(t["counted"]["stores"] for t in r["threads"])
		>= 4 * 400001)' 'handlers'
	# One whose handler runs while it begins has one row too.
	hooked COMDET_PERIOD=0 "$INSTR/process" interrupted_starts >/dev/null ||
		fail interrupted_starts
	json "$WORK/out" "$WORK/json"
	holds "$WORK/json" '(sum(t["count"] for t in r["threads"]) == 401)' \
		'interrupted starts'
}

# Of loads one in every period, of stores one in a period on average.
samples_are_one_in_a_period()
{
	hooked COMDET_PERIOD=1000 "$INSTR/kinds" modify 2000000 ||
		fail 'kinds modify'
	json "$WORK/out" "$WORK/json"
	# Of 2,000 independent draws the deviation is 45.
	holds "$WORK/json" '(abs(r["threads"][0]["samples"]["uniform"] - 4000)
		< 5 * 45 + 10)' 'samples a period'
	holds "$WORK/json" 'abs(r["threads"][0]["loads"] - 2000) < 10' \
		'loads among them'
}

# The program behaves the same with every setting of the profiler.
programs_behave_as_without()
{
	local what plain hooks processes

	processes=$("$INSTR/process" --list) || fail 'process --list'
	"$INSTR/atomics.plain" >"$WORK/plain"
	"$INSTR/atomics" | cmp - "$WORK/plain" || fail 'atomics: output'
	hooked COMDET_PERIOD=100 "$INSTR/atomics" | cmp - "$WORK/plain" ||
		fail 'atomics: output with the preload'
	for what in $processes; do
		("$INSTR/process.plain" "$what") >"$WORK/plain"
		plain=$?
		for settings in none COMDET_PERIOD=1000 \
			'COMDET_WATCH=hw COMDET_PERIOD=20000' \
			COMDET_EXACT=1 \
			'COMDET_ALGORITHM=comdetective COMDET_PERIOD=1000' \
			'COMDET_MODE=reuse,shared,global COMDET_PERIOD=1000' \
			'COMDET_MODE=reuse COMDET_WATCH=hw COMDET_PERIOD=20000' \
			'COMDET_MODE=reuse COMDET_PATHS=1 COMDET_PERIOD=1000'
		do
			if [ "$settings" = none ]; then
				("$INSTR/process" "$what")
			else
				(hooked "$settings" "$INSTR/process" "$what")
			fi >"$WORK/hooks" 2>"$WORK/said"
			hooks=$?
			[ $hooks = $plain ] || fail "$what with $settings:" \
				"exit status $hooks, not $plain"
			cmp "$WORK/plain" "$WORK/hooks" ||
				fail "$what with $settings: output"
			! grep comdet "$WORK/said" ||
				fail "$what with $settings: said something"
		done
	done 2>/dev/null
}

forks_and_execs_are_followed()
{
	hooked COMDET_PERIOD=0 "$INSTR/process" execs >/dev/null || fail execs
	json "$WORK/out" "$WORK/json"
	holds "$WORK/json" '([p["state"] for p in r["processes"]] ==
		["execed", "ended"])' execs
	holds "$WORK/json" '(r["threads"][0]["counted"]["stores"] >= 400000 and
		[t["counted"]["stores"] for t in r["threads"][2:]] ==
		4 * [400001])' 'counts before and after an exec'
	hooked 'COMDET_PERIOD=0 COMDET_CHILDREN=1' "$INSTR/process" forks \
		>/dev/null || fail forks
	json "$WORK/out" "$WORK/json"
	# Parent and child. The preload does not see the child of a raw fork.
	holds "$WORK/json" '(len(r["processes"]) == 2 and
		[t["counted"]["stores"] >= 400000 for t in r["threads"]] ==
		[True, True] and r["threads"][1]["counted"]["stores"] < 800000)' \
		forks
	(hooked COMDET_PERIOD=1000 "$INSTR/process" is_killed) >/dev/null 2>&1
	json "$WORK/out" "$WORK/json"
	holds "$WORK/json" '(not r["run"]["complete"] and
		r["threads"][0]["counted"]["stores"] > 390000)' 'a killed program'
}

# Each round makes one transfer to each reader, in any order.
transfers_are_counted_exactly()
{
	local readers kind line word

	for readers in 1 7; do
		for word in same other copy; do
			[ $word = other ] && kind=false || kind=true
			line=$(hooked COMDET_EXACT=1 "$INSTR/transfers" 200 \
				$readers $word) || fail transfers
			json "$WORK/out" "$WORK/json"
			holds "$WORK/json" "([(l['all'], l['$kind'])
				for l in r['exact']['lines']
				if l['line'] == '$line'] ==
				[(200 * $readers, 200 * $readers)])" \
				"$readers readers, $word"
		done
	done
	# The program copies a page of lines; the report lists some of them.
	holds "$WORK/json" '(64 * 1400 <= r["exact"]["all"] and
		len([l for l in r["exact"]["lines"]
		if (l["all"], l["true"]) == (1400, 1400)]) > 3)' 'a page copied'
}

# within EXPRESSION TEXT - the truth is within 2.5 times the half-width of the
# 95 % interval, which is 5 standard errors
within()
{
	holds "$WORK/json" "(lambda e, x: e['low'] - 0.75 * (e['high'] - e['low'])
		<= x <= e['high'] + 0.75 * (e['high'] - e['low']))($1)" "$2"
}

# Threads that take turns share as often on a busy machine as on an idle one.
estimates_agree_with_the_exact_counts()
{
	hooked 'COMDET_EXACT=1 COMDET_PERIOD=100' "$INSTR/transfers" 20000 3 \
		both >/dev/null || fail transfers
	json "$WORK/out" "$WORK/json"
	holds "$WORK/json" '(c["quantity"] == "transfers" and
		r["run"]["algorithm"] == "epoch")' 'the estimator'
	within 'c["total"], r["exact"]["all"]' 'total'
	within 'c["true_sharing"], r["exact"]["true"]' 'true sharing'
	within 'c["false_sharing"], r["exact"]["false"]' 'false sharing'
	# The readers of the other word would not need the line.
	holds "$WORK/json" '(abs(c["avoidable_share"]["estimate"] - 1 / 3) < 0.05
		and abs(r["exact"]["avoidable"] / r["exact"]["all"] - 1 / 3)
		< 0.05)' 'what padding avoids'
}

# Registers are armed late and trap late. Threads that take turns wait
# meanwhile.
debug_registers_agree_with_the_exact_counts()
{
	debug_registers || {
		echo 'no debug registers: --watch hw not tried'
		return
	}
	hooked 'COMDET_WATCH=hw COMDET_EXACT=1 COMDET_PERIOD=100' \
		"$INSTR/transfers" 20000 3 both >/dev/null || fail transfers
	json "$WORK/out" "$WORK/json"
	holds "$WORK/json" '(r["run"]["algorithm"] == "chain" and
		sum(t["traps"] for t in r["threads"]) > 2000)' 'traps'
	within 'c["total"], r["exact"]["all"]' 'total'
	within 'c["true_sharing"], r["exact"]["true"]' 'true sharing'
	within 'c["false_sharing"], r["exact"]["false"]' 'false sharing'
}

thread_sanitizer_is_left_alone()
{
	local line='comdet: not profiled: ThreadSanitizer is in this program'

	"$INSTR/process.tsan" threads >"$WORK/plain" 2>/dev/null || {
		echo 'ThreadSanitizer does not work here: not tried'
		return
	}
	hooked '' "$INSTR/process.tsan" threads >"$WORK/hooks" \
		2>"$WORK/said" || fail "process.tsan: status $?"
	cmp "$WORK/plain" "$WORK/hooks" || fail 'process.tsan: output'
	[ "$(wc -l <"$WORK/said")" = 1 ] && grep -q "^$line" "$WORK/said" ||
		fail "process.tsan: said $(cat "$WORK/said")"
	[ ! -e "$WORK/out" ] || fail 'process.tsan: something was written'
	"$TOOL" record -o "$WORK/out" -- "$INSTR/process.tsan" threads \
		>/dev/null 2>"$WORK/said"
	[ $? = 125 ] && [ "$(wc -l <"$WORK/said")" = 1 ] &&
		grep -q 'lcomdet-instr in place of libtsan' "$WORK/said" ||
		fail "record: $(cat "$WORK/said")"
}

settings_that_are_wrong_are_one_line()
{
	local setting

	for setting in COMDET_PERIOD=x COMDET_PERIOD=-5 COMDET_PERIOD=10 \
		COMDET_WATCH=both COMDET_EXACT=2 COMDET_ALGORITHM=none \
		'COMDET_WATCH=hw COMDET_ALGORITHM=epoch' \
		COMDET_ALGORITHM=chain \
		'COMDET_MODE=comm,shared COMDET_WATCH=hw'; do
		hooked "$setting" "$INSTR/kinds" load_8 10 2>"$WORK/said" ||
			fail "$setting: the program did not run"
		[ "$(wc -l <"$WORK/said")" = 1 ] &&
			grep -q '^comdet: not profiled: ' "$WORK/said" ||
			fail "$setting: $(cat "$WORK/said")"
		[ ! -e "$WORK/out" ] || fail "$setting: something was written"
	done
}

run_claims "${1-}" counts_are_what_the_source_says \
	kinds_agree_with_emu_but_for_ranges kernels_agree_with_emu \
	kernels_agree_with_lackey_but_for_what_the_compiler_did \
	every_thread_has_its_own_counts samples_are_one_in_a_period \
	programs_behave_as_without forks_and_execs_are_followed \
	transfers_are_counted_exactly estimates_agree_with_the_exact_counts \
	debug_registers_agree_with_the_exact_counts \
	thread_sanitizer_is_left_alone settings_that_are_wrong_are_one_line
