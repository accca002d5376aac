#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_accuracy - the short form of reusetrack accuracy keeps its promises
#
# Every row compares an estimate with exact counts. The first claim compares the
# exact counts with a program that counts itself how often its line changes
# hands.

. "$(dirname "$0")/e2e.sh"

command -v qemu-x86_64 >/dev/null ||
	skip 'qemu-x86_64 is missing: install the package qemu-user'

# An exchange returns the word of the thread that stored last, so a thread sees
# when another one had the line in between.
exact_counts_are_what_the_program_saw()
{
	rm -rf "$WORK/out"
	"$TOOL" record -s emu --exact --slice 30 -p 0 -o "$WORK/out" -- \
		"$B/microbench/write_volume" --op exchange --sharing 0.5 \
		--threads 5 --iterations 200000 --json \
		>"$WORK/seen" 2>"$WORK/err" || fail "$(cat "$WORK/err")"
	json "$WORK/out" "$WORK/json"
	python3 - "$WORK/seen" "$WORK/json" <<-'PYTHON' || fail 'exact counts'
	import json, sys
	seen = json.load(open(sys.argv[1]))
	lines = json.load(open(sys.argv[2]))["exact"]["lines"]
	saw = sum(t["received"] for t in seen["threads"])
	told = sum(l["all"] for l in lines
	           if int(l["line"], 16) == int(seen["words"][0]["line"], 16))
	print("the program saw %d, exact counted %d" % (saw, told))
	# When a turn ends early, two threads run at once for a moment, and the
	# plugin may be called in another order than the accesses happen.
	sys.exit(not (saw > 10000 and abs(told - saw) <= 0.01 * saw))
	PYTHON
}

# Other programs take the processors away. The thread that has the turn must
# still give it up on time.
turns_stay_short_on_a_busy_machine()
{
	local busy=() i saw

	for i in 1 2 3 4; do
		while :; do :; done &
		busy+=($!)
	done
	"$TOOL" record -s emu --slice 30 -p 0 -o "$WORK/out" -- \
		"$B/microbench/write_volume" --op exchange --sharing 1 \
		--threads 2 --iterations 500000 --json \
		>"$WORK/seen" 2>"$WORK/err" || i=failed
	kill "${busy[@]}"
	wait "${busy[@]}" 2>/dev/null
	[ "$i" != failed ] || fail "$(cat "$WORK/err")"
	# An iteration makes three accesses, a turn lasts 30: there are 100,000
	# turns, and the line changes hands in each.
	saw=$(ask "$WORK/seen" 'sum(t["received"] for t in r["threads"])')
	echo "busy machine: $saw of 100000 turns"
	[ "$saw" -ge 20000 ] || fail 'turns are longer than asked for'
}

short_form_passes_in_the_promised_form()
{
	"$TOOL" accuracy --short --jobs 2 --json --keep "$WORK/kept" \
		>"$WORK/rows" 2>"$WORK/err"
	local status=$?

	python3 - "$WORK/rows" $status <<-'PYTHON' || fail "$(cat "$WORK/err")"
	import json, sys
	r = json.load(open(sys.argv[1]))
	names = ["suite", "case", "source", "threads", "metric", "measured",
	         "truth", "error", "low", "high", "bound", "pass"]
	def number(v):
	    return v is None or type(v) in (int, float)
	wrong = []
	if set(r) != {"schema", "rows"} or r["schema"] != 1:
	    wrong.append("the object has %s" % sorted(r))
	for row in r["rows"]:
	    if list(row) != names or row["source"] != "emu":
	        wrong.append("a row has %s" % list(row))
	    elif not all(number(row[n]) for n in names[5:11]):
	        wrong.append("not a number in %s" % row)
	    elif row["bound"] is not None and row["error"] is not None and \
	            row["pass"] != (abs(row["error"]) <= row["bound"]):
	        wrong.append("verdict of %s" % row)
	    elif row["pass"] is False:
	        wrong.append("out of bounds: %s" % row)
	suites = {row["suite"] for row in r["rows"]}
	for s in ("write-volume", "patterns", "false-sharing", "read-write",
	          "point-to-point"):
	    if s not in suites:
	        wrong.append("no row of " + s)
	if int(sys.argv[2]) != any(x["pass"] is False for x in r["rows"]):
	    wrong.append("exit status " + sys.argv[2])
	print(len(r["rows"]), "rows")
	for w in wrong:
	    print(w)
	sys.exit(bool(wrong))
	PYTHON
}

# Without one of the kept runs, --resume repeats that run and no other.
what_is_resumed_tells_the_same()
{
	rm -r "$WORK/kept/point-to-point-2"
	touch "$WORK/before"
	"$TOOL" accuracy --short --json --keep "$WORK/kept" --resume \
		>"$WORK/again" 2>"$WORK/err"
	[ "$(find "$WORK/kept" -name '*.cdp' -newer "$WORK/before" |
		wc -l)" = 1 ] || fail 'not one run was made'
	python3 - "$WORK/rows" "$WORK/again" <<-'PYTHON' || fail 'resumed'
	import json, sys
	a, b = (json.load(open(f))["rows"] for f in sys.argv[1:])
	# Only the row of the repeated run, the last one, may differ.
	sys.exit(a[:-1] != b[:-1] or a[-1]["case"] != b[-1]["case"])
	PYTHON
}

# A row that compares runs is shown only if all of them are there.
what_is_left_out_for_want_of_time_is_said()
{
	rm -r "$WORK/kept/point-to-point-1" "$WORK/kept/read-write-0"
	"$TOOL" accuracy --short --json --keep "$WORK/kept" --resume \
		--minutes 0 >"$WORK/some" 2>"$WORK/err" ||
		fail "$(cat "$WORK/err")"
	grep -q '2 runs left out' "$WORK/err" || fail "$(cat "$WORK/err")"
	python3 - "$WORK/again" "$WORK/some" <<-'PYTHON' || fail 'left out'
	import json, sys
	a, b = (json.load(open(f))["rows"] for f in sys.argv[1:])
	a = [r for r in a if r["suite"] != "read-write"]
	del a[-2]
	sys.exit(a != b)
	PYTHON
}

# A copy of the tool finds a microbenchmark that fails.
what_cannot_run_fails()
{
	mkdir -p "$WORK/bin/microbench"
	cp "$TOOL" "$B/libcomdet-qemu.so" "$WORK/bin"
	printf '#!/bin/sh\nexit 3\n' >"$WORK/bin/microbench/read_write"
	chmod +x "$WORK/bin/microbench/read_write"
	TMPDIR=$WORK "$WORK/bin/reusetrack" accuracy --short \
		--suite read-write >"$WORK/table" 2>"$WORK/err" &&
		fail 'status 0 although nothing ran'
	grep -q 'status 3' "$WORK/err" || fail "$(cat "$WORK/err")"
	grep -q 'FAIL' "$WORK/table" || fail "$(cat "$WORK/table")"
	grep -q '^0 of [1-9]' "$WORK/table" || fail "$(cat "$WORK/table")"
	[ -z "$(find "$WORK" -name 'reusetrack-accuracy-*')" ] ||
		fail 'a temporary directory was left'
}

wrong_options_are_refused()
{
	local args

	for args in '--suite nonsense' '--slice 0' '--jobs 0' \
		'--minutes -1' 'argument' \
		'--nonsense'; do
		# shellcheck disable=SC2086
		"$TOOL" accuracy $args >"$WORK/table" 2>"$WORK/err"
		[ $? = 1 ] || fail "accuracy $args"
		[ "$(wc -l <"$WORK/err")" = 1 ] || fail "$(cat "$WORK/err")"
		[ -s "$WORK/table" ] && fail "accuracy $args printed"
	done
}

exact_counts_are_what_the_program_saw
turns_stay_short_on_a_busy_machine
what_cannot_run_fails
wrong_options_are_refused
short_form_passes_in_the_promised_form
what_is_resumed_tells_the_same
what_is_left_out_for_want_of_time_is_said
echo 'check_accuracy: all as promised'
