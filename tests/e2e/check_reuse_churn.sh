#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_reuse_churn - reuse times of threads that come and go, at high load
#
#	check_reuse_churn.sh [CLAIM]
#
# Each thread of programs/instr/reuse_churn.c has a reuse time of its own, on
# words that earlier threads used, too. If a use of one thread were ended by
# another, it would have the wrong time or be invalidated; the check finds none.
# The program's output and status must be those without the preload. Busy
# processes keep all processors occupied meanwhile. CHURN=N repeats the check N
# times.
#
# serial: it keeps all processors busy

. "$(dirname "$0")/e2e.sh"
. "$(dirname "$0")/burn.sh"

CHURN=${CHURN:-1}
PROGRAM=$B/tests/programs/instr/reuse_churn
PLUGIN=$B/libcomdet-qemu.so
ulimit -c 0

# as_without ARGUMENT... - run_us does what the program does without the preload
as_without()
{
	timeout -k 5 600 "$PROGRAM.plain" "$@" >"$WORK/plain"
	echo $? >>"$WORK/plain"
	rm -rf "$WORK/out"
	run_us "$@" >"$WORK/with" 2>"$WORK/err"
	echo $? >>"$WORK/with"
	[ ! -s "$WORK/err" ] || fail "$settings $*: $(cat "$WORK/err")"
	cmp -s "$WORK/plain" "$WORK/with" ||
		fail "$settings $*: $(cat "$WORK/with"), without us" \
			"$(cat "$WORK/plain")"
}

# hooked SETTINGS ARGUMENT... - run it with the hooks of the source instr
hooked()
{
	settings=$1
	shift
	run_us()
	{
		# shellcheck disable=SC2086
		timeout -k 5 600 env COMDET_MODE=reuse $settings \
			COMDET_OUT="$WORK/out" LD_PRELOAD="$LIB" "$PROGRAM" "$@"
	}
	as_without "$@"
}

# emulated SETTINGS ARGUMENT... - run it under QEMU
emulated()
{
	settings=$1
	shift
	run_us()
	{
		timeout -k 5 600 qemu-x86_64 -cpu max -plugin \
			"$PLUGIN,out=$WORK/out,$settings" "$PROGRAM.plain" "$@"
	}
	as_without "$@"
}

# own_times UNENDED CONDITION... - each thread has its own time, and every use
# is decided or lost, except a weight of UNENDED that was watched when exec
# ended its thread. The conditions are Python over threads, n (decided uses) and
# lost (a dict).
own_times()
{
	json "$WORK/out" "$WORK/json"
	python3 - "$WORK/json" "$@" <<-'EOF' || fail "$settings: see above"
	import json, sys
	r = json.load(open(sys.argv[1]))
	name = {t["id"]: t["name"] for t in r["threads"]}
	threads = sum(t["count"] for t in r["threads"])
	samples = sum(t["samples"]["uniform"] for t in r["threads"])
	lost = {k: v for k, v in r["loss"].items() if v}
	n = 0
	bad = []
	for e in r.get("reuse", []):
	    if "thread" not in e:
	        uses = e["weight"] / r["run"]["period"] + sum(
	            lost.get(k, 0) for k in ("no_register", "trap_limit", "exiting"))
	        if not 0 <= samples - uses <= int(sys.argv[2]):
	            bad.append(f"{uses} uses of {samples} samples")
	        continue
	    who = name[e["thread"]]
	    by_line = e["granularity"] == "line"
	    own = int(who[1:]) if who[1:].isdigit() else 0
	    for b in e["bins"]:
	        if by_line and b["mean"] == 1:
	            continue
	        time = b["mean"] + 7 * by_line
	        # The name of a thread that was last sampled before it was
	        # named is unknown: any time will do, but only one.
	        own = own or time
	        if time == own and time % 8 == 0 and time >= 104:
	            continue
	        bad.append(f"{who} by {e['granularity']}: {b}")
	    if e["invalidated"]:
	        bad.append(f"{who}: {e['invalidated']} invalidated")
	    n += e["samples"]
	print(f"  {threads} threads, {samples} samples, {n} decided, lost {lost}")
	open(sys.argv[1] + ".decided", "w").write(str(n))
	for x in sys.argv[3:]:
	    if not eval(x):
	        bad.append(f"not {x}")
	for x in bad[:20]:
	    print("  " + x)
	sys.exit(bool(bad))
	EOF
}

# in_proportion SWEEPS CONDITION... - the uses of the program's sweeps have
# their thread's time, as many as the sweeps made. Under QEMU there are other
# accesses: those of the C library, on stacks that pass from thread to thread.
in_proportion()
{
	json "$WORK/out" "$WORK/json"
	python3 - "$WORK/json" "$@" <<-'EOF' || fail "$settings: see above"
	import json, sys
	r = json.load(open(sys.argv[1]))
	sweeps = int(sys.argv[2])
	period = r["run"]["period"]
	threads = {t["id"]: t for t in r["threads"]}
	samples = sum(t["samples"]["uniform"] for t in r["threads"])
	time = {i: int(t["name"][1:]) for i, t in threads.items()
	        if t["name"][1:].isdigit()}
	true = sum(threads[i]["count"] * n * (sweeps - 1) for i, n in time.items())
	all = sum(t["accesses"] for t in r["threads"])
	own = uses = 0
	for e in r["reuse"]:
	    if "thread" not in e:
	        uses = e["weight"] / period
	    elif e["thread"] in time:
	        n = time[e["thread"]]
	        own += sum(b["weight"] for b in e["bins"]
	                   if b["low"] <= n < b["high"]) / period
	count = sum(t["count"] for t in r["threads"])
	share = true / all
	sigma = (samples * share * (1 - share)) ** .5
	lost = {k: v for k, v in r["loss"].items() if v}
	print(f"  {count} threads, {samples} samples, {own:.0f} have the time of"
	      f" their thread, in truth {samples * share:.0f} +- {sigma:.0f}")
	bad = []
	if not -4 * sigma < own - samples * share < 4 * sigma + .02 * samples:
	    bad.append("not in proportion")
	if uses != samples or lost:
	    bad.append(f"{uses} uses, lost {lost}")
	for x in sys.argv[3:]:
	    if not eval(x):
	        bad.append(f"not {x}")
	for x in bad:
	    print("  " + x)
	sys.exit(bool(bad))
	EOF
}

# until_decided USES UNENDED THREADS SETTINGS ARGUMENT... - run the program with
# hooks until so many uses are decided, at most eight times. How many a run
# decides depends on how fast the machine takes traps; that none is wrong does
# not.
until_decided()
{
	local uses=$1 unended=$2 threads=$3 sum=0

	shift 3
	for _ in 1 2 3 4 5 6 7 8; do
		hooked "$@"
		own_times "$unended" "threads $threads"
		sum=$((sum + $(cat "$WORK/json.decided")))
		[ $sum -le "$uses" ] || return
	done
	fail "$*: only $sum uses decided in eight runs"
}

hooks_that_watch_in_software_charge_no_other_thread()
{
	hooked COMDET_PERIOD=1000 short 10000 10
	own_times 0 'threads == 10001' 'n > 50000' 'not lost'
	hooked COMDET_PERIOD=1000 live 500 50
	own_times 0 'threads == 501' 'n > 12000' 'not lost'
	hooked 'COMDET_PERIOD=1000 COMDET_CHILDREN=1' forks 20 100
	own_times 0 'threads > 400' 'n > 8000' 'not lost'
	hooked COMDET_PERIOD=1000 exec 8 30
	own_times 200 'threads == 210' 'n > 2000' 'not lost'
}

hooks_that_watch_with_registers_charge_no_other_thread()
{
	local registers='COMDET_WATCH=hw COMDET_GRANULARITY=address'

	debug_registers || {
		echo '  no debug registers: not tried'
		return
	}
	until_decided 2000 0 "== 10001" "$registers COMDET_PERIOD=10000" \
		short 10000 10
	until_decided 400 0 "== 501" "$registers COMDET_PERIOD=10000" live 500 50
	until_decided 400 0 '> 400' \
		"$registers COMDET_PERIOD=10000 COMDET_CHILDREN=1" forks 20 100
	until_decided 300 100000 "== 210" "$registers COMDET_PERIOD=10000" exec 8 30
}

emulation_charges_no_other_thread()
{
	command -v qemu-x86_64 >/dev/null || {
		echo '  qemu-x86_64 is missing: not tried'
		return
	}
	emulated mode=reuse,granularity=address,period=1000 short 3000 10
	in_proportion 10 'count == 3001' 'own > 8000'
	emulated mode=reuse,granularity=address,period=1000 live 500 50
	in_proportion 50 'count == 501' 'own > 4000'
	emulated mode=reuse,granularity=address,period=1000,children=1 forks 6 100
	in_proportion 100 'own > 500'
	emulated mode=shared,granularity=address,period=1000 short 500 10
}

burn
for ((round = 0; round < CHURN; round++)); do
	run_claims "${1-}" \
		hooks_that_watch_in_software_charge_no_other_thread \
		hooks_that_watch_with_registers_charge_no_other_thread \
		emulation_charges_no_other_thread
done
