/* SPDX-License-Identifier: MIT */
/*
 * test_exact_quick - the exact directory's way round its lock
 *
 * test_exact checks the results, with streams that use both ways. This file
 * checks which accesses are quick, and that threads which use both ways at once
 * lose nothing: in any order, a cache loses a copy as often as it gains one,
 * except for the copies that it has at the end.
 */
#include <check.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "src/exact/directory_quick.h"
#include "src/base/rng.h"
#include "tests/run_suite.h"

enum {
	LINE = 64,
	BASE = 0x40000,
	RACERS = 4,
	RACES = 250000, /* accesses between looks */
	MEETINGS = 1000,
	RACED = 8 /* lines */
};

static const uint32_t own_of_core[] = { 0, 1, 2, 3 };
static const uint32_t pair_of_core[] = { 0, 0, 1, 1 };
static const struct topology_shape four_cores = { 4, 1, { own_of_core } };
static const struct topology_shape two_pairs = { 4, 1, { pair_of_core } };

static struct exact *directory(uint32_t threads,
			       const struct topology_shape *topology,
			       struct exact_thread *thread)
{
	struct exact_config c = {
		.threads = threads,
		.line_bytes = LINE,
		.regions = 16,
		.topology = topology,
	};
	void *mem = mmap(NULL, exact_size(&c), PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct exact *x;

	ck_assert_ptr_ne(mem, MAP_FAILED);
	x = exact_init(mem, &c);
	ck_assert_ptr_nonnull(x);
	for (uint32_t i = 0; i < threads; i++)
		ck_assert_int_eq(exact_thread_init(x, &thread[i], i), 0);
	return x;
}

static void make(struct exact *x, struct exact_thread *t, uint64_t addr,
		 uint32_t flags, uint32_t core)
{
	struct access a = { .addr = addr, .len = 8, .flags = flags };

	exact_access(x, t, &a, core);
}

static bool quick(struct exact *x, struct exact_thread *t, uint64_t addr,
		  uint32_t flags)
{
	return exact_quick(x, t, addr, 8, flags == ACCESS_STORE, t->id);
}

START_TEST(a_thread_is_quick_on_a_line_of_its_own)
{
	struct exact_thread t[2];
	struct exact *x = directory(2, NULL, t);

	ck_assert(!quick(x, &t[0], BASE, ACCESS_LOAD));
	make(x, &t[0], BASE, ACCESS_LOAD, 0);
	ck_assert(quick(x, &t[0], BASE + 8, ACCESS_LOAD));
	/* The bytes of its first store to them must be noted. */
	ck_assert(!quick(x, &t[0], BASE + 8, ACCESS_STORE));
	make(x, &t[0], BASE + 8, ACCESS_STORE, 0);
	make(x, &t[0], BASE, ACCESS_STORE, 0);
	ck_assert(quick(x, &t[0], BASE + 8, ACCESS_STORE));
	ck_assert(quick(x, &t[0], BASE + 4, ACCESS_STORE));
	ck_assert(!quick(x, &t[0], BASE + 12, ACCESS_STORE));
	ck_assert(quick(x, &t[0], BASE, ACCESS_STORE));
	ck_assert(quick(x, &t[0], BASE, ACCESS_LOAD));
	ck_assert_uint_eq(t[0].counts.loads, 3);
	ck_assert_uint_eq(t[0].counts.stores, 5);
	ck_assert_uint_eq(t[0].counts.cold_loads, 1);
	ck_assert_uint_eq(t[0].counts.cold_stores, 0);
	/* It reaches into the next line. */
	ck_assert(!quick(x, &t[0], BASE + 60, ACCESS_LOAD));
	/* The last store tells true sharing from false. */
	make(x, &t[1], BASE + 8, ACCESS_LOAD, 1);
	ck_assert_uint_eq(exact_cell(x, 0, 1).transfers, 1);
	ck_assert_uint_eq(exact_cell(x, 0, 1).false_sharing, 1);
	make(x, &t[1], BASE + 7, ACCESS_LOAD, 1);
	ck_assert_uint_eq(exact_cell(x, 0, 1).false_sharing, 0);
}
END_TEST

START_TEST(threads_that_only_load_are_quick_until_one_stores)
{
	struct exact_thread t[70];
	struct exact *x = directory(70, NULL, t);

	make(x, &t[0], BASE, ACCESS_STORE, 0);
	/* After some transfers a window of turns is logged. Then it closes. */
	for (int i = 1; i < 70 + 2 * LINE_LOG_TURNS; i++)
		make(x, &t[i % 70], BASE, ACCESS_LOAD, i % 70);
	for (int i = 0; i < 70; i++) {
		ck_assert_int_eq(quick(x, &t[i], BASE, ACCESS_LOAD),
				 i < EXACT_SHARERS);
		ck_assert(!quick(x, &t[i], BASE, ACCESS_STORE));
	}
	make(x, &t[3], BASE, ACCESS_STORE, 3);
	for (int i = 0; i < 70; i++)
		ck_assert_int_eq(quick(x, &t[i], BASE, ACCESS_LOAD), i == 3);
	ck_assert_uint_eq(exact_total(x).transfers, 69);
}
END_TEST

/* Its next load may show that the transfer was a true one. */
START_TEST(a_load_is_not_quick_while_its_transfer_counts_as_false)
{
	struct exact_thread t[2];
	struct exact *x = directory(2, NULL, t);

	make(x, &t[0], BASE, ACCESS_STORE, 0);
	make(x, &t[1], BASE + 8, ACCESS_LOAD, 1);
	ck_assert(!quick(x, &t[1], BASE + 8, ACCESS_LOAD));
	make(x, &t[1], BASE, ACCESS_LOAD, 1);
	ck_assert(quick(x, &t[1], BASE + 8, ACCESS_LOAD));
}
END_TEST

/*
 * Thread 1 stores beside thread 0's word. Whatever else it touches may be what
 * thread 0 stored; what it stored itself is not.
 */
START_TEST(an_owner_is_quick_on_its_own_bytes_while_its_visit_is_useless)
{
	struct exact_thread t[2];
	struct exact *x = directory(2, NULL, t);

	make(x, &t[0], BASE, ACCESS_STORE, 0);
	make(x, &t[1], BASE + 8, ACCESS_STORE, 1);
	ck_assert(quick(x, &t[1], BASE + 8, ACCESS_STORE));
	ck_assert(quick(x, &t[1], BASE + 8, ACCESS_LOAD));
	ck_assert(!quick(x, &t[1], BASE + 16, ACCESS_LOAD));
	make(x, &t[1], BASE + 16, ACCESS_LOAD, 1);
	ck_assert(quick(x, &t[1], BASE + 8, ACCESS_STORE));
	ck_assert_uint_eq(exact_cell(x, 0, 1).useless, 1);
	ck_assert(!quick(x, &t[1], BASE, ACCESS_LOAD));
	make(x, &t[1], BASE, ACCESS_LOAD, 1);
	ck_assert_uint_eq(exact_cell(x, 0, 1).useless, 0);
	ck_assert_uint_eq(exact_cell(x, 0, 1).false_sharing, 1);
	ck_assert(quick(x, &t[1], BASE + 16, ACCESS_LOAD));
}
END_TEST

START_TEST(a_thread_away_from_home_is_not_quick)
{
	struct exact_thread t[2];
	struct exact *x = directory(2, &two_pairs, t);

	make(x, &t[0], BASE, ACCESS_STORE, 0);
	ck_assert(!exact_quick(x, &t[0], BASE, 8, false, 2));
	make(x, &t[0], BASE, ACCESS_LOAD, 2);
	ck_assert_uint_eq(t[0].counts.miss[EXACT_LOAD_MODIFIED][1], 1);
	make(x, &t[0], BASE, ACCESS_STORE, 2);
	ck_assert_uint_eq(t[0].counts.miss[EXACT_UPGRADE][1], 1);
	ck_assert(!exact_quick(x, &t[0], BASE, 8, false, 0));
	/* Home is a cache, not a core. */
	make(x, &t[0], BASE, ACCESS_STORE, 1);
	ck_assert_uint_eq(t[0].counts.miss[EXACT_OWN_MODIFIED][1], 1);
	ck_assert(exact_quick(x, &t[0], BASE, 8, true, 1));
	ck_assert_uint_eq(exact_total(x).transfers, 0);
}
END_TEST

START_TEST(who_takes_an_earlier_number_may_be_on_another_core)
{
	struct exact_thread t[2];
	struct exact *x = directory(2, &four_cores, t);

	make(x, &t[1], BASE, ACCESS_STORE, 1);
	ck_assert_int_eq(exact_thread_init(x, &t[1], 1), 0);
	make(x, &t[1], BASE, ACCESS_LOAD, 3);
	ck_assert_uint_eq(exact_total(x).transfers, 0);
	ck_assert_uint_eq(t[1].counts.miss[EXACT_LOAD_MODIFIED][1], 1);
	make(x, &t[1], BASE, ACCESS_STORE, 3);
	make(x, &t[0], BASE, ACCESS_LOAD, 0);
	ck_assert_uint_eq(exact_cell(x, 1, 0).transfers, 1);
	ck_assert_uint_eq(t[0].counts.miss[EXACT_LOAD_MODIFIED][1], 1);
}
END_TEST

START_TEST(without_a_topology_each_thread_has_a_cache_of_its_own)
{
	struct exact_thread t[2];
	struct exact *x = directory(2, NULL, t);

	make(x, &t[0], BASE, ACCESS_STORE, 0);
	make(x, &t[1], BASE, ACCESS_STORE, 0);
	ck_assert_uint_eq(t[1].counts.miss[EXACT_OWN_MODIFIED][1], 1);
	ck_assert_uint_eq(t[1].counts.invalidated, 1);
}
END_TEST

static int keep_line(void *ctx, const struct exact_line *line)
{
	*(struct exact_line *)ctx = *line;
	return 0;
}

START_TEST(more_stores_than_a_state_can_count_are_not_lost)
{
	const uint64_t full = EXACT_FULL / EXACT_ONE_STORE;
	struct exact_thread t[1];
	struct exact *x = directory(1, NULL, t);
	struct exact_line line;
	_Atomic uint64_t *at;

	make(x, &t[0], BASE, ACCESS_STORE, 0);
	at = &t[0].seen[exact_seen(BASE >> x->region_shift)]
		      .state[BASE / LINE % EXACT_REGION_LINES];
	atomic_store(at, atomic_load(at) + (full - 2) * EXACT_ONE_STORE);
	ck_assert(quick(x, &t[0], BASE, ACCESS_STORE));
	ck_assert(!quick(x, &t[0], BASE, ACCESS_STORE));
	ck_assert(!exact_lines(x, keep_line, &line));
	ck_assert_uint_eq(line.stores, full);
	for (int i = 0; i < 3; i++)
		make(x, &t[0], BASE, ACCESS_STORE, 0);
	ck_assert(!exact_lines(x, keep_line, &line));
	ck_assert_uint_eq(line.stores, full + 3);
	ck_assert_uint_eq(line.ownership, 0);
}
END_TEST

static size_t resident_records(const struct exact *x)
{
	size_t page = sysconf(_SC_PAGESIZE), n = 0, bytes;
	unsigned char *from =
		(void *)(((uintptr_t)x->records + page - 1) / page * page);
	static unsigned char resident[4096];

	bytes = (size_t)x->table.regions * EXACT_REGION_LINES * x->record_bytes;
	bytes -= from - x->records;
	ck_assert_uint_le(bytes / page, sizeof(resident));
	ck_assert_int_eq(mincore(from, bytes / page * page, resident), 0);
	for (size_t i = 0; i < bytes / page; i++)
		n += resident[i] & 1;
	return n;
}

START_TEST(lines_that_one_thread_has_to_itself_have_no_record)
{
	struct exact_thread t[2];
	struct exact *x = directory(2, NULL, t);

	for (int round = 0; round < 2; round++) {
		for (uint64_t i = 0; i < 2000; i++) {
			make(x, &t[0], BASE + i * LINE, ACCESS_LOAD, 0);
			make(x, &t[0], BASE + i * LINE, ACCESS_STORE, 0);
		}
	}
	ck_assert_uint_eq(resident_records(x), 0);
	make(x, &t[1], BASE + 1000 * LINE, ACCESS_LOAD, 1);
	ck_assert_uint_ge(resident_records(x), 1);
	ck_assert_uint_le(resident_records(x), 2);
}
END_TEST

struct racer {
	struct exact *x;
	struct exact_thread t;
	pthread_barrier_t *start;
	_Atomic int *racing; /* threads that have not met others enough */
	uint64_t stores[RACED];
};

static uint64_t served(const struct exact_counts *n)
{
	return n->miss[EXACT_LOAD_CLEAN][1] + n->miss[EXACT_LOAD_MODIFIED][1] +
	       n->miss[EXACT_OWN_CLEAN][1] + n->miss[EXACT_OWN_MODIFIED][1];
}

/* Mostly on a line of its own, which the others visit. */
static void race_on(struct racer *r, struct rng *rng)
{
	for (int i = 0; i < RACES; i++) {
		uint32_t line =
			rng_below(rng, 4) ? r->t.id : rng_below(rng, RACED);
		uint64_t addr = BASE + line * LINE + rng_below(rng, 8) * 8;

		if (rng_below(rng, 2)) {
			make(r->x, &r->t, addr, ACCESS_LOAD, r->t.id);
		} else {
			make(r->x, &r->t, addr, ACCESS_STORE, r->t.id);
			r->stores[line]++;
		}
	}
}

static void *race(void *arg)
{
	struct racer *r = arg;
	bool enough = false;
	struct rng rng;

	rng_seed(&rng, 11, r->t.id);
	pthread_barrier_wait(r->start);
	do {
		race_on(r, &rng);
		if (!enough && served(&r->t.counts) >= MEETINGS) {
			enough = true;
			atomic_fetch_sub(r->racing, 1);
		}
	} while (atomic_load(r->racing));
	return NULL;
}

struct sums {
	uint64_t stores[RACED];
	uint64_t transfers, false_sharing;
};

static int add_line(void *ctx, const struct exact_line *line)
{
	struct sums *s = ctx;

	s->stores[(line->line - BASE) / LINE] = line->stores;
	s->transfers += line->transfers;
	s->false_sharing += line->false_sharing;
	return 0;
}

START_TEST(threads_that_race_on_each_others_lines_lose_nothing)
{
	static struct racer racer[RACERS];
	struct exact_thread t[RACERS];
	struct exact *x = directory(RACERS, NULL, t);
	pthread_t thread[RACERS];
	pthread_barrier_t start;
	_Atomic int racing = RACERS;
	struct sums sums = { .transfers = 0 };
	uint64_t gained = 0, cold = 0, lost = 0, stores[RACED];

	ck_assert_int_eq(pthread_barrier_init(&start, NULL, RACERS), 0);
	for (uint32_t i = 0; i < RACERS; i++) {
		racer[i].x = x;
		racer[i].t = t[i];
		racer[i].start = &start;
		racer[i].racing = &racing;
	}
	for (int i = 0; i < RACED; i++) {
		make(x, &racer[0].t, BASE + i * LINE, ACCESS_STORE, 0);
		stores[i] = 2;
	}
	for (int i = 0; i < RACERS; i++)
		ck_assert_int_eq(
			pthread_create(&thread[i], NULL, race, &racer[i]), 0);
	for (int i = 0; i < RACERS; i++)
		pthread_join(thread[i], NULL);
	/* After this each line has one copy. */
	for (int i = 0; i < RACED; i++)
		make(x, &racer[0].t, BASE + i * LINE, ACCESS_STORE, 0);
	for (int i = 0; i < RACERS; i++) {
		const struct exact_counts *n = &racer[i].t.counts;

		cold += n->cold_loads + n->cold_stores;
		gained += served(n);
		lost += n->invalidated;
		for (int line = 0; line < RACED; line++)
			stores[line] += racer[i].stores[line];
	}
	ck_assert_int_eq(exact_lines(x, add_line, &sums), 0);
	for (int i = 0; i < RACED; i++)
		ck_assert_uint_eq(sums.stores[i], stores[i]);
	ck_assert_uint_eq(cold, RACED);
	ck_assert_uint_eq(cold + gained - lost, RACED);
	ck_assert_uint_eq(sums.transfers, gained);
	ck_assert_uint_eq(exact_total(x).transfers, gained);
	ck_assert_uint_eq(exact_total(x).false_sharing, sums.false_sharing);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("exact_quick");
	TCase *tc = tcase_create("exact_quick");

	suite_add_tcase(suite, tc);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, a_thread_is_quick_on_a_line_of_its_own);
	tcase_add_test(tc, threads_that_only_load_are_quick_until_one_stores);
	tcase_add_test(tc,
		       a_load_is_not_quick_while_its_transfer_counts_as_false);
	tcase_add_test(
		tc,
		an_owner_is_quick_on_its_own_bytes_while_its_visit_is_useless);
	tcase_add_test(tc, a_thread_away_from_home_is_not_quick);
	tcase_add_test(tc, who_takes_an_earlier_number_may_be_on_another_core);
	tcase_add_test(tc,
		       without_a_topology_each_thread_has_a_cache_of_its_own);
	tcase_add_test(tc, more_stores_than_a_state_can_count_are_not_lost);
	tcase_add_test(tc, lines_that_one_thread_has_to_itself_have_no_record);
	tcase_add_test(tc, threads_that_race_on_each_others_lines_lose_nothing);
	return run_suite(suite);
}
