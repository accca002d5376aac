#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_pmu_pause - no use is counted across a pause of a hardware source
#
# Before an exec, and when --duration is over, the events of a thread are
# switched off while its registers go on to trap. tests/help_pmu_pause.c has
# words watched at that moment, on a machine with a PMU that is not there; each
# of their reuse times is 5000, and any other is one across the pause. Those
# uses must be lost and counted.

. "$(dirname "$0")/e2e.sh"

FAKE=$B/tests/libcomdet-fake.so
WORDS=5000

debug_registers || skip "no debug registers here"
cat >"$WORK/during.c" <<'EOF'
#include <errno.h>
#include <unistd.h>

void (*call_during_exec)(void);

int execve(const char *path, char *const *argv, char *const *env)
{
	call_during_exec();
	errno = ENOENT;
	return -1;
}
EOF
${CC:-gcc} -fPIC -shared -o "$WORK/during.so" "$WORK/during.c" ||
	fail "the library that makes exec fail cannot be built"

# paused CASE ARGUMENT... - sweeps with a pause; what is wrong is printed
paused()
{
	rm -rf "$WORK/out"
	timeout 100 env FAKE_MODEL=skylake COMDET_MODE=reuse COMDET_PERIOD=1000 \
		COMDET_OUT="$WORK/out" "$DURATION" \
		LD_PRELOAD="$FAKE:$WORK/during.so" \
		"$B/tests/help_pmu_pause" "$@" >"$WORK/took" ||
		fail "$*: status $?"
	json "$WORK/out" "$WORK/json"
	python3 - "$WORK/json" "$WORDS" "$(cat "$WORK/took")" <<-'PYTHON' || fail "$*"
	import json, sys
	r = json.load(open(sys.argv[1]))
	words, took = int(sys.argv[2]), float(sys.argv[3])
	none = {"bins": [], "samples": 0}
	whole = [e for e in r.get("reuse", []) if "thread" not in e] or [none]
	whole = whole[0]
	lost = r["loss"].get("no_register", 0)
	bad = [b for b in whole["bins"] if b["mean"] != words]
	print(f"  {whole['samples']} reuses of {words}, {lost} lost, {took:.3f} s")
	for b in bad:
	    print(f"  {b}")
	# On a machine so slow that the time was over before, nothing is left.
	sys.exit(bool(bad) or took < 1.5 and not (lost and whole["samples"]))
	PYTHON
}

DURATION=COMDET_DURATION=0
paused exec
DURATION=COMDET_DURATION=2
paused wait 2.2
