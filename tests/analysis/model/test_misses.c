/* SPDX-License-Identifier: MIT */
/*
 * test_misses - who misses what, and why
 *
 * Reasons follow by hand where a pattern has only one, and from lists that are
 * searched from end to end for random accesses.
 */
#include <string.h>

#include "analysis/model/caches.h"
#include "analysis/model/full_cache.h"
#include "src/base/rng.h"
#include "tests/run_suite.h"

enum {
	FIRST = 0x10000000 >> MACHINE_LINE_SHIFT,
	LATER = 10000, /* cycles in which every access ends */
	IP = 0x401000,
	LINES = 200,
};

static struct machine machine;
static struct caches *caches;
static struct misses *misses;
static uint64_t now;
static struct miss_counts before; /* when all_are() was called last */

static void begin(void)
{
	char error[MACHINE_ERROR_BYTES];

	ck_assert(!machine_read(&machine, "golden-c3", error));
	now = 0;
	before = (struct miss_counts){ 0 };
}

static void open_caches(uint32_t cores)
{
	caches = caches_new(&machine, cores);
	misses = misses_new(&machine, cores);
	caches_watch(caches, misses);
}

static void close_caches(void)
{
	caches_free(caches);
	misses_free(misses);
}

static struct caches_answer use(uint32_t core, uint64_t line,
				enum caches_use how)
{
	now += LATER;
	misses_at(misses, IP + how, line << MACHINE_LINE_SHIFT);
	return caches_access(caches, core, line, how, now);
}

static struct miss_counts all_misses(void)
{
	struct miss_counts sum = { 0 };
	size_t n;
	const struct miss_row *row = misses_rows(misses, &n);

	for (size_t i = 0; i < n; i++)
		miss_counts_add(&sum, &row[i].n);
	return sum;
}

/* All misses since the last call are @n, from there and with that reason. */
static void all_are(uint64_t n, enum miss_source from, enum miss_reason why)
{
	struct miss_counts sum = all_misses();

	ck_assert_uint_eq(miss_counts_all(&sum) - miss_counts_all(&before), n);
	ck_assert_uint_eq(sum.from[from] - before.from[from], n);
	ck_assert_uint_eq(sum.why[why] - before.why[why], n);
	before = sum;
}

START_TEST(a_pattern_has_the_reason_that_it_was_made_for)
{
	const uint64_t l1 = machine.l1d.size >> MACHINE_LINE_SHIFT;
	const uint64_t set = l1 / machine.l1d.ways;

	open_caches(1);
	/* as many lines as L1D has, and again: they are there */
	for (uint64_t i = 0; i < 2 * l1; i++)
		use(0, FIRST + i % l1, CACHES_LOAD);
	all_are(l1, MISS_FROM_MEMORY, MISS_COLD);
	/* one line more than a set of L1D has */
	for (uint64_t i = 0; i <= machine.l1d.ways; i++)
		use(0, 2 * FIRST + i * set, CACHES_LOAD);
	all_are(machine.l1d.ways + 1, MISS_FROM_MEMORY, MISS_COLD);
	for (uint64_t i = 0; i < 900; i++)
		use(0, 2 * FIRST + i % (machine.l1d.ways + 1) * set,
		    CACHES_LOAD);
	all_are(900, MISS_FROM_L2, MISS_CONFLICT);
	/* twice the lines of L1D */
	for (uint64_t i = 0; i < 2 * l1; i++)
		use(0, 3 * FIRST + i, CACHES_LOAD);
	all_are(2 * l1, MISS_FROM_MEMORY, MISS_COLD);
	for (uint64_t i = 0; i < 2 * l1; i++)
		use(0, 3 * FIRST + i, CACHES_LOAD);
	all_are(2 * l1, MISS_FROM_L2, MISS_CAPACITY);
	close_caches();
}
END_TEST

START_TEST(a_line_that_another_core_wrote_is_missed_for_coherence)
{
	struct miss_counts sum;

	open_caches(2);
	use(0, FIRST, CACHES_STORE);
	all_are(1, MISS_FROM_MEMORY, MISS_COLD);
	/* It had never the line, but waits for the other core. */
	use(1, FIRST, CACHES_STORE);
	all_are(1, MISS_FROM_CORE, MISS_COHERENCE);
	use(0, FIRST, CACHES_LOAD);
	all_are(1, MISS_FROM_CORE, MISS_COHERENCE);
	/* Both have it: a store is no miss, but takes it from the other. */
	use(0, FIRST, CACHES_STORE);
	all_are(0, MISS_FROM_CORE, MISS_COHERENCE);
	sum = all_misses();
	ck_assert_uint_eq(sum.upgrades, 1);
	use(1, FIRST, CACHES_LOAD);
	all_are(1, MISS_FROM_CORE, MISS_COHERENCE);
	/* Only read: the second reader finds it in the last cache. */
	use(0, 2 * FIRST, CACHES_LOAD);
	all_are(1, MISS_FROM_MEMORY, MISS_COLD);
	use(1, 2 * FIRST, CACHES_LOAD);
	all_are(1, MISS_FROM_LLC, MISS_COLD);
	close_caches();
}
END_TEST

/* A cache without sets as a list, the latest line first. */
struct list {
	uint64_t line[LINES];
	size_t n, room;
	bool had[LINES]; /* by line */
};

static bool list_use(struct list *l, uint64_t line)
{
	size_t i = 0;
	bool there;

	while (i < l->n && l->line[i] != line)
		i++;
	there = i < l->n;
	if (!there)
		i = l->n < l->room ? l->n++ : l->n - 1;
	memmove(l->line + 1, l->line, i * sizeof(l->line[0]));
	l->line[0] = line;
	return there;
}

static void list_drop(struct list *l, uint64_t line)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->line[i] == line) {
			l->n--;
			memmove(l->line + i, l->line + i + 1,
				(l->n - i) * sizeof(l->line[0]));
		}
}

START_TEST(a_full_cache_evicts_the_line_that_was_used_longest_ago)
{
	struct rng r;

	rng_seed(&r, 15, 0);
	for (uint64_t room = 1; room <= 64; room = 2 * room + 1) {
		struct full_cache *c = full_cache_new(room);
		struct list l = { .room = room };

		for (int i = 0; i < 20000; i++) {
			uint64_t line = rng_below(&r, room * 2);

			if (rng_below(&r, 20)) {
				ck_assert_int_eq(full_cache_use(c, line),
						 list_use(&l, line));
			} else {
				full_cache_drop(c, line);
				list_drop(&l, line);
			}
		}
		full_cache_free(c);
	}
}
END_TEST

/* What a cache that lacks @line gives as its reason. */
static enum miss_reason reason(struct list *l, uint64_t line)
{
	bool had = l->had[line], there = list_use(l, line);

	l->had[line] = true;
	return !had ? MISS_COLD : there ? MISS_CONFLICT : MISS_CAPACITY;
}

static void shrink(struct machine_cache *c, uint64_t lines, uint32_t ways)
{
	c->size = lines << MACHINE_LINE_SHIFT;
	c->ways = ways;
}

/*
 * The caches say where each access ends; the lists, one for each cache and fed
 * with the accesses that reach it, say why.
 */
START_TEST(reasons_of_random_accesses_are_those_of_searched_lists)
{
	struct list l1 = { .room = 8 }, l2 = { .room = 16 },
		    llc = { .room = 64 };
	struct miss_counts expected = { 0 }, sum;
	struct rng r;

	shrink(&machine.l1d, 8, 2);
	shrink(&machine.l2, 16, 4);
	shrink(&machine.llc, 64, 2);
	open_caches(1);
	rng_seed(&r, 16, 0);
	for (int i = 0; i < 50000; i++) {
		uint64_t span = rng_below(&r, 3) ? 12 : LINES;
		uint64_t line = rng_below(&r, span);
		struct caches_answer a =
			use(0, line, (enum caches_use)rng_below(&r, 2));
		enum miss_reason why = reason(&l1, line);

		if (a.level == LEVEL_L1)
			continue;
		expected.cycles += a.done - now;
		if (a.level != LEVEL_L2) {
			why = reason(&l2, line);
			if (a.level == LEVEL_MEMORY)
				why = reason(&llc, line);
			else
				reason(&llc, line);
		} else {
			reason(&l2, line);
		}
		expected.why[why]++;
		expected.from[a.level == LEVEL_L2    ? MISS_FROM_L2
			      : a.level == LEVEL_LLC ? MISS_FROM_LLC
						     : MISS_FROM_MEMORY]++;
	}
	sum = all_misses();
	ck_assert_mem_eq(&sum, &expected, sizeof(sum));
	for (int i = 0; i < MISS_COHERENCE; i++)
		ck_assert_uint_gt(sum.why[i], 100);
	close_caches();
}
END_TEST

/* With a prefetcher too, and with instructions. */
START_TEST(every_miss_of_every_core_counts_once)
{
	enum {
		CORES = 3
	};
	struct miss_counts sum;
	struct caches_counts n = { 0 };
	struct rng r;

	shrink(&machine.l1d, 8, 2);
	shrink(&machine.l1i, 8, 2);
	shrink(&machine.l2, 16, 4);
	shrink(&machine.llc, 64, 4);
	machine.prefetcher = PREFETCHER_ADJACENT;
	open_caches(CORES);
	rng_seed(&r, 17, 0);
	for (int i = 0; i < 50000; i++) {
		bool code = !rng_below(&r, 10);

		use((uint32_t)rng_below(&r, CORES),
		    rng_below(&r, LINES) + (code ? 2 * LINES : 0),
		    code ? CACHES_FETCH : (enum caches_use)rng_below(&r, 2));
	}
	for (uint32_t i = 0; i < CORES; i++) {
		n.l1d_misses += caches_counts(caches, i)->l1d_misses;
		n.transfers += caches_counts(caches, i)->transfers;
	}
	sum = all_misses();
	ck_assert_uint_eq(miss_counts_all(&sum), n.l1d_misses);
	ck_assert_uint_eq(sum.from[MISS_FROM_CORE], n.transfers);
	ck_assert_uint_eq(sum.why[MISS_COLD] + sum.why[MISS_CAPACITY] +
				  sum.why[MISS_CONFLICT] +
				  sum.why[MISS_COHERENCE],
			  n.l1d_misses);
	for (int i = 0; i < MISS_REASONS; i++)
		ck_assert_uint_gt(sum.why[i], 100);
	close_caches();
}
END_TEST

/*
 * Where cores have lines in turn, one whose line another core has asked for is
 * done with it when it comes, whatever instructions it shares meanwhile.
 */
START_TEST(a_line_of_instructions_does_not_take_the_place_of_one_of_data)
{
	uint64_t data = FIRST, code = FIRST + 64, comes;

	machine.in_turn = true;
	open_caches(2);
	comes = caches_access(caches, 0, data, CACHES_LOAD, 0).done;
	ck_assert_uint_gt(comes, 100);
	caches_access(caches, 1, data, CACHES_STORE, 1);
	caches_access(caches, 0, code, CACHES_FETCH, 2);
	caches_access(caches, 1, code, CACHES_FETCH, 3);
	ck_assert_uint_eq(
		caches_access(caches, 0, data, CACHES_LOAD, comes - 1).done,
		comes);
	close_caches();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("misses");
	TCase *t = tcase_create("misses");

	tcase_add_checked_fixture(t, begin, NULL);
	tcase_add_test(t, a_pattern_has_the_reason_that_it_was_made_for);
	tcase_add_test(t,
		       a_line_that_another_core_wrote_is_missed_for_coherence);
	tcase_add_test(t,
		       a_full_cache_evicts_the_line_that_was_used_longest_ago);
	tcase_add_test(t,
		       reasons_of_random_accesses_are_those_of_searched_lists);
	tcase_add_test(t, every_miss_of_every_core_counts_once);
	tcase_add_test(
		t,
		a_line_of_instructions_does_not_take_the_place_of_one_of_data);
	suite_add_tcase(s, t);
	return run_suite(s);
}
