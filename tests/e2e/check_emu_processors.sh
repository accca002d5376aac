#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_emu_processors - under emu, threads that take turns share a processor of
# the host, and the program does not see it

. "$(dirname "$0")/e2e.sh"

PLUGIN=$B/libcomdet-qemu.so
ASK=$B/tests/programs/emu/guest_processors

command -v qemu-x86_64 >/dev/null ||
	skip 'qemu-x86_64 is missing: install the package qemu-user'
[ "$(nproc)" -ge 2 ] || skip 'one processor'

emulate()
{
	rm -rf "$WORK/out"
	timeout -k 5 120 qemu-x86_64 -cpu max -plugin "$PLUGIN,out=$WORK/out$1" \
		"${@:2}"
}

for settings in '' ',mode=trace,children=1' ',slice=free'; do
	for way in ask set policy attribute status fork exec; do
		"$ASK" "$way" >"$WORK/native" || fail "$way fails natively"
		emulate "$settings" "$ASK" "$way" >"$WORK/emulated" 2>"$WORK/log" ||
			fail "$way$settings fails: $(cat "$WORK/log")"
		diff "$WORK/native" "$WORK/emulated" >&2 ||
			fail "with '$settings' the program sees it by $way"
	done
done

# processors PID - how many each of the process's threads may use, at least
processors()
{
	local task

	for task in /proc/"$1"/task/*; do
		taskset -p "${task##*/}" | grep -o '[^ ]*$'
	done | sort -u | python3 -c '
import sys
print(min(bin(int(line.replace(",", ""), 16)).count("1") for line in sys.stdin))'
}

# fewest SETTINGS LOOKS - the fewest while the program waits, in LOOKS looks
fewest()
{
	local pid seen least=1000 i

	mkfifo "$WORK/fifo"
	rm -rf "$WORK/out"
	qemu-x86_64 -cpu max -plugin "$PLUGIN,out=$WORK/out$1" "$ASK" wait \
		<"$WORK/fifo" &
	pid=$!
	exec 5>"$WORK/fifo"
	for ((i = 0; i < $2 && least > 1; i++)); do
		sleep 0.05
		seen=$(processors "$pid")
		[ "$seen" -lt "$least" ] && least=$seen
	done
	exec 5>&-
	wait "$pid" || fail 'the program fails'
	rm "$WORK/fifo"
	echo "$least"
}

[ "$(fewest '' 100)" = 1 ] || fail 'the threads do not share one processor'
[ "$(fewest ,slice=free 5)" = "$(nproc)" ] || fail 'they do without turns'
echo 'emu: threads that take turns share a processor, and do not see it'
