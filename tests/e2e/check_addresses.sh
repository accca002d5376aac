#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_addresses - the program's data lies where it lies without us
#
# Without address space randomization, the addresses of a program's heap blocks
# are the same under record as without, and everything else lies at the same
# place in its cache line. Then nothing shares a line that did not before.

. "$(dirname "$0")/e2e.sh"

fixed=(setarch "$(uname -m)" -R)
"${fixed[@]}" true 2>/dev/null ||
	skip "setarch cannot switch address space randomization off"

# alike TEXT [OPTION...] -- COMMAND... - the output is the same under record
alike()
{
	local text=$1 options=() status

	shift
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	"${fixed[@]}" "$@" >"$WORK/plain"
	status=$?
	[ -s "$WORK/plain" ] || fail "$text: no output without us"
	"${fixed[@]}" "$TOOL" record "${options[@]}" -o "$WORK/out" -- "$@" \
		>"$WORK/with" 2>"$WORK/err" || [ $? = $status ] ||
		fail "$text: status $? under record, $status without:" \
			"$(cat "$WORK/err")"
	cmp -s "$WORK/plain" "$WORK/with" ||
		fail "$text: the same moves to another place: $(diff \
			"$WORK/plain" "$WORK/with" | head -n 6)"
}

our_libraries_have_no_thread_local_storage()
{
	local library

	for library in "$LIB" "$B/libcomdet-heap.so"; do
		! readelf -lW "$library" | grep -w TLS ||
			fail "$library has thread-local storage"
	done
}

the_c_librarys_heap_stays()
{
	local program=$B/tests/programs/help_addresses

	alike "malloc and its kin" -- "$program"
	alike "at 1,000 Hz" -F 1000 -- "$program"
	alike "no debug registers" --registers 0 -- "$program" a
	alike "with --children" --children -- "$program" a b
	alike "another output directory" -o "$WORK/a-longer-name" -- "$program"
	alike "reuse" -m reuse -- "$program"
	alike "who allocated" --objects on -- "$program"
	alike "who called the allocation" --objects on -g -- "$program"
}

# Stacks move with the length of the environment: by whole lines.
environments_of_every_length_keep_the_stack()
{
	local i text=

	for i in 1 2 3 5 8 13 16; do
		text=$(printf '%*s' $i '')
		alike "an environment of $i more bytes" -- \
			env "SOME_TEXT=$text" "$B/tests/programs/help_addresses"
		"${fixed[@]}" env "A=$text" "$B/tests/programs/help_addresses" \
			>"$WORK/plain"
		"${fixed[@]}" env "A=$text" "$TOOL" record -o "$WORK/out" -- \
			"$B/tests/programs/help_addresses" >"$WORK/with" \
			2>/dev/null
		cmp -s "$WORK/plain" "$WORK/with" ||
			fail "$i: $(diff "$WORK/plain" "$WORK/with" | head -n 6)"
	done
}

new_in_c_plus_plus_stays()
{
	command -v g++ >/dev/null || return 0
	cat >"$WORK/new.cc" <<-'EOF'
	#include <cstdio>
	#include <map>
	#include <string>
	#include <thread>
	#include <vector>
	int main()
	{
		std::map<int, std::string> map;
		std::vector<std::thread> threads;
		for (int i = 0; i < 1000; i++) {
			map[i * 7 % 1000] = std::string(i % 100, 'x');
			std::printf("%p %p\n", (void *)&map[i * 7 % 1000],
				    (void *)new int[i % 30]);
		}
		for (int i = 0; i < 3; i++) {
			std::thread([] {}).join();
			std::printf("%p\n", (void *)new int);
		}
	}
	EOF
	g++ -O1 -pthread -o "$WORK/new" "$WORK/new.cc" || fail "g++"
	alike "new" -- "$WORK/new"
	alike "new, and who allocated" --objects on -- "$WORK/new"
}

# These allocators map memory, which lies elsewhere but in the same way: what
# is compared is the place in a page.
other_allocators_stay()
{
	local name

	for name in libjemalloc.so.2 libtcmalloc_minimal.so.4; do
		name=$(ldconfig -p | awk -v n=$name '$1 == n { print $NF; exit }')
		[ "$name" ] || continue
		LD_PRELOAD=$name alike "$name" -- \
			"$B/tests/programs/help_addresses" --pages
		LD_PRELOAD=$name alike "$name, who allocated" --objects on -- \
			"$B/tests/programs/help_addresses" --pages
		grep -q "^block 999 " "$WORK/with" || fail "$name: too few blocks"
	done
}

# Two small blocks that share a line without us are found to share it.
neighbours_are_found()
{
	local program=$B/tests/programs/help_neighbours

	alike "two neighbours" -- "$program" 1
	grep -q "the same line" "$WORK/plain" ||
		fail "the two blocks share no line without us"
	"${fixed[@]}" "$TOOL" record -F 1000 -o "$WORK/out" -- "$program" 150000000 \
		>/dev/null 2>&1 || fail "record: status $?"
	json "$WORK/out" "$WORK/r.json"
	holds "$WORK/r.json" "est('false_sharing') > 0" "two blocks in a line"
}

# places LOG - sizes and addresses; of mapped blocks the places in a page
places()
{
	od -An -v -t x8 -w16 "$1" |
		awk '$2 ~ /[1-9a-f]/ { sub(/^00007f.*/, "mapped " substr($2, 14), $2); print }'
}

# blocks NAME COMMAND... - its first thousand blocks lie where they lie without
# us
blocks()
{
	local name=$1 how parent from to done=

	shift
	command -v "$1" >/dev/null || {
		echo "  $1 is missing: not tried"
		return
	}
	set -- env LD_PRELOAD="$WORK/log.so" BLOCKS_LOG="$WORK/log" "$@"
	# A shell keeps its number and its parent's as text. Between the two runs the
	# numbers of new processes may become longer, or begin anew; so in both
	# runs the parent is as new as the program, and leaves the environment alone.
	until [ -n "$done" ]; do
		from=$(sh -c 'echo $$')
		for how in plain with; do
			rm -f "$WORK/log" "$WORK/made"*
			parent=(timeout --foreground 600)
			[ $how = plain ] ||
				parent=("$TOOL" record -F 1000 -o "$WORK/out" --)
			"${fixed[@]}" "${parent[@]}" "$@" \
				<"$WORK/text" >"$WORK/o.$how" 2>/dev/null
			mv "$WORK/log" "$WORK/log.$how" ||
				fail "$name: no blocks were noted"
		done
		to=$(sh -c 'echo $$')
		[ ${#from} != ${#to} ] || [ "$from" -gt "$to" ] || done=yes
	done
	for how in plain with; do
		places "$WORK/log.$how" >"$WORK/places.$how"
	done
	cmp -s "$WORK/places.plain" "$WORK/places.with" ||
		fail "$name: $(diff "$WORK/places.plain" "$WORK/places.with" |
			head -n 6)"
	cmp -s "$WORK/o.plain" "$WORK/o.with" ||
		fail "$name: another output: $(diff "$WORK/o.plain" \
			"$WORK/o.with" | head -n 6)"
	[ "$(wc -l <"$WORK/places.plain")" -ge 5 ] ||
		fail "$name: too few blocks to compare"
	programs=$((programs + 1))
}

programs_of_the_system_keep_their_heap()
{
	local programs=0

	cc -O1 -fPIC -shared -o "$WORK/log.so" \
		"$TOP/tests/programs/hooks/log_blocks.c" || fail "log_blocks.c"
	seq 1 20000 >"$WORK/text"
	cp "$TOP/README.md" "$WORK/page"
	export PYTHONHASHSEED=0 PERL_HASH_SEED=0 LC_ALL=C.UTF-8
	blocks sort sort -rn
	blocks sed sed 's/7/seven/g'
	blocks grep grep -E '(12|34)+5'
	blocks tr tr 0-9 a-j
	blocks cut cut -c 2-
	blocks uniq uniq -c
	blocks join join "$WORK/page" "$WORK/page"
	blocks comm comm "$WORK/page" "$WORK/page"
	blocks diff diff "$WORK/page" "$WORK/text"
	blocks find find "$TOP/docs" -name '*.md'
	blocks ls ls -l "$TOP/docs"
	blocks tar tar -cf - -C "$TOP/docs" .
	blocks bash bash -c 'a=(1 2 3); for i in {1..200}; do a+=("$i $HOME"); done; echo "${a[@]}" "${#a[@]}"; export B=c; env | grep -c =; :'
	blocks dash sh -c 'while read -r i && [ $i -lt 300 ]; do echo "$i"; done'
	blocks perl perl -ne '$n{$_ % 97} .= $_; END { print length $n{3} }'
	blocks python3 python3 -c 'import os, sys, json; os.environ["A"] = "b"; print(json.dumps({i: str(i) for i in range(1000)}))'
	blocks awk awk '{ n[$1 % 97] += $1 } END { for (i in n) print i, n[i] }'
	blocks od od -c "$WORK/page"
	blocks md5sum md5sum "$WORK/page"
	blocks split split -l 5000 - "$WORK/made"
	blocks date date -d 2020-02-02 +%s
	blocks expr expr 12345678901234567890 '*' 98765432109876543210
	blocks xz xz -9 -T 2 -c
	blocks git git -C "$TOP" log --oneline -n 20
	[ "$programs" -ge 20 ] || fail "only $programs programs were tried"
	echo "$programs programs"
}

run_claims "${1:-}" \
	our_libraries_have_no_thread_local_storage \
	the_c_librarys_heap_stays \
	environments_of_every_length_keep_the_stack \
	new_in_c_plus_plus_stays \
	other_allocators_stay \
	programs_of_the_system_keep_their_heap \
	neighbours_are_found
