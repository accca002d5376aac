#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_top - top shows who fights for lines, as plain text and on a terminal
#
# covers: analysis/daemon/view.c analysis/cmd/top.c

. "$(dirname "$0")/e2e.sh"
. "$(dirname "$0")/attach.sh"
cd "$WORK" || exit 1
can_attach
pids=
trap 'kill -KILL $pids 2>/dev/null; rm -rf "$WORK"' EXIT
export TMPDIR=$WORK/temp
mkdir temp

# A name of their own: nothing else on the machine is watched.
name=rtt$$
gcc -O2 -g -pthread -o "$name" "$TOP/tests/programs/attach/pair.c" ||
	fail "cannot compile the program"
start "./$name" false; false_pid=$pid
start "./$name" true; true_pid=$pid
start "./$name" clean; clean_pid=$pid
pids="$false_pid $true_pid $clean_pid"

# row PID FILE - its last row without the name: watched, samples, det/s, shares
row()
{
	grep -E "^ *$1 $name " "$2" | tail -1
}

# shown FILE - the three are there as they are
shown()
{
	row "$false_pid" "$1" | grep -qE ' 100 % +0 %  counters.* at pair.c:[0-9]+$' &&
		row "$true_pid" "$1" | grep -qE ' 0 % +100 %  counters.* at pair.c:[0-9]+$' &&
		row "$clean_pid" "$1" | grep -qE ' 0\.0$'
}

# A slice may be too short on a busy machine, so several tries.
for try in 1 2 3 4 5 6 7 8; do
	"$TOOL" top -n 1 --delay $try --budget 100 -F 1000 \
		--name "$name" >once 2>err || fail "top -n 1: $(cat err)"
	shown once && break
done
shown once || fail "not shown: $(cat once)"
[ -z "$(tr -d '[:print:]\n' <once)" ] || fail "not plain text"
[ -z "$(ls temp)" ] || fail "left behind: $(ls temp)"
head -1 once | grep -qE '^[0-9]+ busy processes; .* of the machine' ||
	fail "the first line: $(cat once)"

# Several, in turns, in a terminal, whose width is kept; then Ctrl-C.
cat >terminal.py <<'EOF'
import fcntl, os, pty, re, signal, struct, sys, termios, time
pid, fd = pty.fork()
if not pid:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 60, 0, 0))
    os.execv(sys.argv[1], sys.argv[1:])
out = b""
while out.count(b"\033[2J") < 3:
    out += os.read(fd, 4096)
os.kill(pid, signal.SIGINT)
try:
    while True:
        more = os.read(fd, 4096)
        if not more:
            break
        out += more
except OSError:
    pass
status = os.waitpid(pid, 0)[1]
lines = re.sub(rb"\033\[[0-9]*[HJ]", b"", out).split(b"\r\n")
wide = [l for l in lines if len(l) > 60]
assert status == 0 and not wide and b"det/s" in out, (status, wide, out)
EOF
timeout 100 python3 terminal.py "$TOOL" top --delay 0.5 --budget 100 \
	--name "$name" || fail "on a terminal"
[ -z "$(ls temp)" ] || fail "left behind after Ctrl-C: $(ls temp)"

# What a daemon writes, while it does.
"$TOOL" daemon --name "$name" --budget 100 --slice 1 -F 1000 -o daemon 2>said &
daemon=$!
pids+=" $daemon"
end=$((SECONDS + PATIENCE))
until "$TOOL" top -n 1 daemon >follow 2>err && shown follow; do
	[ $SECONDS -lt $end ] || fail "of a daemon: $(cat follow err said)"
	sleep 1
done
kill -TERM $daemon
wait $daemon || fail "the daemon: $(cat said)"

# Nothing to watch.
kill -KILL $false_pid $true_pid $clean_pid
"$TOOL" top -n 1 --delay 0.2 --name "$name" >none || fail "nothing to watch"
grep -q 'no process that may be watched is busy' none || fail "it says: $(cat none)"
"$TOOL" top -n 1 no-such-directory 2>err && fail "no directory"
grep -q 'there is no directory' err || fail "it says: $(cat err)"
echo ok
