/* SPDX-License-Identifier: MIT */
/*
 * callers_time - how long the signal handler takes to find a path (record -g)
 *
 * Linked into libcomdet-timed.so, the library with these two functions wrapped.
 * At the end lines on standard error have the median and the 99th percentile of
 * the CPU time, in nanoseconds: of the walk of the stack, and of all that is
 * done for a path, with the replay of the window and the path's number. A look
 * at the clock is in both.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "preload/sources/callers.h"
#include "src/unwind/unwind.h"

enum {
	TIMES = 1 << 16,
};

static struct times {
	const char *name;
	_Atomic uint32_t taken;
	uint32_t ns[TIMES];
} walks = { .name = "walk" }, paths = { .name = "path" };

void __real_callers_of_choice(struct thread *t, const struct choice *c);
void __wrap_callers_of_choice(struct thread *t, const struct choice *c);
unsigned __real_unwind_frames(const struct unwind_space *space,
			      struct unwind_registers *regs,
			      struct unwind_frame *frame, unsigned max,
			      enum unwind_end *end);
unsigned __wrap_unwind_frames(const struct unwind_space *space,
			      struct unwind_registers *regs,
			      struct unwind_frame *frame, unsigned max,
			      enum unwind_end *end);

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void add(struct times *t, uint64_t since)
{
	uint64_t ns = now() - since;
	uint32_t i = atomic_fetch_add(&t->taken, 1);

	if (i < TIMES)
		t->ns[i] = (uint32_t)ns;
}

void __wrap_callers_of_choice(struct thread *t, const struct choice *c)
{
	uint64_t since = now();

	__real_callers_of_choice(t, c);
	add(&paths, since);
}

unsigned __wrap_unwind_frames(const struct unwind_space *space,
			      struct unwind_registers *regs,
			      struct unwind_frame *frame, unsigned max,
			      enum unwind_end *end)
{
	uint64_t since = now();
	unsigned n = __real_unwind_frames(space, regs, frame, max, end);

	add(&walks, since);
	return n;
}

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void print(struct times *t)
{
	uint32_t n = atomic_load(&t->taken);

	n = n < TIMES ? n : TIMES;
	qsort(t->ns, n, sizeof(t->ns[0]), compare);
	if (n)
		fprintf(stderr,
			"callers_time: %s: %u, median %u ns, 99 %% %u ns\n",
			t->name, n, t->ns[n / 2], t->ns[n - 1 - n / 100]);
}

__attribute__((destructor)) static void end(void)
{
	print(&walks);
	print(&paths);
}
