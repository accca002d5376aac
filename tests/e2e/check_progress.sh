#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_progress - record --progress draws one line on a terminal, and removes it
#
# covers: analysis/record/live.c analysis/record/run.c

. "$(dirname "$0")/e2e.sh"
cd "$WORK" || exit 1

# Run a command with a new terminal as its standard error, and print what it
# wrote there.
on_terminal()
{
	python3 - "$@" <<-'END'
	import os, pty, subprocess, sys
	ours, its = pty.openpty()
	p = subprocess.Popen(sys.argv[1:], stderr=its, stdout=subprocess.DEVNULL,
	                     stdin=subprocess.DEVNULL)
	os.close(its)
	seen = b""
	while True:
	    try:
	        some = os.read(ours, 4096)
	    except OSError:
	        break
	    if not some:
	        break
	    seen += some
	sys.stdout.buffer.write(seen)
	sys.exit(p.wait())
	END
}
line=$'\r''[0-9.]* s: [0-9,]* samples*, [0-9,]* detections*'$'\033''\[K'
gone=$'\r\033''\[K'

# On a busy machine a short program may end before the first second is noticed.
shown()
{
	local seconds status

	for seconds in 2.5 10 30; do
		on_terminal "$TOOL" record --progress "$@" -o out -- \
			sh -c "sleep $seconds; exit 7" >said
		status=$?
		[ $status = 7 ] || fail "exit status $status: $(cat -v said)"
		grep -aq "$line" said && break
	done
	grep -aq "$line" said && grep -aq "$gone" said ||
		fail "the line of record $*: $(cat -v said)"
}
shown
shown --outside

# Nobody asks, or nobody looks: no line.
on_terminal "$TOOL" record -o out -- sleep 1.5 >said
grep -aq "$gone" said && fail "a line that nobody asked for: $(cat -v said)"
"$TOOL" record --progress -o out -- sleep 1.5 2>said
grep -aq $'\r' said && fail "a line without a terminal: $(cat -v said)"
echo ok
