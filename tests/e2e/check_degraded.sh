#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_degraded - the preload does without what is missing, and says so
#
# Debug registers, perf_events, timers, room on disk or a place for out/ are
# missing. The program's output and status never change. The report names what
# is weaker, or one line on stderr says why nothing was measured, and doctor
# says the same.

. "$(dirname "$0")/e2e.sh"
words=$B/microbench/words
deny=$B/tests/programs/help_deny
run="$words --distance 8 --width 8 --iterations 300000000 --seed 1"

$run >"$WORK/plain" 2>&1 || fail "words without the library: status $?"

# constant FILE - print it without addresses and thread ids
constant()
{
	sed -E 's/0x[0-9a-f]+/ADDRESS/g; s/tid [0-9]+/TID/g' "$1"
}

# under PREFIX... - run `PREFIX words` under the preload
under()
{
	rm -rf "$WORK/out"
	COMDET_OUT=${OUT:-$WORK/out} "$@" env LD_PRELOAD="$LIB" $run \
		>"$WORK/stdout" 2>"$WORK/stderr" ||
		fail "$*: status $?: $(cat "$WORK/stderr")"
	constant "$WORK/plain" >"$WORK/a"
	constant "$WORK/stdout" >"$WORK/b"
	cmp -s "$WORK/a" "$WORK/b" || fail "$*: the output changed"
}

quiet()
{
	[ ! -s "$WORK/stderr" ] ||
		fail "$1: stderr says $(cat "$WORK/stderr")"
}

one_line()
{
	[ "$(wc -l <"$WORK/stderr")" = 1 ] ||
		fail "$1: not one line: $(cat "$WORK/stderr")"
	grep -q "^comdet: not profiled: .*$2" "$WORK/stderr" ||
		fail "$1: stderr says $(cat "$WORK/stderr")"
}

# lasting PREFIX... - replace out/ by that of a run that lasts 3 s
#
# The run of under() ends after 0.2 s, and may end without a detection.
lasting()
{
	rm -rf "$WORK/out"
	COMDET_OUT=$WORK/out "$@" env LD_PRELOAD="$LIB" "$words" \
		--distance 8 --width 8 --seconds 3 >/dev/null ||
		fail "$*: status $?"
}

# says TEXT WORDS - the text report has WORDS, and there are detections
says()
{
	"$TOOL" report "$WORK/out" >"$WORK/report" 2>&1 ||
		fail "$1: report ended with status $?"
	tr '\n' ' ' <"$WORK/report" | tr -s ' ' | grep -Eqi "$2" ||
		fail "$1: the report does not say '$2'"
	json "$WORK/out" "$WORK/r.json"
	holds "$WORK/r.json" 'est("total") > 0' "$1: detections"
	holds "$WORK/r.json" 'r["run"]["source"] == "clock"' "$1: source"
}

COMDET_REGISTERS=0 under
quiet "--registers 0"
COMDET_REGISTERS=0 lasting
says "--registers 0" "debug registers.*(switched off|--registers 0)"

# Kernels before 5.19 lack synchronous signals: the preload takes timers, and
# watchpoints send queued signals.
for _ in 1 2 3 4 5; do # a run has few traps where the machine is busy
	COMDET_DELIVERY=rtsig under
	quiet "queued signals"
	COMDET_DELIVERY=rtsig lasting
	says "queued signals" "POSIX timers"
	[ "$(ask "$WORK/r.json" 'sum(t["traps"] for t in r["threads"])')" = 0 ] ||
		break
done
if debug_registers; then
	holds "$WORK/r.json" 'sum(t["traps"] for t in r["threads"]) > 0' \
		"queued signals: traps"
fi

if debug_registers; then
	under "$B/tests/programs/help_own_registers"
	quiet "a debugger owns the registers"
	lasting "$B/tests/programs/help_own_registers"
	says "a debugger owns the registers" "debug register.*debugger"
fi

under "$deny" perf_event_open EPERM
quiet "perf_events denied"
lasting "$deny" perf_event_open EPERM
says "perf_events denied" "POSIX timers.*perf_event_open is not permitted"
"$deny" perf_event_open EPERM "$TOOL" doctor >"$WORK/doctor" 2>&1
grep -q "perf_event_open" "$WORK/doctor" ||
	fail "doctor does not name perf_event_open"
"$deny" perf_event_open EPERM "$TOOL" doctor --json >"$WORK/d.json" ||
	fail "doctor: the clock still works on timers; status $?"
[ "$(ask "$WORK/d.json" 'r["debug_registers"]["usable"]')" = False ] ||
	fail "doctor finds debug registers where perf_events is denied"

if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	chmod 711 "$WORK"
	mkdir -m 777 "$WORK/any"
	user="setpriv --reuid=65534 --regid=65534 --clear-groups"
	OUT=$WORK/any/out
	if $user test -r "$LIB" && $user test -x "$words"; then
		under $user "$deny" perf_event_open EPERM
		quiet "an ordinary user"
		[ -d "$OUT" ] || fail "an ordinary user: no output"
	fi
	unset OUT
fi

under "$deny" perf_event_open,timer_create EPERM
one_line "no timers either" "timer"

OUT=/proc/out under
one_line "an out/ that cannot be made" "COMDET_OUT="

trap 'umount "$WORK/full" 2>/dev/null; rm -rf "$WORK"' EXIT
if [ "$(id -u)" = 0 ] && mkdir "$WORK/full" &&
	mount -t tmpfs -o size=8k tmpfs "$WORK/full" 2>/dev/null; then
	OUT=$WORK/full/out under
	one_line "no space on disk" "[Nn]o space"
	mount -o remount,size=128k "$WORK/full"
	rm -rf "$WORK/full"/*
	OUT=$WORK/full/out under
	umount "$WORK/full"
else
	rmdir "$WORK/full" 2>/dev/null
fi

(ulimit -f 8; under) || exit 1
echo "weaker or off, said once, and the program never changed"
