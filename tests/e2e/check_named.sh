#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_named - the score of names counts by its rules
#
#	tests/e2e/check_named.sh [CLAIM]
#
# covers: tests/oracle/named.py tests/oracle/parts_of.c

. "$(dirname "$0")/e2e.sh"
cd "$WORK" || exit 1

# says CLAIM... - each is Python that must be true; "line" makes a line of it
says()
{
	PYTHONPATH=$TOP/tests/oracle python3 - "$@" <<-'PYTHON' || fail "$*"
	import sys
	import named

	C = [{"id": 0, "function": "count", "location": "a.c:3"},
	     {"id": 1, "function": "fill", "location": "a.c:9"}]
	CPP = [{"id": 0, "function": "shop::count()", "location": "a.cc:3"}]


	def line(fields=(), types=(), **more):
	    return {"bytes": [{"map": "W" * 4 + "." * 60}], "process": 0,
	            "line": "0x1040", **more,
	            "fields": [dict(name=n, byte=b, bytes=k)
	                       for n, b, k in fields],
	            "types": list(types)}


	for claim in sys.argv[1:]:
	    if not eval(claim):
	        sys.exit(claim)
	PYTHON
}

a_bare_class_of_cpp_is_a_part_without_a_member()
{
	local base='[("__atomic_base<int>", 0, 4)], [{"type": "__atomic_base<int>"}]'

	says "named.members(line($base), CPP, {}) is False" \
		"named.members(line($base), CPP, {0: 'plain'}) is False"
	# In C it is a typedef of a library: an object that is known.
	says 'named.members(line([("pthread_mutex_t", 0, 4)],
		[{"type": "pthread_mutex_t"}]), C, {}) is None'
	says 'named.members(line([("flags", 0, 4)],
		[{"type": "atomic<int>", "variable": "flags"}]), CPP, {}) is None'
}

a_line_is_a_buffer_only_if_no_pointer_leads_to_a_structure()
{
	local block='line(allocated={})'

	says "named.members($block, C, {}) is False" \
		"named.members($block, C, {0: 'plain'}) is None" \
		"named.members($block, C, {0: 'plain', 1: '?'}) is None" \
		"named.members($block, C, {0: 'plain', 1: 'structure'}) is False" \
		"named.members($block, C, {0: '?', 1: '?'}) is False"
	# A stack, or what has no known owner, is no buffer.
	says 'named.members(line(), C, {0: "plain"}) is False'
	says 'named.members(line([("struct a.b", 0, 2)],
		[{"type": "struct a"}]), C, {0: "plain"}) is False'
	says 'named.members(line([("struct a.b", 0, 4)],
		[{"type": "struct a"}]), C, {0: "plain"}) is True'
}

an_object_that_another_line_shows_makes_a_line_no_buffer()
{
	local object='[{"type": "struct a", "start": "0x1000", "size": SIZE}]'

	says "[here := line(allocated={}), named.mark_inside([here, line([],
			${object/SIZE/65}, line='0x1000')]),
			named.members(here, C, {0: 'plain'}) is False][2]" \
		"[here := line(allocated={}), named.mark_inside([here, line([],
			${object/SIZE/64}, line='0x1000')]),
			named.members(here, C, {0: 'plain'}) is None][2]"
}

# kind_of FUNCTION - what its first access leads to
kind_of()
{
	objdump -d --no-show-raw-insn --disassemble="$1" kinds |
		sed -n '/\tlea/d; s/^ *\([0-9a-f]*\):\t[a-z]* .*(.*/\1/p' | head -n 1 |
		"$B/tests/oracle/parts_of" kinds kind | cut -d '|' -f 2
}

the_declared_types_tell_structures_from_plain_memory()
{
	local compiler said

	cat >kinds.c <<-'EOF'
	struct pair { int a, b; };
	struct pair many[8];
	char text[64];
	int *pointers[4];
	int number(int *p) { return p[3]; }
	int member(struct pair *p) { return p->b; }
	int inner(struct pair (*p)[2]) { return p[0][1].b; }
	int element(long i) { return many[i].b; }
	int letter(long i) { return text[i]; }
	int *pointer(long i) { return pointers[i]; }
	int unknown(void *p) { return *(int *)p; }
	int main(void) { return 0; }
	EOF
	for compiler in gcc clang; do
		command -v "$compiler" >/dev/null || continue
		"$compiler" -O1 -g -no-pie -fcf-protection=none -o kinds kinds.c ||
			fail "$compiler"
		said=$(for f in number member inner element letter pointer \
			unknown; do echo "$f $(kind_of $f)"; done)
		[ "$said" = "number plain
member structure
inner structure
element structure
letter plain
pointer plain
unknown ?" ] || fail "$compiler: $said"
	done
}

run_claims "${1:-}" \
	a_bare_class_of_cpp_is_a_part_without_a_member \
	a_line_is_a_buffer_only_if_no_pointer_leads_to_a_structure \
	an_object_that_another_line_shows_makes_a_line_no_buffer \
	the_declared_types_tell_structures_from_plain_memory
