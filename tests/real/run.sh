#!/bin/bash
# SPDX-License-Identifier: MIT
#
# run - real programs behave the same under the preload
#
#	tests/real/run.sh [--without] [--keep FILE] [NAME...]
#
# Each tests/real/NAME.sh runs one program on an input that is always the same.
# It runs without and with the preload, each time in a fresh directory. After
# the filter that the file has, stdout, stderr and exit status must be the same.
# Each thread that used at least 0.8 seconds of CPU time must have 100 samples
# or more, and at least $working threads, which the file sets, must be such
# threads; otherwise the run would show nothing.
#
# --without runs both times without the preload and asks for no samples. It
# shows whether the program itself causes a difference. --keep FILE also writes
# the table to FILE, in Markdown. If $WORK names a new directory, all files stay
# there. The last line is "N passed, N failed, N skipped".

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
export LC_ALL=C.UTF-8 PATH=/usr/bin:/bin:/usr/sbin:/sbin
limit=${LIMIT:-300}
library=$B/libcomdet.so
keep=
names=()
while [ $# -gt 0 ]; do
	case $1 in
	--without) library= ;;
	--keep)
		keep=$2
		shift
		;;
	*) names+=("$1") ;;
	esac
	shift
done
if [ ${#names[@]} = 0 ]; then
	for f in "$TOP"/tests/real/*.sh; do
		name=${f##*/}
		case $name in
		run*.sh) ;; # this script and that for QEMU
		*) names+=("${name%.sh}") ;;
		esac
	done
fi

if [ -n "$WORK" ]; then
	dir=$WORK
	mkdir -p "$dir"
else
	dir=$(mktemp -d) || exit 1
	trap 'rm -rf "$dir"' EXIT
fi

# A file NAME.sh may set these variables and define prepare, run and filter,
# which run in subshells. prepare writes the input to $DATA, run starts in a
# fresh directory, $B is the build directory. "profiled COMMAND..." runs the
# program itself.
defaults()
{
	needs=		# commands that must exist
	working=1	# threads that must have been sampled
	children=0	# 1: follow what the program starts
	filter_says=none
	version() { echo; }
	prepare() { :; }
	filter() { cat; }
}

profiled()
{
	if [ -n "$PRELOAD" ]; then
		LD_PRELOAD=$PRELOAD COMDET_OUT=$OUT COMDET_CHILDREN=$children "$@"
	else
		"$@"
	fi
}

# The same, but it replaces the calling shell: after "profiled_exec SERVER &" $!
# is the server.
profiled_exec()
{
	if [ -n "$PRELOAD" ]; then
		export LD_PRELOAD=$PRELOAD COMDET_OUT=$OUT
		export COMDET_CHILDREN=$children
	fi
	exec "$@"
}

# run_once HOW PRELOAD - write $dir/NAME/HOW.{out,err,status}
run_once()
{
	local how=$1 at=$dir/$name start group

	mkdir "$at/$how"
	start=$(date +%s%N)
	(
		cd "$at/$how" || exit 99
		export PRELOAD=$2 OUT=$at/$how.profile DATA=$at/data B TOP
		export children
		export -f profiled profiled_exec run
		exec timeout -k 10 "$limit" bash -c run
	) >"$at/$how.raw_out" 2>"$at/$how.raw_err" </dev/null &
	group=$!
	wait $group
	echo $? >"$at/$how.status"
	# Kill all that is left of the process group, which timeout leads.
	kill -KILL -- -$group 2>/dev/null
	took[$how]=$((($(date +%s%N) - start) / 100000000))
	filter <"$at/$how.raw_out" >"$at/$how.out"
	filter <"$at/$how.raw_err" >"$at/$how.err"
}

# check_samples DIR - print "SAMPLES of THREADS", or the fault
check_samples()
{
	"$B/reusetrack" report --json "$1" >"$dir/report.json" 2>"$dir/report.err" || {
		echo "report: $(cat "$dir/report.err")"
		return 1
	}
	python3 - "$working" "$dir/report.json" <<'PYTHON'
import json
import sys

working = int(sys.argv[1])
with open(sys.argv[2]) as f:
    threads = json.load(f)["threads"]
rows = []
for t in threads:
    count = t.get("count", 1)
    rows.append((t["samples"]["uniform"] + t["samples"]["stalled"],
                 t["cpu_ns"] / 1e9, t.get("name", "?"), count))
rows.sort(reverse=True)
enough = [r for r in rows if r[0] >= 100]
# Merged threads have only a sum.
short = [r for r in rows if r[1] >= 0.8 * r[3] and r[0] < 100 * r[3]]
shown = [r for r in rows if r[0] >= 100 or r in short] or rows[:2]
text = ", ".join("%s%s %d" % (r[2], " x%d" % r[3] if r[3] > 1 else "", r[0])
                 for r in shown[:8])
if len(shown) > 8:
    text += ", %d more" % (len(shown) - 8)
print(text)
if short:
    print("too few samples: " + ", ".join(
        "%s took %.2f s and has %d" % (r[2], r[1], r[0]) for r in short))
    sys.exit(1)
if sum(r[3] for r in enough) < working:
    print("only %d threads have 100 samples, not %d" % (len(enough), working))
    sys.exit(1)
PYTHON
}

# check_program NAME - set $verdict and $detail
check_program()
{
	local at=$dir/$name what

	mkdir -p "$at/data"
	detail= sampled=-
	if ! (cd "$at/data" && DATA=$at/data && prepare) >"$at/prepare.log" 2>&1; then
		verdict="FAIL: its input cannot be made"
		detail=$(cat "$at/prepare.log")
		return
	fi
	run_once without ""
	run_once with "$library"
	for what in out err status; do
		if ! cmp -s "$at/without.$what" "$at/with.$what"; then
			verdict="FAIL: another $what"
			detail=$(diff "$at/without.$what" "$at/with.$what" | head -n 40)
			return
		fi
	done
	if [ "$(cat "$at/with.status")" = 124 ]; then
		verdict="FAIL: not done after $limit s"
		return
	fi
	if [ ! -s "$at/with.out" ]; then
		verdict="FAIL: no output to compare"
		detail=$(cat "$at/with.err")
		return
	fi
	verdict="same"
	sampled=-
	[ -n "$library" ] || return
	if ! sampled=$(check_samples "$at/with.profile"); then
		verdict="FAIL: samples"
		detail=$sampled
		sampled=-
	fi
}

declare -A took
passed=0 failed=0 skipped=0
{
	echo "| program | output, stderr, status| exit | seconds without, with | samples of threads | filter |"
	echo "|---|---|---|---|---|---|"
} >"$dir/table"
for name in "${names[@]}"; do
	file=$TOP/tests/real/$name.sh
	if [ ! -e "$file" ]; then
		echo "no $file"
		failed=$((failed + 1))
		continue
	fi
	defaults
	# shellcheck source=/dev/null
	. "$file"
	missing=
	for c in $needs; do
		command -v "$c" >/dev/null || missing=$c
	done
	if [ -n "$missing" ]; then
		echo "skip $name: no $missing"
		skipped=$((skipped + 1))
		continue
	fi
	check_program
	if [ "$verdict" = same ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
	fi
	printf '%-10s %s  %s\n' "$name" "$verdict" "$sampled"
	[ -z "$detail" ] || echo "$detail" | sed 's/^/    | /'
	printf '| %s | %s | %s | %d.%d, %d.%d | %s | %s |\n' \
		"$name $(version 2>/dev/null | head -n 1)" "$verdict" \
		"$(cat "$dir/$name/with.status" 2>/dev/null)" \
		$((took[without] / 10)) $((took[without] % 10)) \
		$((took[with] / 10)) $((took[with] % 10)) \
		"$sampled" "$filter_says" >>"$dir/table"
	[ -n "$WORK" ] || rm -rf "${dir:?}/$name"
done

echo
cat "$dir/table"
if [ -n "$keep" ]; then
	{
		echo "# Real programs under the preload"
		echo
		echo "\`make check-programs\` on $(date +%F), Linux $(uname -r | cut -d- -f1)," \
			"$(nproc) CPUs. Each program ran once without and once"
		echo "with the preload, its defaults otherwise; shown are the" \
			"threads with at least 100 samples."
		echo
		cat "$dir/table"
	} >"$keep"
fi
echo
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
