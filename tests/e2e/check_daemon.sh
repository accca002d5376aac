#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_daemon - the daemon finds the processes that fight for lines
#
# Threads of one process, and two processes that share memory; its directories;
# signals; a target, and a child of the daemon, that are killed; what systemd
# is told; the rights that it keeps.
#
# covers: analysis/daemon analysis/cmd/daemon.c

. "$(dirname "$0")/e2e.sh"
. "$(dirname "$0")/attach.sh"
PAIR=$B/tests/programs/help_shared_pair
cd "$WORK" || exit 1
can_attach
pids=
trap 'kill -KILL $pids 2>/dev/null; rm -rf "$WORK"' EXIT

# A name of their own: nothing else on the machine is watched.
name=rtd$$
gcc -O2 -g -pthread -o "$name" "$TOP/tests/programs/attach/pair.c" ||
	fail "cannot compile the program"
cp "$PAIR" "$name.shm"

begin()	# COMMAND... - and leave its process id in $pid
{
	start "$@"
	pids+=" $pid"
}

# serve OPTION... - run the daemon in the background
serve()
{
	"$TOOL" daemon --name "$name*" --budget 100 --slice 1 -F 1000 \
		-o daemon "$@" 2>said &
	daemon=$!
	pids+=" $daemon"
}

# until_found WHAT EXPRESSION - until it holds in the newest profile
until_found()
{
	local end=$((SECONDS + PATIENCE)) newest

	while [ $SECONDS -lt $end ]; do
		kill -0 $daemon 2>/dev/null || fail "$1: it ended: $(cat said)"
		newest=$(ls -d daemon/2* 2>/dev/null | tail -1)
		[ "$newest" ] && "$TOOL" report "$newest" --json --no-symbols >r.json 2>/dev/null &&
			[ "$(ask r.json "$2")" = True ] && return
		sleep 0.7
	done
	fail "$1: not $2 in $PATIENCE s: $(cat said; ls daemon
		"$TOOL" report "$newest" | head -40)"
}

quit()	# SIGNAL
{
	kill "-$1" $daemon
	wait $daemon || fail "after SIG$1: status $?: $(cat said)"
}

begin "./$name" false; false_pid=$pid
begin "./$name" clean; clean_pid=$pid
begin "./$name.shm" memfd true; read -r shm_pid _ <<<"$line"

# Systemd's side of the protocol.
python3 - "$WORK/notify" >told 2>&1 <<'EOF' &
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
while True:
    text = s.recv(4096).decode()
    print(text, flush=True)
    if "STOPPING=1" in text:
        break
EOF
listener=$!
pids+=" $listener"
while [ ! -S notify ]; do sleep 0.05; done
NOTIFY_SOCKET=$WORK/notify serve
of()	# PID KIND - detections that the process PID takes part in
{
	echo "sum(x['$2'] for x in c.get('cells', []) if $1 in" \
		"{r['processes'][r['threads'][t]['process']]['pid']" \
		"for t in (x['a'], x['b'])})"
}
until_found "threads and processes" \
	"$(of $false_pid false) > 5 and $(of $shm_pid true) > 2 and \
$clean_pid in {p['pid'] for p in r['processes']}"
holds r.json "$(of $clean_pid all) == 0 and $(of $false_pid true) == 0" \
	"the clean one, and kinds"
holds r.json "{p['pid'] for p in r['processes']} <= {$(pgrep "^$name" |
	paste -sd,)}" "the filter"

# It keeps two capabilities at most (38 and 19), and its directories to itself.
caps=$(sed -n 's/^CapEff:\t//p' /proc/$daemon/status)
[ $((0x$caps & ~(1 << 38 | 1 << 19))) = 0 ] || fail "it has capabilities $caps"
[ "$(stat -c %a daemon daemon/2* | sort -u)" = 700 ] || fail "modes of directories"

# SIGHUP begins a new one. The old one, of several slices, is complete.
old=$(ls -d daemon/2*)
for ((i = 0; i < 10 * PATIENCE; i++)); do
	[ "$(ls "$old"/*.cdp | wc -l)" -le 6 ] || break
	sleep 0.1
done
kill -HUP $daemon
for ((i = 0; i < 10 * PATIENCE; i++)); do
	[ "$(ls -d daemon/2* | wc -l)" = 1 ] || break
	sleep 0.1
done
until_found "after SIGHUP" "$(of $false_pid false) > 0"
[ "$(ls -d daemon/2* | wc -l)" = 2 ] || fail "no new directory: $(ls daemon)"
json "$old" old.json
holds old.json 'all(p["state"] != "running" for p in r["processes"])' "the old one"
# One row for a process and for a thread, whatever the number of slices.
[ "$(ls "$old"/*.cdp | wc -l)" -gt 4 ] || fail "one slice: $(ls "$old")"
for what in 'p["pid"] for p in r["processes"]' 't["tid"] for t in r["threads"]'; do
	holds old.json "(lambda x: len(x) == len(set(x)))([$what])" "slices"
done

# Targets that die, and a slice that is killed, do not matter.
kill -KILL $false_pid $shm_pid
child=$(pgrep -P $daemon)
[ "$child" ] && kill -KILL $child
begin "./$name" true; true_pid=$pid
until_found "after deaths" "$(of $true_pid true) > 5"
"./$name" false >line & short=$!
pids+=" $short"
until_found "a new one" "$(of $short false) > 0"
kill -KILL $short
quit TERM
wait $listener
grep -qx READY=1 told && grep -q '^STATUS=.* busy process' told &&
	grep -qx STOPPING=1 told || fail "systemd was told: $(cat told)"
grep -q 'samples, .* detections in daemon' said || fail "it said: $(cat said)"
json "$(ls -d daemon/2* | tail -1)" last.json
holds last.json "all(p['state'] != 'running' for p in r['processes'] if p['pid'] == $true_pid)" "the last one"

# Old directories go, and nothing else does.
mkdir daemon/mine daemon/20200101-000000.000
touch daemon/mine/file daemon/20200101-000000.000/file
before=$(ls -d daemon/2* | grep -v 20200101)
serve --keep 1
for ((i = 0; i < 10 * PATIENCE; i++)); do
	ls -d $before >/dev/null 2>&1 || break # one of them has gone
	sleep 0.1
done
until_found "with --keep" "$(of $true_pid true) > 5"
quit INT
[ "$(ls daemon | wc -l)" = 3 ] && [ -e daemon/mine/file ] &&
	[ -e daemon/20200101-000000.000/file ] || fail "--keep: $(ls -R daemon)"

# What it refuses.
refuses()	# TEXT OPTION...
{
	local text=$1

	shift
	"$TOOL" daemon -o other "$@" 2>err && fail "$* is accepted"
	grep -q "$text" err && [ "$(wc -l <err)" = 1 ] || fail "$*: $(cat err)"
}
refuses 'is a profile' -o "$(ls -d daemon/2* | tail -1)"
refuses 'there is no user' --user no-such-user-here
refuses 'must be a number from' --budget 0
refuses 'takes no argument' 1
[ ! -e other ] || fail "a refused daemon leaves a directory"
echo ok
