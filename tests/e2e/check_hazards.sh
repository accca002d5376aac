#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_hazards - the preload breaks no program that is easy to break
#
# Each case of help_hazard runs without the library and with it. Standard output
# and exit status must be the same. If profiling goes on, the report must have
# samples. A higher rate than the default gives more chances to go wrong.

. "$(dirname "$0")/e2e.sh"
. "$(dirname "$0")/burn.sh"
export COMDET_FREQ=500
help=$B/tests/programs/help_hazard
cases=0

# run SECONDS COMMAND... - write its stdout and status to $WORK/o, its stderr to
# $WORK/e
run()
{
	timeout -s KILL "$@" >"$WORK/o" 2>"$WORK/e" </dev/null
	echo $? >>"$WORK/o"
}

# with COMMAND... - run it under the library
with()
{
	rm -rf "$WORK/out"
	run 20 env COMDET_OUT="$WORK/out" LD_PRELOAD="$LIB" "$@"
}

# same NAME COMMAND... - run it without and with the library, and compare
same()
{
	local name=$1

	shift
	cases=$((cases + 1))
	run 20 "$@"
	cp "$WORK/o" "$WORK/plain"
	with "$@"
	cmp -s "$WORK/plain" "$WORK/o" ||
		fail "$name: $(cat "$WORK/o" "$WORK/e"), without us" \
			"$(cat "$WORK/plain")"
}

# said N TEXT - stderr has N lines of the preload, and TEXT
said()
{
	[ "$(grep -c '^comdet: ' "$WORK/e")" = "$1" ] ||
		fail "not $1 lines on stderr: $(cat "$WORK/e")"
	grep -q "$2" "$WORK/e" || fail "$2 is not in: $(cat "$WORK/e")"
}

# samples CONDITION TEXT - a condition in Python holds for the number s of all
# samples and the list t of threads
samples()
{
	json "$WORK/out" "$WORK/r.json"
	holds "$WORK/r.json" "(lambda s, t: $1)(sum(x['samples']['uniform'] + x['samples']['stalled'] for x in r['threads']), r['threads'])" \
		"${*:2}"
}

# The program's own handler interrupts ours and calls _exit.
for us in $(seq 100 190 2200); do
	same "_exit in a handler after $us us" "$help" exit-in-handler "$us"
done
same "jumps out of a handler" "$help" jump-out
samples "s > 50" "still sampled after jumps out of handlers"

# The main thread ends, and the other threads go on.
same "the main thread ends" "$help" main-ends
samples "s > 50 and 4 * sum(x['samples']['stalled'] for x in t) > s" \
	"samples after the main thread's end"
same "5,000 mappings" "$help" many-mappings
samples "s > 50" "samples with 5,000 mappings"
size=$(stat -c %s "$WORK"/out/*.cdp)
[ "$size" -lt $((8 << 20)) ] || fail "5,000 mappings: $size bytes"

# Profiling stops before a sandbox begins, and says so once.
same "strict seccomp" "$help" strict
said 1 seccomp
samples "s > 0" "samples before the sandbox"
for i in 1 2 3 4; do
	same "a filter for all threads" "$help" filter
	said 1 seccomp
	same "a filter while threads begin" "$help" filter-at-once
	said 1 seccomp
done
# Handlers of such threads begin, and wait long for a processor before they end.
burn
for i in 1 2 3; do
	COMDET_FREQ=8000 same "a filter for all threads, that wait" "$help" filter-idle
	said 1 seccomp
done
stop_burning
same "strict seccomp, timers" env COMDET_CLOCK=timer "$help" strict
same "filters only asked for" "$help" filter-asked
[ ! -s "$WORK/e" ] || fail "filters only asked for: $(cat "$WORK/e")"

# A signal frame does not fit the alternate stack, or just fits it.
for bytes in 2048 4096 8192; do
	same "an alternate stack of $bytes" "$help" altstack $bytes
	samples "s > 30" "samples with an alternate stack of $bytes"
done

same "fork without an environment" env COMDET_CHILDREN=1 "$help" clear-and-fork
[ "$(ls "$WORK"/out/help_hazard.* | wc -l)" = 2 ] || fail "the child has no file"

# Descriptors are few. The program must get the lowest numbers, as without us.
for n in 1024 64 32 16 8; do
	for stdin in /dev/null -; do
		same "$n descriptors, stdin $stdin" bash -c \
			"ulimit -n $n; [ $stdin != - ] || exec <&-
			exec $help descriptors"
	done
done

same "every descriptor closed" "$help" close-all
"$TOOL" report "$WORK/out" >"$WORK/r.txt" || fail "report: status $?"
tr -s '\n ' ' ' <"$WORK/r.txt" | grep -q "closed our descriptors" ||
	fail "the report does not say that sampling ended early"

# The preload takes next to nothing of a limited address space.
run 20 bash -c "ulimit -v 262144; exec $help space"
plain=$(head -n 1 "$WORK/o")
rm -rf "$WORK/out"
run 20 bash -c "ulimit -v 262144
	COMDET_OUT=$WORK/out LD_PRELOAD=$LIB exec $help space"
left=$(head -n 1 "$WORK/o")
[ "$left" -ge $((plain - 4)) ] ||
	fail "$((4 * plain)) MiB of address space without us, $((4 * left)) with"
[ -d "$WORK/out" ] || fail "not profiled with 256 MiB of address space"

# Messages of the preload go to the program's stderr or nowhere.
python3 - "$LIB" <<'EOF' || fail "a message to nobody killed the program"
import os, subprocess, sys
r, w = os.pipe()
os.close(r)
env = dict(os.environ, COMDET_FREQ="0", LD_PRELOAD=sys.argv[1])
sys.exit(subprocess.run(["/bin/true"], stderr=w, env=env).returncode != 0)
EOF
same "descriptor 2 is data" "$help" stderr-is-data "$WORK/data"
[ ! -s "$WORK/data" ] || fail "our message in the program's file"

echo "$cases cases the same with and without the library"
