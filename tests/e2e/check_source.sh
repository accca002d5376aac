#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_source - the common code with a source that is only in the tests
#
# The fake source is a folder (tests/fake/source) and a line in a table. Every
# sample is known, so what the profile must say of it is known to the count.

. "$(dirname "$0")/e2e.sh"
FAKE=$B/tests/libcomdet-fake-source.so
PROGRAM=$B/tests/programs/help_fake_source

rounds=500

# rounds_of WORD TRUE FALSE - the reader loads WORD of the line; each round is a
# detection of this kind
rounds_of()
{
	local said

	rm -rf "$WORK/out"
	said=$(COMDET_OUT=$WORK/out LD_PRELOAD=$FAKE "$PROGRAM" $rounds "$1") ||
		fail "word $1: status $?"
	[ "$said" = "$rounds rounds" ] || fail "the program said: $said"
	json "$WORK/out" "$WORK/report.json"
	holds "$WORK/report.json" 'r["run"]["source"] == "fake"' 'the source'
	holds "$WORK/report.json" 'r["run"]["complete"]' 'an ended run'
	holds "$WORK/report.json" "sorted(t['samples']['uniform']
		for t in r['threads']) == [$rounds, 3 * $rounds]" 'samples'
	holds "$WORK/report.json" "[(x['true'], x['false'])
		for x in c['cells']] == [($2, $3)]" "word $1: detections"
	holds "$WORK/report.json" "len(c['lines']) == 1" \
		"word $1: the reader's own line is not shared"
}

rounds_of 0 $rounds 0
rounds_of 7 0 $rounds
