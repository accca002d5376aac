#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_import_recorded - recordings of real hardware, if there are any
#
# COMDET_TEST_DATA names a directory with recordings that are not part of the
# project; the default is shared/data beside the tree. reusetrack reads each as
# perf reads it, sample by sample. A recording with samples of user space
# becomes a profile with as many samples.

. "$(dirname "$0")/e2e.sh"
data=${COMDET_TEST_DATA-$(realpath -m "$TOP/../shared/data")}
[ -d "$data" ] || skip "COMDET_TEST_DATA names no directory of recordings"
command -v perf >/dev/null || skip "perf is not installed (linux-perf)"
cd "$WORK" || exit 1

n=0
for file in "$data"/*.data "$data"/*.data.*; do
	[ -f "$file" ] || continue
	how=
	case $file in */ibs*) how=--ibs ;; esac
	python3 "$TOP/tests/oracle/compare_perf.py" "$TOOL" perf "$file" $how ||
		fail "${file##*/} reads otherwise than perf reads it"
	n=$((n + 1))
	wanted=$("$TOOL" import --samples "$file" | grep -cv left_out=)
	rm -rf out
	if [ "$wanted" = 0 ]; then
		"$TOOL" import "$file" 2>err && fail "$file: nothing to import"
		[ "$(wc -l <err)" = 1 ] || fail "${file##*/}: $(cat err)"
		[ ! -e out ] || fail "${file##*/} left something behind"
		continue
	fi
	"$TOOL" import "$file" 2>err || fail "${file##*/}: $(cat err)"
	json out r.json
	holds r.json "sum(t['interrupts'] for t in r['threads']) == $wanted" \
		"${file##*/}"
done
[ "$n" -gt 0 ] || skip "no recordings where COMDET_TEST_DATA says"
echo "$n recordings read as perf reads them"
