#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_fields - members of structures have their right names
#
# Two oracles: gdb says which member is at each byte of a variable, and a test
# program says in its source which member each line accesses.
#
#	tests/e2e/check_fields.sh [CLAIM]
#
# covers: analysis/symbols analysis/attribution

. "$(dirname "$0")/e2e.sh"
NAMES=$TOP/tests/programs/names
PARTS_OF=$B/tests/oracle/parts_of
cd "$WORK" || exit 1

compilers=(gcc g++)
if command -v clang >/dev/null && command -v clang++ >/dev/null; then
	compilers+=(clang clang++)
else
	echo "not run on this machine: no clang"
fi

# build COMPILER OPTION... - compile the program of its language as ./parts
build()
{
	local compiler=$1 source=parts.c

	case $compiler in
	*++*) source=parts.cc ;;
	esac
	SOURCE=$NAMES/$source
	shift
	"$compiler" -g "$@" -o parts "$SOURCE" || fail "$compiler $*"
}

# agree_with_gdb VARIABLE... - each byte's member is the one that gdb knows
agree_with_gdb()
{
	PARTS="$*" gdb -nx -batch -x "$TOP/tests/oracle/gdb_parts.py" parts \
		>gdb.txt 2>gdb.err || fail "gdb: $(cat gdb.err)"
	[ "$(wc -l <gdb.txt)" -ge 100 ] || fail "gdb named too few bytes"
	cut -d '|' -f 1 gdb.txt | "$PARTS_OF" parts variable >ours.txt ||
		fail "parts_of"
	diff gdb.txt ours.txt >diff.txt || fail "$(head -n 10 diff.txt)"
}

bytes_of_variables_are_the_members_that_gdb_names()
{
	local compiler

	command -v gdb >/dev/null || { echo "no gdb"; return; }
	for compiler in "${compilers[@]}"; do
		build "$compiler" -O2
		case $compiler in
		*++*) agree_with_gdb counters flags tagged ;;
		*) agree_with_gdb workers nodes packed bits matrix alone \
			unnamed ;;
		esac
		build "$compiler" -O1 -gdwarf-4 -no-pie
		case $compiler in
		*++*) agree_with_gdb counters flags tagged ;;
		*) agree_with_gdb workers packed unnamed matrix ;;
		esac
	done
}

# Each instruction of a line with "is:", against what the line says.
agree_with_source()
{
	objdump -d --no-show-raw-insn parts |
		sed -n 's/^ *\([0-9a-f]*\):\t.*(.*/\1/p' >at.txt
	# check_names.sh compares its lines with those of addr2line.
	"$B/tests/oracle/frames_of" parts <at.txt >lines.txt || fail "frames_of"
	"$PARTS_OF" parts access <at.txt >named.txt || fail "parts_of"
	python3 - "$SOURCE" "$1" <<-'PYTHON' || fail "$1: see above"
	import os, re, sys
	claims = {}
	for number, text in enumerate(open(sys.argv[1]), 1):
	    found = re.search(r'(?<!")is: (.+?\|.*?) *(\*/)?$', text)
	    if found:
	        claims[number] = found[1].split(", ")
	known = wrong = unknown = 0
	seen = set()
	at = {}  # the line of the source, perhaps through inlining
	for line in open("lines.txt"):
	    if line.startswith("0x"):
	        address = int(line, 16)
	        continue
	    found = re.match(r"(.*):(\d+)", line)
	    if found and os.path.basename(found[1]) == \
	            os.path.basename(sys.argv[1]):
	        at.setdefault(address, int(found[2]))
	for line in open("named.txt"):
	    address, name = line.rstrip("\n").split("|", 1)
	    number = at.get(int(address, 16))
	    if number not in claims:
	        continue
	    parts = name.split("|")
	    if parts == ["?"]:
	        if claims[number] == ["?|"]:
	            seen.add((number, "?|"))
	        else:
	            unknown += 1
	        continue
	    what = "|".join(parts[:2])
	    # A static variable has no type's name here, but its path.
	    right = [c for c in claims[number] if c != "?|" and
	             (what == c or parts[1] == c.split("|")[1])]
	    if right:
	        known += 1
	        seen.add((number, right[0]))
	    else:
	        wrong += 1
	        print(f"line {number}: {what}, not {' or '.join(claims[number])}")
	all_claims = {(n, c) for n, of in claims.items() for c in of}
	print(f"{sys.argv[2]}: {known} known, {unknown} unknown, {wrong} wrong, "
	      f"{len(seen)} of {len(all_claims)} claims;",
	      *(f"{n}: {c}" for n, c in sorted(all_claims - seen)))
	sys.exit(wrong > 0 or len(seen) * 10 < len(all_claims) * 8)
	PYTHON
}

accesses_touch_the_member_that_the_source_names()
{
	local compiler

	for compiler in "${compilers[@]}"; do
		build "$compiler" -O2
		agree_with_source "$compiler -O2"
		build "$compiler" -O1 -no-pie
		agree_with_source "$compiler -O1 -no-pie"
	done
	build gcc -O0
	agree_with_source "gcc -O0"
	build gcc -O2 -gsplit-dwarf
	agree_with_source "gcc -gsplit-dwarf"
	build g++ -O2 -fdebug-types-section
	agree_with_source "g++ -fdebug-types-section"
}

# Registers keep nothing over calls in Go; pointers wait in the frame.
accesses_of_go_and_rust_touch_the_member_that_the_source_names()
{
	if command -v go >/dev/null; then
		SOURCE=$WORK/waits.go
		cp "$NAMES/waits.go" "$SOURCE"
		GOCACHE=$WORK/cache go build -o parts "$SOURCE" 2>err ||
			fail "go: $(cat err)"
		agree_with_source go
	else
		echo "not run on this machine: no go"
	fi
	if command -v rustc >/dev/null; then
		SOURCE=$NAMES/waits.rs
		rustc -C opt-level=2 -g -o parts "$SOURCE" || fail rustc
		agree_with_source rustc
	else
		echo "not run on this machine: no rustc"
	fi
}

# gdb's names have quotes in Go; the linker's table has the address.
bytes_of_variables_of_go_are_named()
{
	local at

	command -v go >/dev/null || { echo "not run on this machine: no go"; return; }
	cat >parts.go <<-'EOF'
	package main

	import "sync/atomic"

	type stats struct { tried, found int64 }

	var total [2]stats

	func main() { println(atomic.AddInt64(&total[1].found, 1)) }
	EOF
	GOCACHE=$WORK/cache go build -o parts.go.out parts.go 2>err ||
		fail "go: $(cat err)"
	at=$(nm parts.go.out | sed -n 's/ [A-Za-z] main\.total$//p')
	printf '%x\n' $((0x$at)) $((0x$at + 8)) $((0x$at + 24)) |
		"$PARTS_OF" parts.go.out variable | cut -d '|' -f 2- >ours.txt
	printf '%s\n' 'main.total|[0].tried|0|8' 'main.total|[0].found|8|8' \
		'main.total|[1].found|24|8' >go.txt
	diff go.txt ours.txt >diff.txt || fail "$(cat diff.txt)"
}

run_claims "${1:-}" \
	accesses_of_go_and_rust_touch_the_member_that_the_source_names \
	bytes_of_variables_of_go_are_named \
	bytes_of_variables_are_the_members_that_gdb_names \
	accesses_touch_the_member_that_the_source_names
