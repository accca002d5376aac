#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_threads - ten thousand short threads, five hundred live ones
#
# With the usual limit of 1,024 descriptors none is missing, a live thread takes
# at most 64 KiB of resident memory, and every thread is in the report.
#
# serial: it counts samples of threads that run for 40 ms

. "$(dirname "$0")/e2e.sh"
help=$B/tests/programs/help_threads
ulimit -Sn 1024 || fail "cannot set the limit of descriptors"

value()
{
	awk -v k="$1" '$1 == k { print $2 }' "$2"
}

preload "$WORK/out" "$help" short 10000 >"$WORK/short" 2>"$WORK/err" ||
	fail "10,000 short threads: status $?"
[ ! -s "$WORK/err" ] || fail "stderr is not empty: $(cat "$WORK/err")"
json "$WORK/out" "$WORK/r.json"
holds "$WORK/r.json" 'sum(t["count"] for t in r["threads"]) == 10001' \
	"every thread in the report"
holds "$WORK/r.json" 'len(r["threads"]) < 600' "short threads are merged"
fds=$(value fds "$WORK/short")
[ "$fds" -lt 300 ] || fail "$fds descriptors open"

# Without us they take as much memory, however long they work.
"$help" live 500 1 >"$WORK/plain" || fail "500 live threads without: status $?"
preload "$WORK/out" "$help" live 500 >"$WORK/live" 2>"$WORK/err" ||
	fail "500 live threads: status $?"
[ ! -s "$WORK/err" ] || fail "stderr is not empty: $(cat "$WORK/err")"
json "$WORK/out" "$WORK/r.json"
holds "$WORK/r.json" 'sum(t["count"] for t in r["threads"]) == 501' \
	"every live thread in the report"
# Each thread runs for 40 ms with an interrupt every 5 ms, the first at random
# in the first 5 ms. At least half of the interrupts give a sample.
holds "$WORK/r.json" \
	'sum(t["samples"]["uniform"] + t["samples"]["stalled"] for t in r["threads"]) > 500 * 4' \
	"live threads are sampled"
holds "$WORK/r.json" \
	'sum(t["samples"]["uniform"] + t["samples"]["stalled"] > 0 for t in r["threads"]) > 490' \
	"each of them"
# They lose their cores in our handler, but waiting must cost no budget.
holds "$WORK/r.json" 'r["loss"].get("budget", 0) <= 10' \
	"a thread pays for its own time in the handler alone"
fds=$(value fds "$WORK/live")
[ "$fds" -lt 300 ] || fail "$fds descriptors open with 500 live threads"
each=$((($(value rss "$WORK/live") - $(value rss "$WORK/plain")) / 500))
[ $each -le 64 ] || fail "$each KiB of resident memory a live thread"
echo "10,000 short and 500 live threads; $each KiB a live thread, $fds descriptors"
