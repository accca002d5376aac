#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_attach_end - the report says if the watched process, or attach, was killed
#
# covers: analysis/outside/exit_signal.c analysis/outside/follow.c
# covers: analysis/profile/file.c

. "$(dirname "$0")/e2e.sh"
. "$(dirname "$0")/attach.sh"
cd "$WORK" || exit 1
can_attach

# A parent that waits for its child only when it is told to: until then Linux
# before 6.15 knows how the child ended too. It prints the child's process id.
cat >parent.py <<'END'
import subprocess, sys
child = subprocess.Popen(["sleep", "300"])
print(child.pid, flush=True)
sys.stdin.readline()
child.wait()
END
coproc PARENT { python3 parent.py; }
read -r child <&"${PARENT[0]}" || fail "the parent did not begin"

is_watched()
{
	local end=$((SECONDS + PATIENCE))

	until "$TOOL" report out --json >r.json 2>/dev/null &&
		grep -q '"pid": *'"$1" r.json; do
		[ $SECONDS -lt $end ] && kill -0 $watcher 2>/dev/null ||
			fail "attach does not begin: $(cat attach)"
		sleep 0.1
	done
}

watch "$child"
is_watched "$child"
kill -KILL "$child"
wait $watcher || fail "attach: status $?: $(cat attach)"
"$TOOL" report out >text || fail "report"
grep -q "ended by signal 9 (Killed)" text || fail "killed: $(cat text)"
echo >&"${PARENT[1]}"

# The watcher itself is killed; its target goes on.
sleep 300 &
pid=$!
watch $pid
is_watched $pid
"$TOOL" report out | grep -q "still running" || fail "it does not run"
kill -KILL $watcher
wait $watcher 2>/dev/null
"$TOOL" report out >text || fail "report"
grep -q "its watcher was killed" text || fail "the watcher: $(cat text)"
kill -0 $pid || fail "the target was harmed"
finish
echo ok
