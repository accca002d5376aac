#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_foreign_names - whatever the names of a program are, and wherever its
# debug information is, the report shows what is true
#
# Symbols with <script>, quotes, line breaks, bytes that are not UTF-8, and 10 kB
# templates come out escaped and cut. Of a program that is stripped, has its
# debug information in a file of its own, or in one of another build, or in .dwo
# files, or that has changed or is gone, no wrong line is printed.
#
#	tests/e2e/check_foreign_names.sh [CLAIM]
#
# covers: analysis/symbols analysis/report analysis/html

. "$(dirname "$0")/e2e.sh"
debug_registers || skip "no debug registers here"
PLANTED=$TOP/tests/programs/planted/planted.c
cd "$WORK" || exit 1

# recorded PROGRAM ARGUMENT... - record it into PROGRAM.out, with detections. Its
# last argument is the number of rounds; threads that get no processors of their
# own for so long need more of them.
recorded()
{
	local rounds

	for rounds in 30 100 300 1000 3000 10000; do
		"$TOOL" record -F 10000 -o "$1.out" -- "./$@" ${rounds}000000 \
			>/dev/null 2>err || fail "record $1: $(cat err)"
		json "$1.out" r.json
		[ "$(ask r.json 'est("total") >= 5')" != True ] || return 0
	done
	fail "$1: too few detections"
}

of_planted()
{
	recorded "$1" nested bad
}

# lines PROGRAM - the distinct locations of the sites, as the report has them
lines()
{
	json "$1.out" r.json
	ask r.json 'sorted({s.get("location", "").split("/")[-1] for s in c["sites"]})'
}

# The line of WORK(nested_bad, ...), in which both threads run.
true_lines()
{
	local n

	n=$(grep -n '^WORK(nested_bad' "$PLANTED" | cut -d: -f1)
	echo "['planted.c:$n']"
}

hostile_symbols_are_escaped_and_cut()
{
	cat >hostile.cc <<-'EOF'
	#include <pthread.h>
	#include <stdlib.h>
	template <class A, class B> struct two {};
	template <int n> struct deep {
		typedef two<typename deep<n - 1>::type, typename deep<n - 1>::type> type;
	};
	template <> struct deep<0> { typedef int type; };
	struct pair { long a, b; } pair __attribute__((aligned(64)));
	extern "C" __attribute__((noinline)) void script(long n)
	{
		while (n--)
			__asm__ volatile("incq %0" : "+m"(pair.a));
	}
	template <class T> __attribute__((noinline)) void large(long n, T *)
	{
		while (n--)
			__asm__ volatile("incq %0" : "+m"(pair.b));
	}
	static long rounds;
	static void *first(void *) { script(rounds); return 0; }
	static void *second(void *)
	{
		large(rounds, (deep<10>::type *)0);
		return 0;
	}
	int main(int, char **argv)
	{
		pthread_t t;
		rounds = atol(argv[1]);
		pthread_create(&t, 0, first, 0);
		second(0);
		return pthread_join(t, 0);
	}
	EOF
	g++ -O1 -pthread -o hostile hostile.cc 2>cc.err ||
		fail "g++: $(head -3 cc.err)"
	# Any bytes may be a name.
	objcopy --redefine-sym "script="$'\xff'"<script>alert('1')</script>\"&
	next line" hostile || fail "objcopy"
	recorded hostile
	"$TOOL" report hostile.out >text || fail "report"
	grep -q "<script>alert('1')" text || fail "no such symbol: $(cat text)"
	! grep -q "^.next line" text || fail "a line break is printed"
	! LC_ALL=C grep -q $'\xff' text || fail "a byte that is not UTF-8 is printed"
	grep -q 'xff' text || fail "the byte is not shown: $(grep script text)"
	[ "$(awk '{ if (length($0) > n) n = length($0) } END { print n }' text)" -lt 600 ] ||
		fail "the template is not cut"
	"$TOOL" report --html page.html hostile.out 2>err || fail "$(cat err)"
	! grep -q "<script>alert" page.html || fail "the page has the script"
	json hostile.out r.json # it parses
}

debug_information_elsewhere_is_found()
{
	gcc -O2 -g -pthread -o apart "$PLANTED" &&
		objcopy --only-keep-debug apart apart.debug && strip -g apart &&
		objcopy --add-gnu-debuglink=apart.debug apart || fail "objcopy"
	of_planted apart
	[ "$(lines apart)" = "$(true_lines)" ] || fail "apart: $(lines apart)"
	gcc -O2 -g -gsplit-dwarf -pthread -o split "$PLANTED" || fail "split"
	of_planted split
	[ "$(lines split)" = "$(true_lines)" ] || fail "split: $(lines split)"
	rm -f ./*.dwo
	case $(lines split) in
	"$(true_lines)" | "['']") ;;
	*) fail "without the .dwo file: $(lines split)" ;;
	esac
}

# libdw reads .dwp files since elfutils 0.191. Before, the line table, which is in
# the program, still gives the lines.
debug_information_in_a_package_shows_no_wrong_line()
{
	local pack

	gcc -O2 -g -gsplit-dwarf -gdwarf-5 -pthread -o packed "$PLANTED" ||
		fail "gcc"
	pack=$(command -v llvm-dwp || command -v dwp) || {
		echo "not run on this machine: no dwp"
		return
	}
	timeout 20 "$pack" -e packed -o packed.dwp 2>err || {
		echo "not run on this machine: $pack fails: $(cat err)"
		return
	}
	rm -f ./*.dwo
	of_planted packed
	case $(lines packed) in
	"$(true_lines)" | "['']") ;;
	*) fail "from the .dwp file: $(lines packed)" ;;
	esac
	holds r.json "all('nested_bad' in s.get('function', 'nested_bad')
		for s in c['sites'])" "the function"
	# A package of another build is not mistaken for this one's. llvm-dwp 14
	# does not end with what gcc makes at -O0.
	gcc -O1 -g -gsplit-dwarf -gdwarf-5 -pthread -o strange "$PLANTED" &&
		timeout 20 "$pack" -e strange -o packed.dwp ||
		fail "another .dwp file"
	rm -f ./*.dwo
	case $(lines packed) in
	"$(true_lines)" | "['']") ;;
	*) fail "from another .dwp file: $(lines packed)" ;;
	esac
}

debug_information_of_another_build_is_not_used()
{
	gcc -O2 -g -pthread -o mixed "$PLANTED" &&
		gcc -O0 -g -pthread -o other "$PLANTED" &&
		objcopy --only-keep-debug other mixed.debug && strip -g mixed &&
		objcopy --add-gnu-debuglink=mixed.debug mixed || fail "objcopy"
	# First the link has the file's checksum, and only the build-ids differ.
	of_planted mixed
	[ "$(lines mixed)" = "['']" ] || fail "other build-id: $(lines mixed)"
	echo changed >>mixed.debug
	[ "$(lines mixed)" = "['']" ] || fail "other checksum: $(lines mixed)"
}

a_program_without_names_has_no_lines()
{
	gcc -O2 -g -pthread -s -o bare "$PLANTED" || fail "gcc"
	of_planted bare
	[ "$(lines bare)" = "['']" ] || fail "bare: $(lines bare)"
	"$TOOL" report bare.out | grep -q ' bare+0x[0-9a-f]* ' ||
		fail "bare: no module and offset"
}

a_program_that_is_gone_or_another_one_is_named_so()
{
	gcc -O2 -g -pthread -o lost "$PLANTED" && cp lost new || fail "gcc"
	of_planted lost
	rm lost
	"$TOOL" report lost.out >text 2>&1
	grep -q 'lost cannot be opened' text || fail "gone: $(cat text)"
	[ "$(lines lost)" = "['']" ] || fail "gone: $(lines lost)"
	of_planted new
	gcc -O1 -g -pthread -o new.2 "$PLANTED" && mv new.2 new || fail "gcc"
	"$TOOL" report new.out >text 2>&1
	grep -q 'new has changed since it was profiled' text ||
		fail "changed: $(cat text)"
	[ "$(lines new)" = "['']" ] || fail "changed: $(lines new)"
}

a_source_that_is_gone_does_not_matter()
{
	cp "$PLANTED" planted.c && gcc -O2 -g -pthread -o away planted.c || fail "gcc"
	of_planted away
	rm planted.c
	[ "$(lines away)" = "$(true_lines)" ] || fail "away: $(lines away)"
}

# Debian's place of debug information, below a directory that the reader asks.
a_file_of_the_build_id_of_another_build_is_not_used()
{
	local id place

	gcc -O2 -g -pthread -o keyed "$PLANTED" &&
		gcc -O0 -g -pthread -o elder "$PLANTED" &&
		objcopy --only-keep-debug elder elder.debug || fail "gcc"
	id=$(readelf -n keyed | sed -n 's/.*Build ID: //p')
	cp keyed keyed.whole && strip -g keyed || fail "strip"
	of_planted keyed
	[ "$(id -u)" = 0 ] || { echo "not run without root"; return; }
	place=/usr/lib/debug/.build-id/${id:0:2}
	mkdir -p "$place" && cp elder.debug "$place/${id:2}.debug" || fail "$place"
	lines keyed >other.lines
	objcopy --only-keep-debug keyed.whole "$place/${id:2}.debug"
	lines keyed >own.lines
	rm "$place/${id:2}.debug"
	rmdir --ignore-fail-on-non-empty "$place"
	[ "$(cat other.lines)" = "['']" ] || fail "other: $(cat other.lines)"
	[ "$(cat own.lines)" = "$(true_lines)" ] || fail "own: $(cat own.lines)"
}

# told_of_library TEXT - the reports, as text and as JSON, have it once
told_of_library()
{
	"$TOOL" report unlinks.out 2>&1 | tr -s ' \n' ' ' >text
	[ "$(grep -o "$1" text | wc -l)" = 1 ] || fail "no '$1': $(cat text)"
	json unlinks.out r.json
	[ "$(ask r.json "sum('$1' in p for p in r['problems'])")" = 1 ] ||
		fail "no '$1': $(ask r.json 'r["problems"]')"
}

a_library_deleted_while_it_runs_is_named_so()
{
	local rounds

	cat >library.c <<-'EOF'
	struct { long a, b; } pair __attribute__((aligned(64)));
	void work(long n, int which)
	{
		volatile long *mine = which ? &pair.a : &pair.b;
		while (n--) (*mine)++;
	}
	EOF
	cat >unlinks.c <<-'EOF'
	#include <pthread.h>
	#include <stdlib.h>
	#include <unistd.h>
	void work(long n, int which);
	static long rounds;
	static void *second(void *p) { work(rounds, 1); return p; }
	int main(int argc, char **argv)
	{
		pthread_t t;
		unlink("libgoes.so");
		rounds = atol(argv[argc - 1]);
		pthread_create(&t, 0, second, 0);
		work(rounds, 0);
		return pthread_join(t, 0);
	}
	EOF
	gcc -O2 -g -shared -fPIC -o libgoes.so library.c && cp libgoes.so kept &&
		gcc -O2 -g -pthread -o unlinks unlinks.c -L. -lgoes \
			-Wl,-rpath,"$WORK" || fail "gcc"
	for rounds in 100 1000 5000; do
		cp kept libgoes.so
		"$TOOL" record -F 10000 -o unlinks.out -- ./unlinks \
			${rounds}000000 >/dev/null 2>err || fail "$(cat err)"
		json unlinks.out r.json
		[ "$(ask r.json 'est("total") >= 5')" != True ] || break
	done
	holds r.json 'est("total") >= 5' "too few detections"
	told_of_library 'libgoes.so cannot be opened (No such file or directory; it was deleted since the program loaded it'
	[ "$(lines unlinks)" = "['']" ] || fail "gone: $(lines unlinks)"
	gcc -O0 -g -shared -fPIC -o libgoes.so library.c || fail "gcc"
	told_of_library 'libgoes.so has changed since it was profiled (its build-id is another one)'
	[ "$(lines unlinks)" = "['']" ] || fail "other: $(lines unlinks)"
	cp kept libgoes.so # the same build is back
	[ "$(lines unlinks)" = "['library.c:5']" ] || fail "$(lines unlinks)"
}

run_claims "${1:-}" \
	hostile_symbols_are_escaped_and_cut \
	debug_information_elsewhere_is_found \
	debug_information_in_a_package_shows_no_wrong_line \
	debug_information_of_another_build_is_not_used \
	a_file_of_the_build_id_of_another_build_is_not_used \
	a_program_without_names_has_no_lines \
	a_program_that_is_gone_or_another_one_is_named_so \
	a_library_deleted_while_it_runs_is_named_so \
	a_source_that_is_gone_does_not_matter
