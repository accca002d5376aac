#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_clock_reuse - reuse times by the clock agree with the program's own
#
# help_reuse_time sweeps over words and prints how long a sweep takes by its own
# CPU clock. Other programs on the machine do not matter, because both measure
# the same sweeps.

. "$(dirname "$0")/e2e.sh"
HELP=$B/tests/programs/help_reuse_time

debug_registers || skip 'no debug registers here'
uname -r | awk -F. '{ exit !($1 > 5 || ($1 == 5 && $2 >= 19)) }' ||
	skip 'kernels before 5.19 have no signals that come in time'

# judge WHAT TIMES FILE - the median lies within the program's own quartiles
#
# The quartiles are widened by a tenth and by a part of the resolution that the
# profile states: a quarter below, and a half above, since the program fetches
# again what the handler drove out of the caches. The shares of uses beyond them
# are widened by four standard errors.
judge()
{
	python3 - "$@" <<-'EOF2'
	import json, sys
	what, times, file = sys.argv[1:]
	low, middle, high = map(float, times.split())
	r = json.load(open(file))
	s, = [x for x in r['reuse'] if 'thread' not in x]
	bad = []
	if not s['estimated'] or (s['unit'], s['granularity'], s['scope']) != ('ns', 'address', 'private'):
	    bad.append('not ns of addresses within threads')
	for name in 'miss_ratio_curve', 'stack_distance', 'caches':
	    if name in s:
	        bad.append(f'{name} from nanoseconds')
	short, long = s['resolution'] / 4, s['resolution'] / 2
	if not 0 < s['resolution'] < 50000:
	    bad.append(f'{s["resolution"]} ns are the resolution')
	n = s['samples']
	if n < 100:
	    bad.append(f'{n} uses')
	# The sweep loads its words at one site: use and reuse are there.
	pairs = [p for p in s['pairs'] if p['use'] == p['reuse']]
	total = s['weight']
	error = 4 * (sum(b['weight'] for b in s['bins']) / n / total * .25) ** .5
	below = sum(b['weight'] for b in s['bins']
	            if b['high'] <= low * .9 - short) / total
	above = sum(b['weight'] for b in s['bins']
	            if b['low'] >= high * 1.1 + long) / total
	if below > .25 + error:
	    bad.append(f'{below:.2f} of the uses are shorter')
	if above > .25 + error:
	    bad.append(f'{above:.2f} of the uses are longer')
	if not pairs or pairs[0]['kind'] != 'RAR' or pairs[0]['weight'] < total / 2:
	    bad.append(f'the most frequent pair is {pairs[:1]}')
	acc = 0
	for b in s['bins']:
	    acc += b['weight']
	    if acc >= total / 2:
	        break
	print(f'{what}: {n} uses, half by {b.get("mean", b["high"]):.0f} ns,'
	      f' in truth {low:.0f} {middle:.0f} {high:.0f}, -{short:.0f} +{long:.0f}')
	for line in bad:
	    print(' ', line)
	sys.exit(bool(bad))
	EOF2
}

# most_of_three RUN ARGUMENT... - RUN ends with a true judgement twice
#
# What a signal takes is measured at the start of each run. Where a host slows
# the machine down for a second, it takes longer later: one run in thirty had all
# its times too long by more than that.
most_of_three()
{
	local good=0 bad=0

	while ((good < 2 && bad < 2)); do
		if "$@"; then
			((++good))
		else
			((++bad))
		fi
	done
	((good == 2)) || fail "$*: see above"
}

sweep()
{
	local words=$1 times

	times=$(COMDET_MODE=reuse COMDET_SOURCE=clock COMDET_FREQ=1000 \
		preload "$WORK/out" "$HELP" "$words" 800 2>"$WORK/err") ||
		fail "$words words: $(cat "$WORK/err")"
	[ ! -s "$WORK/err" ] || fail "it said $(cat "$WORK/err")"
	json "$WORK/out" "$WORK/json"
	judge "$words words" "$times" "$WORK/json"
}

times_are_those_that_the_program_takes()
{
	most_of_three sweep 60000
	most_of_three sweep 600000
}

# Each word is loaded again after some ns, a thousandth of what a signal takes.
# Four standard errors are allowed beyond a tenth of the uses.
near()
{
	COMDET_MODE=reuse COMDET_SOURCE=clock COMDET_FREQ=1000 \
		preload "$WORK/out" "${HELP%time}near" 4 800 >"$WORK/said" \
		2>"$WORK/err" || fail "4 words: $(cat "$WORK/err")"
	json "$WORK/out" "$WORK/json"
	python3 - "$WORK/json" <<-'EOF2'
	import json, sys
	r = json.load(open(sys.argv[1]))
	s, = [x for x in r['reuse'] if 'thread' not in x]
	n, first = s['samples'], s['bins'][0]
	beyond = 1 - first['weight'] / sum(b['weight'] for b in s['bins'])
	print(f'{n} uses, {beyond:.3f} of them above {s["resolution"]} ns')
	sys.exit(n < 100 or first['low'] != 0 or 'mean' in first or
	         not s['resolution'] <= first['high'] <= 2 * s['resolution'] or
	         beyond > .1 + 4 * (.1 * .9 / n) ** .5)
	EOF2
}

what_is_shorter_than_a_signal_is_called_below()
{
	most_of_three near
}

# Each sweep sleeps for 3 ms, far longer than it runs. The rate is low, because
# the program's own times include those that our signals take.
sleep_between()
{
	local times

	rm -rf "$WORK/asleep"
	times=$("$TOOL" record -o "$WORK/asleep" -s clock -m reuse -F 1500 -- \
		"$HELP" 200000 900 3000 2>"$WORK/err") ||
		fail "record: $(cat "$WORK/err")"
	json "$WORK/asleep" "$WORK/json"
	[ "${times##* }" -lt 1500000 ] || skip 'too busy a machine'
	judge 'asleep' "$times" "$WORK/json"
}

time_asleep_is_none()
{
	most_of_three sleep_between
}

the_report_says_that_it_is_estimated()
{
	local text

	text=$("$TOOL" report "$WORK/asleep" --color=never) || fail 'report'
	[[ $(tr -s ' \n' ' ' <<<"$text") == *'shares are of CPU time'* ]] ||
		fail "nothing says of what the shares are: $text"
	[[ $text == *estimated* ]] || fail "not called estimated: $text"
	[[ $text == *'That gives no miss ratios.'* ]] ||
		fail "the report does not say why there is no curve: $text"
	[[ ${text/That gives no miss ratios./} != *'miss ratio'* ]] ||
		fail "miss ratios of time: $text"
	"$TOOL" report "$WORK/asleep" --svg "$WORK/svg" >/dev/null 2>"$WORK/err"
	[ $? = 1 ] && grep -q 'no miss ratio curves' "$WORK/err" ||
		fail "a curve was drawn: $(cat "$WORK/err")"
	"$TOOL" predict --adjacent-line-prefetch "$WORK/asleep" \
		>"$WORK/said" 2>"$WORK/err"
	[ $? = 1 ] && [ "$(wc -l <"$WORK/err")" = 1 ] ||
		fail "predict: $(cat "$WORK/said" "$WORK/err")"
}

# refused WORDS VARIABLE... - the program runs, and one line has WORDS
refused()
{
	local words=$1 times

	shift
	rm -rf "$WORK/no"
	times=$(env "$@" COMDET_OUT="$WORK/no" LD_PRELOAD="$LIB" "$HELP" 100 5 \
		2>"$WORK/err") || fail "$*: the program failed"
	[ "$(wc -w <<<"$times")" = 3 ] || fail "$*: it printed $times"
	[ "$(wc -l <"$WORK/err")" = 1 ] && grep -q "$words" "$WORK/err" ||
		fail "$*: said $(cat "$WORK/err"), not $words"
}

what_cannot_be_is_said_in_one_line()
{
	refused 'need the source instr' COMDET_MODE=shared COMDET_SOURCE=clock
	refused 'need the source instr' COMDET_MODE=global
	refused 'need the source instr' COMDET_MODE=comm,reuse
	refused 'needs debug registers' COMDET_MODE=reuse COMDET_REGISTERS=0 \
		COMDET_SOURCE=clock
	refused 'synchronous signals' COMDET_MODE=reuse COMDET_SOURCE=clock \
		COMDET_DELIVERY=rtsig
}

# Our handler's frames lie where the array of help_deep_stack was before.
a_handler_that_meets_a_watch_goes_on()
{
	local plain profiled

	plain=$("$B/tests/programs/help_deep_stack" 1000)
	profiled=$(COMDET_MODE=reuse COMDET_SOURCE=clock COMDET_FREQ=5000 \
		COMDET_OUT=$WORK/out timeout -k 5 600 \
		env LD_PRELOAD="$LIB" "$B/tests/programs/help_deep_stack" 1000) ||
		fail "help_deep_stack: status $?"
	[ "$plain" = "$profiled" ] || fail "$profiled, not $plain"
}

# With more threads than sets of registers, some uses are lost and counted.
many_threads_take_turns_with_the_registers()
{
	COMDET_MODE=reuse COMDET_SOURCE=clock \
		preload "$WORK/out" "$B/tests/programs/help_threads" live 80 \
		>"$WORK/said" 2>"$WORK/err" || fail '80 live threads'
	[ ! -s "$WORK/err" ] || fail "80 threads: $(cat "$WORK/err")"
	json "$WORK/out" "$WORK/json"
	holds "$WORK/json" 'sum(t["count"] for t in r["threads"]) == 81' \
		'every thread in the report'
	# The weights lack the uses that were lost or still watched at the end.
	holds "$WORK/json" 'sum(x["weight"] for x in r["reuse"]
		if "thread" not in x) <= sum(t["samples"]["uniform"]
		for t in r["threads"])' 'weights'
	COMDET_MODE=reuse COMDET_SOURCE=clock \
		preload "$WORK/out" "$B/tests/programs/help_threads" short 300 \
		>"$WORK/said" 2>"$WORK/err" || fail '300 short threads'
	[ ! -s "$WORK/err" ] || fail "short threads: $(cat "$WORK/err")"
}

# The program watches errno and the place in the thread's control block that
# holds its address. Our handler uses both.
what_the_handler_uses_too_does_not_stop_the_program()
{
	local process=$B/tests/programs/instr/process.plain

	"$process" error_numbers 200000000 >"$WORK/plain" || fail 'alone'
	COMDET_MODE=reuse COMDET_SOURCE=clock COMDET_FREQ=1000 \
		preload "$WORK/out" "$process" error_numbers 200000000 \
		>"$WORK/said" 2>"$WORK/err" || fail "status $?"
	cmp "$WORK/plain" "$WORK/said" || fail 'other output'
	[ ! -s "$WORK/err" ] || fail "it said $(cat "$WORK/err")"
	json "$WORK/out" "$WORK/json"
	holds "$WORK/json" 'r["loss"]["blocked"] > 0' 'none was met'
}

for check in times_are_those_that_the_program_takes \
	what_is_shorter_than_a_signal_is_called_below time_asleep_is_none \
	the_report_says_that_it_is_estimated \
	what_cannot_be_is_said_in_one_line \
	a_handler_that_meets_a_watch_goes_on \
	many_threads_take_turns_with_the_registers \
	what_the_handler_uses_too_does_not_stop_the_program; do
	SECONDS=0
	$check
	echo "$check $SECONDS s"
done
