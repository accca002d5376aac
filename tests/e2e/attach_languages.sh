#!/bin/bash
# SPDX-License-Identifier: MIT
#
# attach_languages - attach to running programs of several languages
#
#	tests/e2e/attach_languages.sh [LANGUAGE...]
#
# A pair of threads stores to one line (false), to one word (true) or apart
# (clean). The report of each shows that kind and no other, and names the
# statement, or the method where a perf map has it; without one it says that the
# code is a JIT compiler's. What is not installed is skipped by name. The last
# line is "N passed, N failed, N skipped".

. "$(dirname "$0")/e2e.sh"
. "$(dirname "$0")/attach.sh"
PAIRS=$TOP/tests/programs/attach
export PATH=$PATH:/usr/local/bin:$HOME/.cargo/bin

# at FILE TEXT - the line of FILE that has TEXT, as the report writes it
at()
{
	echo "$1:$(grep -n "$2" "$PAIRS/$1" | head -n 1 | cut -d: -f1)"
}

# sites - what the report says of them, for messages
sites()
{
	ask r.json '[(s.get("location"), s.get("function"), s["module"],
		s["true"], s["false"]) for s in c["sites"]]'
}

# most FIELD TEXT WHAT - nine in ten accesses of detections have it
most()
{
	holds r.json "(sum(s['true'] + s['false'] for s in c['sites']
		if '$2' in (s.get('$1') or '')) >=
		0.9 * sum(s['true'] + s['false'] for s in c['sites']))" \
		"$3: '$2' in $1: $(sites)"
}

# kind KIND WHAT - enough detections of this kind; the other is a tenth at most:
# virtual machines and run-time libraries have a little sharing of their own
kind()
{
	local other=true_sharing

	[ "$1" = true_sharing ] && other=false_sharing
	until_true "$2" "est('$1') > 20"
	unwatch
	holds r.json "est('$other') <= 0.1 * est('$1')" "$2"
}

# three FIELD TEXT COMMAND... - attach to its false, true and clean pairs
three()
{
	local field=$1 text=$2 mode

	shift 2
	for mode in false true; do
		start "$@" $mode
		watch "$pid"
		kind ${mode}_sharing "$* $mode"
		finish
		[ -z "$text" ] || most "$field" "$text" "$* $mode"
	done
	start "$@" clean
	clean "$* clean"
	finish
}

# clean WHAT - no detection in the code of the pair
clean()
{
	silent "$1" "$pid"
}

try_c()
{
	needs gcc
	gcc -O2 -g -pthread -o c "$PAIRS/pair.c" || fail "gcc"
	three location "$(at pair.c atomic_fetch_add)" ./c
}

try_static_c()
{
	needs gcc
	gcc -O2 -g -pthread -static -o static "$PAIRS/pair.c" || fail "gcc"
	three location "$(at pair.c atomic_fetch_add)" ./static
}

try_cxx()
{
	needs g++
	g++ -O2 -g -pthread -o cxx "$PAIRS/pair.cc" || fail "g++"
	three location "$(at pair.cc fetch_add)" ./cxx
}

try_go()
{
	needs go
	GOCACHE=$WORK/cache GO111MODULE=off CGO_ENABLED=0 \
		go build -o go "$PAIRS/pair.go" || fail "go build"
	three location "$(at pair.go SHARED)" ./go
}

try_rust()
{
	needs rustc
	rustc -C opt-level=2 -g -o rust "$PAIRS/pair.rs" || fail "rustc"
	three location "$(at pair.rs SHARED)" ./rust
}

try_java()
{
	needs java javac
	javac -d . "$PAIRS/Pair.java" || fail "javac"
	three function "[JIT]" java -cp . Pair
	start java -cp . Pair fields
	watch "$pid"
	kind false_sharing "java fields"
	needs jcmd
	# The program goes on: its compiler writes the map when it is asked to.
	jcmd "$pid" Compiler.perfmap >jcmd.out || fail "jcmd: $(cat jcmd.out)"
	json out r.json
	rm -f "/tmp/perf-$pid.map"
	finish
	most function Pair "java fields: perf map"
}

try_node()
{
	needs node
	three function "[JIT]" node "$PAIRS/pair.js"
	start node --perf-basic-prof "$PAIRS/pair.js" false
	watch "$pid"
	kind false_sharing "node with a perf map"
	rm -f "/tmp/perf-$pid.map"
	json out r.json
	finish
	most function pair.js "node: the copy of its perf map"
}

[ $# -gt 0 ] || set -- c static_c cxx go rust java node
passed=0 failed=0 skipped=0
cd "$WORK" || exit 1
can_attach
for name; do
	start=$SECONDS
	mkdir "$WORK/of_$name"
	# Each has a directory of its own, which the functions of attach.sh use.
	(
		WORK=$WORK/of_$name
		cd "$WORK" || exit 1
		pid= watcher=
		trap 'kill -KILL $watcher $pid 2>/dev/null' EXIT
		"try_$name"
		exit 0
	) >"$WORK/log" 2>&1
	status=$?
	case $status in
	0)
		passed=$((passed + 1))
		echo "$name: passed ($((SECONDS - start)) s)" ;;
	77)
		skipped=$((skipped + 1))
		echo "$name: skipped: $(cat "$WORK/log")" ;;
	*)
		failed=$((failed + 1))
		echo "$name: FAILED"
		sed 's/^/    | /' "$WORK/log" ;;
	esac
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
