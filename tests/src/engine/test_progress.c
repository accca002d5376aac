/* SPDX-License-Identifier: MIT */
/*
 * test_progress - every wait for a lock of the engines ends
 *
 * docs/memory-model.md, "Who waits, and why it ends", has the premises. Each
 * test runs a process that keeps one of them, and must end. Where breaking the
 * premise soon hangs a process, a second process breaks it and must hang: a
 * test that cannot hang would prove nothing.
 */
#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "src/base/spin_lock.h"
#include "src/engine/reuse_table.h"
#include "src/engine/transfer.h"
#include "tests/run_suite.h"

enum {
	WORKERS = 3,
	OPERATIONS = 20000, /* of each worker */
	LINE = 64,
	LINES = 8,
	SLOTS = 2,
	SPINS = 10,
	SIGNAL_NS = 50000, /* from one signal to the next, of each worker */
	POLL_NS = 10000000,
	HANGS_MS = 1000,   /* without a step: a process that is to hang */
	LOADED_MS = 60000, /* the same, of one that is not, on a busy machine */
	FORKS = 60,
	ROUNDS = 50,
};

#define BASE UINT64_C(0x40000)

/* Shared by a process and the test that looks at it. */
static _Atomic uint64_t *steps;

/* The engines, and what they watch. */
static struct reuse *reuse;
static struct reuse_table *table;
static struct transfer *transfer;
static struct {
	_Atomic uint32_t generation, armed;
} watched[SLOTS];
static uint32_t generations[SLOTS];

struct worker {
	pthread_t id;
	struct reuse_thread reuse;
	struct transfer_thread transfer;
	struct rng rng;
	uint64_t made; /* accesses */
	bool blocks_signals;
};

static __thread struct worker *self;

/* The table's locks are always waited for: tried locks do without a table. */
static int arm(void *ctx, const struct reuse_watched *w)
{
	if (table)
		reuse_table_add(table, 0, w);
	else
		generations[w->slot] = w->generation;
	return 0;
}

static void disarm(void *ctx, uint32_t slot)
{
	if (table)
		reuse_table_remove(table, 0, slot);
}

static void decided(void *ctx, const struct reuse_event *v)
{
}

static int arm_line(void *ctx, const struct transfer_watched *w, uint64_t now,
		    uint64_t *ready)
{
	watched[w->slot].generation = w->generation;
	watched[w->slot].armed = true;
	*ready = now;
	return 0;
}

static void disarm_line(void *ctx, uint32_t slot)
{
	watched[slot].armed = false;
}

static void chain(void *ctx, const struct transfer_chain *c)
{
}

static void *map(size_t bytes, int how)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, how | MAP_ANONYMOUS,
		       -1, 0);

	if (p == MAP_FAILED)
		_exit(EXIT_FAILURE);
	return p;
}

/* @spins 0: locks are waited for without bound. */
static void make_engines(uint32_t spins)
{
	static const struct reuse_watch watch = { arm, disarm, NULL };
	static const struct reuse_sink sink = { decided };
	static const struct transfer_watch lines = { arm_line, disarm_line };
	static const struct transfer_sink chains = { chain };
	const uint32_t slots[REUSE_TABLE_ENGINES] = { SLOTS };
	const struct reuse_config r = {
		.scope = REUSE_GLOBAL,
		.granularity = REUSE_LINE,
		.line_bytes = LINE,
		.slots = SLOTS,
		.spins = spins,
	};
	const struct transfer_config t = {
		.kind = TRANSFER_EPOCH,
		.threads = WORKERS + 1,
		.slots = SLOTS,
		.line_bytes = LINE,
		.chunk_bytes = LINE,
		.ranges = 1,
		.spins = spins,
		.period = 1,
	};

	reuse = reuse_init(map(reuse_size(&r), MAP_PRIVATE), &r, &watch, &sink);
	table = NULL;
	if (!spins)
		table = reuse_table_init(
			map(reuse_table_size(slots), MAP_PRIVATE), slots);
	transfer = transfer_init(map(transfer_size(&t), MAP_PRIVATE), &t,
				 &lines, &chains);
	for (int i = 0; i < SLOTS; i++)
		watched[i].armed = false;
}

static void worker_init(struct worker *w, uint32_t i)
{
	const struct cpu_place place = { i, i, 0 };

	*w = (struct worker){ .made = 0 };
	reuse_thread_init(&w->reuse, &place, w, 1);
	transfer_thread_init(&w->transfer, i, w, 1);
	rng_seed(&w->rng, 1, i);
}

/* One access, which every engine samples and hears of. */
static void operate(struct worker *w)
{
	struct access a = {
		.addr = BASE + rng_below(&w->rng, LINES) * LINE,
		.len = 8,
		.ip = 1,
		.flags = w->made % 2 ? ACCESS_LOAD : ACCESS_STORE,
	};
	struct reuse_hit hit[REUSE_TABLE_HITS];
	uint32_t n = 0;

	if (table)
		n = reuse_table_find(table, &a, &w->reuse.place, hit);
	else
		for (; n < SLOTS; n++)
			hit[n] = (struct reuse_hit){ 0, n, generations[n] };
	w->made++;
	for (uint32_t i = 0; i < n; i++)
		reuse_trap(reuse, &w->reuse, hit[i].slot, hit[i].generation, &a,
			   w->made);
	reuse_sample(reuse, &w->reuse, &a, w->made);
	for (uint32_t i = 0; i < SLOTS; i++)
		if (watched[i].armed)
			transfer_trap(transfer, &w->transfer, i,
				      watched[i].generation, 0, &a, w->made, 0);
	transfer_sample(transfer, &w->transfer, &a, w->made, 0);
}

/* As a hook or a handler of ours calls the engines. */
static void operate_blocked(struct worker *w)
{
	sigset_t all, before;

	sigfillset(&all);
	if (w->blocks_signals)
		pthread_sigmask(SIG_BLOCK, &all, &before);
	operate(w);
	if (w->blocks_signals)
		pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void on_signal(int sig)
{
	if (self)
		operate_blocked(self);
}

static void start_signals(void)
{
	struct sigevent to = { .sigev_notify = SIGEV_THREAD_ID,
			       .sigev_signo = SIGRTMIN };
	struct itimerspec often = { { 0, SIGNAL_NS }, { 0, SIGNAL_NS } };
	timer_t timer;

	to._sigev_un._tid = (int)syscall(SYS_gettid);
	if (timer_create(CLOCK_MONOTONIC, &to, &timer) ||
	    timer_settime(timer, 0, &often, NULL))
		_exit(EXIT_FAILURE);
}

static void *work_with_signals(void *arg)
{
	self = arg;
	start_signals();
	for (int i = 0; i < OPERATIONS; i++) {
		operate_blocked(self);
		atomic_fetch_add(steps, 1);
	}
	self = NULL;
	return NULL;
}

static void operate_under_signals(bool block)
{
	struct sigaction act = { .sa_handler = on_signal,
				 .sa_flags = SA_RESTART };
	struct worker w[WORKERS];

	sigaction(SIGRTMIN, &act, NULL);
	make_engines(0);
	for (uint32_t i = 0; i < WORKERS; i++) {
		worker_init(&w[i], i);
		w[i].blocks_signals = block;
		pthread_create(&w[i].id, NULL, work_with_signals, &w[i]);
	}
	for (int i = 0; i < WORKERS; i++)
		pthread_join(w[i].id, NULL);
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * UINT64_C(1000) + now.tv_nsec / 1000000;
}

/*
 * Call @fn(@kept) in a process. Returns true if it ends without error, false if
 * it takes no step for @patience_ms; then it and its children are killed.
 */
static bool ends(void (*fn)(bool kept), bool kept, uint64_t patience_ms)
{
	const struct timespec moment = { 0, POLL_NS };
	uint64_t seen = 0, since = now_ms();
	int status = 0;
	pid_t child;

	steps = map(sizeof(*steps), MAP_SHARED);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (!child) {
		setpgid(0, 0);
		fn(kept);
		_exit(EXIT_SUCCESS);
	}
	setpgid(child, child);
	while (!waitpid(child, &status, WNOHANG)) {
		if (*steps != seen) {
			seen = *steps;
			since = now_ms();
		}
		if (now_ms() - since > patience_ms) {
			kill(-child, SIGKILL);
			waitpid(child, &status, 0);
			return false;
		}
		nanosleep(&moment, NULL);
	}
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), EXIT_SUCCESS);
	return true;
}

START_TEST(a_signal_that_waits_for_the_holder_finds_the_lock_free)
{
	ck_assert(ends(operate_under_signals, true, LOADED_MS));
}
END_TEST

START_TEST(a_handler_that_interrupts_a_holder_hangs)
{
	ck_assert(!ends(operate_under_signals, false, HANGS_MS));
}
END_TEST

/*
 * A single thread that does not block signals but tries a lock SPINS times.
 * When its handler finds a lock that the thread holds, it drops the event.
 */
static void drop_what_is_busy(bool kept)
{
	struct sigaction act = { .sa_handler = on_signal,
				 .sa_flags = SA_RESTART };
	struct worker w;

	sigaction(SIGRTMIN, &act, NULL);
	make_engines(SPINS);
	worker_init(&w, 0);
	self = &w;
	start_signals();
	while (!reuse_stats(reuse).busy_traps || !transfer_stats(transfer).busy)
		operate(&w);
	_exit(EXIT_SUCCESS);
}

START_TEST(a_handler_that_tries_a_lock_drops_and_counts)
{
	ck_assert(ends(drop_what_is_busy, true, LOADED_MS));
}
END_TEST

static _Atomic bool stop;

static void *work_until_stopped(void *arg)
{
	while (!stop)
		operate(arg);
	return NULL;
}

/* The child of a fork(). The preload and the plugin make engines @anew. */
static void operate_in_child(bool anew)
{
	struct worker w;

	if (anew)
		make_engines(0);
	worker_init(&w, WORKERS);
	for (int i = 0; i < OPERATIONS / FORKS; i++)
		operate(&w);
	_exit(EXIT_SUCCESS);
}

static void operate_and_fork(bool anew)
{
	struct worker w[WORKERS];
	int status;

	make_engines(0);
	for (uint32_t i = 0; i < WORKERS; i++) {
		worker_init(&w[i], i);
		pthread_create(&w[i].id, NULL, work_until_stopped, &w[i]);
	}
	for (int i = 0; i < FORKS; i++) {
		pid_t child = fork();

		if (!child)
			operate_in_child(anew);
		if (waitpid(child, &status, 0) != child || status)
			_exit(EXIT_FAILURE);
		atomic_fetch_add(steps, 1);
	}
	stop = true;
	for (int i = 0; i < WORKERS; i++)
		pthread_join(w[i].id, NULL);
}

START_TEST(a_forked_child_that_makes_its_engines_anew_goes_on)
{
	ck_assert(ends(operate_and_fork, true, LOADED_MS));
}
END_TEST

START_TEST(a_forked_child_that_uses_its_parents_engines_hangs)
{
	ck_assert(!ends(operate_and_fork, false, HANGS_MS));
}
END_TEST

/* The SCHED_FIFO waiter and the holder that it keeps from running. */
static _Atomic uint32_t lock, asked, answered;

static void *answer_at_once(void *arg)
{
	const struct timespec moment = { 0, SIGNAL_NS };

	for (uint32_t i = 1; i <= ROUNDS; i++) {
		while (asked != i)
			nanosleep(&moment, NULL);
		spin_lock(&lock);
		spin_unlock(&lock);
		atomic_fetch_add(steps, 1);
		answered = i;
	}
	return NULL;
}

/* The calling thread holds the lock when the waiter takes the processor. */
static void wait_with_priority(bool kept)
{
	struct sched_param first = { .sched_priority = 1 };
	pthread_t waiter;
	cpu_set_t one;

	sched_getaffinity(0, sizeof(one), &one);
	for (int i = CPU_SETSIZE - 1; CPU_COUNT(&one) > 1; i--)
		CPU_CLR(i, &one);
	sched_setaffinity(0, sizeof(one), &one);
	pthread_create(&waiter, NULL, answer_at_once, NULL);
	if (pthread_setschedparam(waiter, SCHED_FIFO, &first)) {
		printf("no SCHED_FIFO here: priorities are not tested\n");
		_exit(EXIT_SUCCESS);
	}
	for (uint32_t i = 1; i <= ROUNDS; i++) {
		uint64_t until = now_ms() + 2;

		spin_lock(&lock);
		asked = i;
		while (now_ms() < until) /* the waiter wakes up in here */
			;
		spin_unlock(&lock);
		while (answered != i)
			sched_yield();
	}
	pthread_join(waiter, NULL);
}

START_TEST(a_waiter_of_higher_priority_lets_the_holder_run)
{
	uint64_t begin = now_ms();

	ck_assert(ends(wait_with_priority, true, LOADED_MS));
	/*
	 * A waiter that never slept would keep the holder from running until
	 * the kernel throttles real-time threads, which takes nearly a second
	 * in each round (sched_rt_runtime_us).
	 */
	ck_assert_uint_lt(now_ms() - begin, ROUNDS * UINT64_C(500));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("progress");
	TCase *tc = tcase_create("progress");

	tcase_set_timeout(tc, 120);
	tcase_add_test(tc,
		       a_signal_that_waits_for_the_holder_finds_the_lock_free);
	tcase_add_test(tc, a_handler_that_interrupts_a_holder_hangs);
	tcase_add_test(tc, a_handler_that_tries_a_lock_drops_and_counts);
	tcase_add_test(tc, a_forked_child_that_makes_its_engines_anew_goes_on);
	tcase_add_test(tc, a_forked_child_that_uses_its_parents_engines_hangs);
	tcase_add_test(tc, a_waiter_of_higher_priority_lets_the_holder_run);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
