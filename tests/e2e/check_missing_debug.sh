#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_missing_debug - where source lines or types are not known, the report says
# once why, and what to do about it; functions remain where they are known
#
# A program is recorded once. Then its file is exchanged for others of the same
# build-id, which have less or other debug information: real ones, by gcc, clang,
# strip, objcopy, dwz and dwp.
#
#	tests/e2e/check_missing_debug.sh [CLAIM]
#
# covers: analysis/symbols analysis/report analysis/html

. "$(dirname "$0")/e2e.sh"
PLANTED=$TOP/tests/programs/planted/planted.c
cd "$WORK" || exit 1

# recorded PROGRAM - record it into out.PROGRAM, with detections
recorded()
{
	local rounds

	for rounds in 30 100 300 1000 3000 10000; do
		"$TOOL" record -F 10000 -o "out.$1" -- "./$1" nested bad \
			${rounds}000000 >/dev/null 2>err ||
			fail "record $1: $(cat err)"
		json "out.$1" r.json
		[ "$(ask r.json 'est("total") >= 5')" != True ] || return 0
	done
	fail "$1: too few detections"
}

# read_report PROGRAM - into r.json
read_report()
{
	json "out.$1" r.json
}

# problems PATTERN - exactly one problem has it, and nothing of our files twice
says()
{
	holds r.json "sum(__import__('re').search(r'''$1''', p) is not None
		for p in r['problems']) == 1" \
		"$(ask r.json 'r["problems"]') does not say '$1'"
}

says_nothing()
{
	holds r.json "not [p for p in r['problems'] if '$WORK' in p]" \
		"$(ask r.json 'r["problems"]')"
}

# shown LINES FUNCTIONS MEMBERS - yes or no for each: are they known?
shown()
{
	local got

	got=$(ask r.json "' '.join('yes' if x else 'no' for x in (
		any('location' in s for s in c['sites']),
		any('nested_bad' in s.get('function', '') for s in c['sites']),
		any(l.get('fields') for l in c['lines'])))")
	[ "$got" = "$*" ] || fail "lines, functions, members: $got, not $*"
	holds r.json "all(s['location'].endswith(':$LINE') for s in c['sites']
		if 'location' in s)" "a wrong line"
}

# The line of WORK(nested_bad, ...), in which both threads run.
LINE=$(grep -n '^WORK(nested_bad' "$PLANTED" | cut -d: -f1)

# with_compilers FUNCTION - call it with each compiler, in a directory of its own
with_compilers()
{
	local cc

	for cc in gcc clang; do
		command -v $cc >/dev/null || { echo "no $cc"; continue; }
		mkdir -p $cc && cd $cc || fail "cd"
		[ -f whole ] || {
			$cc -O2 -g -Wl,--build-id -pthread -o whole "$PLANTED" &&
				cp whole prog || fail "$cc"
			recorded prog
			cp r.json whole.json
		}
		rm -f ./*.debug
		"$1" $cc
		cd .. || fail "cd"
	done
}

whole_debug_information_is_not_complained_about()
{
	cp whole prog && read_report prog
	says_nothing
	shown yes yes yes
}

stripped_of_everything()
{
	strip -o prog whole && read_report prog
	says 'prog is stripped: no source lines are shown, .*; install its debug package, or build it with -g'
	shown no no no
	"$TOOL" report out.prog | tr -s ' \n' ' ' >text
	grep -q 'prog is stripped: no source lines' text || fail "text: $(cat text)"
	[ "$(grep -o 'is stripped' text | wc -l)" = 1 ] || fail "said twice"
	"$TOOL" report --html page.html out.prog 2>err || fail "$(cat err)"
	grep -q 'prog is stripped: no source lines' page.html || fail "page"
}

stripped_of_debug_information()
{
	strip -g -o prog whole && read_report prog
	says 'prog has no debug information: its functions are shown without source lines; build it with -g'
	shown no yes no
}

a_debug_file_that_is_not_there()
{
	objcopy --only-keep-debug whole prog.debug &&
		objcopy --strip-all --add-gnu-debuglink=prog.debug whole prog ||
		fail "objcopy"
	read_report prog
	says_nothing
	shown yes yes yes
	rm prog.debug
	read_report prog
	says 'prog is stripped, and its debug file prog.debug is not here: .*install its debug package'
	shown no no no
}

a_debug_file_of_another_build()
{
	local own other

	$1 -O0 -g -Wl,--build-id -pthread -o another "$PLANTED" &&
		objcopy --only-keep-debug another prog.debug &&
		objcopy --strip-debug --add-gnu-debuglink=prog.debug whole prog ||
		fail "objcopy"
	own=$(readelf -n whole | sed -n 's/.*Build ID: //p')
	other=$(readelf -n another | sed -n 's/.*Build ID: //p')
	read_report prog
	says "prog.debug is not used, it is the debug file of another build than .*prog \(build-id ${other:0:8}\.\.\. instead of ${own:0:8}\.\.\.\): its functions are shown without source lines; get"
	shown no yes no
	echo nothing >prog.debug
	read_report prog
	says 'prog.debug, the debug file of .*prog, is not an ELF file'
	cp prog prog.debug && read_report prog
	says 'prog.debug, the debug file of .*prog, has no debug information'
}

# Without build-ids the checksum in the program tells.
a_debug_file_with_another_checksum()
{
	mkdir -p sum && cd sum || fail "cd"
	$1 -O2 -g -Wl,--build-id=none -pthread -o unsigned "$PLANTED" &&
		objcopy --only-keep-debug unsigned unsigned.debug &&
		objcopy --strip-debug --add-gnu-debuglink=unsigned.debug unsigned ||
		fail "objcopy"
	recorded unsigned
	says_nothing
	shown yes yes yes
	echo changed >>unsigned.debug
	read_report unsigned
	says 'unsigned.debug is not used, .* another build than .*unsigned \(its checksum is another one\): its functions'
	shown no yes no
	cd .. || fail "cd"
}

a_part_without_debug_information()
{
	mkdir -p part && cd part || fail "cd"
	cat >half.c <<-'EOF'
	struct { long a, b; } pair __attribute__((aligned(64)));
	void nested_bad(long n, int which)
	{
		volatile long *mine = which ? &pair.a : &pair.b;
		while (n--) (*mine)++;
	}
	EOF
	cat >rest.c <<-'EOF'
	#include <pthread.h>
	#include <stdlib.h>
	void nested_bad(long n, int which);
	static long rounds;
	static void *second(void *p) { nested_bad(rounds, 1); return p; }
	int main(int argc, char **argv)
	{
		pthread_t t;
		rounds = atol(argv[argc - 1]);
		pthread_create(&t, 0, second, 0);
		nested_bad(rounds, 0);
		return pthread_join(t, 0);
	}
	EOF
	$1 -O2 -c half.c && $1 -O2 -g -pthread -Wl,--build-id -o prog rest.c half.o ||
		fail "$1"
	recorded prog
	says 'prog has no debug information about a part of its code'
	shown no yes no
	cd .. || fail "cd"
}

# split_recorded COMPILER - out.prog of a program with .dwo files, in split/
split_recorded()
{
	mkdir -p split && cd split || fail "cd"
	cp "$PLANTED" planted.c
	$1 -O2 -g -gdwarf-5 -gsplit-dwarf -pthread -c planted.c &&
		$1 -pthread -Wl,--build-id -o prog planted.o || fail "$1"
	[ -d out.prog ] || recorded prog
	read_report prog
}

a_dwo_file_that_is_not_there()
{
	split_recorded "$1"
	says_nothing
	shown yes yes yes
	mv planted.dwo kept.dwo
	read_report prog
	says 'planted.dwo, split debug information of .*prog, not here: of its code functions and source lines are shown, but no types'
	shown yes yes no
	# The .dwo file of other options has another signature.
	cp planted.c other.c
	$1 -O1 -g -gdwarf-5 -gsplit-dwarf -c other.c && mv other.dwo planted.dwo ||
		fail "$1"
	read_report prog
	says 'planted.dwo: not used, of another build than .*prog'
	shown yes yes no
	cd .. || fail "cd"
}

a_dwp_file_that_is_not_read()
{
	local pack

	pack=$(command -v llvm-dwp || command -v dwp) || {
		echo "not run on this machine: no dwp"
		return
	}
	split_recorded "$1"
	timeout 20 "$pack" -e prog -o prog.dwp 2>err || {
		echo "not run on this machine: $pack fails: $(cat err)"
		cd .. || fail "cd"
		return
	}
	rm -f planted.dwo
	read_report prog
	# From elfutils 0.191 on it is read.
	[ "$(ask r.json 'any(l.get("fields") for l in c["lines"])')" = True ] || {
		says 'prog.dwp is not used, elfutils reads such packages from version 0.191 on'
		shown yes yes no
	}
	cd .. || fail "cd"
}

# dwz moves what several files share into a file of its own.
a_shared_debug_file_that_is_not_there()
{
	command -v dwz >/dev/null || { echo "not run on this machine: no dwz"; return; }
	mkdir -p shared && cd shared || fail "cd"
	$1 -O2 -g -gdwarf-4 -Wl,--build-id -pthread -o prog "$PLANTED" &&
		cp prog other && cp prog twin || fail "$1"
	recorded prog
	dwz -m common.debug -M "$PWD/common.debug" prog twin 2>err ||
		fail "dwz: $(cat err)"
	[ -f common.debug ] || fail "dwz has found nothing in common"
	read_report prog
	says_nothing
	shown yes yes yes
	mv common.debug kept
	read_report prog
	says 'common.debug, which has a part of the debug information of .*prog, is not here'
	cp other common.debug
	read_report prog
	says 'debug information of .*prog is not used, a part of it is in .*common.debug, which belongs to another build \(build-id '
	shown no yes no
	cd .. || fail "cd"
}

a_program_without_build_id_that_was_built_again()
{
	mkdir -p again && cd again || fail "cd"
	$1 -O2 -g -Wl,--build-id=none -pthread -o prog "$PLANTED" || fail "$1"
	recorded prog
	says_nothing
	shown yes yes yes
	sleep 2.1
	(echo "// one line more" && cat "$PLANTED") >moved.c
	$1 -O2 -g -Wl,--build-id=none -pthread -o prog moved.c || fail "$1"
	read_report prog
	says 'prog has changed since it was profiled \(it was written later, and has no build-id to compare\)'
	shown no no no
	cd .. || fail "cd"
}

for claim in whole_debug_information_is_not_complained_about \
	stripped_of_everything stripped_of_debug_information \
	a_debug_file_that_is_not_there a_debug_file_of_another_build \
	a_debug_file_with_another_checksum a_part_without_debug_information \
	a_dwo_file_that_is_not_there a_dwp_file_that_is_not_read \
	a_shared_debug_file_that_is_not_there \
	a_program_without_build_id_that_was_built_again; do
	eval "the_report_names_$claim() { with_compilers $claim; }"
	claims+=" the_report_names_$claim"
done
# shellcheck disable=SC2086
run_claims "${1:-}" $claims
