#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_names - the report names the statement that shares, whatever compiled it
#
# C and C++ programs of gcc and, where installed, clang at -O2: the line is the
# user's also where it calls an inlined function of the library, with and without
# .debug_aranges, with DWARF 4, DWARF 5 and split DWARF. Names of random
# addresses are those of addr2line. make check-names does this for more
# languages and for programs of Debian.
#
#	tests/e2e/check_names.sh [CLAIM]
#
# covers: analysis/symbols

. "$(dirname "$0")/e2e.sh"
. "$(dirname "$0")/names.sh"
cd "$WORK" || exit 1
clangs=
command -v clang >/dev/null && command -v clang++ >/dev/null && clangs=yes

# build COMPILER OUTPUT OPTION... - compile the program in that language
build()
{
	local compiler=$1 source=share.c out=$2

	case $compiler in
	*++*) source=share.cc ;;
	esac
	shift 2
	"$compiler" -O2 -g -pthread "$@" -o "$out" "$NAMES/$source" ||
		fail "$compiler $* cannot build $source"
}

gcc_names_the_statement()
{
	build gcc c
	names_statement gcc share.c SHARED ./c
	build g++ cc
	names_statement g++ share.cc SHARED ./cc
	holds r.json 'all("atomic" in s.get("inlined", {}).get("location", "")
		for s in c["sites"])' "what was inlined there"
	"$TOOL" report out >text
	grep -Eq '^ +via atomic_base\.h:[0-9]+ \(std::' text ||
		fail "the text does not say what was inlined: $(cat text)"
}

clang_names_the_statement()
{
	[ "$clangs" ] || { echo "not run on this machine: no clang"; return; }
	build clang c
	readelf -SW c | grep -q debug_aranges &&
		echo "this clang writes .debug_aranges by itself"
	names_statement clang share.c SHARED ./c
	build clang++ cc
	names_statement clang++ share.cc SHARED ./cc
}

# All lines of the programs and random addresses, against addr2line.
names_are_those_of_addr2line()
{
	local compiler version5=yes
	local -a files=()

	# Where addr2line has faults with DWARF 5, it decides.
	command -v llvm-symbolizer >/dev/null || {
		echo "not run on this machine: DWARF 5, no llvm-symbolizer"
		version5=
	}
	[ -z "$version5" ] || files=("$TOOL" "$B/libcomdet.so")
	for compiler in gcc g++ ${clangs:+clang clang++}; do
		build $compiler $compiler-4 -gdwarf-4
		build $compiler $compiler-fixed -gdwarf-4 -fno-pie -no-pie
		build $compiler $compiler-packed -gdwarf-4 -gz
		files+=($compiler-4 $compiler-fixed $compiler-packed)
		[ "$version5" ] || continue
		build $compiler $compiler-5 -gdwarf-5
		build $compiler $compiler-sections -gdwarf-5 \
			-ffunction-sections -Wl,--gc-sections
		files+=($compiler-5 $compiler-sections)
	done
	# Files whose names are relative, as those of most projects are.
	mkdir -p part/include
	sed 's/^static inline void count/#include "count.h"\nvoid not_used/' \
		"$NAMES/share.c" >part/share.c
	printf 'static inline void count(_Atomic long *mine)\n{\n\t(*mine)++;\n}\n' \
		>part/include/count.h
	gcc -O2 -g -gdwarf-4 -pthread -Ipart/include -o relative-4 part/share.c ||
		fail "relative names"
	files+=(relative-4)
	if [ "$version5" ]; then
		(cd part && gcc -O2 -g -gdwarf-5 -pthread -Iinclude \
			-o ../relative-5 share.c) || fail "relative names"
		files+=(relative-5)
	fi
	objcopy --remove-section .debug_aranges gcc-4 no-aranges ||
		fail "objcopy"
	files+=(no-aranges)
	objcopy --only-keep-debug g++-4 apart.debug
	objcopy --strip-debug --add-gnu-debuglink=apart.debug g++-4 apart
	files+=(apart)
	python3 "$TOP/tests/oracle/compare_addr2line.py" -n 300 -v \
		"$B/tests/oracle/frames_of" "${files[@]}" >compared ||
		fail "names differ from those of addr2line: $(cat compared)"
	cat compared
}

# addr2line of Debian 12 has faults with split DWARF: here one without is the
# oracle.
split_dwarf_gives_the_same_names()
{
	local compiler

	for compiler in gcc g++ ${clangs:+clang clang++}; do
		build $compiler whole -gdwarf-5
		build $compiler split -gdwarf-5 -gsplit-dwarf
		objdump -d --no-show-raw-insn whole | grep -oE '^ +[0-9a-f]+:' |
			tr -d ' :' >addresses
		cmp -s <(objdump -d whole | tail -n +4) \
			<(objdump -d split | tail -n +4) ||
			{ echo "$compiler: other code with split DWARF"; continue; }
		"$B/tests/oracle/frames_of" whole <addresses >whole.names
		"$B/tests/oracle/frames_of" split <addresses >split.names
		cmp whole.names split.names ||
			fail "$compiler: split DWARF: $(diff whole.names \
				split.names | head -n 20)"
		grep -q "share\.c" split.names || fail "$compiler: no names"
	done
}

run_claims "${1-}" gcc_names_the_statement clang_names_the_statement \
	names_are_those_of_addr2line split_dwarf_gives_the_same_names
echo "statements and functions have their names"
