#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_emu - the source emu: counts, samples, behaviour
#
# The counts are compared with the accesses that the program's instructions make
# (the difference of two runs), and with those that valgrind's lackey finds.

. "$(dirname "$0")/e2e.sh"

PLUGIN=$B/libcomdet-qemu.so
KINDS=$B/tests/programs/emu/guest_kinds
PROCESS=$B/tests/programs/emu/guest_process

command -v qemu-x86_64 >/dev/null ||
	skip 'qemu-x86_64 is missing: install the package qemu-user'

kinds=$("$KINDS" --list) && processes=$("$PROCESS" --list) ||
	fail 'a program of tests/emu does not run: make tests'

# emulate SETTINGS COMMAND... - run it under the plugin, record into $WORK/out
emulate()
{
	local settings=$1

	shift
	rm -rf "$WORK/out"
	timeout -k 5 600 \
		qemu-x86_64 -cpu max -plugin "$PLUGIN,out=$WORK/out$settings" "$@"
}

# counted KIND COUNT - print "loads stores load_bytes store_bytes"
counted()
{
	emulate ,period=0 "$KINDS" "$1" "$2" || fail "guest_kinds $1 $2"
	json "$WORK/out" "$WORK/json"
	ask "$WORK/json" '" ".join(str(r["threads"][0]["counted"][k]) for k in
		("loads", "stores", "load_bytes", "store_bytes"))'
}

# traced KIND COUNT - print lackey's counts; its M is a load and a store
traced()
{
	valgrind --tool=lackey --trace-mem=yes "$KINDS" "$1" "$2" 2>&1 |
		awk '/^ [LSM] / {
			split($2, a, ",")
			if ($1 != "S") { l++; lb += a[2] }
			if ($1 != "L") { s++; sb += a[2] }
		} END { print l, s, lb, sb }'
}

# per_turn "A" "B" - print the difference of two counts over 1000 turns. Both
# numbers of turns have as many digits, so that reading them takes the same
# accesses.
per_turn()
{
	echo "$1 $2" | awk '{
		print ($5 - $1) / 1000, ($6 - $2) / 1000,
		      ($7 - $3) / 1000, ($8 - $4) / 1000
	}'
}

# QEMU 7.2 makes two accesses of 8 bytes of one of 16.
in_parts()
{
	case $1 in
	load_16) echo '2 0 16 0' ;;
	store_16) echo '0 2 0 16' ;;
	*) echo "$2" ;;
	esac
}

# Lackey counts a locked operation as a load and a compare-and-exchange.
as_lackey()
{
	case $1 in
	locked) echo '2 1 8 4' ;;
	exchange) echo '2 1 16 8' ;;
	*) echo "$2" ;;
	esac
}

counts_are_what_the_instructions_do()
{
	local kind truth found

	while read -r kind truth; do
		found=$(per_turn "$(counted "$kind" 1500)" \
			"$(counted "$kind" 2500)")
		[ "$found" = "$(in_parts "$kind" "$truth")" ] ||
			fail "$kind: counted $found, not $truth"
	done <<<"$kinds"
}

counts_agree_with_lackey()
{
	local kind truth found

	command -v valgrind >/dev/null || {
		echo 'valgrind is missing: not compared with lackey'
		return
	}
	while read -r kind truth; do
		case $kind in
		load_[124] | store_[14] | none) continue ;;
		esac
		found=$(per_turn "$(traced "$kind" 1500)" \
			"$(traced "$kind" 2500)")
		[ "$found" = "$(as_lackey "$kind" "$truth")" ] ||
			fail "$kind: lackey traced $found"
	done <<<"$kinds"
}

counts_agree_with_the_smallest_plugin()
{
	local ours theirs

	ours=$(counted modify 5000)
	theirs=$(qemu-x86_64 -cpu max -plugin \
		"$B/tests/programs/emu/count_plugin.so" "$KINDS" modify 5000 2>&1 |
		awk '{ print $2, $4 }')
	# There is one thread. The auxiliary vector differs a little.
	echo "$ours $theirs" | awk '{ d = $1 + $2 - $5 - $6
		exit !(d * d < 1e6 && $1 > 5000) }' ||
		fail "counted $ours, the smallest plugin $theirs"
}

# Slices are tried, too: to fork, QEMU stops all threads, and one of them has
# the turn.
programs_behave_as_without()
{
	local what native emulated slice

	for what in $processes; do
		("$PROCESS" "$what") >"$WORK/native" 2>/dev/null
		native=$?
		for slice in auto 30; do
			(emulate ,period=5000,slice=$slice "$PROCESS" "$what") \
				>"$WORK/emulated" 2>/dev/null
			emulated=$?
			[ $native = $emulated ] || fail "$what, slice $slice:" \
				"exit status $emulated, not $native"
			cmp "$WORK/native" "$WORK/emulated" ||
				fail "$what, slice $slice: output"
		done
	done 2>/dev/null
}

an_exec_is_followed_and_children_on_request()
{
	cat >"$WORK/script" <<-EOF
		#!/bin/sh
		$PROCESS spawn
		exec env A=b $PROCESS many_threads
	EOF
	chmod +x "$WORK/script"
	emulate ,period=10000 /bin/sh "$WORK/script" >"$WORK/said" ||
		fail 'the script failed'
	json "$WORK/out" "$WORK/json"
	holds "$WORK/json" '[(p["exe"].rsplit("/", 1)[1], p["state"])
		for p in r["processes"]] == [("dash", "execed"),
		("env", "execed"), ("guest_process", "ended")]' 'execs'
	holds "$WORK/json" 'r["run"]["not_followed"] == 1' 'children'
	emulate ,period=10000,children=1 /bin/sh "$WORK/script" >"$WORK/said" ||
		fail 'the script failed with children'
	json "$WORK/out" "$WORK/json"
	holds "$WORK/json" '(len([p for p in r["processes"]
		if p["exe"].endswith("/guest_process")]) == 4 and
		r["run"]["complete"] and not r["run"]["not_followed"])' 'children'
}

a_killed_program_leaves_its_counts()
{
	(emulate ,period=1000 "$PROCESS" killed) >/dev/null 2>&1
	json "$WORK/out" "$WORK/json"
	holds "$WORK/json" '(not r["run"]["complete"] and
		r["threads"][0]["accesses"] > 20000)' 'a killed program'
}

samples_are_one_in_a_period()
{
	local pmu n=400000

	for pmu in pebs ibs; do
		emulate ",period=1000,pmu=$pmu" "$KINDS" modify $n ||
			fail 'guest_kinds modify'
		json "$WORK/out" "$WORK/json"
		# An interval's deviation is below 4 %, and there are 800.
		holds "$WORK/json" 'abs(r["threads"][0]["samples"]["uniform"] /
			(r["threads"][0]["accesses"] / 1000) - 1) < 0.01' \
			"$pmu: samples a period"
		holds "$WORK/json" 'abs(r["threads"][0]["loads"] /
			r["threads"][0]["samples"]["uniform"] - 0.5) < 0.06' \
			"$pmu: loads among the samples"
	done
}

# Each thread ends before a period is over and is sampled seldom. Together they
# have one sample a period, within four and a half deviations.
short_threads_are_sampled_as_often_as_long_ones()
{
	emulate ",period=10000,seed=3" "$B/microbench/write_volume" \
		--threads 32 --iterations 5000 >/dev/null || fail 'write_volume'
	json "$WORK/out" "$WORK/json"
	holds "$WORK/json" '(lambda n, e: e > 25 and abs(n - e) < 4.5 * e ** 0.5)(
		sum(t["samples"]["uniform"] for t in r["threads"][1:]),
		sum(t["counted"]["loads"] + t["counted"]["stores"]
		for t in r["threads"][1:]) / 10000)' 'samples of short threads'
}

# shares PMU ARGUMENT... - report the sharing of false_sharing into $WORK/json
shares()
{
	local pmu=$1

	shift
	emulate ",period=2000,pmu=$pmu,seed=7,slice=200" "$B/microbench/false_sharing" \
		--threads 2 --iterations 3000000 "$@" >/dev/null ||
		fail "false_sharing $*"
	json "$WORK/out" "$WORK/json"
}

sharing_is_told_apart()
{
	local pmu

	for pmu in pebs ibs; do
		shares $pmu --false 1
		holds "$WORK/json" '(c["total"]["estimate"] >= 300 and
			est("false_sharing") >= 0.95 * c["total"]["estimate"])' \
			"$pmu: false sharing"
		holds "$WORK/json" '("false_sharing.c:" in
			c["sites"][0]["location"])' "$pmu: source lines"
		shares $pmu --false 0
		holds "$WORK/json" '(c["total"]["estimate"] >= 300 and
			est("true_sharing") >= 0.95 * c["total"]["estimate"])' \
			"$pmu: true sharing"
	done
	emulate ,period=2000 "$PROCESS" signals >/dev/null || fail signals
	json "$WORK/out" "$WORK/json"
	holds "$WORK/json" 'not c or c["total"]["estimate"] == 0' 'one thread'
}

# QEMU maps .bss and the beginning of the heap as one mapping.
variables_beyond_the_file_have_names()
{
	# So many iterations that all threads run at the same time.
	emulate ,exact=1,slice=50 "$B/microbench/patterns" --pattern bursts \
		--threads 4 --iterations 400000 >/dev/null || fail patterns
	json "$WORK/out" "$WORK/json"
	holds "$WORK/json" 'all(l["objects"][0].startswith("burst_line")
		for l in r["exact"]["lines"][:4])' 'variables in .bss'
}

# Each round of guest_transfers makes one transfer to each reader, in whatever
# order the threads run.
transfers_are_counted_exactly()
{
	local readers slice word kind line

	for readers in 1 2 7; do
		for slice in 0 50 auto; do
			for word in same other; do
				[ $word = same ] && kind=true || kind=false
				line=$(emulate ",exact=1,slice=$slice" \
					"$B/tests/programs/emu/guest_transfers" 200 \
					$readers $word) || fail guest_transfers
				json "$WORK/out" "$WORK/json"
				holds "$WORK/json" "([(l['all'], l['$kind'])
					for l in r['exact']['lines']
					if l['line'] == '$line'] ==
					[(200 * $readers, 200 * $readers)])" \
					"$readers readers, slice $slice, $word"
			done
		done
	done
}

# There are two sockets of two cores. The main thread is on core 0, the readers
# are on 1, 2 and 3.
misses_go_as_far_as_the_topology_says()
{
	cat >"$WORK/two" <<-EOF
		socket 0
		socket 1
		core 0-1 in socket 0
		core 2-3 in socket 1
	EOF
	emulate ",exact=1,slice=50,topology=$WORK/two" \
		"$B/tests/programs/emu/guest_transfers" 500 3 same >/dev/null ||
		fail guest_transfers
	json "$WORK/out" "$WORK/json"
	# The first reader finds the line modified on the other core of its
	# socket. The next one misses on a line that is clean by then.
	holds "$WORK/json" '([t["misses"]["load_modified"][1] >= 500
		for t in r["exact"]["threads"] if t["thread"] == 1] == [True])' \
		'a miss within the socket'
	holds "$WORK/json" '([t["misses"]["load_clean"][2] >= 500
		for t in r["exact"]["threads"] if t["thread"] == 2] == [True])' \
		'a miss across sockets'
	emulate ",exact=1,slice=50,topology=$WORK/two,place=scatter" \
		"$B/tests/programs/emu/guest_transfers" 500 1 same >/dev/null ||
		fail guest_transfers
	json "$WORK/out" "$WORK/json"
	holds "$WORK/json" '([t["misses"]["load_modified"][2] >= 500
		for t in r["exact"]["threads"] if t["thread"] == 1] == [True])' \
		'threads scattered over sockets'
}

# ratio FILE - print the ratio of the estimate to the exact count
ratio()
{
	ask "$1" 'c["total"]["estimate"] / r["exact"]["all"]'
}

# One run gives the estimate and the exact count of the same accesses. The
# estimator epoch is unbiased if arming takes no time. If it takes long, chain
# stays near the truth, and epoch counts several times too many.
estimates_agree_with_the_exact_counts()
{
	local run="exact=1,slice=30,period=200,seed=3"
	local program="$B/microbench/write_volume --threads 3 --iterations 300000"
	local setting

	for setting in algorithm=epoch algorithm=chain \
		algorithm=chain,arming=1000; do
		emulate ",$run,$setting" $program >/dev/null || fail "$setting"
		json "$WORK/out" "$WORK/json"
		holds "$WORK/json" '(c["quantity"] == "transfers" and
			abs(c["total"]["estimate"] / r["exact"]["all"] - 1) < 0.25)' \
			"$setting: $(ratio "$WORK/json") of the exact count"
	done
	emulate ",$run,algorithm=epoch,arming=1000" $program >/dev/null ||
		fail 'epoch with a delay'
	json "$WORK/out" "$WORK/json"
	holds "$WORK/json" 'c["total"]["estimate"] > 2 * r["exact"]["all"]' \
		'E must be far off where arming takes long, or nothing is delayed'
	emulate ",$run,algorithm=chain,arming=1000" "$B/microbench/false_sharing" \
		--threads 2 --false 0.5 --iterations 300000 >/dev/null ||
		fail false_sharing
	json "$WORK/out" "$WORK/json"
	holds "$WORK/json" '(abs(est("false_sharing") / c["total"]["estimate"] -
		r["exact"]["false"] / r["exact"]["all"]) < 0.08)' \
		'the share of false sharing'
}

# The estimate hung on four samples, of which one in eight stood for all: it was
# 0.1 of the truth, or several times the truth.
memory_filled_once_and_read_once_is_estimated()
{
	local seed

	for seed in 1 2 3; do
		emulate ",exact=1,period=100,seed=$seed" \
			"$B/tests/programs/emu/guest_once" 40000 8 >/dev/null ||
			fail guest_once
		json "$WORK/out" "$WORK/json"
		# 255 samples, an eighth of them of last stores: 17 %.
		holds "$WORK/json" '(r["exact"]["all"] > 40000 and
			abs(c["total"]["estimate"] / r["exact"]["all"] - 1) < 0.7
			and c["total"]["high"] < 2 * c["total"]["estimate"])' \
			"seed $seed"
	done
}

# A program that shares nothing.
nothing_seen_has_an_upper_limit()
{
	emulate ,exact=1,period=1000 "$KINDS" modify 20000 || fail modify
	json "$WORK/out" "$WORK/json"
	holds "$WORK/json" '((c["quantity"], c["total"]["estimate"],
		c["total"]["low"], c["total"]["high"] >= 3688) ==
		("transfers", 0, 0, True))' 'nothing seen'
}

avx512_is_refused_unless_the_program_is_ready_for_it()
{
	local status

	emulate '' "$B/tests/programs/emu/guest_avx512" >"$WORK/said" 2>&1
	status=$?
	[ $status = 126 ] && [ "$(wc -l <"$WORK/said")" = 1 ] &&
		grep -q 'built for AVX-512' "$WORK/said" ||
		fail "status $status: $(cat "$WORK/said")"
	emulate '' "$B/tests/programs/emu/guest_avx512" handle >"$WORK/said" 2>&1 ||
		fail "status $?: $(cat "$WORK/said")"
	[ "$(cat "$WORK/said")" = 'there is none' ] ||
		fail "it was told: $(cat "$WORK/said")"
	"$TOOL" record -s emu -o "$WORK/out" -- "$B/tests/programs/emu/guest_avx512" \
		2>"$WORK/said"
	[ $? = 126 ] || fail "record of it: $(cat "$WORK/said")"
}

# same NAME COMMAND... - the emulator does not change its output
same()
{
	local name=$1 settings

	shift
	command -v "$1" >/dev/null || {
		echo "$1 is not installed"
		return
	}
	"$@" >"$WORK/native" 2>&1 </dev/null || fail "$name without: $?"
	for settings in ,period=5000 ,period=5000,exact=1; do
		emulate $settings "$(command -v "$1")" "${@:2}" \
			>"$WORK/emulated" 2>&1 </dev/null ||
			fail "$name$settings: exit status $?"
		cmp "$WORK/native" "$WORK/emulated" ||
			fail "$name$settings: another output"
	done
}

real_programs_give_the_same()
{
	head -c 1000000 "$B/reusetrack" >"$WORK/in"
	same pigz pigz -p 3 -c "$WORK/in"
	same xz xz -T2 --block-size=300000 -1 -c "$WORK/in"
	same zstd zstd -q -T2 -c "$WORK/in"
	seq 1 20000 | sort -R --random-source="$WORK/in" >"$WORK/numbers"
	same sort sort -n --parallel=3 "$WORK/numbers"
	same sqlite3 sqlite3 :memory: 'with recursive n(i) as (values(1) union
		all select i + 1 from n where i < 5000) select sum(i) from n'
	# The command python3 may be a script: run the real interpreter.
	same python3 "$(python3 -c 'import sys; print(sys.executable)')" \
		-c 'import threading, subprocess
t = [threading.Thread(target=print, args=(i,)) for i in range(3)]
for x in t: x.start(); x.join()
print(subprocess.run(["echo", "child"], capture_output=True).stdout)'
}

settings_that_are_wrong_are_one_line()
{
	local setting

	printf 'core 0 in cache a\ncache a in cache a\n' >"$WORK/cycle"
	echo '# no core' >"$WORK/none"
	for setting in period=x period=1 period=-5 pmu=foo registers=5 \
		board=0 wrong=1 seed=1x slice=1x delay=a algorithm=none children=2 exact=2 \
		place=x topology=/nonexistent "topology=$WORK/cycle" \
		"topology=$WORK/none"; do
		emulate ",$setting" "$KINDS" load_8 10 2>"$WORK/said" ||
			fail "$setting: the program did not run"
		[ "$(grep -c '^comdet: not profiled: ' "$WORK/said")" = 1 ] &&
			[ "$(wc -l <"$WORK/said")" = 1 ] ||
			fail "$setting: $(cat "$WORK/said")"
		[ ! -e "$WORK/out" ] || fail "$setting: something was written"
	done
	qemu-x86_64 -plugin "$PLUGIN,out=$WORK/no/out" "$KINDS" load_8 10 \
		2>"$WORK/said" || fail 'no directory: the program did not run'
	[ "$(wc -l <"$WORK/said")" = 1 ] ||
		fail "no directory: $(cat "$WORK/said")"
}

plugin_calls_only_qemu_libc_zydis_and_zstd()
{
	local symbol

	for symbol in $(nm -D -u "$PLUGIN" | awk '{ print $2 }'); do
		case $symbol in
		*@GLIBC_* | qemu_plugin_* | Zydis* | ZSTD_* | _ITM_* | \
			__gmon_start__) ;;
		*) fail "the plugin needs $symbol" ;;
		esac
	done
}

run_claims "${1-}" plugin_calls_only_qemu_libc_zydis_and_zstd \
	counts_are_what_the_instructions_do counts_agree_with_lackey \
	counts_agree_with_the_smallest_plugin programs_behave_as_without \
	an_exec_is_followed_and_children_on_request \
	a_killed_program_leaves_its_counts samples_are_one_in_a_period \
	short_threads_are_sampled_as_often_as_long_ones sharing_is_told_apart \
	variables_beyond_the_file_have_names transfers_are_counted_exactly \
	misses_go_as_far_as_the_topology_says \
	memory_filled_once_and_read_once_is_estimated \
	nothing_seen_has_an_upper_limit \
	estimates_agree_with_the_exact_counts \
	avx512_is_refused_unless_the_program_is_ready_for_it \
	real_programs_give_the_same settings_that_are_wrong_are_one_line
