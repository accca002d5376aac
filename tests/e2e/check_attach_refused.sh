#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_attach_refused - one line names cause and cure where attach cannot go
#
# covers: analysis/outside/permission.c analysis/cmd/attach.c

. "$(dirname "$0")/e2e.sh"
. "$(dirname "$0")/attach.sh"
cd "$WORK" || exit 1
can_attach

# refused TEXT COMMAND... - it ends with status 1, and one line matches
refused()
{
	local text=$1 status

	shift
	"$@" >out.txt 2>err.txt
	status=$?
	[ $status = 1 ] || fail "$*: status $status: $(cat err.txt)"
	[ "$(wc -l <err.txt)" = 1 ] || fail "$*: not one line: $(cat err.txt)"
	grep -Eq -- "$text" err.txt || fail "$*: not '$text': $(cat err.txt)"
	[ ! -e out ] || fail "$*: left a directory"
}

refused 'name a process: reusetrack attach PID' "$TOOL" attach
refused 'there is no process 2147483647; pgrep' "$TOOL" attach 2147483647
refused 'must be a whole number' "$TOOL" attach me
refused 'not both' "$TOOL" attach --tid 1 1
refused 'goes with processes' "$TOOL" attach --children --tid 1
refused '--delay must be a number' "$TOOL" attach --delay x 1
refused 'reusetrack itself' sh -c 'exec "$0" attach $$' "$TOOL"

gcc -O2 -g -pthread -o pair "$TOP/tests/programs/attach/pair.c" ||
	fail "cannot compile the pair"
start ./pair false
tid=$(ls "/proc/$pid/task" | grep -vx "$pid")
refused "$tid is a thread of process $pid; .*--tid $tid" "$TOOL" attach "$tid"
refused 'cannot make the output directory' "$TOOL" attach -o /proc/x "$pid"

# A process that has ended and is not yet waited for.
sh -c 'sleep 0 & echo $!; exec sleep 30' >zombie &
parent=$!
for ((i = 0; i < 100; i++)); do
	grep -q 'State:.Z' "/proc/$(cat zombie)/status" 2>/dev/null && break
	sleep 0.1
done
refused 'has ended; its parent' "$TOOL" attach "$(cat zombie)"
kill $parent 2>/dev/null

# As another user: whose the process is.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	chmod 755 "$WORK" && mkdir -m 777 open && cp "$TOOL" ./tool && cd open
	refused 'belongs to user root: run reusetrack as that user' \
		setpriv --reuid=65534 --regid=65534 --clear-groups \
		../tool attach "$pid"
	# CAP_SYS_PTRACE alone is enough, and root is nothing without it.
	setpriv --reuid=65534 --regid=65534 --clear-groups \
		--inh-caps +sys_ptrace --ambient-caps +sys_ptrace \
		../tool attach --duration 0.1 "$pid" 2>err.txt ||
		fail "with CAP_SYS_PTRACE: $(cat err.txt)"
	rm -rf out
	setpriv --reuid=65534 --regid=65534 --clear-groups \
		sleep 60 &
	other=$!
	for ((i = 0; i < 100; i++)); do
		grep -q 'Uid:.65534' /proc/$other/status && break
		sleep 0.1
	done
	refused 'belongs to user .*give it CAP_SYS_PTRACE' \
		setpriv --bounding-set -sys_ptrace ../tool attach $other
	kill $other
	cd ..
fi

# No register left: it goes on without, and says so.
"$TOOL" attach -F 1000 --duration 20 -o first "$pid" 2>/dev/null &
first=$!
seen=
for ((i = 0; i < 20; i++)); do
	"$TOOL" attach --duration 0.2 -o second "$pid" 2>err ||
		fail "a second watcher: status $?: $(cat err)"
	json second r.json
	[ "$(ask r.json 'r["run"]["registers"] < 4')" = True ] && seen=1 && break
	rm -rf second second.old
done
kill -INT $first
wait $first || fail "the first watcher: status $?"
[ -z "$seen" ] || holds r.json \
	'"taken" in r["run"]["registers_reason"]' "a second watcher"
finish

# What ends at once.
for ((i = 0; i < 5; i++)); do
	sleep 0.01 &
	"$TOOL" attach -o quick $! >/dev/null 2>err
	status=$?
	[ $status -le 1 ] || fail "what ends at once: status $status: $(cat err)"
	wait
done
echo ok
