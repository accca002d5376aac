#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_report - report and doctor behave well as commands
#
# report names function and line of the sharing in a C++ program whose debug
# information is in a separate file, and notices when the file is replaced.
# Output that cannot be written is an error. Help texts and manual pages agree.

. "$(dirname "$0")/e2e.sh"
cd "$WORK" || exit 1

cat >share.cc <<'CODE'
#include <atomic>
#include <chrono>
#include <thread>

namespace bench {
struct alignas(64) Pair { std::atomic<long> left, right; };
Pair the_pair;

struct Worker {
	void run(std::atomic<long> &mine)
	{
		using clock = std::chrono::steady_clock;
		auto end = clock::now() + std::chrono::milliseconds(MS);

		do {
			for (long i = 0; i < 1000000; i++)
				mine.store(i, std::memory_order_relaxed);
		} while (clock::now() < end);
	}
};
}

int main()
{
	bench::Worker w;
	std::thread a([&] { w.run(bench::the_pair.left); });
	std::thread b([&] { w.run(bench::the_pair.right); });
	a.join();
	b.join();
}
CODE
line=$(grep -n 'mine.store' share.cc | cut -d: -f1)

build()
{
	g++ -std=c++17 -O2 -g -pthread -Wl,--build-id \
		"-DMS=$1" -o share share.cc || fail "cannot build share.cc"
}

# Threads share only while both run, which is seldom on a busy machine.
for ms in 3000 6000 12000; do
	build $ms
	objcopy --only-keep-debug share share.debug
	objcopy --strip-debug --add-gnu-debuglink=share.debug share
	"$TOOL" record -- ./share 2>err ||
		fail "record: status $?: $(cat err)"
	json out r.json
	[ "$(ask r.json 'est("total") > 20')" = True ] && break
done
holds r.json 'est("total") > 20' "a C++ program that shares"
holds r.json 'est("false_sharing") > 0.95 * c["total"]["estimate"]' \
	"a C++ program that shares falsely"
holds r.json "all(s['location'].endswith('share.cc:$line') for s in c['sites'])" \
	"lines of the program, not of the library inlined there"
holds r.json 'any("atomic" in s.get("inlined", {}).get("location", "")
	for s in c["sites"])' "what was inlined there"
holds r.json 'any("::" in s.get("function", "") and "_Z" not in
	s["function"] for s in c["sites"])' "demangled functions"
holds r.json 'c["lines"][0]["object"].startswith("bench::the_pair")' \
	"a variable of a C++ namespace"
"$TOOL" report out >text 2>err || fail "report: status $?"
[ ! -s err ] || fail "report says on stderr: $(cat err)"
head -1 text |
	grep -Eq '^Padding would avoid (8[5-9]|9[0-9]|100|>99)(\.[0-9])? % of the cache' ||
	fail "the first line is not the answer: $(head -1 text)"

# Without its debug file, a module's symbol table still gives names.
mv share.debug away
json out r.json
holds r.json 'any("::" in s.get("function", "") for s in c["sites"])' \
	"functions from the symbol table alone"
holds r.json 'not any("location" in s for s in c["sites"]
	if s["module"].endswith("/share"))' "no lines without debug file"

# The symbols of another build with the same file name are not used.
cp share original
build 3001
json out r.json
holds r.json 'not any("function" in s for s in c["sites"]
	if s["module"].endswith("/share"))' "another build is not believed"
holds r.json 'any("has changed" in p for p in r["problems"])' \
	"another build is told"
"$TOOL" report out | tr -s ' \n' ' ' | grep -q "has changed since it was" ||
	fail "the text does not tell of another build"
cp original share
mv away share.debug

# Write to closed pipes, full disks and files.
"$TOOL" report out 2>err | head -1 >/dev/null
[ ! -s err ] || fail "a closed pipe: stderr says $(cat err)"
python3 - "$TOOL" <<'PYTHON' || exit 1
import os, subprocess, sys
r, w = os.pipe()
os.close(r)
p = subprocess.run([sys.argv[1], "report", "out"], stdout=w,
                   stderr=subprocess.PIPE, preexec_fn=lambda: __import__(
                       "signal").signal(13, __import__("signal").SIG_IGN))
if p.returncode != 1 or len(p.stderr.splitlines()) > 1:
    sys.exit(f"FAIL: a closed pipe, SIGPIPE ignored: {p}")
PYTHON
for verb in "report out" "report --json out" doctor --help; do
	# shellcheck disable=SC2086
	"$TOOL" $verb >/dev/full 2>err
	[ $? = 1 ] || fail "$verb >/dev/full: not status 1"
	[ "$(wc -l <err)" = 1 ] || fail "$verb >/dev/full: $(cat err)"
done
"$TOOL" report -o file out || fail "report -o file: status $?"
cmp -s file text || fail "report -o file differs from standard output"
"$TOOL" report -o /dev/full out 2>err && fail "report -o /dev/full: status 0"
"$TOOL" report -o /no/such/file out 2>err && fail "report -o: status 0"

# The text fits 80 columns, and has no colours in a file.
[ "$(awk 'length($0) > 80' text | wc -l)" = 0 ] || fail "over 80 columns"
! grep -q $'\033' text || fail "colours in a file"

# On a terminal, and only there, it goes through the pager.
PAGER="sed s/^/P:/" "$TOOL" report out | cmp -s - text ||
	fail "a pager without a terminal"
python3 - "$TOOL" <<'PYTHON' || fail "the pager"
import os, pty, sys

def on_terminal(pager, *options, term="xterm"):
    pid, fd = pty.fork()
    if not pid:
        os.environ.update(TERM=term, PAGER=pager)
        os.execv(sys.argv[1], [sys.argv[1], "report", *options, "out"])
    text = b""
    try:
        while more := os.read(fd, 65536):
            text += more
    except OSError: # the terminal is closed
        pass
    os.close(fd)
    lines = text.decode().splitlines()
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), \
        sum(l.startswith("P:") for l in lines), len(lines)

status, paged, lines = on_terminal("sed s/^/P:/")
assert status == 0 and paged == lines > 10, (status, paged, lines)
for what in (("sed s/^/P:/", "--no-pager"), ("/no/such/pager",), ("",),
             ("cat",)):
    assert on_terminal(*what) == (0, 0, lines), (what, on_terminal(*what))
assert on_terminal("sed s/^/P:/", term="dumb") == (0, 0, lines)
# A user who leaves the pager at once has seen enough: no error.
assert on_terminal("true") == (0, 0, 0), on_terminal("true")
PYTHON

# The exit status of doctor says whether a source can be used.
"$TOOL" doctor --json >d.json
status=$?
usable=$(python3 -c 'import json
print(any(s["usable"] for s in json.load(open("d.json"))["sources"]))')
[ "$usable,$status" = True,0 ] || [ "$usable,$status" = False,1 ] ||
	fail "doctor: usable is $usable and the status $status"
[ "$("$TOOL" doctor | awk 'length($0) > 80' | wc -l)" = 0 ] ||
	fail "doctor: over 80 columns"
# A copy of the tool finds no hooks beside it, so the source instr is missing.
mkdir alone && cp "$TOOL" "$B/libcomdet.so" alone
PATH=$WORK/none "$B/tests/programs/help_deny" perf_event_open,timer_create EPERM \
	alone/reusetrack doctor >doctor
[ $? = 1 ] || fail "doctor with nothing usable: status is not 1"
tr -s ' \n' ' ' <doctor | grep -q 'not permitted, by a seccomp filter' ||
	fail "doctor does not name the seccomp filter"
mkdir bin && printf '#!/bin/sh\n' >bin/qemu-x86_64 && chmod +x bin/qemu-x86_64
for path in none bin; do
	PATH=$WORK/$path "$TOOL" doctor --json >d-$path.json
done
holds d-none.json '[s["advice"] for s in r["sources"] if s["name"] == "emu"] == ["install the package qemu-user"]' \
	"doctor without QEMU"
holds d-bin.json '[s["usable"] for s in r["sources"] if s["name"] == "emu"] == [True]' \
	"doctor with QEMU and the plugin"

# Each verb has help and a manual page, and they name the same options.
verbs=$("$TOOL" --help | awk '/^  [a-z]+  / && $1 != "reusetrack" { print $1 }')
[ "$(wc -w <<<"$verbs")" -ge 11 ] || fail "only these verbs: $verbs"
for verb in $verbs; do
	"$TOOL" $verb --help >help || fail "$verb --help: status $?"
	"$TOOL" help $verb | cmp -s - help || fail "help $verb differs"
	[ "$(awk 'length($0) > 80' help | wc -l)" = 0 ] ||
		fail "$verb --help: over 80 columns"
	page=$TOP/docs/man/reusetrack-$verb.1
	[ -z "$(man --warnings -l -Tutf8 -Z "$page" 2>&1 >/dev/null)" ] ||
		fail "$page does not format"
	for option in $(grep -oE -- '--[a-z]+(-[a-z]+)?' help | sort -u); do
		grep -qF -- "Fl -${option#--}" "$page" ||
			fail "$page does not have $option"
	done
done
variables=$(grep -rohE '"COMDET_[A-Z_]+"' "$TOP/preload" | tr -d '"' | sort -u)
[ "$(wc -w <<<"$variables")" -gt 20 ] || fail "only these settings: $variables"
for variable in $variables; do
	grep -q "$variable" "$TOP/docs/man/libcomdet.7" ||
		fail "libcomdet.7 does not have $variable"
done
"$TOOL" no-such-verb 2>err && fail "an unknown verb: status 0"
[ "$(wc -l <err)" = 1 ] || fail "an unknown verb: $(cat err)"
"$TOOL" help no-such-verb >out.txt 2>err && fail "help of no verb: status 0"
[ "$(wc -l <err)" = 1 ] || fail "help of no verb: $(cat err)"
[ ! -s out.txt ] || fail "help of no verb prints something else"
echo "report and doctor behave as commands"
