#!/bin/bash
# SPDX-License-Identifier: MIT
#
# bench_large - measure report on a large profile
#
#	tests/bench/bench_large.sh	(make bench-large)
#
# Two profiles with 1,000 threads, 10,000 lines and 10,000 sites spread over the
# code of reusetrack itself, the second with a million pairs of use and reuse
# too (bench_large.c). Prints the CPU time and the peak memory of the report as
# text, as JSON and as a page, and the size of the page. Judges nothing.

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT

# measure NAME PROFILE OPTION... - one row, of the fastest of three runs
measure()
{
	local name=$1 profile=$2 row best=

	shift 2
	for _ in 1 2 3; do
		row=$(python3 - "$B/reusetrack" report "$dir/$profile" "$@" <<-'EOF'
		import resource, subprocess, sys, time
		begin = time.monotonic()
		subprocess.run(sys.argv[1:], check=True,
		               stdout=subprocess.DEVNULL,
		               stderr=subprocess.DEVNULL)
		wall = time.monotonic() - begin
		u = resource.getrusage(resource.RUSAGE_CHILDREN)
		print(f"{u.ru_utime + u.ru_stime:.2f} {wall:.2f} {u.ru_maxrss // 1024}")
		EOF
		) || exit 1
		[ -n "$best" ] && ! awk "BEGIN { exit !(${row%% *} < ${best%% *}) }" ||
			best=$row
	done
	# shellcheck disable=SC2086
	printf '%-28s %8s s %8s s %8s MiB\n' "$name" $best
}

"$B/tests/bench/bench_large" "$dir/lines" "$B/reusetrack" 1000 10000 10000 0 &&
	"$B/tests/bench/bench_large" "$dir/reuse" "$B/reusetrack" \
		1000 10000 10000 1000000 || exit 1
printf '%-28s %10s %10s %12s\n' report 'CPU time' 'wall time' memory
measure 'text' lines
measure 'JSON' lines --json
measure 'page' lines --html "$dir/lines.html"
measure 'a million pairs: text' reuse
measure 'a million pairs: JSON' reuse --json
measure 'a million pairs: page' reuse --html "$dir/reuse.html"
for page in lines reuse; do
	printf '%-28s %8d KiB\n' "the page of $page" \
		$(($(stat -c %s "$dir/$page.html") / 1024))
done
