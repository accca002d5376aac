#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_attach_racy - no address is published that could not have been
#
# The program's variables change while the watcher reads them (help_phases.c).
# At most 0.5 % of what is published may be impossible.
#
# covers: analysis/outside/memory.c

. "$(dirname "$0")/e2e.sh"
. "$(dirname "$0")/attach.sh"
cd "$WORK" || exit 1
can_attach
SOURCE=$TOP/tests/programs/help_phases.c

judge()
{
	python3 - "$@" <<-'EOF2' || fail "$1: see above"
	import struct, sys
	name, low, high, log = sys.argv[1:]
	low, high = int(low, 16), int(high, 16)
	good = bad = other = 0
	for addr, ip, n, flags, kind, thread in struct.iter_unpack(
	        '<QQIIII', open(log, 'rb').read()):
	    if not n:
	        continue
	    if low <= addr < low + 2048:
	        good, bad = good + (addr < low + 1024), bad + (addr >= low + 1024)
	    elif high <= addr < high + 2048:
	        good, bad = good + (addr >= high + 1024), bad + (addr < high + 1024)
	    else:
	        other += 1
	print(f'{name}: {good} possible, {bad} impossible, {other} elsewhere')
	sys.exit(bad > .005 * (good + bad + other) or good < 20)
	EOF2
}

for flags in "-O0" "-O2 -DGLOBAL" "-O0 -DCALL"; do
	gcc $flags -o phases "$SOURCE" || fail "cannot compile with $flags"
	start ./phases
	set -- $line
	COMDET_SAMPLE_LOG=$WORK/log "$TOOL" attach -F 2000 --duration 4 -o out \
		"$pid" 2>err || fail "attach: status $?: $(cat err)"
	finish
	judge "$flags" "$1" "$2" log
done
json out r.json
holds r.json 'r["processes"][0]["samples_by_memory"]["exact"] > 0' "tags"
echo ok
