# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# e2e - functions that the end-to-end scripts share; source it first
#
# $B is the build directory and $TOP the project. $WORK is a directory of the
# script's own, removed at its end; programs that it left running end with it.
# fail TEXT ends the script.

set -u
TOP=${TOP:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
B=${B:-$TOP/build}
LIB=$B/libcomdet.so
TOOL=$B/reusetrack
WORK=$(mktemp -d) || exit 1
trap 'kill $(jobs -pr) 2>/dev/null; rm -rf "$WORK"' EXIT
unset "${!COMDET_@}"

# A script runs alike whatever it inherits: no descriptor but the first three,
# and nothing to read. Bash keeps the script itself open as 255.
exec </dev/null
for fd in /proc/$$/fd/*; do
	fd=${fd##*/}
	[ "$fd" -le 2 ] || [ "$fd" = 255 ] || eval "exec $fd>&-"
done
unset fd

fail()
{
	echo "FAIL: $*"
	exit 1
}

skip()
{
	echo "$*"
	exit 77
}

# needs COMMAND... - skip the script unless all of them are there
needs()
{
	local c

	for c; do
		command -v "$c" >/dev/null || skip "no $c"
	done
}

# preload OUT COMMAND... - run it under the library, return its status
preload()
{
	local out=$1

	shift
	rm -rf "$out"
	COMDET_OUT=$out LD_PRELOAD=$LIB "$@"
}

# json OUT FILE - write the report as JSON to FILE
json()
{
	"$TOOL" report "$1" --json >"$2" ||
		fail "reusetrack report $1 --json ended with status $?"
}

# ask FILE EXPRESSION - print the value of Python over the report r
ask()
{
	python3 - "$1" "$2" <<-'EOF' || fail "cannot evaluate: $2"
	import json, sys
	r = json.load(open(sys.argv[1]))
	c = r.get("communication", {})
	def est(name):
	    return c.get(name, {}).get("estimate", 0)
	def cell(a, b):
	    return sum(x["all"] for x in c.get("cells", [])
	               if {x["a"], x["b"]} == {a, b})
	print(eval(sys.argv[2]))
	EOF
}

# holds FILE EXPRESSION TEXT - fail unless the expression is true
holds()
{
	[ "$(ask "$1" "$2")" = True ] ||
		fail "$3: not $2; $(ask "$1" 'c.get("total"), est("true_sharing"), est("false_sharing")')"
}

# debug_registers - true if doctor finds that they work here
debug_registers()
{
	"$TOOL" doctor --json 2>/dev/null | python3 -c '
import json, sys
sys.exit(0 if json.load(sys.stdin)["debug_registers"]["usable"] else 1)'
}

# run_claims NAME CLAIM... - call these functions, or only the one with this
# name unless it is empty, and print how long each took
run_claims()
{
	local name=$1 claim start ran=

	shift
	for claim; do
		[ -z "$name" ] || [ "$name" = "$claim" ] || continue
		start=$SECONDS
		$claim
		echo "$claim $((SECONDS - start)) s"
		ran=yes
	done
	[ "$ran" ] || fail "there is no claim $name"
}
