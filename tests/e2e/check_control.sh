#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_control - other programs start and stop the sampling with --control
#
# covers: analysis/base/control.c analysis/record/control.c analysis/outside/watcher.c preload/start/output.c

. "$(dirname "$0")/e2e.sh"
. "$(dirname "$0")/attach.sh"
cd "$WORK" || exit 1

# A third of a processor is enough.
gcc -O2 -o third -x c - <<'EOF2' || fail "cannot compile the program"
#include <stdio.h>
#include <unistd.h>
static volatile unsigned long word;
int main(void)
{
	puts("ready");
	fflush(stdout);
	for (;; usleep(2000))
		for (int i = 0; i < 500000; i++)
			word++;
}
EOF2
mkfifo ctl ack

# tell COMMAND - and wait for the answer
tell()
{
	answer=$(timeout $PATIENCE sh -c 'exec 3<>ack; echo $1 >ctl
		read -r answer <&3; echo $answer' tell "$1")
	[ "$answer" = ack ] || fail "$what: the answer to $1 is '$answer'"
}

samples()
{
	"$TOOL" report out --json --no-symbols >r.json || fail "$what: report"
	ask r.json 'sum(sum(t["samples"].values()) for t in r["threads"])'
}

# works - until the program has had 0.1 s more of CPU time
works()
{
	local now until

	until=$(($(awk '{print $14 + $15}' "/proc/$program/stat") + 10))
	for ((i = 0; i < 10 * PATIENCE; i++)); do
		now=$(awk '{print $14 + $15}' "/proc/$program/stat")
		[ "$now" -lt $until ] || return
		sleep 0.1
	done
	fail "$what: the program does not run"
}

# obeys MOST - begun disabled, it samples while it is enabled; then at most MOST
# samples follow, whose interrupts had begun
obeys()
{
	local before

	tell ping
	works
	[ "$(samples)" = 0 ] || fail "$what: begun disabled, it samples"
	tell enable
	for ((i = 0; i < 2 * PATIENCE; i++)); do
		before=$(samples)
		[ "$before" -lt 20 ] || break
		sleep 0.5
	done
	[ "$before" -ge 20 ] || fail "$what: enabled, it does not sample"
	tell disable
	before=$(samples)
	works
	[ "$(samples)" -le $((before + $1)) ] ||
		fail "$what: disabled, it samples"
}

# The library within the program.
what="record"
start "$TOOL" record -F 1000 -o out --delay -1 --control fifo:ctl,ack -- \
	./third
program=$(pgrep -P "$pid" -x third)
obeys 1
[ -z "$(grep -a ctl "/proc/$program/maps")" ] || fail "$what: maps"
ls -l "/proc/$program/fd" | grep -E 'ctl|ack$' &&
	fail "$what: descriptors"
tell stop
kill -0 "$program" || fail "$what: the program ended with stop"
kill -TERM "$program"
wait "$pid"
[ $? = 143 ] || fail "$what: its status is not the program's"
[ "$(ls out | sed 's/.*\.//' | sort -u)" = cdp ] || fail "left: $(ls out)"

# What it refuses, in one line and before the program runs.
refused()
{
	local text=$1

	shift
	"$@" >said 2>err && fail "$* is accepted"
	[ "$(wc -l <err)" = 1 ] && grep -q -- "$text" err ||
		fail "$*: not '$text': $(cat err)"
	[ ! -s said ] || fail "$*: it ran"
}
record="$TOOL record -o refused"
refused 'is fifo:COMMANDS' $record --control ctl -- echo ran
refused 'mkfifo' $record --control fifo:none -- echo ran
refused 'not a FIFO' $record --control fifo:/dev/null -- echo ran
refused 'from 3 to' $record --control fd:0 -- echo ran
refused '99 is not open' $record --control fd:99 -- echo ran
refused '9 is a file' $record --control fd:9 -- echo ran 9<"$0"
refused 'cannot pause the source emu' $record -s emu --control fifo:ctl -- echo ran
refused '--delay -1 needs --control' "$TOOL" attach --delay -1 $$
[ ! -e refused ] || fail "it left a directory"

can_attach

# From outside, and descriptors: the second watcher of a program.
what="attach"
start ./third
program=$pid
"$TOOL" attach -F 1000 -o out --delay -1 --control fifo:ctl,ack "$pid" 2>err &
watcher=$!
obeys 0
tell stop
wait $watcher || fail "$what: status $?: $(cat err)"
exec {ctl}<>ctl {ack}<>ack
echo enableX >&$ctl
echo stop >&$ctl
"$TOOL" attach -o second --control fd:$ctl,$ack "$pid" 2>err ||
	fail "$what with descriptors: status $?: $(cat err)"
grep -q "no command 'enableX'; use enable" err || fail "$what: $(cat err)"
exec {ctl}>&- {ack}>&-
finish

# A sender that has gone; the program is not harmed.
echo disable | "$TOOL" record --outside -o out --control fd:7 -- sh -c \
	'echo $(ls /proc/self/fd | wc -l); sleep 0.3' 7<&0 >said 2>err ||
	fail "record --outside: status $?: $(cat err)"
[ "$(cat said)" = "$(sh -c 'echo $(ls /proc/self/fd | wc -l)')" ] ||
	fail "descriptors of the program: $(cat said)"
grep -q 'closed after disable' err || fail "a sender that has gone: $(cat err)"
echo ok
