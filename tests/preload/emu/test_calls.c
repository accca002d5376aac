/* SPDX-License-Identifier: MIT */
/*
 * test_calls - whoever waits on a futex is woken, at whatever moment
 *
 * Two threads of an emulated program run at once, because the turn of one was
 * taken while it was stuck. One of them waits for the end of the other.
 * --wrap makes begin_waiting call __wrap_emu_scheduler_leave: there the other
 * thread ends before the first one has left its turn, unless a lock stops it.
 */
#include <check.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "preload/emu/asleep.h"
#include "preload/emu/calls.h"
#include "preload/emu/scheduler.h"
#include "tests/run_suite.h"

enum {
	ENDING, /* the thread that ends, and the one that waits for it */
	WAITING,
	THREADS
};

/* The word that the kernel clears at the end of a thread. */
static _Atomic uint32_t lives = 1;

static _Atomic uint32_t may_end, ends, has_ended;

void __real_emu_scheduler_leave(struct vcpu *v, uint64_t futex);
void __wrap_emu_scheduler_leave(struct vcpu *v, uint64_t futex);

static void nap(void)
{
	nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
}

void __wrap_emu_scheduler_leave(struct vcpu *v, uint64_t futex)
{
	atomic_store(&may_end, 1);
	syscall(SYS_futex, &may_end, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	while (!atomic_load(&ends))
		nap();
	while (!atomic_load(&has_ended) &&
	       emu_asleep(emu.vcpu[ENDING].tid) == ASLEEP_NOT)
		nap();
	__real_emu_scheduler_leave(v, futex);
}

static struct vcpu *begin(int index)
{
	struct vcpu *v = &emu.vcpu[index];

	v->tid = gettid();
	emu_scheduler_begin(v);
	return v;
}

/* Its turn is taken while it sleeps; then it ends. */
static void *end(void *arg)
{
	const uint64_t none[EMU_CALL_ARGS] = { 0 };
	struct vcpu *v = begin(ENDING);

	emu_scheduler_end(v);
	while (!atomic_load(&may_end))
		syscall(SYS_futex, &may_end, FUTEX_WAIT_PRIVATE, 0, NULL, NULL,
			0);
	atomic_store(&ends, 1);
	emu_calls_begin(v, SYS_exit, none);
	emu_calls_exit(v);
	atomic_store(&has_ended, 1);
	return NULL;
}

/* What pthread_join does; the kernel's part in it takes no time. */
static void *wait_for_the_end(void *arg)
{
	const uint64_t wait[EMU_CALL_ARGS] = { (uintptr_t)&lives, FUTEX_WAIT,
					       1 };
	struct vcpu *v = begin(WAITING);

	emu_scheduler_yield(v);
	emu_calls_begin(v, SYS_futex, wait);
	emu_calls_return(v, SYS_futex, 0);
	emu_calls_exit(v);
	return NULL;
}

START_TEST(a_thread_that_ends_wakes_one_that_only_begins_to_wait)
{
	void *(*const body[THREADS])(void *) = { end, wait_for_the_end };
	static struct cdp_thread record;
	pthread_t thread[THREADS];

	emu.vcpu = calloc(EMU_VCPUS_MAX, sizeof(*emu.vcpu));
	ck_assert_ptr_nonnull(emu.vcpu);
	emu.config.slice = 100;
	emu.domains = 1;
	emu_scheduler_init();
	emu_calls_init();
	for (int i = 0; i < THREADS; i++) {
		emu.vcpu[i].record = &record;
		emu_scheduler_create(&emu.vcpu[i]);
	}
	emu.vcpu[ENDING].clear_tid = (uintptr_t)&lives;
	for (int i = 0; i < THREADS; i++)
		ck_assert_int_eq(
			pthread_create(&thread[i], NULL, body[i], NULL), 0);
	for (int i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_join(thread[i], NULL), 0);
	/* Else the threads never ran at once. */
	ck_assert_uint_ge(emu_scheduler_counts().by_time, 1);
	free(emu.vcpu);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("calls");
	TCase *t = tcase_create("calls");

	tcase_set_timeout(t, 30);
	tcase_add_test(t,
		       a_thread_that_ends_wakes_one_that_only_begins_to_wait);
	suite_add_tcase(s, t);
	return run_suite(s);
}
