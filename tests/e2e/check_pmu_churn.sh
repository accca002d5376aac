#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_pmu_churn - hardware samples of threads that come and go, at high load
#
#	check_pmu_churn.sh [CLAIM]
#
# programs/instr/reuse_churn.c runs on simulated machines with a PMU
# (tests/fake/fake_process.c) and real debug registers. Each thread has a reuse
# time of its own, on words that earlier threads used, too: a trap that is
# charged to the wrong thread has the wrong time. The program's output and
# status must be those without the preload. Thousands of threads may leave no
# more descriptors open than a few. Busy processes keep all processors occupied
# meanwhile.
#
# serial: it keeps all processors busy

. "$(dirname "$0")/e2e.sh"
. "$(dirname "$0")/burn.sh"

PROGRAM=$B/tests/programs/instr/reuse_churn.plain
FAKE=$B/tests/libcomdet-fake.so
ulimit -c 0

# churn MODEL ARGUMENT... - the program does the same with the preload as
# without; sampling ends after $duration seconds
churn()
{
	settings="$*"
	local model=$1

	shift
	timeout -k 5 600 "$PROGRAM" "$@" >"$WORK/plain"
	echo $? >>"$WORK/plain"
	rm -rf "$WORK/out" "$WORK/log"
	timeout -k 5 600 env FAKE_MODEL="$model" FAKE_LOG="$WORK/log" \
		COMDET_MODE=reuse COMDET_PERIOD=1000 COMDET_CHILDREN=1 \
		COMDET_DURATION="${duration:-0}" COMDET_OUT="$WORK/out" \
		LD_PRELOAD="$FAKE" "$PROGRAM" "$@" >"$WORK/with" 2>"$WORK/err"
	echo $? >>"$WORK/with"
	# This line counts traps by an event that the timer tick raises, too.
	sed -i '/^armed/d' "$WORK/plain" "$WORK/with"
	[ ! -s "$WORK/err" ] || fail "$settings: $(cat "$WORK/err")"
	cmp -s "$WORK/plain" "$WORK/with" ||
		fail "$settings: $(cat "$WORK/with"), without us" \
			"$(cat "$WORK/plain")"
}

# own_times CONDITION... - each thread has its own time. The conditions are
# Python over source, threads, samples, n (reuses), lost (a dict) and fake (the
# machine's own counts).
#
# PEBS gives the exact time. IBS counts ops, which are all accesses here; from s
# samples their share is estimated as (s + 1) / (s + 2).
own_times()
{
	json "$WORK/out" "$WORK/json"
	python3 - "$WORK/json" "$WORK/log" "$@" <<-'PYTHON' || fail "$settings"
	import json, sys
	r = json.load(open(sys.argv[1]))
	words = open(sys.argv[2]).read().split()
	fake = dict(zip(words[::2], map(int, words[1::2])))
	source = r["run"]["source"]
	name = {t["id"]: t["name"] for t in r["threads"]}
	threads = sum(t["count"] for t in r["threads"])
	samples = sum(t["samples"]["uniform"] for t in r["threads"])
	lost = {k: v for k, v in r["loss"].items() if v}
	least = 2 / 3 if source == "ibs" else 1
	n = 0
	bad = []
	for e in r["reuse"]:
	    if "thread" not in e:
	        if not e["samples"] <= samples:
	            bad.append(f"{e['samples']} uses of {samples} samples")
	        continue
	    who = name[e["thread"]]
	    own = int(who[1:]) if who[1:].isdigit() else 0
	    for b in e["bins"]:
	        time = b["mean"]
	        # The name of a thread that was last sampled before it was
	        # named is unknown: any time will do, but only one.
	        if not own and source == "pebs":
	            own = time if time % 8 == 0 and time >= 104 else 0
	        if own and own * least - 1 <= time <= own:
	            n += round(b["weight"] / r["run"]["period"])
	        elif own or source == "pebs":
	            bad.append(f"{who}: {b}")
	    if e["invalidated"]:
	        bad.append(f"{who}: {e['invalidated']} invalidated")
	print(f"  {source}: {threads} threads, {samples} samples, {n} reuses,"
	      f" lost {lost}, {fake['descriptors']} descriptors")
	open(sys.argv[1] + ".reuses", "w").write(str(n))
	for x in sys.argv[3:]:
	    if not eval(x):
	        bad.append(f"not {x}")
	for x in bad[:20]:
	    print("  " + x)
	sys.exit(bool(bad))
	PYTHON
}

# threads_have_their_own_times MODEL SOURCE - in every way to come and go
threads_have_their_own_times()
{
	local model=$1 right few fifths
	right="source == '$2'"

	churn "$model" short 20 20
	few=$(awk '{ print $NF }' "$WORK/log")
	own_times "$right" 'threads == 21' 'n > 10'
	churn "$model" short 10000 6
	own_times "$right" 'threads == 10001' 'n > 1000' \
		"fake['descriptors'] <= $few"
	churn "$model" live 500 20
	own_times "$right" 'threads == 501' 'n > 500' \
		"fake['descriptors'] <= $few"
	churn "$model" forks 20 50
	own_times "$right" 'threads > 400' 'n > 1000' \
		"fake['descriptors'] <= $few"
	# Sampling ends while all of them run; longer where the machine is busy.
	for fifths in 1 2 4 8 16; do
		duration=$((fifths / 5)).$((fifths % 5 * 2)) \
			churn "$model" live 20 $((fifths * 1000))
		own_times "$right" 'threads == 21'
		[ "$(<"$WORK/json.reuses")" = 0 ] || break
	done
	own_times 'n > 0'
	churn "$model" exec 8 20
	own_times "$right" 'threads == 210' 'n > 100' \
		"fake['descriptors'] <= $few"
}

threads_with_pebs_are_charged_for_no_other_one()
{
	threads_have_their_own_times skylake pebs
}

threads_with_ibs_are_charged_for_no_other_one()
{
	threads_have_their_own_times zen4 ibs
}

debug_registers || skip "no debug registers here"
burn
run_claims "${1-}" threads_with_pebs_are_charged_for_no_other_one \
	threads_with_ibs_are_charged_for_no_other_one
