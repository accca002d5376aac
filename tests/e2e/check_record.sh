#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_record - record changes nothing but adds its lines to stderr
#
# Exit status, arguments, output, environment, signals and job control of a
# program are the same under record. Failures of record have exit statuses of
# their own. The output directory is where record says.
#
# covers: preload/hooks preload/signal analysis/record analysis/cmd

. "$(dirname "$0")/e2e.sh"
cd "$WORK" || exit 1

# status WANTED ARGUMENT... - record ends with this status; stdout and stderr go
# to files
status()
{
	local wanted=$1 got

	shift
	"$TOOL" record "$@" >stdout 2>stderr
	got=$?
	[ $got = "$wanted" ] ||
		fail "record $*: status $got, not $wanted: $(cat stderr)"
}

says()
{
	grep -Eq -- "$1" stderr || fail "stderr does not say '$1': $(cat stderr)"
}

# Exit statuses of the program, of signals and of record itself.
status 0 -- true
status 7 -- sh -c 'exit 7'
status 137 -- sh -c 'kill -9 $$'
status 139 -- sh -c 'kill -SEGV $$'
status 127 -- ./no-such-program
says '^reusetrack: cannot find'
status 126 -- /etc/passwd
status 126 -- ./
status 125 --registers 7 -- true
printf 'exit 9\n' >text && chmod +x text
status 9 -- ./text
printf '#!/bin/sh\nexit 8\n' >script && chmod +x script
status 8 -- ./script
[ -d out ] && [ -d out.old ] || fail "no out and out.old after several runs"

# Arguments and output do not change; lines of record go to stderr only.
status 0 -- printf '%s|' 'a b' '' '--' $'new\nline' '*' '-F'
printf '%s|' 'a b' '' '--' $'new\nline' '*' '-F' | cmp -s - stdout ||
	fail "arguments changed: $(cat stdout)"
[ "$(grep -vc '^reusetrack: ' stderr)" = 0 ] || fail "stderr: $(cat stderr)"
says '^reusetrack: source clock: .'
says 'samples?, .* detections? in out; next: reusetrack report out$'

# The directory that it names has the profile.
"$TOOL" report out >/dev/null || fail "report out: status $?"

# The program has its standard input and its current directory.
echo hello | "$TOOL" record -- cat >stdout 2>stderr
[ "$(cat stdout)" = hello ] || fail "standard input was lost"
status 0 -- pwd -P
[ "$(cat stdout)" = "$(pwd -P)" ] || fail "the directory changed"

# The user's own LD_PRELOAD stays.
status 0 -- sh -c 'exit 0'
LD_PRELOAD=libm.so.6 "$TOOL" record -- grep -c libm.so /proc/self/maps \
	>stdout 2>stderr || fail "the user's own LD_PRELOAD was lost"

# The output directory is never one of somebody else's.
mkdir other
echo precious >other/file
status 0 -o other -- true
[ "$(cat other/file)" = precious ] || fail "a foreign directory was touched"
tail -1 stderr | grep -q 'in other\.1; next: reusetrack report other\.1$' ||
	fail "the last line does not name the directory: $(cat stderr)"
says '^reusetrack: other was left alone'
status 0 -o other -- true
says 'report other\.2$'
"$TOOL" report other/ >found.txt 2>stderr || fail "report found no recording"
says 'the latest recording beside it is other\.2$'
[ "$(ls other.*/*.cdp | wc -l)" = 2 ] || fail "each run has a file"
"$TOOL" recrod 2>stderr && fail "recrod is no verb"
says "did you mean 'record'"
status 125 -o /proc/nothing -- touch ran
[ ! -e ran ] || fail "the program ran although there was no output directory"
says '^reusetrack: cannot make the output directory /proc/nothing: '
COMDET_OUT=twin status 0 -- true
[ -d twin ] || fail "COMDET_OUT was not taken"

# If nothing was recorded, record says so and leaves nothing behind.
lib=$(ldconfig -p | sed -n 's/.*libm\.so\.6 .*x86-64.* => //p' | head -1)
if [ -n "$lib" ]; then
	COMDET_LIB=$lib status 3 -o none -- sh -c 'exit 3'
	says 'nothing was recorded'
	[ ! -e none ] || fail "an empty output directory stayed"
fi
mkdir 'with blank'
cp "$LIB" 'with blank/libcomdet.so'
COMDET_LIB="with blank/libcomdet.so" status 125 -- true
says 'a blank or a colon'
COMDET_LIB=/no/such/lib status 125 -- true
says 'COMDET_LIB=/no/such/lib'

# record counts the programs that were started and not profiled.
status 0 -- sh -c '/bin/true; /bin/true; exit 0'
says 'not profiled: [12]; --children includes them'
status 0 --children -- sh -c '/bin/true; /bin/true; exit 0'
[ "$(find out -name '*.cdp' | wc -l)" = 3 ] ||
	fail "--children: $(ls out) instead of three files"

# The watcher takes the place of the library if it is asked for.
if "$TOOL" record --outside -- true >stdout 2>stderr; then
	status 7 --outside -- sh -c 'exit 7'
	status 137 --outside -- sh -c 'kill -9 $$'
	status 127 --outside -- ./no-such-program
	status 9 --outside -- ./text
	status 0 --outside -F 1000 -o outside -- \
		sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done'
	says 'source clock: watched from outside'
	"$TOOL" report outside >/dev/null || fail "report outside: status $?"
else
	says 'cannot watch the program: '
fi
status 125 --outside -s emu -- true
says 'needs the source clock'
status 125 --outside -m reuse -- true
says 'goes with the sources clock, pebs and ibs, and with -m comm'

# So it does for a static program.
if echo 'int main(void) { return 0; }' |
	gcc -static -x c -o static - 2>/dev/null; then
	"$TOOL" record -- ./static >stdout 2>stderr
	says 'static cannot load libcomdet.so, so it is watched from outside'
	status 125 -m reuse -- ./static
	says 'statically linked'
fi

# Signals arrive once, and job control works on a terminal made here.
python3 - "$TOOL" <<'PYTHON' || exit 1
import os, pty, re, select, signal, subprocess, sys, time

tool = sys.argv[1]
counter = r'''
import os, signal, sys, time
seen = []
for s in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1, signal.SIGHUP):
    signal.signal(s, lambda n, f: seen.append(n))
print("ready", flush=True)
end = time.time() + 60
while len(seen) < int(sys.argv[1]) and time.time() < end:
    time.sleep(0.05)
time.sleep(0.5)  # for a signal that comes twice
print("seen", sorted(seen), flush=True)
'''

def fail(text):
    print("FAIL:", text)
    sys.exit(1)

# record passes signals on that are sent to it alone.
p = subprocess.Popen([tool, "record", "--", sys.executable, "-c", counter,
                      "4"], stdout=subprocess.PIPE,
                     stderr=subprocess.DEVNULL, text=True)
if p.stdout.readline() != "ready\n":
    fail("the program did not start")
for s in (signal.SIGTERM, signal.SIGUSR1, signal.SIGHUP, signal.SIGINT):
    p.send_signal(s)
    time.sleep(0.1)
said = p.stdout.read()
if "seen [1, 2, 10, 15]" not in said or p.wait() != 0:
    fail(f"signals sent to record: {said!r}, status {p.returncode}")

# A signal ends the program; the status of record is 128 + signal.
p = subprocess.Popen([tool, "record", "--", "sh", "-c",
                      "echo ready; exec sleep 60"], stdout=subprocess.PIPE,
                     stderr=subprocess.DEVNULL, text=True)
if p.stdout.readline() != "ready\n":
    fail("the shell did not start")
p.send_signal(signal.SIGTERM)
if p.wait(100) != 128 + signal.SIGTERM:
    fail(f"a program ended by SIGTERM: status {p.returncode}")

def expect(fd, pattern, what, seconds=100):
    text, end = "", time.time() + seconds
    while time.time() < end:
        if select.select([fd], [], [], 0.1)[0]:
            try:
                text += os.read(fd, 4096).decode(errors="replace")
            except OSError:
                break
        if re.search(pattern, text):
            return text
    fail(f"{what}: no {pattern!r} in {text!r}")

# The terminal sends Ctrl-C to the group: the program gets it once.
pid, fd = pty.fork()
if pid == 0:
    os.execv(tool, [tool, "record", "--", sys.executable, "-c", counter, "1"])
expect(fd, "ready", "under a terminal")
os.write(fd, b"\x03")
expect(fd, r"seen \[2\]", "Ctrl-C on the terminal")
os.waitpid(pid, 0)

# Ctrl-Z stops record and the program, fg continues both.
pid, fd = pty.fork()
if pid == 0:
    os.environ["PS1"] = "prompt> "
    os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])
expect(fd, "prompt> ", "the shell")
os.write(fd,
         f"{tool} record -- sh -c 'echo up; read x; echo $x; exit 5'\n"
         .encode())
expect(fd, r"[\r\n]up", "the program in the shell")
os.write(fd, b"\x1a")
expect(fd, "Stopped", "Ctrl-Z")
os.write(fd, b"fg\n")
expect(fd, "record --", "fg")
os.write(fd, b"woke\n")
expect(fd, r"woke[\r\n]+woke[\r\n]", "the program after fg")
os.write(fd, b"echo status=$?\n")
expect(fd, "status=5", "the status after fg")
os.write(fd, b"exit\n")
os.waitpid(pid, 0)
PYTHON
echo "exit statuses, arguments, output, signals and job control pass through"
