# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# attach - functions of the tests that attach to running programs; source it
# after e2e.sh
#
# start COMMAND... runs a program in the background, waits for its first line of
# output and leaves its process id in $pid. finish kills it.

PATIENCE=100 # s

can_attach()
{
	local why

	sleep 30 &
	why=$("$TOOL" attach --duration 0.1 -o "$WORK/try" $! 2>&1) || {
		kill $!
		skip "attaching does not work here: $why"
	}
	kill $!
	wait $! 2>/dev/null
}

start()
{
	rm -f "$WORK/line"
	mkfifo "$WORK/line"
	"$@" >"$WORK/line" 2>"$WORK/stderr" &
	pid=$!
	read -r line <"$WORK/line" || fail "$* did not begin: $(cat "$WORK/stderr")"
	rm -f "$WORK/line"
}

finish()
{
	kill -KILL "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
}

# watch ARGUMENT... - attach in the background; unwatch ends it like Ctrl-C
watch()
{
	rm -rf "$WORK/out" "$WORK/out.old"
	"$TOOL" attach -F 1000 -o "$WORK/out" "$@" >"$WORK/attach" 2>&1 &
	watcher=$!
}

unwatch()
{
	kill -INT $watcher 2>/dev/null
	wait $watcher || fail "attach: status $?: $(cat "$WORK/attach")"
	json "$WORK/out" "$WORK/r.json"
}

# ends_with ARGUMENT... - attach to ended; it ends when $pid does, which it watches
ends_with()
{
	"$TOOL" attach -o ended "$@" 2>err &
	watcher=$!
	until ls ended/*.cdp >/dev/null 2>&1; do
		kill -0 $watcher 2>/dev/null || fail "before the end: $(cat err)"
		sleep 0.1
	done
	finish
	wait $watcher || fail "after the end: status $?: $(cat err)"
}

# until_true WHAT EXPRESSION - read the report, as it grows, until it is true
until_true()
{
	local what=$1 wanted=$2 end=$((SECONDS + PATIENCE))

	while [ $SECONDS -lt $end ]; do
		kill -0 $watcher 2>/dev/null ||
			fail "$what: attach ended: $(cat "$WORK/attach")"
		"$TOOL" report "$WORK/out" --json >"$WORK/r.json" 2>/dev/null &&
			[ "$(ask "$WORK/r.json" "$wanted")" = True ] && return
		sleep 0.3
	done
	fail "$what: not $wanted in $PATIENCE s: $(
		"$TOOL" report "$WORK/out" | head -40)"
}

# finds WHAT EXPRESSION ARGUMENT... - attach until the expression is true
finds()
{
	local what=$1 wanted=$2

	shift 2
	watch "$@"
	until_true "$what" "$wanted"
	unwatch
}

# silent WHAT ARGUMENT... - many samples, and no detection
silent()
{
	local what=$1

	shift
	watch "$@"
	until_true "$what" \
		'sum(sum(t["samples"].values()) for t in r["threads"]) > 500'
	unwatch
	holds "$WORK/r.json" 'est("total") == 0' "$what"
}
