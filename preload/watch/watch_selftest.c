/* SPDX-License-Identifier: MIT */
/*
 * watch_selftest - find out whether the debug registers work here
 *
 * Some virtual machines let breakpoints be opened and never fire them; a
 * debugger may own the registers. So the self-test triggers each of them.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "watch.h"
#include "preload/core/thread.h"
#include "preload/core/timing.h"

enum {
	PATIENCE_NS = 1000 * 1000
};

static volatile uint64_t target[8] __attribute__((aligned(64)));

static uint64_t load_traps(const struct thread *t)
{
	return __atomic_load_n(&t->record->traps, __ATOMIC_RELAXED);
}

/* Open as many registers as possible; return how many that is. */
static int openable(struct thread *t)
{
	struct watch_range r[COMM_REGISTERS_MAX];
	int n;

	for (int i = 0; i < COMM_REGISTERS_MAX; i++)
		r[i] = (struct watch_range){ (uint64_t)(uintptr_t)&target[i],
					     8 };
	for (; runtime.registers; runtime.registers--) {
		n = watch_ops.arm(t, r, runtime.registers);
		if (n == (int)runtime.registers)
			return n;
		watch_thread_end(t);
	}
	return 0;
}

int watch_selftest(char *reason, size_t size)
{
	struct thread *t = thread_self();
	uint32_t wanted = runtime.registers;
	int n = openable(t), fired = 0;

	if (!n) {
		snprintf(reason, size,
			 "no debug register could be opened: a debugger has "
			 "them, or perf_events is not permitted");
		return 0;
	}
	for (int i = 0; i < n; i++) {
		uint64_t before = load_traps(t), start = now_ns();

		target[i] = 1;
		while (load_traps(t) == before &&
		       now_ns() < start + PATIENCE_NS)
			; /* a queued signal may take a moment */
		fired += load_traps(t) > before;
	}
	watch_thread_end(t); /* they are opened again when they are needed */
	t->record->traps = t->record->arms = 0;
	if (fired < n) {
		runtime.registers = 0;
		snprintf(reason, size,
			 "a watchpoint was armed and did not fire: this "
			 "virtual machine does not pass debug registers on");
		return 0;
	}
	if (n < (int)wanted)
		snprintf(reason, size,
			 "%d of %u could be opened: something else uses the "
			 "others",
			 n, wanted);
	return n;
}
