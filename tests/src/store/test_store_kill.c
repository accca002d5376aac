/* SPDX-License-Identifier: MIT */
/*
 * test_store_kill - the file after SIGKILL, and as a reader sees it meanwhile
 *
 * A child tallies from several threads and reports through a pipe how many
 * detections each thread has committed, after each. The parent kills it at a
 * random moment and reads the file. It must hold all detections that were
 * reported, at most one more for each thread (not reported yet), and only
 * complete records that were made.
 *
 * Random moments seldom fall between two stores of one record. So a second
 * writer is single-stepped, and the file is read after each instruction.
 */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

#include "tests/sandbox.h"
#include "src/store/cdp_read.h"
#include "src/base/rng.h"
#include "src/store/store.h"
#include "src/store/core_table.h"
#include "src/store/pair_table.h"
#include "tests/run_suite.h"

#define NAME "a.1.1.cdp"

enum {
	KILLS = SANITIZED ? 60 : 200,
	SLOWDOWN = SANITIZED ? 10 : 1, /* mostly that of fork */
	THREADS = 3,
	KINDS = 700,
	LOOKS = 100,
};

/* A field of a record is a function of its number and thread. */
static uint64_t mix(uint64_t thread, uint64_t n, uint64_t field)
{
	uint64_t x = thread << 40 ^ n << 8 ^ field;

	return rng_splitmix(&x);
}

static struct detection made(uint32_t thread, uint32_t n)
{
	return (struct detection){
		.publisher = { .addr = mix(thread, n, 1),
			       .ip = mix(thread, n, 2),
			       .len = 4,
			       .flags = ACCESS_STORE },
		.detector = { .addr = mix(thread, n, 3),
			      .ip = mix(thread, n, 4),
			      .len = 8,
			      .flags = ACCESS_LOAD },
		.line = mix(thread, n, 5),
		.publisher_thread = n,
		.detector_thread = thread,
		.publisher_core = n % 4,
		.detector_core = thread,
		.sharing = n % 2,
		.by = n / 2 % 2,
		.periods_q8 = 256,
	};
}

struct report {
	uint32_t thread, count;
};

static struct store store;
static int reports[2];

static void *tally(void *arg)
{
	struct pair_table pairs = { .writer.section = CDP_PAIRS };
	struct core_table cores = { .writer.section = CDP_CORES };
	struct report r = { .thread = (uintptr_t)arg };
	struct rng rng;

	rng_seed(&rng, 1, r.thread);
	for (;;) {
		struct detection d = made(r.thread, rng_below(&rng, KINDS));

		if (pair_table_add(&store, &pairs, &d, r.count, 0) ||
		    core_table_add(&store, &cores, &d))
			_exit(1);
		r.count++;
		if (reports[1] >= 0 &&
		    write(reports[1], &r, sizeof(r)) != sizeof(r))
			_exit(2);
	}
	return NULL;
}

static void child(void)
{
	pthread_t thread;

	if (store_create(&store, sandbox_fd, NAME, 16 << 20))
		_exit(3);
	for (uintptr_t i = 1; i < THREADS; i++)
		pthread_create(&thread, NULL, tally, (void *)i);
	tally(0);
}

/* Tallies that the stepped writer has made, in shared memory. */
struct steps {
	uint32_t pairs, cores;
};

/* All that ever happens to a file, once or twice each. */
static void child_in_steps(volatile struct steps *done)
{
	struct pair_table pairs = { .writer.section = CDP_PAIRS };
	struct core_table cores = { .writer.section = CDP_CORES };

	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
		_exit(77);
	raise(SIGSTOP);
	if (store_create(&store, sandbox_fd, NAME, 1 << 20))
		_exit(1);
	/* To the last page that is backed: the next one grows the file. */
	while (store.header->pages < STORE_FIRST_BYTES / CDP_PAGE_BYTES - 1)
		store_page(&store, CDP_MAPS);
	for (uint32_t n = 0; n < cdp_records_a_page(CDP_PAIRS) + 2; n++) {
		struct detection d = made(0, n);

		if (pair_table_add(&store, &pairs, &d, n, 0))
			_exit(1);
		done->pairs++;
		if (n % 8)
			continue;
		/* A pair and two cores again: counted where they are. */
		if (core_table_add(&store, &cores, &d))
			_exit(1);
		done->cores++;
		if (pair_table_add(&store, &pairs, &d, n, 0))
			_exit(1);
		done->pairs++;
	}
	_exit(0);
}

struct found {
	uint64_t pairs[THREADS], cores[THREADS];
};

static int check_pair(void *ctx, const void *record)
{
	const struct cdp_pair *p = record;
	uint32_t thread = p->detector_thread, n = p->publisher_thread;
	struct detection d = made(thread, n);

	ck_assert_uint_lt(thread, THREADS);
	ck_assert_uint_lt(n, KINDS);
	if (p->publisher_addr != d.publisher.addr ||
	    p->publisher_ip != d.publisher.ip ||
	    p->detector_addr != d.detector.addr ||
	    p->detector_ip != d.detector.ip || p->line != d.line ||
	    p->publisher_len != 4 || p->detector_len != 8 ||
	    p->sharing != d.sharing || p->by != d.by ||
	    p->publisher_flags != ACCESS_STORE ||
	    p->detector_flags != ACCESS_LOAD)
		ck_abort_msg("a record that was never made");
	/* Between their stores count is one ahead. */
	if (p->periods_q8 != p->count * 256 &&
	    p->periods_q8 != (p->count - 1) * 256)
		ck_abort_msg("%lu detections, %lu periods", p->count,
			     p->periods_q8);
	((struct found *)ctx)->pairs[thread] += p->count;
	return 0;
}

static int check_core(void *ctx, const void *record)
{
	const struct cdp_core *c = record;

	ck_assert_uint_lt(c->detector_core, THREADS);
	((struct found *)ctx)->cores[c->detector_core] +=
		c->count[SHARING_TRUE] + c->count[SHARING_FALSE];
	return 0;
}

/* Returns what cdp_open said. */
static int look(struct found *f)
{
	struct cdp_reader r;
	uint64_t bad = 0;
	int err = cdp_open(&r, sandbox_fd, NAME);

	memset(f, 0, sizeof(*f));
	if (err)
		return err;
	ck_assert_uint_eq(r.header.state, CDP_RUNNING);
	ck_assert_int_eq(cdp_each(&r, CDP_PAIRS, check_pair, f, &bad), 0);
	ck_assert_int_eq(cdp_each(&r, CDP_CORES, check_core, f, &bad), 0);
	ck_assert_uint_eq(bad, 0);
	cdp_close(&r);
	return 0;
}

static void pause_us(uint64_t us)
{
	struct timespec t = { us / 1000000, us % 1000000 * 1000 };

	nanosleep(&t, NULL);
}

START_TEST(what_was_reported_before_sigkill_is_in_the_file)
{
	int kills = _i ? KILLS / 4 : KILLS;
	uint64_t all = 0, begun = 0;
	struct rng rng;

	if (_i)
		deny_call(SYS_fallocate, EOPNOTSUPP);
	rng_seed(&rng, 4, _i);
	for (int n = 0; n < kills; n++) {
		uint64_t last[THREADS] = { 0 };
		struct report r;
		struct found f;
		int status, err;
		pid_t pid;

		ck_assert_int_eq(pipe(reports), 0);
		/* Room for many reports: nobody waits for the parent. */
		fcntl(reports[1], F_SETPIPE_SZ, 1 << 20);
		pid = fork();
		ck_assert_int_ge(pid, 0);
		if (!pid)
			child();
		close(reports[1]);
		/* Half of them from the fork on, half in the midst of it. */
		if (n % 2 && read(reports[0], &r, sizeof(r)) == sizeof(r))
			last[r.thread] = r.count;
		pause_us(rng_below(&rng, 2000) * SLOWDOWN);
		kill(pid, SIGKILL);
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		ck_assert(WIFSIGNALED(status));
		while (read(reports[0], &r, sizeof(r)) == sizeof(r))
			last[r.thread] = r.count;
		close(reports[0]);

		err = look(&f);
		for (int t = 0; t < THREADS; t++) {
			if (f.pairs[t] < last[t] || f.pairs[t] > last[t] + 1 ||
			    f.cores[t] < last[t] || f.cores[t] > last[t] + 1)
				ck_abort_msg("kill %d: %lu reported, %lu, %lu",
					     n, last[t], f.pairs[t],
					     f.cores[t]);
			all += last[t];
		}
		/* Not there yet, or killed in set-up. */
		ck_assert(!err || err == -ENOENT || err == -EMSGSIZE);
		begun += !err;
		unlinkat(sandbox_fd, NAME, 0);
	}
	ck_assert_uint_ge(begun, kills / 2);
	ck_assert_uint_ge(all, kills / 2);
}
END_TEST

START_TEST(after_every_instruction_the_file_holds_what_was_tallied)
{
	uint64_t steps = 0, read = 0;
	struct steps *done;
	struct found f = { 0 };
	int status;
	pid_t pid;

	if (SANITIZED) /* its instructions are too many */
		return;
	done = mmap(NULL, sizeof(*done), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(done, MAP_FAILED);
	if (_i)
		deny_call(SYS_fallocate, EOPNOTSUPP);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (!pid)
		child_in_steps(done);
	while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
		int err = look(&f);

		if (err && (read || (err != -ENOENT && err != -EMSGSIZE)))
			ck_abort_msg("step %lu: error %d", steps, err);
		read += !err;
		if (f.pairs[0] < done->pairs || f.pairs[0] > done->pairs + 1 ||
		    f.cores[0] < done->cores || f.cores[0] > done->cores + 1)
			ck_abort_msg("step %lu: %u, %u tallied, %lu, %lu read",
				     steps, done->pairs, done->cores,
				     f.pairs[0], f.cores[0]);
		steps++;
		ck_assert_int_eq(ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL), 0);
	}
	if (WEXITSTATUS(status) == 77) {
		fprintf(stderr, "skipped: no right to trace a child\n");
		return;
	}
	ck_assert_int_eq(status, 0);
	ck_assert_uint_gt(done->pairs, cdp_records_a_page(CDP_PAIRS) + 2);
	ck_assert_uint_gt(read, 1000);
}
END_TEST

START_TEST(a_reader_of_a_growing_file_sees_whole_records_and_no_steps_back)
{
	struct found before = { 0 }, now;
	uint64_t grown = 0;
	pid_t pid;

	reports[1] = -1;
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (!pid)
		child();
	for (int n = 0; n < 10000 && look(&now); n++)
		pause_us(1000);
	for (int n = 0; n < LOOKS; n++) {
		pause_us(200);
		ck_assert_int_eq(look(&now), 0);
		for (int t = 0; t < THREADS; t++) {
			ck_assert_uint_ge(now.pairs[t], before.pairs[t]);
			ck_assert_uint_ge(now.cores[t], before.cores[t]);
			grown += now.pairs[t] > before.pairs[t];
		}
		before = now;
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	ck_assert_uint_gt(grown, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("store_kill");
	TCase *tc = tcase_create("store_kill");

	tcase_add_checked_fixture(tc, sandbox_setup, sandbox_teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, what_was_reported_before_sigkill_is_in_the_file,
			    0, 2);
	tcase_add_loop_test(
		tc, after_every_instruction_the_file_holds_what_was_tallied, 0,
		2);
	tcase_add_test(
		tc,
		a_reader_of_a_growing_file_sees_whole_records_and_no_steps_back);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
