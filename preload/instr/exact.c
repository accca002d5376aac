/* SPDX-License-Identifier: MIT */
/*
 * exact - every access of instrumented code through the directory
 *
 * Each thread counts as a core of its own. The results are written when a
 * thread ends, and when the process ends or executes another program.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "exact.h"
#include "state.h"
#include "preload/core/sys.h"
#include "preload/core/thread.h"
#include "preload/signal/claimed.h"
#include "preload/threads/thread_rows.h"
#include "src/base/zero_pages.h"
#include "src/store/directory_store.h"
#include "src/base/signal_safe.h"

enum {
	LINE_BYTES = 64,
	REGIONS = 1 << 19, /* 8 GiB of lines that may be touched */
	REGIONS_MIN = 1 << 12,
	LOCK_TRIES = 100000,
};

static struct exact *exact;
static size_t exact_bytes;
static struct exact_thread *threads; /* by number in the directory */
static atomic_flag rows_lock = ATOMIC_FLAG_INIT;
static struct exact_rows rows;
static struct thread *living[EXACT_ROWS]; /* the same */

/*
 * A handler of the program may have interrupted the holder, and never return.
 */
static bool lock_rows(void)
{
	for (int i = 0; i < LOCK_TRIES; i++) {
		if (!atomic_flag_test_and_set_explicit(&rows_lock,
						       memory_order_acquire))
			return true;
		sched_yield();
	}
	return false;
}

static void unlock_rows(void)
{
	atomic_flag_clear_explicit(&rows_lock, memory_order_release);
}

int instr_exact_init(void)
{
	struct exact_config config = {
		.threads = EXACT_ROWS,
		.line_bytes = LINE_BYTES,
		.regions = REGIONS,
	};
	void *mem = NULL;

	if (exact) { /* in a forked child: it belongs to the parent */
		munmap(exact, exact_bytes);
		munmap(threads, EXACT_ROWS * sizeof(*threads));
	}
	exact = NULL;
	threads = zero_pages(EXACT_ROWS * sizeof(*threads));
	for (; config.regions >= REGIONS_MIN; config.regions /= 2) {
		exact_bytes = exact_size(&config);
		mem = zero_pages(exact_bytes);
		if (mem)
			break;
	}
	if (!mem || !threads)
		return -ENOMEM;
	atomic_flag_clear(&rows_lock);
	exact_rows_init(&rows);
	for (int i = 0; i < EXACT_ROWS; i++)
		living[i] = NULL;
	exact = exact_init(mem, &config);
	return exact ? 0 : -EINVAL;
}

void instr_exact_start(struct thread *t)
{
	int number = EXACT_ROWS_NONE;

	if (lock_rows()) {
		number = exact_rows_take(&rows, t->record->id, 0);
		if (number != EXACT_ROWS_NONE)
			living[number] = t;
		unlock_rows();
	}
	if (number != EXACT_ROWS_NONE) {
		instr_of(t)->exact = &threads[number];
		instr_of(t)->in_exact =
			!exact_thread_init(exact, instr_of(t)->exact, number);
	}
	if (instr_of(t)->in_exact)
		thread_mark_referenced(t->record->id);
	else
		count_loss(t, LOSS_NO_THREAD);
}

/*
 * A handler that jumps out of the middle of exact_access would leave a lock
 * behind. Blocking signals costs more than the call, so it is done only if the
 * program has handlers.
 */
void instr_exact_access(struct thread *t, const struct access *a,
			void (*taken)(void *ctx), void *ctx)
{
	uint64_t all = ~0ull, before;

	if (!instr_of(t)->in_exact)
		return;
	if (!atomic_load_explicit(&signal_handlers, memory_order_relaxed)) {
		exact_access_then(exact, instr_of(t)->exact, a, 0, taken, ctx);
		return;
	}
	sys_call4(SYS_rt_sigprocmask, SIG_BLOCK, &all, &before, sizeof(all));
	exact_access_then(exact, instr_of(t)->exact, a, 0, taken, ctx);
	sys_call4(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL,
		  sizeof(before));
}

void instr_exact_end(struct thread *t)
{
	instr_of(t)->in_exact = false;
	if (!lock_rows())
		return;
	exact_store_thread(&runtime.store, &rows, t->record->id,
			   &instr_of(t)->exact->counts);
	living[instr_of(t)->exact->id] = NULL;
	exact_rows_give(&rows, instr_of(t)->exact->id);
	unlock_rows();
}

uint32_t instr_exact_finish(void)
{
	if (!lock_rows())
		return 0;
	for (int i = 0; i < EXACT_ROWS; i++)
		if (living[i])
			exact_store_thread(&runtime.store, &rows,
					   living[i]->record->id,
					   &instr_of(living[i])->exact->counts);
	exact_store(&runtime.store, &rows, exact);
	unlock_rows();
	return rows.used_twice;
}
