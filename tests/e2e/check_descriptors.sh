#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_descriptors - the program finds the descriptors that it has without us
#
# covers: preload/hooks/descriptor.c preload/watch/own_event.c

. "$(dirname "$0")/e2e.sh"

# It works until the preload has all its descriptors, and asks for each number.
# Then it closes all, and opens files at these numbers, which it must find.
cat >"$WORK/program.py" <<'EOF'
import os, time
def find():
    found = []
    for fd in range(1100):
        try:
            os.fstat(fd)
            found.append(fd)
        except OSError:
            pass
    return found
while time.process_time() < 0.1:
    pass
print(find())
os.closerange(3, 1100)
null = os.open('/dev/null', os.O_RDONLY)
for fd in range(900, 970):
    os.dup2(null, fd)
print(find())
EOF

ulimit -n 1024
python3 "$WORK/program.py" >"$WORK/plain" || skip 'no python3'
for way in "" COMDET_CHILDREN=1 COMDET_DELIVERY=rtsig; do
	# shellcheck disable=SC2086
	preload "$WORK/out" env $way python3 "$WORK/program.py" \
		>"$WORK/said" || fail "$way: status $?"
	cmp "$WORK/plain" "$WORK/said" || fail "$way: $(diff "$WORK/plain" "$WORK/said")"
	[ -d "$WORK/out" ] || fail "$way: not profiled"
done

# Nor does it find the events of a PMU (tests/fake/fake_process.c). Their numbers
# are the fake kernel's, so the program opens a file at each number itself, and
# misses those of its thread's two events.
cat >"$WORK/events.py" <<'EOF'
import os
numbers = range(300, 1024)
for fd in numbers:
    os.dup2(0, fd)
missed = 0
for fd in numbers:
    try:
        os.fstat(fd)
    except OSError:
        missed += 1
print(missed)
EOF
missed=$(env FAKE_MODEL=skylake COMDET_OUT="$WORK/pebs" \
	LD_PRELOAD="$B/tests/libcomdet-fake.so" \
	python3 "$WORK/events.py" </dev/null)
[ "$missed" = 2 ] || fail "$missed numbers are hidden, of two events"
