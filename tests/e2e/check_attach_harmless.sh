#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_attach_harmless - who is watched does not notice
#
# No tracer, no mapping, no system call that ends early; output and exit status
# are the same. A watcher that is killed leaves the program unharmed, its
# registers free and a profile that can be read. CYCLES of that, default 20.
#
# covers: analysis/outside

. "$(dirname "$0")/e2e.sh"
. "$(dirname "$0")/attach.sh"
CYCLES=${CYCLES:-20}
cd "$WORK" || exit 1
can_attach

# Waiting system calls, while another thread works and is watched.
"$B/tests/programs/help_waits" >said 2>&1 &
pid=$!
for ((i = 0; i < 100; i++)); do
	grep -q ready said && break
	sleep 0.1
done
mappings=$(wc -l <"/proc/$pid/maps")
descriptors=$(ls "/proc/$pid/fd" | wc -l)
"$TOOL" attach -F 1000 --duration 2 -o out "$pid" 2>err &
watcher=$!
for ((i = 0; i < 15; i++)); do
	grep -qx 'TracerPid:	0' "/proc/$pid/status" || fail "it is traced"
	[ "$(ls "/proc/$pid/fd" | wc -l)" = "$descriptors" ] ||
		fail "its descriptors changed"
	sleep 0.1
done
wait $watcher || fail "attach: status $?: $(cat err)"
[ "$(wc -l <"/proc/$pid/maps")" = "$mappings" ] || fail "its mappings changed"
kill -TERM "$pid"
wait "$pid"
status=$?
[ $status = 3 ] || fail "its exit status is $status, not 3"
[ "$(cat said)" = "ready
nanosleep 0 " ] || fail "a system call ended early: $(cat said)"

# state - what of the program a watcher might change
state()
{
	grep -E '^(SigPnd|SigBlk|SigIgn|SigCgt|ShdPnd|TracerPid|NoNewPrivs|Seccomp|Threads)' \
		"/proc/$pid/status"
	ls "/proc/$pid/fd"
	wc -l <"/proc/$pid/maps"
}

# Watchers that are killed at any time, and one that is not. A program that a
# signal had reached, or that had lost its standard output, would end.
gcc -O2 -g -pthread -o pair "$TOP/tests/programs/attach/pair.c" ||
	fail "cannot compile the pair"
start ./pair false
state >before
readable=0
for ((i = 0; i < CYCLES; i++)); do
	"$TOOL" attach -F 1000 -o out "$pid" >/dev/null 2>&1 &
	watcher=$!
	sleep "0.$((RANDOM % 4))$((RANDOM % 10))"
	kill -KILL $watcher
	wait $watcher 2>/dev/null
	kill -0 "$pid" 2>/dev/null ||
		fail "the program ended after $((i + 1)) killed watchers"
	[ -e out ] || continue
	if "$TOOL" report out >/dev/null 2>report.err; then
		readable=$((readable + 1))
	else
		# It was killed before it wrote the file's header.
		grep -Eq 'has no profile in it|killed before it began' \
			report.err || fail "a killed watcher's profile: $(cat report.err)"
	fi
done
state >after
cmp -s before after || fail "killed watchers changed the program: $(
	diff before after)"
echo "$CYCLES watchers killed, $readable profiles read"
finds "after $CYCLES killed watchers" "est('false_sharing') > 0" "$pid"
holds r.json 'r["run"]["registers"] == 4' "after $CYCLES killed watchers"
finish
echo ok
