#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_limits - programs with little stack, memory or descriptors, and with
# filters that kill
#
# covers: analysis/base/roomy.c preload/start/obstacle.c preload/core/own_stack.c

. "$(dirname "$0")/e2e.sh"

program=$B/tests/programs/help_raw_exit

# ends STATUS TEXT COMMAND... - it ends with this status
ends()
{
	local status=$1 text=$2

	"${@:3}" >"$WORK/o" 2>"$WORK/e"
	[ $? = "$status" ] || fail "$text: not status $status:" \
		"$(cat "$WORK/o" "$WORK/e")"
}

# with_stack KIB COMMAND... - run it with so much stack
with_stack()
{
	(
		ulimit -s "$1"
		exec "${@:2}"
	)
}

little_stack()
{
	local kib

	# With 16 KiB the environment alone may be too much.
	ends 7 "32 KiB, too little" with_stack 32 \
		env COMDET_OUT="$WORK/none" LD_PRELOAD="$LIB" "$program" 50 7
	for kib in 64 96 256; do
		ends 7 "$kib KiB, without us" with_stack $kib "$program" 50 7
		rm -rf "$WORK/out"
		COMDET_OUT=$WORK/out LD_PRELOAD=$LIB ends 7 "$kib KiB, preload" \
			with_stack $kib "$program" 50 7
		[ -d "$WORK/out" ] || fail "not profiled with $kib KiB of stack"
		ends 7 "$kib KiB, record" with_stack $kib "$TOOL" record \
			-o "$WORK/out" -- "$program" 50 7
		ends 0 "$kib KiB, report" with_stack $kib "$TOOL" report \
			"$WORK/out"
		grep -q "exit status 7" "$WORK/o" || fail "$(cat "$WORK/o")"
	done
}

# in_folder FOLDER COMMAND... - run it there, where a core may be written
in_folder()
{
	(
		cd "$1" && ulimit -c "$(ulimit -H -c)" || exit 1
		exec "${@:2}"
	)
}

# A filter that the program inherits ends it at a system call of ours.
filters_that_kill()
{
	local call

	mkdir -p "$WORK/cores"
	for call in perf_event_open process_vm_readv timer_create; do
		ends 7 "$call kills" in_folder "$WORK/cores" env COMDET_OUT="$WORK/none" \
			"$B/tests/programs/help_deny" $call KILL \
			env LD_PRELOAD="$LIB" "$program" 50 7
		grep -q "comdet: not profiled: a seccomp filter" "$WORK/e" ||
			fail "$call: $(cat "$WORK/e")"
	done
	[ -z "$(ls -A "$WORK/cores")" ] || fail "it left a core"
	rm -rf "$WORK/out"
	ends 7 "a filter that forbids" env COMDET_OUT="$WORK/out" \
		"$B/tests/programs/help_deny" perf_event_open EPERM \
		env LD_PRELOAD="$LIB" "$program" 50 7
	[ -d "$WORK/out" ] || fail "not profiled under a harmless filter"
}

# It works for 50 ms in one thread, and ends with status 3.
single=("$B/tests/programs/help_forks" 0 50)

# limited OPTION VALUE COMMAND... - run it under this limit
limited()
{
	(
		ulimit "$1" "$2"
		exec "${@:3}"
	)
}

# gives_up OPTION VALUE WORDS - the program ends as without us, and we say why
# it is not profiled
gives_up()
{
	ends 3 "ulimit $1 $2, without us" limited "$1" "$2" "${single[@]}"
	rm -rf "$WORK/out"
	ends 3 "ulimit $1 $2" limited "$1" "$2" \
		env COMDET_OUT="$WORK/out" LD_PRELOAD="$LIB" "${single[@]}"
	[ "$(cat "$WORK/e")" = "comdet: not profiled: $3" ] ||
		fail "ulimit $1 $2: it says $(cat "$WORK/e")"
	[ ! -e "$WORK/out" ] || fail "ulimit $1 $2: it left a directory"
}

# is_profiled OPTION VALUE - there is room enough
is_profiled()
{
	rm -rf "$WORK/out"
	ends 3 "ulimit $1 $2" limited "$1" "$2" \
		env COMDET_OUT="$WORK/out" LD_PRELOAD="$LIB" "${single[@]}"
	[ ! -s "$WORK/e" ] || fail "ulimit $1 $2: it says $(cat "$WORK/e")"
	[ -d "$WORK/out" ] || fail "ulimit $1 $2: not profiled"
}

little_data()
{
	gives_up -d 2048 'too little memory for data (ulimit -d)'
	gives_up -d 8192 'too little memory for data (ulimit -d)'
	is_profiled -d 16384
}

# opens LIMIT - how many files bash can open
opens()
{
	limited -n "$1" env ${2:+LD_PRELOAD="$2"} COMDET_OUT="$WORK/out" \
		bash -c 'n=0
			while { exec {f}</dev/null; } 2>/dev/null; do
				n=$((n + 1))
			done
			echo $n' 2>"$WORK/e"
}

few_descriptors()
{
	local low

	gives_up -n 32 'too few file descriptors (ulimit -n)'
	[ "$(opens 32 "$LIB")" = "$(opens 32 '')" ] ||
		fail "with 32 descriptors the program cannot open all"
	is_profiled -n 48
	rm -rf "$WORK/out"
	# shellcheck disable=SC2016
	low=$(limited -n 64 env LD_PRELOAD="$LIB" COMDET_OUT="$WORK/out" \
		bash -c 'find /proc/$$/fd -lname "*.cdp" -o -lname "*perf_event*"' |
		sed 's|.*/||' | sort -n | head -n 1)
	[ "$low" -ge 40 ] || fail "ours begin at $low of 64 descriptors"
}

little_address_space()
{
	is_profiled -v 40000
	ends 3 "8,000 KiB" limited -v 8000 \
		env LD_PRELOAD="$LIB" COMDET_OUT="$WORK/out" "${single[@]}"
	[ "$(wc -l <"$WORK/e")" -le 1 ] || fail "$(cat "$WORK/e")"
}

run_claims "${1:-}" little_stack filters_that_kill little_data \
	few_descriptors little_address_space
