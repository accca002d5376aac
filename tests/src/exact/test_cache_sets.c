/* SPDX-License-Identifier: MIT */
/*
 * test_cache_sets - simulated caches against a simulation of another kind
 *
 * The oracle keeps the time at which each cache last used each line. An LRU
 * cache misses a line if at least as many other lines of the set were used
 * since as the set has ways.
 */
#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "src/exact/cache_sets.h"
#include "src/base/rng.h"
#include "tests/run_suite.h"

enum {
	LINES = 4096,
	ACCESSES = 30000,
	THREADS = 3,
};

static const char *const machines[] = {
	"L1 4096 4",
	"L1d 4096 4; L2 32768 8",
	"L1d 3072 12; L2 16384 16; L3 131072 16 shared",
	"L1d 64 1; L3 192 3 shared",
	"L1 4096 64",                               /* one set */
	"L1d 1536 3;L2 6144 1; L3 98304 12 shared", /* sets no power of two */
};

/* When thread (or the shared cache, THREADS) last used a line; 0: never. */
static uint64_t used[CACHE_SETS_LEVELS][THREADS + 1][LINES];
static uint64_t now;

/* One thread alone runs it: ThreadSanitizer would look at each of its loads. */
__attribute__((no_sanitize("thread"))) static bool oracle_hits(
	const struct cache_shape *c, uint32_t level, uint32_t owner,
	uint64_t line)
{
	uint64_t *when = used[level][owner];
	uint32_t since = 0;

	for (uint64_t l = line % c->sets; l < LINES; l += c->sets)
		since += l != line && when[l] > when[line];
	return when[line] && since < c->ways;
}

static uint32_t oracle_misses(const struct cache_sets_config *c,
			      uint32_t thread, uint64_t line, bool taken)
{
	for (uint32_t i = 0; i < c->levels; i++) {
		bool shared = c->level[i].shared;
		uint32_t owner = shared ? THREADS : thread;
		bool hit = oracle_hits(&c->level[i], i, owner, line);

		used[i][owner][line] = ++now;
		if (hit && (shared || !taken))
			return i;
	}
	return c->levels;
}

enum pattern {
	ANYWHERE, /* seldom the same line again */
	NEAR,     /* mostly few lines */
	STRIDED,  /* powers of two, lines that meet in few sets */
	SWEEPS,   /* around and around, longer than some of the caches */
	PATTERNS
};

static uint64_t line_of(enum pattern p, struct rng *r, uint32_t n)
{
	switch (p) {
	case NEAR:
		return rng_below(r, 10) ? rng_below(r, 48)
					: rng_below(r, LINES);
	case STRIDED:
		return n * 64 % LINES + rng_below(r, 2) * (n / 64 % 64);
	case SWEEPS:
		return n % (150 + n / 5000 * 100);
	default:
		return rng_below(r, LINES);
	}
}

struct machine {
	struct cache_sets_config config;
	struct cache_sets *sets;
	struct cache_sets_thread *thread[THREADS];
};

static void *zeros(size_t bytes)
{
	void *p = NULL;

	ck_assert_uint_gt(bytes, 0);
	ck_assert_int_eq(posix_memalign(&p, 64, bytes), 0);
	return memset(p, 0, bytes);
}

static void start(struct machine *m, const char *text, uint32_t domains)
{
	ck_assert_int_eq(cache_sets_parse(&m->config, text), 0);
	m->config.domains = domains;
	m->sets =
		cache_sets_init(zeros(cache_sets_size(&m->config)), &m->config);
	ck_assert_ptr_nonnull(m->sets);
	for (uint32_t i = 0; i < THREADS; i++)
		m->thread[i] = cache_sets_thread_init(
			zeros(cache_sets_thread_size(&m->config)), m->sets, i);
}

static void stop(struct machine *m)
{
	free(m->sets);
	for (uint32_t i = 0; i < THREADS; i++)
		free(m->thread[i]);
}

/* Misses of the level @i of all threads. */
static uint64_t misses(const struct machine *m, uint32_t i, bool stores)
{
	uint64_t n = 0;

	for (uint32_t k = 0; k < THREADS; k++)
		n += m->thread[k]->miss[i][stores];
	return n;
}

static void use(struct machine *m, uint32_t thread, uint64_t line, bool store)
{
	cache_sets_access(m->sets, m->thread[thread], line, 0x1000, store,
			  false);
}

START_TEST(each_access_misses_what_the_oracle_says)
{
	const char *text = machines[_i / PATTERNS];
	struct machine m;
	struct rng r;

	memset(used, 0, sizeof(used));
	start(&m, text, 1);
	rng_seed(&r, 7, _i);
	for (uint32_t n = 0; n < ACCESSES; n++) {
		uint32_t k = rng_below(&r, THREADS), missed = 0;
		uint64_t line = line_of(_i % PATTERNS, &r, n);
		bool store = !rng_below(&r, 3), taken = !rng_below(&r, 20);
		struct cache_sets_thread before = *m.thread[k];

		cache_sets_access(m.sets, m.thread[k], line, 1, store, taken);
		for (uint32_t i = 0; i < m.config.levels; i++) {
			uint64_t more = m.thread[k]->miss[i][store] -
					before.miss[i][store];

			ck_assert_uint_le(more, i == missed);
			missed += (uint32_t)more;
			ck_assert_uint_eq(m.thread[k]->miss[i][!store],
					  before.miss[i][!store]);
		}
		if (missed != oracle_misses(&m.config, k, line, taken))
			ck_abort_msg("%s: access %u misses %u", text, n,
				     missed);
	}
	stop(&m);
}
END_TEST

START_TEST(a_stride_of_the_size_of_a_way_fills_one_set)
{
	struct machine m;

	start(&m, "L1d 49152 12", 1);
	for (int turn = 0; turn < 10; turn++)
		for (uint64_t n = 0; n < 13; n++)
			use(&m, 0, 64 * n, false);
	/* Thirteen lines of 768 that there is room for, and no hit. */
	ck_assert_uint_eq(misses(&m, 0, false), 130);
	for (int turn = 0; turn < 10; turn++)
		for (uint64_t n = 0; n < 13; n++)
			use(&m, 1, 65 * n, true);
	ck_assert_uint_eq(misses(&m, 0, true), 13);
	stop(&m);
}
END_TEST

START_TEST(threads_of_a_domain_find_each_others_lines)
{
	struct machine m;

	start(&m, "L1d 4096 4; L2 8192 4 shared", 2);
	/* Threads 0 and 2 are of domain 0, thread 1 of domain 1. */
	for (uint32_t k = 0; k < THREADS; k++)
		for (uint64_t line = 0; line < 64; line++)
			use(&m, k, line, false);
	ck_assert_uint_eq(misses(&m, 0, false), 3 * 64);
	ck_assert_uint_eq(m.thread[0]->miss[1][0], 64);
	ck_assert_uint_eq(m.thread[1]->miss[1][0], 64);
	ck_assert_uint_eq(m.thread[2]->miss[1][0], 0);
	stop(&m);
}
END_TEST

START_TEST(misses_are_counted_by_instruction)
{
	struct cache_site *s;
	struct machine m;
	uint32_t made = 0;

	start(&m, "L1d 4096 4; L2 8192 4", 1);
	/* More instructions than there are sites, each misses once. */
	for (uint64_t ip = 1; ip <= 2 * CACHE_SETS_SITES; ip++) {
		s = cache_sets_access(m.sets, m.thread[0], 1000 + ip, ip * 3,
				      ip % 2, false);
		if (!s)
			continue;
		made++;
		ck_assert_uint_eq(s->ip, ip * 3);
		ck_assert_uint_eq(s->miss[0][ip % 2], 1);
		ck_assert_uint_eq(s->miss[1][ip % 2], 1);
		ck_assert_uint_eq(s->miss[1][!(ip % 2)], 0);
	}
	ck_assert_uint_eq(m.thread[0]->sites, made);
	ck_assert_uint_gt(made, CACHE_SETS_SITES / 2);
	ck_assert_uint_le(made, CACHE_SETS_SITES);
	ck_assert_uint_eq(misses(&m, 0, false) + misses(&m, 0, true),
			  2 * CACHE_SETS_SITES);
	/* A hit has no site; a second miss has no new one. */
	ck_assert_ptr_nonnull(
		cache_sets_access(m.sets, m.thread[1], 5, 3, false, false));
	ck_assert_ptr_null(
		cache_sets_access(m.sets, m.thread[1], 5, 3, false, false));
	ck_assert_ptr_null(
		cache_sets_access(m.sets, m.thread[1], 6, 3, false, false));
	ck_assert_uint_eq(m.thread[1]->sites, 1);
	stop(&m);
}
END_TEST

struct racer {
	struct machine *m;
	uint32_t thread;
};

/* Its own lines, around and around: none is left in a cache of one line. */
static void *race(void *arg)
{
	struct racer *r = arg;

	for (int turn = 0; turn < 100; turn++)
		for (uint64_t n = 0; n < 256; n++)
			use(r->m, r->thread, 1 + 3 * n + r->thread, false);
	return NULL;
}

/* There is room for the lines of all, so each misses there once. */
START_TEST(threads_that_race_lose_no_line)
{
	struct machine m;
	pthread_t id[THREADS];
	struct racer r[THREADS];

	start(&m, "L1d 64 1; L2 1048576 64 shared", 1);
	for (uint32_t i = 0; i < THREADS; i++) {
		r[i] = (struct racer){ &m, i };
		ck_assert_int_eq(pthread_create(&id[i], NULL, race, &r[i]), 0);
	}
	for (uint32_t i = 0; i < THREADS; i++)
		pthread_join(id[i], NULL);
	ck_assert_uint_eq(misses(&m, 0, false), THREADS * 25600);
	ck_assert_uint_eq(misses(&m, 1, false), THREADS * 256);
	stop(&m);
}
END_TEST

START_TEST(a_list_of_caches_is_read)
{
	struct cache_sets_config c;

	ck_assert_int_eq(cache_sets_parse(&c, " L1d 49152 12; L2 1048576 16 ;"
					      "L3\t33554432  16 shared ;"),
			 0);
	ck_assert_uint_eq(c.levels, 3);
	ck_assert_uint_eq(c.domains, 1);
	ck_assert_uint_eq(c.level[0].depth, 1);
	ck_assert_uint_eq(c.level[0].sets, 64);
	ck_assert_uint_eq(c.level[0].ways, 12);
	ck_assert(!c.level[0].shared && !c.level[1].shared);
	ck_assert_uint_eq(c.level[1].sets, 1024);
	ck_assert_uint_eq(c.level[2].depth, 3);
	ck_assert_uint_eq(c.level[2].sets, 32768);
	ck_assert(c.level[2].shared);
}
END_TEST

static const char *const no_caches[] = {
	"",
	" ",
	";",
	"L1d",
	"L1d 49152",
	"L1d 49152 12 8",
	"L1d 49152 0",
	"L1d 0 12",
	"L1d 49153 12",
	"L0 49152 12",
	"L1i 49152 12",
	"M1 49152 12",
	"L1d -49152 12",
	"L1d 49152 12 share",
	"L1d 49152 12 shared x",
	"L1d 49152 12, L2 1048576 16",
	"L2 1048576 16; L1d 49152 12",
	"L1d 49152 12; L1d 49152 12",
	"L1d 49152 12 shared; L2 1048576 16",
	"L1 64 1; L2 64 1; L3 64 1; L4 64 1; L5 64 1",
	"L1d 99999999999999999999 12",
	"L1d 4294967296 1",
	"L1d 2147483648 16",
	"L1d 16576 259",
};

START_TEST(what_is_no_list_of_caches_is_refused)
{
	struct cache_sets_config c;

	ck_assert_int_ne(cache_sets_parse(&c, no_caches[_i]), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cache_sets");
	TCase *tc = tcase_create("cache_sets");

	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, each_access_misses_what_the_oracle_says, 0,
			    PATTERNS * sizeof(machines) / sizeof(machines[0]));
	tcase_add_test(tc, a_stride_of_the_size_of_a_way_fills_one_set);
	tcase_add_test(tc, threads_of_a_domain_find_each_others_lines);
	tcase_add_test(tc, misses_are_counted_by_instruction);
	tcase_add_test(tc, threads_that_race_lose_no_line);
	tcase_add_test(tc, a_list_of_caches_is_read);
	tcase_add_loop_test(tc, what_is_no_list_of_caches_is_refused, 0,
			    sizeof(no_caches) / sizeof(no_caches[0]));
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
