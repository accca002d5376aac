/* SPDX-License-Identifier: MIT */
/*
 * test_board - the bulletin board alone, under load and under interruption
 *
 * In the load tests the fields of an entry follow from each other, so a reader
 * recognizes a mixed entry. tests/src/engine/board.pml checks all interleavings
 * of the same steps.
 */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "src/engine/board.h"
#include "src/base/rng.h"
#include "tests/run_suite.h"

enum {
	LINE = 64
};

static struct board *board_new(uint32_t slots, void **mem)
{
	struct board *b;

	*mem = aligned_alloc(64, board_size(slots));
	ck_assert_ptr_nonnull(*mem);
	b = board_init(*mem, slots, LINE);
	ck_assert_ptr_nonnull(b);
	return b;
}

/* Derive all fields of an entry from its line, thread and serial number. */
static struct board_entry entry_of(uint64_t line, uint32_t thread,
				   uint64_t serial)
{
	struct board_entry e = {
		.line = line,
		.time = serial,
		.store = { .addr = line + serial % LINE,
			   .ip = ~serial * 0x9E3779B97F4A7C15ull,
			   .len = 1 + serial % 8,
			   .flags = (uint32_t)(serial >> 3) ^ thread },
		.thread = thread,
		.core = thread ^ (uint32_t)serial,
	};

	return e;
}

static bool entries_equal(const struct board_entry *a,
			  const struct board_entry *b)
{
	return a->line == b->line && a->time == b->time &&
	       a->store.addr == b->store.addr && a->store.ip == b->store.ip &&
	       a->store.len == b->store.len &&
	       a->store.flags == b->store.flags && a->thread == b->thread &&
	       a->core == b->core;
}

static bool is_whole(const struct board_entry *e)
{
	struct board_entry whole = entry_of(e->line, e->thread, e->time);

	return entries_equal(e, &whole);
}

/* The sequence number of a slot is its first word; slots end the board. */
static _Atomic uint64_t *sequence_of(struct board *b, uint64_t line)
{
	uint32_t slots = board_slots(b);
	char *first = (char *)b + board_size(slots) - slots * 64;

	return (_Atomic uint64_t *)(first + board_slot(b, line) * 64);
}

START_TEST(a_new_board_is_empty)
{
	struct board_entry e;
	void *mem;
	struct board *b = board_new(127, &mem);

	for (uint32_t i = 0; i < 127; i++)
		ck_assert_int_eq(board_read_slot(b, i, &e), 0);
	ck_assert_int_eq(board_read(b, 0x1000, &e), 0);
	ck_assert_uint_eq(e.line, 0);
	ck_assert_int_eq(board_read(b, 0, &e), 0);
	free(mem);
}
END_TEST

START_TEST(invalid_arguments_make_no_board)
{
	static char mem[1024 * 128] __attribute__((aligned(64)));

	ck_assert_ptr_null(board_init(NULL, 127, 64));
	ck_assert_ptr_null(board_init(mem + 8, 127, 64));
	ck_assert_ptr_null(board_init(mem, 0, 64));
	ck_assert_ptr_null(board_init(mem, BOARD_SLOTS_MAX + 1, 64));
	ck_assert_ptr_null(board_init(mem, 127, 0));
	ck_assert_ptr_null(board_init(mem, 127, 96));
	ck_assert_uint_eq(board_size(0), 0);
	ck_assert_uint_eq(board_size(BOARD_SLOTS_MAX + 1), 0);
	ck_assert_ptr_nonnull(board_init(mem, BOARD_SLOTS_MAX, 128));
}
END_TEST

START_TEST(what_is_published_is_read_back)
{
	struct rng r;
	void *mem;
	struct board *b = board_new(_i, &mem);

	rng_seed(&r, 1, _i);
	for (int i = 0; i < 1000; i++) {
		uint64_t line = board_line(b, rng_next(&r)) | LINE;
		struct board_entry e = entry_of(line, rng_next(&r), i), got;

		ck_assert_int_eq(board_publish(b, &e), 0);
		ck_assert_int_eq(board_read(b, line, &got), 1);
		ck_assert(entries_equal(&e, &got));
		ck_assert_int_eq(
			board_read_slot(b, board_slot(b, line) + _i, &got), 1);
		ck_assert(entries_equal(&e, &got));
	}
	free(mem);
}
END_TEST

START_TEST(another_line_takes_the_slot_over)
{
	uint64_t first = 0x1000, second = first;
	struct board_entry e, got;
	void *mem;
	struct board *b = board_new(127, &mem);

	do {
		second += LINE;
	} while (board_slot(b, first) != board_slot(b, second));
	e = entry_of(first, 1, 1);
	ck_assert_int_eq(board_publish(b, &e), 0);
	e = entry_of(second, 2, 2);
	ck_assert_int_eq(board_publish(b, &e), 0);

	ck_assert_int_eq(board_read(b, first, &got), 0);
	ck_assert_uint_eq(got.line, second);
	ck_assert_int_eq(board_read(b, second, &got), 1);
	ck_assert(entries_equal(&e, &got));
	free(mem);
}
END_TEST

START_TEST(what_is_no_line_is_not_published)
{
	struct board_entry e = entry_of(0x1000, 1, 1);
	void *mem;
	struct board *b = board_new(127, &mem);

	e.line = 0;
	ck_assert_int_eq(board_publish(b, &e), -EINVAL);
	e.line = 0x1008;
	ck_assert_int_eq(board_publish(b, &e), -EINVAL);
	for (uint32_t i = 0; i < 127; i++)
		ck_assert_int_eq(board_read_slot(b, i, &e), 0);
	free(mem);
}
END_TEST

/* The slot as a handler that interrupts the publisher finds it. */
START_TEST(a_slot_being_written_is_busy_for_both_and_left_alone)
{
	struct board_entry e = entry_of(0x1000, 1, 1), got = e;
	struct board_entry other = entry_of(0x1000, 2, 2);
	void *mem;
	struct board *b = board_new(127, &mem);
	_Atomic uint64_t *sequence = sequence_of(b, 0x1000);
	uint64_t before;

	ck_assert_int_eq(board_publish(b, &e), 0);
	before = atomic_fetch_add(sequence, 1);
	ck_assert_uint_eq(before, 2);
	ck_assert_int_eq(board_publish(b, &other), -EBUSY);
	ck_assert_int_eq(board_read(b, 0x1000, &got), -EBUSY);
	ck_assert_int_eq(board_read_slot(b, board_slot(b, 0x1000), &got),
			 -EBUSY);
	ck_assert(entries_equal(&e, &got));
	ck_assert_uint_eq(atomic_load(sequence), before + 1);

	atomic_fetch_add(sequence, 1);
	ck_assert_int_eq(board_read(b, 0x1000, &got), 1);
	ck_assert(entries_equal(&e, &got));
	free(mem);
}
END_TEST

START_TEST(lines_spread_evenly_over_the_slots)
{
	static const uint32_t strides[] = { 1, 2, 3, 8, 64, 127, 4096 };
	enum {
		LINES = 127 * 100
	};
	uint32_t count[127] = { 0 }, most = 0;
	void *mem;
	struct board *b = board_new(127, &mem);

	for (uint64_t i = 0; i < LINES; i++)
		count[board_slot(b, 0x7f0000000000 + i * strides[_i] * LINE)]++;
	for (int i = 0; i < 127; i++) {
		most = count[i] > most ? count[i] : most;
		ck_assert_uint_gt(count[i], 0);
	}
	/* At random: mean 100, no slot above 140 but once in 100 tables. */
	ck_assert_uint_le(most, 140);
	free(mem);
}
END_TEST

enum {
	HAMMERS = 6,
	HAMMER_CALLS = 150000,
	HAMMER_LINES = 3
};

struct hammer {
	struct board *board;
	pthread_t thread;
	uint32_t id;
	uint64_t published, dropped, read, missed, mixed, backwards;
};

static uint64_t hammer_line(uint64_t n)
{
	return 0x1000 + n * LINE;
}

/* Half of the calls publish, half read; a thread's own serial numbers rise. */
static void *hammer_run(void *arg)
{
	struct hammer *h = arg;
	uint64_t newest[HAMMERS][HAMMER_LINES] = { 0 };
	struct rng r;

	rng_seed(&r, 3, h->id);
	for (uint64_t i = 1; i <= HAMMER_CALLS; i++) {
		uint64_t n = rng_below(&r, HAMMER_LINES);
		struct board_entry e = entry_of(hammer_line(n), h->id, i);

		if (rng_below(&r, 2)) {
			if (board_publish(h->board, &e) == 0)
				h->published++;
			else
				h->dropped++;
			continue;
		}
		if (board_read(h->board, hammer_line(n), &e) != 1) {
			h->missed++;
			continue;
		}
		h->read++;
		h->mixed += !is_whole(&e) || e.thread >= HAMMERS;
		if (is_whole(&e) && e.thread < HAMMERS) {
			h->backwards += e.time < newest[e.thread][n];
			newest[e.thread][n] = e.time;
		}
	}
	return NULL;
}

START_TEST(readers_under_load_see_whole_entries_in_order)
{
	struct hammer h[HAMMERS] = { 0 };
	uint64_t published = 0, read = 0;
	void *mem;
	struct board *b = board_new(127, &mem);

	for (uint32_t i = 0; i < HAMMERS; i++) {
		h[i].board = b;
		h[i].id = i;
		ck_assert_int_eq(
			pthread_create(&h[i].thread, NULL, hammer_run, &h[i]),
			0);
	}
	for (uint32_t i = 0; i < HAMMERS; i++) {
		ck_assert_int_eq(pthread_join(h[i].thread, NULL), 0);
		ck_assert_uint_eq(h[i].mixed, 0);
		ck_assert_uint_eq(h[i].backwards, 0);
		published += h[i].published;
		read += h[i].read;
	}
	ck_assert_uint_gt(published, HAMMER_CALLS / 4);
	ck_assert_uint_gt(read, HAMMER_CALLS / 4);

	/* Every publication counted two on one of the sequences. */
	for (uint64_t n = 0; n < HAMMER_LINES; n++)
		published -= atomic_load(sequence_of(b, hammer_line(n))) / 2;
	ck_assert_uint_eq(published, 0);
	free(mem);
}
END_TEST

static struct {
	struct board *board;
	_Atomic uint64_t signals, busy, mixed;
} interrupted;

/* Publishes and reads the slots that the interrupted thread may be changing. */
static void on_signal(int sig)
{
	uint64_t serial = 1 + atomic_fetch_add(&interrupted.signals, 1);
	struct board_entry e = entry_of(0x1000, 2, serial);

	if (board_publish(interrupted.board, &e) == -EBUSY)
		atomic_fetch_add(&interrupted.busy, 1);
	if (board_read(interrupted.board, 0x1000, &e) == 1 && !is_whole(&e))
		atomic_fetch_add(&interrupted.mixed, 1);
}

START_TEST(a_handler_that_interrupts_the_publisher_never_waits)
{
	struct itimerspec every = { { 0, 50000 }, { 0, 50000 } };
	struct sigaction action = { .sa_handler = on_signal };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL,
				  .sigev_signo = SIGUSR1 };
	uint64_t serial = 0;
	timer_t timer;
	void *mem;

	interrupted.board = board_new(127, &mem);
	ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
	ck_assert_int_eq(timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer),
			 0);
	ck_assert_int_eq(timer_settime(timer, 0, &every, NULL), 0);

	/* The kernel's CPU-time timers tick at 250 Hz: some 200 signals. */
	while (atomic_load(&interrupted.signals) < 200) {
		struct board_entry e = entry_of(0x1000, 1, ++serial);

		board_publish(interrupted.board, &e);
		if (board_read(interrupted.board, 0x1000, &e) == 1)
			ck_assert(is_whole(&e));
	}
	timer_delete(timer);
	ck_assert_uint_eq(atomic_load(&interrupted.mixed), 0);
	free(mem);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("board");
	TCase *t = tcase_create("board");

	tcase_set_timeout(t, 60);
	tcase_add_test(t, a_new_board_is_empty);
	tcase_add_test(t, invalid_arguments_make_no_board);
	tcase_add_loop_test(t, what_is_published_is_read_back, 1, 130);
	tcase_add_test(t, another_line_takes_the_slot_over);
	tcase_add_test(t, what_is_no_line_is_not_published);
	tcase_add_test(t, a_slot_being_written_is_busy_for_both_and_left_alone);
	tcase_add_loop_test(t, lines_spread_evenly_over_the_slots, 0, 7);
	tcase_add_test(t, readers_under_load_see_whole_entries_in_order);
	tcase_add_test(t, a_handler_that_interrupts_the_publisher_never_waits);
	suite_add_tcase(s, t);
	return run_suite(s);
}
