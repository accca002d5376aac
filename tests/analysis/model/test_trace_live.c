/* SPDX-License-Identifier: MIT */
/*
 * test_trace_live - a trace from a pipe gives what it gives as a file
 */
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "analysis/model/simulate_many.h"
#include "analysis/model/trace_live.h"
#include "tests/fake/fake_trace.h"
#include "tests/run_suite.h"
#include "tests/sandbox.h"

enum {
	ROUNDS = 3000,
	THREADS = 3,
	MACHINES = 5,
	CODE = 0x401000,
	LOCK = 0x500000,
	DATA = 0x10000000,
};

static struct machine machine[MACHINES];
static struct fake_trace fake;
static char path[128], error[MACHINE_ERROR_BYTES];

/* Thread 0 creates the others; all load and store under a lock. */
static void begin(void)
{
	sandbox_setup();
	snprintf(path, sizeof(path), "%s/x.trace", sandbox);
	fake_trace_init(&fake);
	for (int i = 0; i < MACHINES; i++) {
		ck_assert(!machine_read(&machine[i], "golden-c3", error));
		machine[i].l2.size <<= i % 3;
		machine[i].ghz += i;
	}
	fake_trace_block(&fake, CODE);
	fake_trace_insn(&fake, "\x48\x8b\x08", 3); /* mov (%rax),%rcx */
	fake_trace_insn(&fake, "\x48\x89\x0a", 3); /* mov %rcx,(%rdx) */
	for (uint32_t i = 1; i < THREADS; i++) {
		fake_trace_event(&fake, 0, TRACE_CREATE, i, 0);
		fake_trace_event(&fake, i, TRACE_BEGIN, 0, 0);
	}
	for (uint64_t i = 0; i < ROUNDS; i++)
		for (uint32_t t = 0; t < THREADS; t++) {
			fake_trace_event(&fake, t, TRACE_LOCK, LOCK, 0);
			fake_trace_run(&fake, t, 0);
			fake_trace_access(&fake, t, 0, false,
					  DATA + 64 * (3 * (i % 900) + t));
			fake_trace_access(&fake, t, 1, true, DATA / 2);
			fake_trace_event(&fake, t, TRACE_UNLOCK, LOCK, 0);
		}
	for (uint32_t i = 1; i < THREADS; i++)
		fake_trace_event(&fake, 0, TRACE_JOIN, i, 0);
}

static void end(void)
{
	fake_trace_release(&fake);
	sandbox_teardown();
}

static int pipe_end;
static size_t to_send;

/* Send the file, or its beginning; a few bytes at a time, as pipes do. */
static void *send_file(void *unused)
{
	unsigned char bytes[777];
	FILE *f = fopen(path, "r");
	size_t n;

	while (to_send &&
	       (n = fread(bytes, 1,
			  to_send < sizeof(bytes) ? to_send : sizeof(bytes),
			  f)) > 0) {
		to_send -= n;
		if (write(pipe_end, bytes, n) != (ssize_t)n)
			break;
	}
	fclose(f);
	close(pipe_end);
	return NULL;
}

/* Simulate what comes through the pipe, on @n machines. */
static int simulate_pipe(struct simulated *result, size_t n, unsigned int jobs,
			 size_t bytes, int *complete)
{
	char why[TRACE_ERROR_BYTES];
	pthread_t sender;
	struct trace t;
	int fd[2], err;

	ck_assert(!pipe2(fd, O_CLOEXEC));
	pipe_end = fd[1];
	to_send = bytes;
	ck_assert(!pthread_create(&sender, NULL, send_file, NULL));
	err = trace_live_open(&t, fd[0], n, jobs, error);
	if (!err) {
		err = simulate_many(result, &t, machine, n, jobs, NULL, error);
		if (complete)
			*complete = trace_live_end(t.live, why);
		trace_live_close(&t);
	}
	pthread_join(sender, NULL);
	return err;
}

static void assert_same(const struct simulated *a, const struct simulated *b)
{
	ck_assert_uint_eq(a->instructions, b->instructions);
	ck_assert_uint_eq(a->cycles, b->cycles);
	ck_assert_uint_eq(a->cores, b->cores);
	ck_assert_uint_eq(a->memory_reads, b->memory_reads);
	ck_assert_uint_eq(a->threads, b->threads);
	ck_assert_mem_eq(a->thread, b->thread, a->threads * sizeof(*a->thread));
	ck_assert_mem_eq(a->core, b->core, a->cores * sizeof(*a->core));
}

START_TEST(all_machines_get_what_a_file_gives_them_however_many_run_at_a_time)
{
	static const unsigned int jobs[] = { 1, 2, 40 };
	struct simulated file[MACHINES], piped[MACHINES];
	struct trace t;
	int complete;

	fake_trace_write(&fake, path);
	ck_assert(!trace_open(&t, path, error));
	ck_assert(!simulate_many(file, &t, machine, MACHINES, 1, NULL, error));
	ck_assert_uint_eq(file[0].threads, THREADS);
	for (size_t k = 0; k < sizeof(jobs) / sizeof(*jobs); k++) {
		ck_assert_msg(!simulate_pipe(piped, MACHINES, jobs[k], SIZE_MAX,
					     &complete),
			      "%s", error);
		ck_assert_int_eq(complete, 1);
		for (int i = 0; i < MACHINES; i++) {
			assert_same(&file[i], &piped[i]);
			simulated_release(&piped[i]);
		}
	}
	for (int i = 0; i < MACHINES; i++)
		simulated_release(&file[i]);
	trace_close(&t);
}
END_TEST

static size_t file_bytes(void)
{
	FILE *f = fopen(path, "r");
	long n;

	fseek(f, 0, SEEK_END);
	n = ftell(f);
	fclose(f);
	return (size_t)n;
}

START_TEST(a_program_that_is_killed_gives_what_its_file_gives)
{
	struct simulated file, piped;
	struct trace t;
	size_t bytes;
	int complete, err;

	fake_trace_write(&fake, path);
	bytes = file_bytes() * 2 / 3;
	err = simulate_pipe(&piped, 1, 1, bytes, &complete);
	ck_assert(!truncate(path, (off_t)bytes));
	ck_assert(!trace_open(&t, path, error));
	ck_assert_int_eq(simulate(&file, &t, &machine[0], error), err);
	if (!err) {
		ck_assert_int_eq(complete, 0);
		assert_same(&file, &piped);
		simulated_release(&file);
		simulated_release(&piped);
	}
	trace_close(&t);
}
END_TEST

/* Any number of bytes, from none on: an error, or a result; no crash. */
START_TEST(whatever_part_comes_there_is_an_answer)
{
	struct simulated piped;
	size_t bytes;

	fake_trace_write(&fake, path);
	bytes = file_bytes();
	for (size_t n = 0; n < bytes; n += 1 + n / 3) {
		error[0] = '\0';
		if (simulate_pipe(&piped, 1, 1, n, NULL))
			ck_assert(error[0]);
		else
			simulated_release(&piped);
	}
}
END_TEST

START_TEST(a_damaged_chunk_is_named_to_all)
{
	struct simulated piped[MACHINES];
	FILE *f;

	fake_trace_write(&fake, path);
	f = fopen(path, "r+");
	fseek(f, (long)file_bytes() / 2, SEEK_SET);
	fputc(0xff, f);
	fputc(0xff, f);
	fclose(f);
	ck_assert_int_lt(simulate_pipe(piped, MACHINES, 2, SIZE_MAX, NULL), 0);
	ck_assert_ptr_nonnull(strstr(error, "offset "));
}
END_TEST

START_TEST(another_program_behind_it_is_an_error)
{
	struct simulated piped;
	struct trace_header h = { .magic = TRACE_MAGIC };
	FILE *f;

	fake_trace_write(&fake, path);
	f = fopen(path, "a");
	fwrite(&h, sizeof(h), 1, f);
	fclose(f);
	ck_assert_int_lt(simulate_pipe(&piped, 1, 1, SIZE_MAX, NULL), 0);
	ck_assert_ptr_nonnull(strstr(error, "became another one"));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("trace_live");
	TCase *t = tcase_create("trace_live");

	tcase_add_checked_fixture(t, begin, end);
	tcase_set_timeout(t, 300);
	tcase_add_test(
		t,
		all_machines_get_what_a_file_gives_them_however_many_run_at_a_time);
	tcase_add_test(t, a_program_that_is_killed_gives_what_its_file_gives);
	tcase_add_test(t, whatever_part_comes_there_is_an_answer);
	tcase_add_test(t, a_damaged_chunk_is_named_to_all);
	tcase_add_test(t, another_program_behind_it_is_an_error);
	suite_add_tcase(s, t);
	return run_suite(s);
}
