#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_instr_stacks - call paths where functions do not end in their order
#
#	check_instr_stacks.sh [CLAIM]
#
# programs/instr has coroutines, handlers, exceptions, threads and children
# (stacks.c, throws.cc). There are also several copies of the hooks, clang's
# hooks, and a full table. A path may end early where a claim says so, but the
# part that it has must be right.

. "$(dirname "$0")/paths.sh"

compiled()
{
	"$@" || fail "$*"
}

OWN='touch own coroutine main'
OTHER='touch other start_other'

coroutines_have_paths_of_their_own()
{
	recorded COMDET_PERIOD=500 "$INSTR/stacks" coroutine 300
	paths_hold touch "total > 0 and set(ways) == {
		('$OWN', '$OTHER'), ('$OTHER', '$OWN')}"
}

# A function on the upper stack assumes that the frames below were left by a
# jump.
stacks_side_by_side_are_not_mixed()
{
	local own='touch own neighbours main'
	local another='touch another start_another'

	recorded COMDET_PERIOD=500 "$INSTR/stacks" neighbours 300
	paths_hold touch "len(ways) >= 3 and all(
		is_end(p, '$own', '$OTHER', '$another') for p in known)"
	paths_hold touch "'$own' in known and '$OTHER' in known"
}

handlers_on_a_stack_of_their_own_are_outermost()
{
	local own='touch own_with_signals handler main'

	recorded COMDET_PERIOD=500 "$INSTR/stacks" handler 100
	paths_hold touch "total > 0 and set(ways) == {
		('$own', 'touch on_signal'), ('touch on_signal', '$own')}"
}

threads_may_end_within_a_function()
{
	recorded COMDET_PERIOD=500 "$INSTR/stacks" exits 300
	paths_hold touch "total > 0 and 'touch deeper deep work' in known and
		known <= {'touch deeper deep work', 'touch work'}"
}

# The child does not know the callers from before it began.
children_have_paths_too()
{
	local whole='touch each all forks main'

	recorded 'COMDET_PERIOD=500 COMDET_CHILDREN=1' \
		"$INSTR/stacks" forks 300
	[ "$(ask "$WORK/json" 'len(r["processes"])')" = 2 ] || fail 'no child'
	paths_hold touch "set(ways) == {('$whole', '$whole'),
		('touch each all forks', 'touch each all forks')}"
}

# On a thread's own stack a path goes on across functions without hooks.
a_child_has_the_stack_of_the_thread_that_forked_it()
{
	recorded 'COMDET_PERIOD=500 COMDET_CHILDREN=1' \
		"$INSTR/stacks" switched 300
	[ "$(ask "$WORK/json" 'len(r["processes"])')" = 2 ] || fail 'no child'
	paths_hold touch "total > 0 and set(ways) == {
		('touch each gap work_across',) * 2}"
	paths_hold touch "loss['no_path'] == 0"
}

# Of 10,000 reuses 100 +- 10 are samples, too: 0.995, or 1 if those count twice.
a_path_that_is_cut_is_counted_once()
{
	cat >"$WORK/wide.c" <<-'EOF'
	static volatile char data[1000];
	__attribute__((noipa)) static int each(void)
	{
		int sum = 0;

		for (int k = 0; k < 1000; k++)
			sum += data[k];
		return sum;
	}
	__attribute__((noipa)) static int wide(void)
	{
		volatile char room[1 << 20];
		int sum = 0;

		room[0] = 0;
		for (int i = 0; i < 1000; i++)
			sum += each();
		return sum + room[0];
	}
	int main(void)
	{
		return wide();
	}
	EOF
	compiled gcc -O2 -g -fsanitize=thread -c -o "$WORK/wide.o" \
		"$WORK/wide.c"
	compiled gcc -o "$WORK/wide" "$WORK/wide.o" -L"$B" \
		-l:libcomdet-instr.a
	recorded COMDET_PERIOD=100 "$WORK/wide"
	paths_hold each "total > 0 and set(known) == {'each wide'}"
	paths_hold each "[0.9 < loss['no_path'] /
		(t['samples']['uniform'] + t['traps']) < 0.998
		for t in report['threads']] == [True]"
}

# Losing 8 KiB in each cycle and thread would make 800 pages.
libraries_that_come_and_go_leave_nothing_behind()
{
	cat >"$WORK/guest.c" <<-'EOF'
	int guest(volatile char *p);
	int guest(volatile char *p)
	{
		int sum = 0;

		for (int k = 0; k < 1000; k++)
			sum += p[k];
		return sum;
	}
	EOF
	cat >"$WORK/host.c" <<-'EOF'
	#include <dlfcn.h>
	#include <pthread.h>
	#include <stdio.h>
	#include <stdlib.h>
	static volatile char data[1000];
	static int (*guest)(volatile char *p);
	static pthread_barrier_t barrier;
	static int sum[2];
	static void *work(void *arg)
	{
		for (int i = 0; i < 220; i++) {
			pthread_barrier_wait(&barrier);
			sum[1] += guest(data);
			pthread_barrier_wait(&barrier);
		}
		return NULL;
	}
	static long pages(void)
	{
		FILE *f = fopen("/proc/self/statm", "r");
		long n;

		if (!f || fscanf(f, "%ld", &n) != 1)
			exit(1);
		fclose(f);
		return n;
	}
	int main(int argc, char **argv)
	{
		pthread_t thread;
		long before = 0;

		pthread_barrier_init(&barrier, NULL, 2);
		if (pthread_create(&thread, NULL, work, NULL))
			return 1;
		for (int i = 0; i < 220; i++) {
			void *library = dlopen(argv[1], RTLD_NOW);

			if (!library)
				return 1;
			*(void **)&guest = dlsym(library, "guest");
			pthread_barrier_wait(&barrier);
			sum[0] += guest(data);
			pthread_barrier_wait(&barrier);
			dlclose(library);
			if (i == 20)
				before = pages();
		}
		if (getenv("GROWN"))
			fprintf(stderr, "%ld\n", pages() - before);
		pthread_join(thread, NULL);
		printf("%d %d\n", sum[0], sum[1]);
		return 0;
	}
	EOF
	compiled gcc -O2 -g -fPIC -fsanitize=thread -c \
		-o "$WORK/guest.o" "$WORK/guest.c"
	compiled gcc -O2 -g -fsanitize=thread -c \
		-o "$WORK/host.o" "$WORK/host.c"
	compiled gcc -shared -o "$WORK/libguest.so" "$WORK/guest.o" -L"$B" \
		-l:libcomdet-instr.a
	compiled gcc -pthread -o "$WORK/host" "$WORK/host.o" -L"$B" \
		-l:libcomdet-instr.a -ldl
	recorded "COMDET_PERIOD=500 GROWN=1" "$WORK/host" "$WORK/libguest.so" \
		2>"$WORK/grown"
	paths_hold guest "any(s.get('pairs') for s in report['reuse'])"
	[ "$(tail -n 1 "$WORK/grown")" -lt 100 ] ||
		fail "grown by $(cat "$WORK/grown") pages"
}

# The paths have more than 65,536 nodes. A path without room is left out; it
# does not become another path.
a_full_table_is_said_and_nothing_is_wrong()
{
	recorded COMDET_PERIOD=100 "$INSTR/stacks" choices 150
	paths_hold touch "loss['no_path'] > 0 and len(known) > 100"
	paths_hold touch "all([w.split('_')[0] for w in p.split()] ==
		'touch leaf p o n m l k j i h g f e d c b choices main'.split()
		for p in known)"
}

# An exception passes three functions and is caught. Then a function with a
# larger frame is called.
exceptions_leave_no_frame_behind()
{
	local way='touch widely catches rounds main'
	local thrown='touch throws through again catches rounds main'

	compiled g++ -O2 -g -Wno-tsan -fsanitize=thread -c \
		-o "$WORK/throws.o" "$TOP/tests/programs/instr/throws.cc"
	compiled g++ -pthread -o "$WORK/throws" "$WORK/throws.o" \
		-L"$B" -l:libcomdet-instr.a
	recorded COMDET_PERIOD=500 "$WORK/throws" 100
	paths_hold touch "total > 0 and set(ways) == {
		('$way', '$thrown'), ('$thrown', '$way')}"
}

# Each function calls one that was linked with the other copy.
copies_of_the_hooks_share_a_path()
{
	local way='touch program_second library_first program_first main'

	cat >"$WORK/library.c" <<-'EOF'
	int program_second(volatile char *p, int k);
	__attribute__((noipa)) int library_first(volatile char *p, int k)
	{
		return program_second(p, k) + 1;
	}
	__attribute__((noipa)) int touch(volatile char *p, int k)
	{
		return p[k];
	}
	EOF
	cat >"$WORK/program.c" <<-'EOF'
	int library_first(volatile char *p, int k);
	int touch(volatile char *p, int k);
	static volatile char data[1000];
	__attribute__((noipa)) int program_second(volatile char *p, int k)
	{
		return touch(p, k) + 1;
	}
	__attribute__((noipa)) static int program_first(void)
	{
		int sum = 0;

		for (int k = 0; k < 1000; k++)
			sum += library_first(data, k);
		return sum;
	}
	int main(void)
	{
		int sum = 0;

		for (int i = 0; i < 300; i++)
			sum += program_first();
		return !sum;
	}
	EOF
	compiled gcc -O2 -g -fPIC -fsanitize=thread -c \
		-o "$WORK/library.o" "$WORK/library.c"
	compiled gcc -O2 -g -fsanitize=thread -c \
		-o "$WORK/program.o" "$WORK/program.c"
	compiled gcc -shared -o "$WORK/libhalf.so" "$WORK/library.o" -L"$B" \
		-l:libcomdet-instr.a
	compiled gcc -rdynamic -o "$WORK/program" "$WORK/program.o" \
		-L"$WORK" -lhalf -L"$B" -l:libcomdet-instr.a \
		-Wl,-rpath,"$WORK"
	recorded COMDET_PERIOD=500 "$WORK/program"
	paths_hold touch "total > 0 and set(ways) == {('$way', '$way')}"
}

clangs_hooks_have_the_same_paths()
{
	command -v clang >/dev/null || {
		echo 'no clang: its hooks not tried'
		return 0
	}
	compiled clang -O2 -g -fsanitize=thread -c -o "$WORK/stacks.o" \
		"$TOP/tests/programs/instr/stacks.c"
	compiled clang -pthread -o "$WORK/stacks" "$WORK/stacks.o" \
		-L"$B" -l:libcomdet-instr.a
	recorded COMDET_PERIOD=500 "$WORK/stacks" coroutine 300
	paths_hold touch "total > 0 and set(ways) == {
		('$OWN', '$OTHER'), ('$OTHER', '$OWN')}"
}

for claim in coroutines_have_paths_of_their_own \
	stacks_side_by_side_are_not_mixed \
	handlers_on_a_stack_of_their_own_are_outermost \
	threads_may_end_within_a_function \
	children_have_paths_too \
	a_child_has_the_stack_of_the_thread_that_forked_it \
	a_path_that_is_cut_is_counted_once \
	libraries_that_come_and_go_leave_nothing_behind \
	a_full_table_is_said_and_nothing_is_wrong \
	exceptions_leave_no_frame_behind \
	copies_of_the_hooks_share_a_path \
	clangs_hooks_have_the_same_paths; do
	[ $# = 0 ] || [ "$1" = "$claim" ] || continue
	start=$SECONDS
	$claim
	echo "$claim $((SECONDS - start)) s"
done
