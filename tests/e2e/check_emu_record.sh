#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_emu_record - record starts QEMU, or says why not
#
#	check_emu_record.sh [CLAIM]
#
# covers: preload/emu preload/common analysis/record

. "$(dirname "$0")/e2e.sh"

KINDS=$B/tests/programs/emu/guest_kinds
PROCESS=$B/tests/programs/emu/guest_process

command -v qemu-x86_64 >/dev/null ||
	skip 'qemu-x86_64 is missing: install the package qemu-user'

# refused STATUS WORDS ARGUMENT... - record ends with STATUS, prints one line
# with WORDS and writes nothing
refused()
{
	local status=$1 words=$2 got

	shift 2
	rm -rf "$WORK/out"
	PATH=${search:-$PATH} "$TOOL" record -s emu -o "$WORK/out" "$@" \
		>"$WORK/said" 2>&1
	got=$?
	[ $got = "$status" ] && [ "$(wc -l <"$WORK/said")" = 1 ] &&
		grep -q "$words" "$WORK/said" ||
		fail "record $*: status $got: $(cat "$WORK/said")"
	[ ! -e "$WORK/out" ] || fail "record $*: something was written"
}

record_starts_the_emulator()
{
	printf '#!%s -e\nexit 7\n' "$(command -v bash)" >"$WORK/script"
	printf '#!%s\nthis is not read\n' "$WORK/script" >"$WORK/nested"
	echo 'exit 9' >"$WORK/plain"
	chmod +x "$WORK/script" "$WORK/nested" "$WORK/plain"
	for what in 'script 7' 'nested 7' 'plain 9'; do
		"$TOOL" record -s emu -o "$WORK/out" -- "$WORK/${what% *}" \
			2>"$WORK/said"
		[ $? = "${what#* }" ] || fail "$what: $(cat "$WORK/said")"
		grep -q 'source emu' "$WORK/said" || fail "$what: no source"
	done
	"$TOOL" record -s emu -p 2000 --exact --slice 100 -o "$WORK/out" -- \
		"$PROCESS" exec_self >"$WORK/emulated" 2>/dev/null
	[ $? = 5 ] || fail 'exec_self under record'
	"$PROCESS" exec_self >"$WORK/native"
	cmp "$WORK/native" "$WORK/emulated" || fail 'exec_self: output'
	json "$WORK/out" "$WORK/json"
	holds "$WORK/json" '(r["run"]["source"] == "emu" and
		r["run"]["period"] == 2000 and "exact" in r and
		len(r["processes"]) == 2)' 'record -s emu'
	(cd "$WORK" && "$TOOL" record -s emu -- "$PROCESS" killed) \
		>/dev/null 2>&1
	[ $? = 137 ] || fail 'a killed program'
}

# denied CALLS ARGUMENT... - run record under a filter that denies CALLS
denied()
{
	local calls=$1 got

	shift
	rm -rf "$WORK/out"
	PATH=${search:-$PATH} "$B/tests/programs/help_deny" "$calls" EPERM "$TOOL" \
		record -o "$WORK/out" "$@" 2>"$WORK/said" >"$WORK/printed"
	got=$?
	[ $got = 0 ] || fail "record $*: status $got: $(cat "$WORK/said")"
}

auto_takes_or_offers_emu_where_perf_events_is_denied()
{
	local calls=perf_event_open,timer_create

	denied perf_event_open -s auto -- "$KINDS" modify 200000
	grep -q 'source clock:.*perf_event_open is not permitted' \
		"$WORK/said" && grep -q -e '-s emu needs neither' "$WORK/said" ||
		fail "emu is not offered: $(cat "$WORK/said")"
	denied $calls -- "$KINDS" modify 200000
	grep -q 'taking the source emu.*neither perf_events' "$WORK/said" ||
		fail "emu is taken in silence: $(cat "$WORK/said")"
	json "$WORK/out" "$WORK/json"
	holds "$WORK/json" '(r["run"]["source"] == "emu" and
		r["threads"][0]["accesses"] > 400000)' 'emu is taken'
	mkdir -p "$WORK/bin"
	search=$WORK/bin denied $calls -- "$KINDS" modify 200000
	grep -q 'install the package qemu-user' "$WORK/said" ||
		fail "no advice: $(cat "$WORK/said")"
	denied $calls -s clock -- "$KINDS" modify 200000
	! grep -q 'taking' "$WORK/said" || fail 'the clock was asked for'
}

record_refuses_what_cannot_be()
{
	local arm=$WORK/arm

	# The header of an ELF file for 64-bit ARM, then for 32-bit.
	head -c 4096 "$PROCESS" >"$arm"
	printf '\267\0' | dd of="$arm" bs=1 seek=18 conv=notrunc 2>/dev/null
	chmod +x "$arm"
	refused 126 '64-bit ARM' -- "$arm"
	printf '\003\0' | dd of="$arm" bs=1 seek=18 conv=notrunc 2>/dev/null
	printf '\001' | dd of="$arm" bs=1 seek=4 conv=notrunc 2>/dev/null
	refused 126 '32-bit' -- "$arm"
	refused 127 'no-such-program' -- no-such-program
	mkdir -p "$WORK/bin"
	search=$WORK/bin refused 127 'install the package qemu-user' -- "$PROCESS"
	printf 'core 0 in cache a\ncache a in cache a\n' >"$WORK/cycle"
	echo '# no core' >"$WORK/none"
	refused 125 'line 2: a: it is part of itself' --topology "$WORK/cycle" \
		-- "$PROCESS"
	refused 125 'there is no core' --topology "$WORK/none" -- "$PROCESS"
	refused 125 'No such file' --topology "$WORK/absent" -- "$PROCESS"
	cp "$PROCESS" "$WORK/setuid"
	chmod u+s "$WORK/setuid"
	refused 125 'gains privileges' -- "$WORK/setuid"
}

run_claims "${1-}" record_starts_the_emulator \
	auto_takes_or_offers_emu_where_perf_events_is_denied \
	record_refuses_what_cannot_be
