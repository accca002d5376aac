#!/bin/bash
# SPDX-License-Identifier: MIT
#
# bench_daemon - the daemon on a machine with ten busy processes
#
#   bench_daemon.sh [find] [last] [cost]
#
# find: eight processes whose two threads use lines of their own, and two that
# fight for lines; first each within itself, then both with each other through
# shared memory. Prints when each was found, at a budget of 1 %, and what that
# took. last: as many samples as an hour takes at the default rate, in a tenth
# of the time, while 1,000 processes come and go. Prints memory and descriptors.
# SECONDS_FIND= and SECONDS_LAST= set how long each takes. cost: what ten busy
# processes lose (bench_daemon_cost.py), only if it is asked for.

. "$(dirname "$0")/../e2e/e2e.sh"
. "$(dirname "$0")/../e2e/attach.sh"
SECONDS_FIND=${SECONDS_FIND:-120} SECONDS_LAST=${SECONDS_LAST:-360}
TOOL=${TOOL_PATH:-$TOOL}
PAIR=${PAIR_PATH:-$B/tests/programs/help_shared_pair}
HERE=$(cd "$(dirname "$0")" && pwd)
cd "$WORK" || exit 1
pids=
trap 'kill -KILL $pids 2>/dev/null; rm -rf "$WORK"' EXIT
name=rtb$$
gcc -O2 -g -pthread -o "$name" "$TOP/tests/programs/attach/pair.c" ||
	fail "cannot compile the program"
cp "$PAIR" "$name.shm"

busy()	# COMMAND... - begin it; its processes in $line
{
	start "$@"
	[ "$line" != ready ] || line=$pid
	pids+=" $line"
	fighters+=" $line"
}

quit()
{
	kill -TERM $daemon
	wait $daemon
	sed 's/^/   /' said
}

# found PID - detections of the process so far
found()
{
	"$TOOL" top -n 1 --rows 100 daemon 2>/dev/null |
		awk -v pid="$1" '$1 == pid && /%/ { print "yes" }'
}

find_them()	# TEXT
{
	local begin=$SECONDS pid left=$fighters end=$((SECONDS + SECONDS_FIND))

	echo "$1:"
	"$TOOL" daemon --name "$name*" -o daemon >/dev/null 2>said &
	daemon=$!
	pids+=" $daemon"
	while [ $SECONDS -lt $end ]; do
		sleep 2
		for pid in $left; do
			[ "$(found $pid)" ] || continue
			echo "   process $pid found after $((SECONDS - begin)) s"
			left=$(tr ' ' '\n' <<<"$left" | grep -vx "$pid")
		done
	done
	[ -z "${left//[[:space:]]/}" ] || echo "   not found:" $left
	quit
	"$TOOL" top -n 1 daemon | sed 's/^/   /'
	rm -rf daemon
}

case " ${*:-find last} " in *" find "*)
	for i in 1 2 3 4 5 6 7 8; do busy "./$name" clean; done
	fighters=
	busy "./$name" false
	busy "./$name" true
	find_them "two processes, each of which fights with itself"
	kill -KILL $fighters
	fighters=
	busy "./$name.shm" memfd false
	find_them "two processes that fight with each other"
	kill -KILL $pids 2>/dev/null
	;;
esac

most()	# FIELD PID... - the largest of these processes, in kB
{
	local field=$1

	shift
	for pid; do cat /proc/$pid/status; done 2>/dev/null |
		awk -v f="$field:" '$1 == f && $2 > m { m = $2 } END { print m + 0 }'
}

case " ${*:-find last} " in *" last "*)
	echo "an hour's worth of samples:"
	for i in 1 2; do busy "./$name" false; done
	"$TOOL" daemon --name "$name*" -o daemon -F 2000 --budget 100 --slice 2 \
		--socket socket >/dev/null 2>said &
	daemon=$!
	pids+=" $daemon"
	sleep 5
	before=$(ls /proc/$daemon/fd | wc -l) memory=0 child=0 come=0
	end=$((SECONDS + SECONDS_LAST))
	while [ $SECONDS -lt $end ]; do
		if [ $come -lt 1000 ]; then
			for i in 1 2 3 4 5 6 7 8 9 10; do
				timeout -s KILL 0.3 "./$name" false >/dev/null &
				brief[i]=$!
			done
			wait "${brief[@]}" 2>/dev/null
			come=$((come + 10))
		else
			sleep 1
		fi
		now=$(most VmHWM $daemon)
		[ $now -gt $memory ] && memory=$now
		now=$(most VmHWM $(pgrep -P $daemon))
		[ $now -gt $child ] && child=$now
	done
	echo "   $come processes came and went"
	echo "   memory at most: daemon $memory kB, its children $child kB"
	echo "   descriptors of the daemon: $before after 5 s, $(
		ls /proc/$daemon/fd | wc -l) at the end"
	quit
	;;
esac

case " $* " in *" cost "*)
	"$HERE/bench_daemon_cost.py" "$B" "${PAIRS:-8}" \
		"${SECONDS_EACH:-30}"
	;;
esac
