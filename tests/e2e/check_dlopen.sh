#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_dlopen - record -g ends beside threads that load and unload libraries
#
# They are interrupted within the loader, where a handler that waits for its
# locks would wait for ever; and the paths of heap blocks are noted meanwhile.
# DLOPEN_SECONDS=60 takes longer (make check-unwind).
#
# covers: src/unwind preload/sources preload/heap

. "$(dirname "$0")/e2e.sh"
cd "$WORK" || exit 1
[ "$(nproc)" -ge 2 ] || skip "one processor"

seconds=${DLOPEN_SECONDS:-4}
# shellcheck disable=SC2046
set -- $(ldconfig -p | awk '$1 == "libz.so.1" || $1 == "libsqlite3.so.0" ||
	$1 == "libxml2.so.2" { print $NF }')
[ $# -ge 2 ] || skip "no two libraries to load"
timeout $((seconds + 60)) "$TOOL" record -g --objects on -F 1000 -o out -- \
	"$B/tests/programs/help_dlopen" "$seconds" "$1" "$2" >loads 2>record.err ||
	fail "status $?: $(cat loads record.err)"
json out r.json
echo "$(cat loads) in $seconds s, $(ask r.json 'c["total"]["estimate"]') detections"
holds r.json 'c["total"]["estimate"] > 0' "detections beside dlopen"
