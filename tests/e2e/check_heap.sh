#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_heap - heap blocks have the name of the call that allocated them
#
# With the C library's malloc, jemalloc and tcmalloc, in C and C++. Programs run
# with record --objects on as without: the same output, status and addresses,
# and what they start is not touched.
#
#	tests/e2e/check_heap.sh [CLAIM]
#
# covers: preload/heap preload/sources analysis/symbols

. "$(dirname "$0")/e2e.sh"
PLANTED=$TOP/tests/programs/planted
cd "$WORK" || exit 1
[ "$(nproc)" -ge 2 ] || skip "one processor"

allocators=("")
for name in libjemalloc.so.2 libtcmalloc_minimal.so.4; do
	path=$(ldconfig -p | awk -v n=$name '$1 == n { print $NF; exit }')
	[ "$path" ] && allocators+=("$path")
done

# shares PROGRAM PROBLEM ALLOCATOR - profile it until there are detections
shares()
{
	local rounds

	for rounds in 100000000 400000000 1200000000; do
		LD_PRELOAD=$3 "$TOOL" record --objects on -o out -- "$1" "$2" \
			bad $rounds >/dev/null 2>record.err ||
			fail "$1 $2 with '$3': $(cat record.err)"
		json out r.json
		[ "$(ask r.json 'est("total") >= 5')" != True ] || return
	done
	fail "$1 $2 with '$3': too few detections"
}

# line_of FILE TEXT - the number of the line that has TEXT
line_of()
{
	grep -nF "$2" "$1" | head -n 1 | cut -d : -f 1
}

blocks_in_c_name_their_call()
{
	local allocator line

	gcc -O2 -g -pthread -o planted "$PLANTED/planted.c" || fail "gcc"
	line=$(line_of "$PLANTED/planted.c" 'calloc(1, sizeof(struct small))')
	for allocator in "${allocators[@]}"; do
		# Two neighbours on one line, where the allocator makes them so.
		shares ./planted array "$allocator"
		holds r.json "all(l['allocated']['function'] == 'at_line' and
			not l['freed'] for l in c['lines'][:1])" \
			"'$allocator': posix_memalign"
		shares ./planted blocks "$allocator"
		holds r.json "all(l['allocated']['location'].endswith('planted.c:$line')
			for l in c['lines'][:1])" "'$allocator': calloc"
		holds r.json "(c['objects'][0]['kind'] == 'heap' and
			c['objects'][0]['allocated'] == c['lines'][0]['allocated'])" \
			"'$allocator': the object"
	done
	"$TOOL" report out >text || fail "report"
	grep -q "heap block from planted.c:$line (small_blocks)" text ||
		fail "the text does not name the call: $(cat text)"
	"$TOOL" diff out out >text || fail "diff"
	grep -q '^  heap block of small_blocks ' text ||
		fail "diff does not name the block: $(cat text)"
}

blocks_in_c_plus_plus_name_their_call()
{
	local allocator

	command -v g++ >/dev/null || { echo "no g++"; return; }
	g++ -O2 -g -pthread -o planted "$PLANTED/planted.cc" || fail "g++"
	for allocator in "${allocators[@]}"; do
		shares ./planted member "$allocator"
		holds r.json "'run_queue' in c['lines'][0]['allocated']['function']" \
			"'$allocator': make_unique"
		shares ./planted vector "$allocator"
		holds r.json "'run_slots' in c['lines'][0]['allocated']['function']" \
			"'$allocator': vector"
	done
}

blocks_of_one_call_are_told_apart_by_their_callers()
{
	local allocator

	for allocator in "${allocators[@]}"; do
		LD_PRELOAD=$allocator "$TOOL" record --objects on -g -F 1000 \
			-o out -- "$B/tests/programs/help_pools" 60 \
			2>record.err || fail "$(cat record.err)"
		json out r.json
		python3 - <<-'PYTHON' || fail "'$allocator': $(head -c 2000 r.json)"
		import json
		c = json.load(open("r.json"))["communication"]
		paths = set()
		for o in c["objects"]:
		    if "allocated" not in o:
		        continue
		    a = o["allocated"]
		    assert "help_pools.c:" in a["location"], a
		    paths.add((a["function"],) + tuple(
		        x.get("function") for x in a.get("callers", [])))
		print(sorted(paths))
		assert paths == {("make_pool", "left_pool", "main"),
		                 ("make_pool", "right_pool", "right"),
		                 ("main",)}, paths
		PYTHON
	done
	"$TOOL" report out >text || fail "report"
	tr -s '\n ' '  ' <text >words
	grep -q 'heap block from help_pools.c:[0-9]* (make_pool < left_pool <' \
		words || fail "the text has no path: $(cat text)"
	"$TOOL" record --objects on -F 1000 -o out -- \
		"$B/tests/programs/help_pools" 60 2>record.err ||
		fail "$(cat record.err)"
	json out r.json
	holds r.json "(sum('allocated' in o for o in c['objects']) == 2 and
		not any('callers' in o.get('allocated', {}) for o in c['objects']))" \
		"without -g the call alone counts"
}

# Two threads that do little but allocate: many samples are of our notes of that.
what_our_own_code_accesses_is_not_the_programs()
{
	cat >churn.c <<-'END'
	#include <pthread.h>
	#include <stdlib.h>

	static void *churn(void *a)
	{
		void *p[64] = { 0 };

		for (long i = 0; i < 20000000; i++) {
			free(p[i % 64]);
			p[i % 64] = malloc(24 + i % 40);
		}
		return a;
	}

	int main(void)
	{
		pthread_t t;

		pthread_create(&t, NULL, churn, NULL);
		churn(NULL);
		return pthread_join(t, NULL);
	}
	END
	gcc -O2 -g -pthread -o churn churn.c || fail "gcc"
	"$TOOL" record --objects on -g -F 5000 -o out -- ./churn 2>record.err ||
		fail "$(cat record.err)"
	json out r.json
	holds r.json "r['loss'].get('reentrant', 0) > 100" "none was lost"
	holds r.json "not any('libcomdet' in s.get('module', '')
		for s in c['sites'])" "our code is a site"
}

without_the_option_nothing_is_loaded()
{
	"$TOOL" record -o out -- cat /proc/self/maps >maps 2>/dev/null ||
		fail "record"
	! grep libcomdet-heap maps || fail "libcomdet-heap.so is loaded"
	"$TOOL" record --objects on -o out -- cat /proc/self/maps >maps \
		2>/dev/null || fail "record --objects on"
	grep -q libcomdet-heap maps || fail "libcomdet-heap.so is not loaded"
}

what_the_program_starts_is_not_touched()
{
	env -u LD_PRELOAD sh -c 'sh -c "env; cat /proc/self/maps" | cat' |
		grep -c comdet >plain
	"$TOOL" record --objects on -o out -- \
		sh -c 'sh -c "env; cat /proc/self/maps" | cat' 2>/dev/null |
		grep LD_PRELOAD && fail "LD_PRELOAD stays"
	"$TOOL" record --objects on -o out -- sh -c 'cat /proc/self/maps; :' \
		2>/dev/null | grep -q libcomdet && fail "a child has our library"
	return 0
}

# same COMMAND... - its output and status are the same, with malloc of the C
# library also where call paths are noted
same()
{
	local allocator status paths=-g

	"$@" <text >plain 2>plain.err
	status=$?
	for allocator in "${allocators[@]}"; do
		# shellcheck disable=SC2086
		LD_PRELOAD=$allocator "$TOOL" record --objects on $paths \
			-F 1000 -o out -- "$@" <text >with 2>with.err
		[ $? = $status ] || fail "$* with '$allocator': another status"
		cmp -s plain with || fail "$* with '$allocator': another output"
		paths=
	done
}

programs_run_as_without()
{
	seq 1 20000 >text
	export PYTHONHASHSEED=0 PERL_HASH_SEED=0 LC_ALL=C.UTF-8
	same sort -rn
	same sed 's/7/seven/g'
	same awk '{ n[$1 % 97] += $1 } END { for (i in n) print i, n[i] }'
	same perl -ne '$n{$_ % 97} .= $_; END { print length $n{3} }'
	same python3 -c 'import json, threading
r = []
def f(n):
    r.append(sum(len(json.dumps({i: str(i)})) for i in range(n)))
t = [threading.Thread(target=f, args=(20000,)) for _ in range(4)]
[x.start() for x in t]; [x.join() for x in t]; print(sorted(r))'
	PYTHONMALLOC=malloc same python3 -c 'print(sum(len(str(i)) for i in range(300000)))'
	same bash -c 'a=(); for i in {1..3000}; do a+=("$i"); done; (echo ${#a[@]}); echo "${a[@]}" | md5sum; exit 3'
	same xz -9 -T 2 -c
	same git -C "$TOP" log --oneline -n 50
	same sh -c 'kill -9 $$'
}

# An operator new that throws, huge and zero sizes, failures of realloc.
odd_requests_are_answered_as_without()
{
	command -v g++ >/dev/null || { echo "no g++"; return; }
	cat >odd.cc <<-'PROGRAM'
	#include <cerrno>
	#include <cstdio>
	#include <cstdlib>
	#include <cstring>
	#include <malloc.h>
	#include <new>
	struct alignas(256) wide { char c[256]; };
	int main()
	{
		volatile size_t huge = (size_t)1 << 62;
		char *p = (char *)malloc(100);
		try { delete[] new char[huge]; } catch (std::bad_alloc &) { puts("bad"); }
		printf("%d\n", new (std::nothrow) char[huge] == nullptr);
		strcpy(p, "kept");
		printf("%d %s\n", realloc(p, huge) == nullptr, p);
		p = (char *)realloc(p, 200000);
		puts(p);
		errno = 7; free(p); printf("%d\n", errno);
		errno = 0; printf("%d %d\n", malloc(huge) == nullptr, errno == ENOMEM);
		printf("%d\n", calloc(huge, 8) == nullptr);
		wide *w = new wide; printf("%d\n", (int)((size_t)w % 256)); delete w;
		wide *v = new wide[3]; printf("%d\n", (int)((size_t)v % 256)); delete[] v;
		void *m; printf("%d %d\n", posix_memalign(&m, 4096, 10), (int)((size_t)m % 4096));
		printf("%d\n", posix_memalign(&m, 3, 10) == EINVAL);
		free(aligned_alloc(64, 640)); free(memalign(32, 5)); free(valloc(1)); free(pvalloc(1));
		free(nullptr); free(malloc(0)); printf("%d\n", (int)(malloc_usable_size(p = (char *)malloc(24)) >= 24));
		free(p); free(realloc(nullptr, 10));
	}
	PROGRAM
	g++ -O1 -w -o odd odd.cc || fail "g++"
	: >text
	allocators=("")
	same ./odd
}

# A thread without a guard below its stack, a coroutine's stack in its place,
# and an unwind table that is wrong.
stacks_that_go_are_not_read()
{
	: >text
	allocators=("")
	same "$B/tests/programs/help_stacks"
}

# The program has no operators, other libraries do not see those of a plugin,
# and another plugin has operators that do what malloc and free do not.
plugins_have_the_operators_that_they_have_without()
{
	command -v g++ >/dev/null || { echo "no g++"; return; }
	cat >standard.cc <<-'PROGRAM'
	#include <new>
	struct alignas(256) wide { char c[256]; };
	extern "C" int plugin()
	{
		int *volatile p = new int[5];
		int *volatile q = new (std::nothrow) int;
		wide *volatile w = new wide;
		int apart = (int)((unsigned long)w % 256);

		delete[] p; delete q; delete w;
		return apart;
	}
	PROGRAM
	cat >own.cc <<-'PROGRAM'
	#include <cstddef>
	#include <cstdlib>
	static int calls;
	void *operator new(size_t n) { calls++; return (char *)malloc(n + 64) + 64; }
	void operator delete(void *p) noexcept { calls += 10; free((char *)p - 64); }
	void operator delete(void *p, size_t) noexcept { operator delete(p); }
	extern "C" int plugin()
	{
		int *volatile p = new int;

		delete p;
		return calls;
	}
	PROGRAM
	cat >host.c <<-'PROGRAM'
	#include <dlfcn.h>
	#include <stdio.h>
	int main(void)
	{
		for (int i = 0; i < 6; i++) {
			void *p = dlopen(i % 2 ? "./standard.so" : "./own.so",
					 RTLD_NOW | RTLD_LOCAL);
			int (*f)(void) = (int (*)(void))dlsym(p, "plugin");

			printf("%d\n", f());
			if (i < 3)
				dlclose(p);
		}
	}
	PROGRAM
	g++ -std=c++17 -O0 -w -shared -fPIC -o standard.so standard.cc &&
		g++ -O0 -w -shared -fPIC -o own.so own.cc &&
		gcc -w -o host host.c -ldl || fail "g++"
	: >text
	allocators=("")
	same ./host
}

run_claims "${1:-}" \
	blocks_in_c_name_their_call \
	blocks_in_c_plus_plus_name_their_call \
	blocks_of_one_call_are_told_apart_by_their_callers \
	what_our_own_code_accesses_is_not_the_programs \
	without_the_option_nothing_is_loaded \
	what_the_program_starts_is_not_touched \
	programs_run_as_without \
	odd_requests_are_answered_as_without \
	stacks_that_go_are_not_read \
	plugins_have_the_operators_that_they_have_without
