# SPDX-License-Identifier: MIT
#
# paths - compare the call paths of pairs of uses and reuses; source it first

. "$(dirname "${BASH_SOURCE[0]}")/e2e.sh"

INSTR=$B/tests/programs/instr
ulimit -c 0

# recorded SETTINGS PROGRAM ARGUMENT... - record into $WORK/out, report into
# $WORK/json; the program's output is the same as without the preload
recorded()
{
	local settings=$1

	shift
	rm -rf "$WORK/out"
	"$@" >"$WORK/plain" || fail "$*: without"
	# shellcheck disable=SC2086
	timeout -k 5 600 env COMDET_MODE=reuse COMDET_PATHS=1 \
		COMDET_GRANULARITY=address $settings COMDET_OUT="$WORK/out" \
		LD_PRELOAD="$LIB" "$@" >"$WORK/said" || fail "$*"
	cmp "$WORK/plain" "$WORK/said" || fail "$*: output"
	json "$WORK/out" "$WORK/json"
}

# paths_hold FUNCTION EXPRESSION - an expression in Python holds. In it, "ways"
# maps the paths (use, reuse) of pairs within FUNCTION to their weights. A path
# is a string of function names, innermost first, up to main or work, without
# those of libc; a * follows a name that recurs. "total" is the weight of these
# pairs, "known" the set of all paths, and is_end(path, WHOLE...) is true if the
# path is the inner end of one of these.
paths_hold()
{
	python3 - "$WORK/json" "$1" "$2" <<-'EOF' || fail "$1: not $2"
	import collections, json, sys
	report = json.load(open(sys.argv[1]))
	def words(path):
	    w = [c.get("function", "?") + "*" * c.get("recursive", False)
	         for c in path if "libc.so" not in c["module"]]
	    for last in "main", "work":
	        if last in w:
	            w = w[:w.index(last) + 1]
	    return " ".join(w)
	def is_end(path, *whole):
	    return any((w + " ").startswith(path + " ") for w in whole)
	ways, total = collections.Counter(), 0
	for stream in report["reuse"]:
	    for pair in stream.get("pairs", []):
	        ends = [report["reuse_sites"][pair[k]].get("function")
	                for k in ("use", "reuse")]
	        if ends != [sys.argv[2]] * 2:
	            continue
	        total += pair["weight"]
	        for p in pair["paths"]:
	            ways[words(p["use"]), words(p["reuse"])] += p["weight"]
	known = {p for w in ways for p in w}
	loss = report["loss"]
	if not eval("(" + sys.argv[3] + ")"):
	    print(*ways.most_common(20), total, loss, sep="\n")
	    sys.exit(1)
	EOF
}
