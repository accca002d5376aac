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
	timeout -k 1 60 "$@" >out.txt 2>err.txt
	status=$?
	[ $status = 1 ] || fail "$*: status $status: $(cat err.txt)"
	[ "$(wc -l <err.txt)" = 1 ] || fail "$*: not one line: $(cat err.txt)"
	grep -Eq -- "$text" err.txt || fail "$*: not '$text': $(cat err.txt)"
	[ ! -e out ] || fail "$*: left a directory"
}

refused 'name a process: reusetrack attach PID' "$TOOL" attach
refused 'there is no process 2147483647; pgrep' "$TOOL" attach 2147483647
for none in 0 me 1x 99999999999 1,,2; do
	refused 'must be a whole number from 1' "$TOOL" attach $none
done
refused "has no option '-1'; see reusetrack attach --help" "$TOOL" attach -1
refused 'not both' "$TOOL" attach --tid 1 1
refused 'goes with processes' "$TOOL" attach --children --tid 1
refused '--delay must be a number' "$TOOL" attach --delay x 1
refused 'must be a percentage of the CPU time' "$TOOL" attach --budget 0 1
refused '--source must be clock, pebs or ibs' "$TOOL" attach -s emu 1
refused 'set the period with -p' "$TOOL" attach -s pebs -F 100 1
refused '-p goes with -s pebs' "$TOOL" attach -p 1000 1
refused 'needs the source clock' "$TOOL" attach -s ibs -g 1
refused 'reusetrack itself' sh -c 'exec "$0" attach $$' "$TOOL"

gcc -O2 -g -pthread -o pair "$TOP/tests/programs/attach/pair.c" ||
	fail "cannot compile the pair"
start ./pair false
tid=$(ls "/proc/$pid/task" | grep -vx "$pid")
refused "$tid is a thread of process $pid; .*--tid $tid" "$TOOL" attach "$tid"
refused 'cannot make the output directory' "$TOOL" attach -o /proc/x "$pid"

# Events of the processor, where it has none that can be sampled.
for source in pebs ibs; do
	"$TOOL" doctor --json >doctor.json
	[ "$(python3 -c 'import json, sys
print({s["name"]: s for s in json.load(open("doctor.json"))["sources"]}[
	sys.argv[1]]["usable"])' $source)" = False ] || continue
	refused "the source $source does not work here: .*; " \
		"$TOOL" attach -s $source "$pid"
	"$TOOL" record --outside -s $source -o out -- true 2>err
	[ $? = 125 ] && grep -q "cannot watch the program: the source $source does not work here: .*; " err ||
		fail "record --outside -s $source: $(cat err)"
	rm -rf out
done

# A process that has ended and is not yet waited for. (A shell may wait for it
# before it executes another program.)
python3 - >zombie <<'EOF' &
import os, time
child = os.fork()
if child == 0:
    os._exit(0)
os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
print(child, flush=True)
time.sleep(3600)
EOF
parent=$!
until [ -s zombie ]; do
	kill -0 $parent || fail "no process has ended"
	sleep 0.1
done
refused 'has ended; its parent' "$TOOL" attach "$(cat zombie)"
kill $parent

[ "$(cat /proc/2/comm 2>/dev/null)" != kthreadd ] ||
	refused '2 is a thread of the kernel; name a program' "$TOOL" attach 2

# A process whose main thread has ended, and others have not.
gcc -pthread -o headless -x c - <<'EOF' || fail "cannot compile headless"
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static void *rest(void *arg) { pause(); return arg; }
int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, rest, NULL);
	puts("ready");
	fflush(stdout);
	pthread_exit(NULL);
}
EOF
pair=$pid
start ./headless
for ((i = 0; i < 100; i++)); do
	grep -q 'State:.Z' "/proc/$pid/status" && break
	sleep 0.1
done
refused "the main thread of process $pid has ended.* record" \
	"$TOOL" attach "$pid"
finish
pid=$pair

# A system call that a container forbids.
for call in perf_event_open process_vm_readv; do
	refused "use $call, not even on ourselves: allow it in the container" \
		"$B/tests/programs/help_deny" $call EPERM "$TOOL" attach "$pid"
done

# $pretends FILE NUMBER COMMAND... - run it where /proc/sys/kernel/FILE has NUMBER
cat >pretends <<'EOF'
file=/proc/sys/kernel/$1 number=$2
shift 2
mount -t tmpfs none /proc/sys/kernel && mkdir -p "${file%/*}" &&
	echo "$number" >"$file" && exec "$@"
EOF
pretends="unshare -m sh $WORK/pretends"
can_pretend=
$pretends perf_event_paranoid 3 true 2>/dev/null && can_pretend=1
if [ "$can_pretend" ]; then
	refused 'ptrace_scope is 3: no program may .*; boot with' \
		$pretends yama/ptrace_scope 3 "$B/tests/programs/help_deny" \
		process_vm_readv_of_others EPERM "$TOOL" attach "$pid"
fi

# A /proc that shows others than our pid namespace.
if unshare -p --fork true 2>/dev/null; then
	refused '/proc shows another pid namespace .* mount -t proc' \
		unshare -p --fork "$TOOL" attach "$pid"
fi
if unshare -p --fork --mount-proc true 2>/dev/null; then # in a chroot it fails
	refused "there is no process 31999; pgrep" \
		unshare -p --fork --mount-proc "$TOOL" attach 31999
fi

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

	# As its user, where the kernel is stricter than here.
	nobody='setpriv --reuid=65534 --regid=65534 --clear-groups'
	cp "$B/tests/programs/help_deny" ../deny
	if [ "$can_pretend" ]; then
		refused 'perf_event_paranoid is 3: ordinary.* run as root, or' \
			$pretends perf_event_paranoid 3 $nobody \
			../deny perf_event_open EPERM ../tool attach $other
		refused 'ptrace_scope is 1: .*run as root, or sysctl' \
			$pretends yama/ptrace_scope 1 $nobody \
			../deny process_vm_readv_of_others EPERM \
			../tool attach $other
	fi
	kill $other

	# A process that protects itself.
	gcc -o ../secret -x c - <<-'EOF' || fail "cannot compile secret"
	#include <stdio.h>
	#include <sys/prctl.h>
	#include <unistd.h>
	int main(void)
	{
		prctl(PR_SET_DUMPABLE, 0);
		puts("ready");
		fflush(stdout);
		pause();
	}
	EOF
	$nobody ../secret >line &
	other=$!
	for ((i = 0; i < 100; i++)); do
		[ -s line ] && break
		sleep 0.1
	done
	refused "sample process $other: it protects itself.*run as root" \
		$nobody ../tool attach $other
	kill $other
	rm -f line

	# In namespaces of its own the process is watched from outside. (unshare
	# complains when its child is killed.)
	$nobody unshare --user --pid --mount --fork ../pair false >line 2>unshare &
	parent=$!
	for ((i = 0; i < 100; i++)); do
		other=$(pgrep -P $parent -x pair) && break
		kill -0 $parent 2>/dev/null || break
		sleep 0.1
	done
	if [ "$other" ]; then
		for as in "$nobody" env; do
			for ((i = 0; i < 20; i++)); do
				$as ../tool attach -F 1000 --duration 0.5 \
					-o inner "$other" 2>err ||
					fail "a container: $(cat err)"
				json inner r.json
				[ "$(ask r.json 'est("false_sharing") > 0')" = True ] &&
					break
				rm -rf inner inner.old
			done
			holds r.json 'est("false_sharing") > 0' "a container"
			rm -rf inner inner.old
		done
		kill -KILL "$other"
		echo "watched, in namespaces of its own: process $other"
	else
		echo "namespaces cannot be made here: not tried: $(cat unshare)"
		kill $parent 2>/dev/null
	fi

	# A program that may not be read. The kernel takes the events from a
	# task that executes it, and root may open new ones.
	gcc -O2 -pthread -o ../unreadable -x c - <<-'EOF' || fail "cannot compile unreadable"
	#include <pthread.h>
	#include <stdio.h>
	#include <time.h>
	static void *work(void *arg)
	{
		struct timespec ts = { 0, 0 };
		while (!ts.tv_sec && ts.tv_nsec < 250000000) {
			for (volatile int i = 0; i < 100000; i++)
				;
			clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
		}
		return arg;
	}
	int main(void)
	{
		pthread_t t;
		pthread_create(&t, NULL, work, NULL);
		work(NULL);
		pthread_join(t, NULL);
		puts("whole");
	}
	EOF
	chmod 111 ../unreadable
	"$TOOL" record --outside --children -F 1000 -o unread -- \
		$nobody sh -c '../unreadable; true' >said 2>err ||
		fail "what may not be read: $(cat err)"
	[ "$(cat said)" = whole ] || fail "what may not be read: $(cat said)"
	json unread r.json
	holds r.json 'sum(t["interrupts"] for t in r["threads"]
		if t["name"] == "unreadable") > 20 and len([t for t in
		r["threads"] if t["name"] == "unreadable"]) == 2' \
		"what may not be read"
	$nobody ../tool record --outside -o own -- ../unreadable >said 2>err
	[ $? = 125 ] && [ ! -s said ] && [ "$(wc -l <err)" = 1 ] && grep -q \
		'its file may not be read.* chmod +r it, or run .* as root' err ||
		fail "what a user may not read: $(cat said err)"
	cd ..
fi

# A debugger has the registers: one line says so.
start "$B/tests/programs/help_own_registers" ./pair false
debuggee=$(pgrep -P "$pid" -x pair)
"$TOOL" attach --duration 0.2 -o owned "$debuggee" 2>err ||
	fail "a debugger's process: status $?: $(cat err)"
kill -KILL "$debuggee"
wait "$pid"
pid=$pair
if debug_registers; then
	grep -q '^reusetrack: 0 of 4 debug registers were free: .*a debugger or another watcher.* attach again' err ||
		fail "a debugger has the registers: $(cat err)"
fi
"$TOOL" attach --registers 0 --duration 0.1 -o none "$pid" 2>err
grep -q 'registers were free' err && fail "--registers 0: $(cat err)"

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
