#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_instr_record - record runs programs with hooks, and refuses others
#
#	check_instr_record.sh [CLAIM]
#
# covers: preload/instr

. "$(dirname "$0")/e2e.sh"

INSTR=$B/tests/programs/instr
ulimit -c 0

# recorded EXPRESSION ARGUMENT... - record; the expression holds for the report
recorded()
{
	local expression=$1

	shift
	rm -rf "$WORK/out"
	"$TOOL" record -o "$WORK/out" "$@" >/dev/null 2>"$WORK/said" ||
		fail "record $*: status $?: $(cat "$WORK/said")"
	grep -q 'source instr:' "$WORK/said" ||
		fail "$*: $(cat "$WORK/said")"
	json "$WORK/out" "$WORK/json"
	holds "$WORK/json" "($expression)" "record $*"
}

record_takes_hooks_and_options()
{
	local program="-- $INSTR/process threads"

	# shellcheck disable=SC2086
	{
		recorded 'r["run"]["source"] == "instr" and
			r["run"]["algorithm"] == "epoch"' $program
		recorded 'r["run"]["period"] == 3000 and
			r["run"]["period_unit"] == "accesses"' \
			-s instr -p 3000 $program
		recorded '"exact" in r' -s instr --exact $program
		recorded 'r["run"]["algorithm"] == "epoch"' \
			-s instr --watch sw $program
		! debug_registers ||
			recorded 'r["run"]["algorithm"] == "chain"' \
				-s instr --watch hw $program
		recorded 'r["run"]["algorithm"] == "comdetective" and
			c.get("quantity") != "transfers"' \
			-s instr --algorithm comdetective $program
	}
	"$TOOL" record -s instr -o "$WORK/out" -- "$INSTR/process" is_killed \
		>/dev/null 2>&1
	[ $? = 143 ] || fail 'a killed program under record'
}

# refused COMMAND... - record -s instr prints one line, runs nothing and writes
# nothing
refused()
{
	rm -rf "$WORK/out"
	"$TOOL" record -s instr -o "$WORK/out" -- "$@" >"$WORK/plain" \
		2>"$WORK/said"
	[ $? = 125 ] || fail "$*: not refused: $(cat "$WORK/said")"
	[ "$(wc -l <"$WORK/said")" = 1 ] &&
		grep -q 'fsanitize=thread.*lcomdet-instr' "$WORK/said" ||
		fail "$*: said $(cat "$WORK/said")"
	[ ! -s "$WORK/plain" ] || fail "$*: it was run"
	[ ! -e "$WORK/out" ] || fail "$*: something was written"
}

program_that_never_has_hooks_is_refused()
{
	refused "$INSTR/transfers.plain" 10 1 same
	(
		cd "$INSTR" || exit 1
		PATH=$INSTR:$PATH
		refused ./transfers.plain 10 1 same
		refused transfers.plain 10 1 same
	) || exit 1
}

# record runs a program that may load hooks later, and passes its status on.
what_may_come_to_hooks_is_run()
{
	local out=$WORK/none status

	# This one calls exec.
	"$TOOL" record -s instr -o "$out" -- "$INSTR/process.plain" exits \
		>/dev/null 2>"$WORK/said"
	status=$?
	[ $status = 5 ] && grep -q 'no hooks for the source instr' \
		"$WORK/said" && grep -q 'nothing was recorded' "$WORK/said" ||
		fail "process.plain: $status, $(cat "$WORK/said")"
	printf '#!/bin/sh\nexit 6\n' >"$WORK/script"
	chmod +x "$WORK/script"
	"$TOOL" record -s instr -o "$out" -- "$WORK/script" 2>"$WORK/said"
	status=$?
	[ $status = 6 ] && grep -q 'nothing was recorded' "$WORK/said" ||
		fail "a script: $status, $(cat "$WORK/said")"
	"$TOOL" record -s instr --children -o "$out" -- \
		"$INSTR/transfers.plain" 10 1 same >/dev/null 2>"$WORK/said" ||
		fail "--children: $(cat "$WORK/said")"
	recorded 'r["run"]["source"] == "instr"' -s instr -- \
		env A=1 "$INSTR/process" threads
}

# record finds hooks in a library where the loader finds the library.
hooks_in_a_library_are_found()
{
	local out=$WORK/out

	cat >"$WORK/library.c" <<-'EOF'
	volatile int cell;
	void work(void)
	{
		for (int i = 0; i < 1000000; i++)
			cell++;
	}
	EOF
	cat >"$WORK/main.c" <<-'EOF'
	void work(void);
	int main(void)
	{
		work();
		return 0;
	}
	EOF
	gcc -O1 -g -fPIC -fsanitize=thread -c -o "$WORK/library.o" \
		"$WORK/library.c" &&
		gcc -shared -o "$WORK/libwork.so" "$WORK/library.o" -L"$B" \
			-l:libcomdet-instr.a &&
		gcc -O1 -g -o "$WORK/main" "$WORK/main.c" -L"$WORK" -lwork ||
		fail 'cannot build a library with hooks'
	LD_LIBRARY_PATH=$WORK recorded \
		'r["threads"][0]["counted"]["loads"] == 1000000' \
		-s instr -- "$WORK/main"
	LD_LIBRARY_PATH=$WORK recorded 'set(r["run"]["modes"]) ==
		{"reuse", "shared"}' -m reuse,shared -- "$WORK/main"
	# If the library is missing, the loader says so, not record.
	"$TOOL" record -s instr -o "$out" -- "$WORK/main" 2>"$WORK/said"
	[ $? = 127 ] && grep -q 'libwork.so' "$WORK/said" ||
		fail "without its library: $(cat "$WORK/said")"
}

# without_sections FROM TO - make a copy without section headers
without_sections()
{
	python3 - "$1" "$2" <<-'EOF' && chmod +x "$2" || fail "cannot copy $1"
	import struct, sys
	elf = bytearray(open(sys.argv[1], "rb").read())
	struct.pack_into("<Q", elf, 0x28, 0)       # e_shoff
	struct.pack_into("<HHH", elf, 0x3a, 0, 0, 0)
	open(sys.argv[2], "wb").write(elf)
	EOF
}

section_headers_are_not_needed()
{
	without_sections "$INSTR/transfers" "$WORK/hooked"
	without_sections "$INSTR/transfers.plain" "$WORK/plain"
	recorded 'r["run"]["source"] == "instr"' -m reuse,shared -- \
		"$WORK/hooked" 10 1 same
	"$TOOL" record -s instr -o "$WORK/out" -- "$WORK/plain" 10 1 same \
		>/dev/null 2>"$WORK/said" || fail "plain: $(cat "$WORK/said")"
	grep -q 'no hooks for the source instr' "$WORK/said" ||
		fail "plain: $(cat "$WORK/said")"
}

# A missing program is reported before wrong options, which depend on it.
a_program_that_is_not_there_is_not_found()
{
	local status

	"$TOOL" record -g -m reuse -o "$WORK/out" -- "$WORK/nosuch" \
		2>"$WORK/said"
	status=$?
	[ $status = 127 ] && grep -q 'nosuch' "$WORK/said" ||
		fail "nosuch: $status, $(cat "$WORK/said")"
	echo >"$WORK/data"
	"$TOOL" record -g -m reuse -o "$WORK/out" -- "$WORK/data" \
		2>"$WORK/said"
	status=$?
	[ $status = 126 ] && grep -q 'not executable' "$WORK/said" ||
		fail "no program: $status, $(cat "$WORK/said")"
}

run_claims "${1-}" record_takes_hooks_and_options \
	program_that_never_has_hooks_is_refused what_may_come_to_hooks_is_run \
	hooks_in_a_library_are_found section_headers_are_not_needed \
	a_program_that_is_not_there_is_not_found
