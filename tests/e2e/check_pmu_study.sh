#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_pmu_study - the study of PMU sampling passes in its short form
#
# First the exact counts of the source emu must confirm what the benchmarks say
# of their loops. Then the study must pass, and must fail with a loop that is
# not what its label says.

. "$(dirname "$0")/e2e.sh"

command -v qemu-x86_64 >/dev/null ||
	skip 'qemu-x86_64 is missing: install the package qemu-user'

# counted ITERATIONS PROGRAM [OPTION...] - print the loads and stores of the
# whole process
counted()
{
	local n=$1

	shift
	"$TOOL" record -s emu --exact -p 0 -o "$WORK/out" -- \
		"$B/microbench/$1" --iterations "$n" "${@:2}" \
		>/dev/null 2>"$WORK/err" || fail "$1: $(cat "$WORK/err")"
	json "$WORK/out" "$WORK/json"
	ask "$WORK/json" '"%d %d" % tuple(sum(t["counted"][k]
	    for t in r["threads"]) for k in ("loads", "stores"))'
}

# near A B - true if they differ by no more than printing another time takes: one
# access in a thousand iterations would be more
near()
{
	[ $(($1 - $2)) -le 900 ] && [ $(($2 - $1)) -le 900 ]
}

# million_more LOADS STORES PROGRAM OPTION... - true if a million more iterations
# make as many million more loads and stores
million_more()
{
	local loads=$1 stores=$2 few many

	shift 2
	few=$(counted 100000 "$@")
	many=$(counted 1100000 "$@")
	# shellcheck disable=SC2086
	set -- $few $many
	near $(($3 - $1)) "${loads}000000" && near $(($4 - $2)) "${stores}000000" ||
		{
			counts="$few at first, then $many"
			return 1
		}
}

# On a busy machine the times that a program prints differ by more digits than
# usual, so it may try again; a loop that does something else never passes.
loops_are_what_they_say()
{
	local program options loads stores counts try

	while read -r program loads stores options; do
		for try in 1 2 3; do
			# shellcheck disable=SC2086
			million_more "$loads" "$stores" "$program" $options &&
				continue 2
		done
		fail "$program $options, try $try: $counts"
	done <<-'EOT'
	load_ratio 1 0 --ratio 4
	load_ratio 1 0 --ratio 20
	load_ratio 2 0 --ratio 64 --threads 2
	locked_load 1 1
	bias_bench 4 0
	multi_event 4 3
	exec_mode 1 0
	EOT
}

# The benchmark prints each site's name and how often it is executed, in order.
benchmarks_know_their_sites()
{
	"$B/microbench/bias_bench" --iterations 1000 --threads 3 --json \
		>"$WORK/json"
	[ "$(ask "$WORK/json" '([(s["name"], s["count"], s["event"])
	    for s in r["sites"]] == [("load %d" % n, 3000, "load")
	    for n in range(1, 5)] + [(n, 0, "none")
	    for n in ("subq", "cmpq", "jne")] and
	    all(a["high"] == b["low"]
	    for a, b in zip(r["sites"], r["sites"][1:])))')" = True ] ||
		fail "$(cat "$WORK/json")"
}

sources=emu
"$TOOL" doctor --json 2>/dev/null >"$WORK/doctor"
for s in clock instr; do
	[ "$(ask "$WORK/doctor" "any(s['name'] == '$s' and s['usable']
	    for s in r['sources'])")" = True ] && sources=$s,$sources
done

# study SOURCES FILE - run the short form, return its exit status
study()
{
	"$TOOL" accuracy --suite precise --short --json --source "$1" \
		>"$2" 2>"$WORK/err"
}

# failed FILE SOURCE TRUTH - true if a row of the source fails; with False, if a
# row of another source fails
failed()
{
	[ "$(ask "$1" "any(x['pass'] is False and (x['source'] == '$2') == $3
	    for x in r['rows'])")" = True ]
}

# The bounds of the counts are four standard errors and more. The clock's shares
# come from some 5000 samples and have a deviation of 0.6 points; on a busy
# machine they are up to 1.5 points off, which is near the bound of 3. So the
# clock has a second try. By chance both fail less than once in 1,000 times.
study_passes_in_the_promised_form()
{
	local status

	study "$sources" "$WORK/rows"
	status=$?
	if failed "$WORK/rows" clock True && ! failed "$WORK/rows" clock False
	then
		echo 'the clock again'
		study clock "$WORK/again"
		status=$?
		python3 - "$WORK/rows" "$WORK/again" <<-'PYTHON'
		import json, sys
		first, again = (json.load(open(f)) for f in sys.argv[1:])
		first["rows"] = again["rows"] + [x for x in first["rows"]
		                                 if x["source"] != "clock"]
		json.dump(first, open(sys.argv[1], "w"))
		PYTHON
	fi
	python3 - "$WORK/rows" $status "$sources" <<-'PYTHON' ||
	import json, sys
	r = json.load(open(sys.argv[1]))
	sources = sys.argv[3].split(",")
	wrong = []
	rows = {}
	for row in r["rows"]:
	    rows[row["source"], row["case"], row["metric"]] = row
	    if row["pass"] is False:
	        wrong.append("out of bounds: %s" % row)
	if int(sys.argv[2]) != any(x["pass"] is False for x in r["rows"]):
	    wrong.append("exit status " + sys.argv[2])
	def get(*key):
	    if key not in rows:
	        wrong.append("no row %s" % (key,))
	        return {"measured": 0, "truth": 1, "pass": False, "bound": 0}
	    return rows[key]
	for s in sources:
	    loads = ["load %d" % n for n in range(1, 5)]
	    shares = [get(s, "Bias-Bench " + l, "share of samples")
	              for l in loads]
	    if abs(sum(x["measured"] for x in shares) - 1) > 1e-6:
	        wrong.append("shares of %s: %s" % (s, shares))
	    for x in shares:
	        most = 0.03 if s == "clock" else 0.01
	        if x["truth"] != 0.25 or x["bound"] > most or \
	                abs(x["measured"] - 0.25) > most:
	            wrong.append("bias: %s" % x)
	    if s == "clock":
	        continue
	    if get(s, "Bias-Bench", "samples in all")["measured"] < 17000:
	        wrong.append("too few samples of %s" % s)
	    for case in ("Load-Ratio 1/4, interval 10000",
	                 "Load-Ratio 1/20, interval 10000",
	                 "Locked-Load 1,000, interval 1000",
	                 "Locked-Load 10,000, interval 10000"):
	        x = get(s, case, "samples")
	        # instr draws each store by itself: four errors of a chance
	        drawn = s == "instr" and case.startswith("Locked")
	        most = 4 / (x["truth"] / 2) ** 0.5 if drawn else 0.01
	        if x["bound"] > 1.1 * most or x["truth"] < 2000 or \
	                abs(x["measured"] / x["truth"] - 1) > x["bound"]:
	            wrong.append("count: %s" % x)
	    if get(s, "Exec-Mode", "samples in the kernel")["measured"]:
	        wrong.append("samples of %s in the kernel" % s)
	print(len(r["rows"]), "rows of", ", ".join(sources))
	for w in wrong:
	    print(w)
	sys.exit(bool(wrong))
	PYTHON
		fail "$(cat "$WORK/err")"
}

# A copy of the tool finds loops that are not what their labels say.
false_loops_are_found_out()
{
	local name change

	mkdir -p "$WORK/bin/microbench"
	cp "$TOOL" "$B/libcomdet-qemu.so" "$WORK/bin"
	cp "$TOP/microbench/common.h" "$TOP/microbench/precise.h" "$WORK"
	for name in load_ratio locked_load bias_bench multi_event exec_mode; do
		case $name in
		load_ratio) change='s/"movl (%rsi), %eax\\n"/& &/' ;;
		bias_bench) change='s/"\.Lload_3: movl (%rsi), %eax\\n"/& "movl (%rsi), %eax\\n"/' ;;
		*) change= ;;
		esac
		sed "$change" "$TOP/microbench/$name.c" >"$WORK/$name.c"
		gcc -std=gnu11 -D_GNU_SOURCE -O2 -pthread -w \
			-o "$WORK/bin/microbench/$name" "$WORK/$name.c" -lm ||
			fail "cannot compile $name"
	done
	"$WORK/bin/reusetrack" accuracy --suite precise --short --json \
		--source emu >"$WORK/rows" 2>"$WORK/err" &&
		fail 'status 0 although loops were changed'
	[ "$(ask "$WORK/rows" '(sorted({x["case"].split()[0]
	    for x in r["rows"] if x["pass"] is False}) ==
	    ["Bias-Bench", "Load-Ratio"])')" = True ] ||
		fail "$(cat "$WORK/rows" "$WORK/err")"
}

wrong_options_are_refused()
{
	local args

	for args in '--source emu' '--suite precise --source' \
		'--suite precise --source nonsense' \
		'--suite precise --source emu,' '--suite precise,nonsense'; do
		# shellcheck disable=SC2086
		"$TOOL" accuracy $args >"$WORK/table" 2>"$WORK/err"
		[ $? = 1 ] || fail "accuracy $args"
		[ "$(wc -l <"$WORK/err")" = 1 ] || fail "$(cat "$WORK/err")"
		[ -s "$WORK/table" ] && fail "accuracy $args printed"
	done
}

# The study names a source that does not open, and fails if there is no other.
what_does_not_open_is_said()
{
	local s

	for s in pebs ibs; do
		[ "$(ask "$WORK/doctor" "any(s['name'] == '$s' and s['usable']
		    for s in r['sources'])")" = False ] || continue
		"$TOOL" accuracy --suite precise --short --source $s \
			>"$WORK/table" 2>"$WORK/err" && fail "$s ran"
		grep -q "none of the sources $s opens" "$WORK/err" ||
			fail "$(cat "$WORK/err")"
		grep -q "^No column $s: " "$WORK/table" ||
			fail "$(cat "$WORK/table")"
	done
}

loops_are_what_they_say
benchmarks_know_their_sites
wrong_options_are_refused
what_does_not_open_is_said
false_loops_are_found_out
study_passes_in_the_promised_form
echo 'check_precise: all as promised'
