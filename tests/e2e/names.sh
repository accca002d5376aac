# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# names - functions that check_names.sh and tests/oracle/names.sh share; source
# it after e2e.sh
#
# The programs are tests/programs/names/share.*: two threads share a cache line
# in the statements that are marked SHARED.

NAMES=$TOP/tests/programs/names

# marked FILE TEXT - print FILE:LINE of the line in it that has TEXT
marked()
{
	echo "$1:$(grep -n "$2" "$NAMES/$1" | head -n 1 | cut -d: -f1)"
}

# recorded COMMAND... - profile COMMAND and a time in ms, into r.json. Threads
# share only while both run, which is seldom on a busy machine: then longer.
recorded()
{
	local ms

	for ms in 1500 4000 10000 20000; do
		"$TOOL" record -F 500 -- "$@" $ms >stdout 2>err ||
			fail "record $*: status $?: $(cat err)"
		json out r.json
		[ "$(ask r.json 'est("total") >= 10')" = True ] && return
	done
	fail "$*: too few detections: $(ask r.json 'est("total")')"
}

# nearly_all FIELD TEXT WHAT - nine in ten of the detections' accesses have TEXT
# in this field of their site; $WHAT is what failed otherwise
nearly_all()
{
	holds r.json "(sum(s['true'] + s['false'] for s in c['sites']
		if '$2' in s.get('$1', '')) >=
		0.9 * sum(s['true'] + s['false'] for s in c['sites']))" \
		"$3: $(ask r.json "[(s.get('location'), s.get('function'),
			s['module'], s['true'] + s['false'])
			for s in c['sites']]")"
}

# names_statement NAME FILE TEXT COMMAND... - the report of COMMAND names the
# statement in FILE that has TEXT
names_statement()
{
	local name=$1 place

	place=$(marked "$2" "$3")
	shift 3
	recorded "$@"
	nearly_all location "/$place" "$name: $place"
}
