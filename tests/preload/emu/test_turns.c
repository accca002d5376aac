/* SPDX-License-Identifier: MIT */
/*
 * test_turns - threads that take turns never wait for each other for ever
 *
 * Two threads take turns as threads of an emulated program do. Futexes of the
 * test stand for those of QEMU, on which the thread with the turn may wait for
 * the other one.
 */
#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/emu/scheduler.h"
#include "preload/emu/turns.h"
#include "tests/run_suite.h"

enum {
	LONG_MS = 60 /* the watcher looks often meanwhile */
};

static _Atomic uint32_t first_goes_on, second_goes_on;

static void wait_for(_Atomic uint32_t *futex)
{
	while (!atomic_load(futex))
		syscall(SYS_futex, futex, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}

static void let_go_on(_Atomic uint32_t *futex)
{
	atomic_store(futex, 1);
	syscall(SYS_futex, futex, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static struct vcpu *begin(int index)
{
	struct vcpu *v = &emu.vcpu[index];

	v->tid = gettid();
	emu_scheduler_begin(v);
	return v;
}

/* Its turn is taken while it sleeps; afterwards it wants another one. */
static void *first(void *arg)
{
	struct vcpu *v = begin(0);

	emu_scheduler_end(v);
	wait_for(&first_goes_on);
	emu_scheduler_end(v);
	let_go_on(&second_goes_on);
	emu_scheduler_exit(v);
	return NULL;
}

/* It cannot drain: it waits in a system call. */
static void *second(void *arg)
{
	struct vcpu *v = begin(1);

	emu_scheduler_yield(v);
	let_go_on(&first_goes_on);
	wait_for(&second_goes_on);
	emu_scheduler_exit(v);
	return NULL;
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* It sleeps where a thread sleeps that wants the lock of the turns. */
static void *wants_the_lock(void *arg)
{
	const struct timespec patience = { 0, LONG_MS * 1000000 };
	uint32_t *lock = (uint32_t *)&emu_turns.lock;
	struct vcpu *v = begin(0);
	uint64_t end;

	emu_scheduler_end(v);
	for (end = now_ms() + LONG_MS; now_ms() < end;)
		syscall(SYS_futex, lock, FUTEX_WAIT_PRIVATE,
			__atomic_load_n(lock, __ATOMIC_RELAXED), &patience,
			NULL, 0);
	emu_scheduler_exit(v);
	return NULL;
}

static void *has_a_turn(void *arg)
{
	struct vcpu *v = begin(1);

	emu_scheduler_yield(v);
	emu_scheduler_exit(v);
	return NULL;
}

/* Two threads take turns; returns how many of them were taken. */
static uint64_t take_turns(void *(*const body[2])(void *))
{
	struct cdp_thread record[] = { { .id = 0 }, { .id = 1 } };
	pthread_t thread[2];

	emu.vcpu = calloc(EMU_VCPUS_MAX, sizeof(*emu.vcpu));
	ck_assert_ptr_nonnull(emu.vcpu);
	emu.config.slice = 100;
	emu.domains = 1;
	emu_scheduler_init();
	for (int i = 0; i < 2; i++) {
		emu.vcpu[i].record = &record[i];
		emu_scheduler_create(&emu.vcpu[i]);
	}
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(
			pthread_create(&thread[i], NULL, body[i], NULL), 0);
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(pthread_join(thread[i], NULL), 0);
	free(emu.vcpu);
	return emu_scheduler_counts().by_time;
}

START_TEST(a_thread_whose_turn_was_taken_watches_the_next)
{
	ck_assert_uint_ge(
		take_turns((void *(*const[])(void *)){ first, second }), 1);
}
END_TEST

/* The watcher has the lock while it looks. */
START_TEST(a_thread_that_waits_for_the_watcher_keeps_its_turn)
{
	ck_assert_uint_eq(take_turns((void *(*const[])(void *)){ wants_the_lock,
								 has_a_turn }),
			  0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("turns");
	TCase *t = tcase_create("turns");

	tcase_set_timeout(t, 30);
	tcase_add_test(t, a_thread_whose_turn_was_taken_watches_the_next);
	tcase_add_test(t, a_thread_that_waits_for_the_watcher_keeps_its_turn);
	suite_add_tcase(s, t);
	return run_suite(s);
}
