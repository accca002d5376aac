#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_cache_sets - set-associative caches simulated while a program runs
#
# The misses of whole programs are compared with those that cachegrind finds in
# the same caches. The caches are so small that a product of small matrices has
# conflicts.

. "$(dirname "$0")/e2e.sh"

WALKS=$B/tests/programs/emu/guest_walks
LOCALITY=$B/tests/programs/emu/guest_locality
PROCESS=$B/tests/programs/emu/guest_process
CACHES='L1d 8192 4; L2 131072 8'

command -v qemu-x86_64 >/dev/null ||
	skip 'qemu-x86_64 is missing: install the package qemu-user'
[ -x "$WALKS" ] || fail 'guest_walks is missing: make tests'

# simulate CACHES COMMAND... - record into $WORK/out, report into $WORK/json
simulate()
{
	local caches=$1

	shift
	rm -rf "$WORK/out"
	timeout 600 "$TOOL" record -s emu -m reuse --exact -p 1000 \
		--caches "$caches" -o "$WORK/out" -- "$@" \
		>/dev/null 2>"$WORK/errors" || fail "$*: $(<"$WORK/errors")"
	json "$WORK/out" "$WORK/json"
}

# missed CACHE - print how many "loads stores" missed in the last simulation
missed()
{
	ask "$WORK/json" '" ".join(str(c[k]["misses"]) for c in
		r["simulated_caches"]["caches"] if c["name"] == "'"$1"'"
		for k in ("loads", "stores"))'
}

# by_cachegrind COMMAND... - print cachegrind's counts: all loads and stores,
# those that missed in D1, those that missed in LL
by_cachegrind()
{
	valgrind --tool=cachegrind --cache-sim=yes --I1=8192,4,64 \
		--cachegrind-out-file=/dev/null --D1=8192,4,64 \
		--LL=131072,8,64 "$@" 2>&1 >/dev/null | awk '
		/D +refs:|D1 +misses:|LLd misses:/ {
			gsub(",", "")
			match($0, /\(.*/)
			split(substr($0, RSTART + 1), n, " ")
			printf "%s %s ", n[1], n[4]
		}'
}

# agree NAME "LOADS STORES" "LOADS STORES" - compare ours with cachegrind's. The
# loader does a little more under valgrind.
agree()
{
	echo "$2 $3" | awk '{
		for (i = 1; i <= 2; i++) {
			d = $i - $(i + 2)
			limit = 0.02 * $(i + 2) + 200
			if ($(i + 2) <= limit || d > limit || d < -limit)
				exit 1
		}
	}' || fail "$1: $2 misses, cachegrind $3"
}

misses_are_those_of_cachegrind()
{
	local kernel row n

	for kernel in naive blocks; do
		for row in 64 72; do
			simulate "$CACHES" "$WALKS" "$kernel" 64 "$row"
			read -ra n <<<"$(by_cachegrind "$WALKS" "$kernel" \
				64 "$row")"
			[ ${#n[@]} = 6 ] || fail "cachegrind says ${n[*]}"
			agree "$kernel $row L1d" "$(missed L1d)" \
				"${n[2]} ${n[3]}"
			agree "$kernel $row L2" "$(missed L2)" \
				"${n[4]} ${n[5]}"
		done
	done
}

conflicts_are_told_with_their_line()
{
	local line

	line=$(grep -n 'sum +=.*m\[1\]' "$TOP/tests/programs/emu/guest_walks.c" |
		head -1 | cut -d: -f1)
	simulate "$CACHES" "$WALKS" naive 64 64
	"$TOOL" report "$WORK/out" >"$WORK/text" || fail 'report'
	grep -q 'lines conflict' "$WORK/text" || fail 'no word of conflicts'
	grep -q 'pad each row' "$WORK/text" || fail 'no advice'
	grep -A2 'simulated misses in L1d' "$WORK/text" | tail -1 |
		grep -q "guest_walks.c:$line (naive)" ||
		fail "not line $line: $(grep -A2 'simulated misses' "$WORK/text")"
}

padded_rows_have_no_conflicts()
{
	simulate "$CACHES" "$WALKS" naive 64 72
	"$TOOL" report "$WORK/out" >"$WORK/text" || fail 'report'
	grep -q 'fully associative  simulated' "$WORK/text" ||
		fail 'nothing was simulated'
	if grep -q conflict "$WORK/text"; then
		fail "$(grep conflict "$WORK/text")"
	fi
}

# 300 times, one thread stores to 64 lines and the other loads them.
what_another_thread_stored_misses_in_own_caches_alone()
{
	local loads shared

	simulate 'L1d 49152 12; L2 1048576 16 shared' "$LOCALITY" \
		handover 2 300
	read -r loads _ <<<"$(missed L1d)"
	read -r shared _ <<<"$(missed L2)"
	[ "$loads" -ge $((299 * 64)) ] || fail "L1d: $loads"
	[ "$shared" -le $((loads / 4)) ] || fail "L2: $shared of $loads"
}

threads_that_run_when_another_executes_are_written()
{
	local n

	for n in 1 2 3 4; do
		rm -rf "$WORK/out"
		timeout 600 "$TOOL" record -s emu -m reuse --exact -p 1000 \
			--caches "$CACHES" -o "$WORK/out" -- "$PROCESS" \
			exec_among_threads >"$WORK/said" 2>"$WORK/errors"
		[ $? = 5 ] || fail "run $n: $(<"$WORK/errors")"
		[ "$(<"$WORK/said")" = '[again][say][there]' ] ||
			fail "run $n said $(<"$WORK/said")"
		json "$WORK/out" "$WORK/json"
		holds "$WORK/json" '[p["state"] for p in r["processes"]] == [
			"execed", "ended"]' 'processes'
		holds "$WORK/json" 'len([t for t in
			r["simulated_caches"]["threads"] if sum(
			t["caches"][0][k]["accesses"]
			for k in ("loads", "stores")) > 1000]) == 5' 'threads'
	done
}

# Print "KIBIBYTES WAYS " of each data cache that the kernel describes, the
# nearest first.
caches_of_this_machine()
{
	local c

	for c in /sys/devices/system/cpu/cpu0/cache/index*; do
		[ "$(cat "$c/type" 2>&1)" != Instruction ] || continue
		echo "$(cat "$c/level") $(tr -d K <"$c/size")" \
			"$(cat "$c/ways_of_associativity")"
	done 2>/dev/null | sort -n | awk '{ printf "%s %s ", $2, $3 }'
}

this_machines_caches_are_simulated_unasked()
{
	local wanted found

	wanted=$(caches_of_this_machine)
	case " ${wanted:-0 }" in
	*' 0 '* | *'  '*)
		echo 'this machine does not say what its caches are'
		return
		;;
	esac
	rm -rf "$WORK/out"
	"$TOOL" record -s emu -m reuse --exact -o "$WORK/out" -- /bin/true \
		2>"$WORK/errors" || fail "$(<"$WORK/errors")"
	json "$WORK/out" "$WORK/json"
	found=$(ask "$WORK/json" '" ".join(str(c["bytes"] // 1024) + " " + str(c["ways"])
		for c in r["simulated_caches"]["caches"])')
	[ "$found " = "$wanted" ] && return
	# The report names the caches that it leaves out.
	grep -q "this machine's L[0-9].* cannot be simulated" "$WORK/errors" ||
		fail "simulated $found, not $wanted"
	[ "${wanted#"$found "}" != "$wanted" ] ||
		fail "simulated $found, which are not the nearest of $wanted"
}

caches_that_cannot_be_are_refused()
{
	local caches

	for caches in 'L1d' 'L1d 8192' 'L1d 8192 3' 'L2 8192 4; L1d 8192 4'; do
		if "$TOOL" record -s emu -m reuse --exact --caches "$caches" \
			-o "$WORK/none" -- true >/dev/null 2>&1; then
			fail "'$caches' was taken"
		fi
	done
	[ ! -e "$WORK/none" ] || fail 'it recorded'
}

# This claim comes last, because it ends the script if valgrind is missing.
run_claims "${1:-}" conflicts_are_told_with_their_line \
	padded_rows_have_no_conflicts \
	what_another_thread_stored_misses_in_own_caches_alone \
	threads_that_run_when_another_executes_are_written \
	this_machines_caches_are_simulated_unasked \
	caches_that_cannot_be_are_refused misses_are_those_of_cachegrind
