#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_export - the tools that exported files are for can read them
#
# Each tool that this machine has must find as many detections as the report.

. "$(dirname "$0")/e2e.sh"

COMDET_FREQ=2000 preload "$WORK/out" "$B/microbench/false_sharing" --threads 2 \
	--seconds 2 >/dev/null || fail "status $?"
json "$WORK/out" "$WORK/json"
all=$(ask "$WORK/json" 'round(est("total"))')
false=$(ask "$WORK/json" 'round(est("false_sharing"))')
[ "$all" -gt 0 ] || fail 'no detections'

export_as()
{
	"$TOOL" export -f "$@" "$WORK/out" 2>"$WORK/err" || fail "$*: $(cat "$WORK/err")"
}

# same WHAT NUMBER WANTED
same()
{
	[ "$2" = "$3" ] || fail "$1: $2 detections, the report has $3"
	echo "  $1: $2 detections"
}

csv_is_read_by_python()
{
	export_as csv -o "$WORK/csv"
	same csv "$(python3 - "$WORK/csv/communication_cells.csv" <<-'EOF'
		import csv, sys
		print(sum(int(r["all"]) for r in csv.DictReader(open(sys.argv[1]))))
	EOF
	)" "$all"
}

sqlite_is_read_by_python()
{
	export_as sqlite -o "$WORK/db"
	same sqlite "$(python3 - "$WORK/db" <<-'EOF'
		import sqlite3, sys
		c = sqlite3.connect(sys.argv[1])
		print(c.execute('select sum("all") from communication_cells').fetchone()[0])
	EOF
	)" "$all"
}

stacks_are_whole()
{
	export_as collapsed -o "$WORK/folded"
	same collapsed "$(awk '{ n += $NF } END { print n }' "$WORK/folded")" "$all"
	export_as speedscope -o "$WORK/speedscope.json"
	same speedscope "$(python3 - "$WORK/speedscope.json" <<-'EOF'
		import json, sys
		j = json.load(open(sys.argv[1]))
		p, frames = j["profiles"][0], len(j["shared"]["frames"])
		assert len(p["samples"]) == len(p["weights"])
		assert all(0 <= f < frames for s in p["samples"] for f in s)
		assert p["endValue"] == sum(p["weights"])
		print(p["endValue"])
	EOF
	)" "$all"
}

pprof_is_read_by_go()
{
	export_as pprof -o "$WORK/pprof"
	command -v go >/dev/null || {
		echo '  go is missing: pprof not tried'
		return
	}
	HOME=$WORK go tool pprof -top "$WORK/pprof" >"$WORK/top" 2>&1 ||
		fail "pprof: $(cat "$WORK/top")"
	same pprof "$(sed -n 's/.*Total samples = \([0-9]*\)detections.*/\1/p' \
		"$WORK/top")" "$false"
}

run_claims "${1:-}" csv_is_read_by_python sqlite_is_read_by_python stacks_are_whole \
	pprof_is_read_by_go
