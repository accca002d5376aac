/* SPDX-License-Identifier: MIT */
/*
 * test_path_table - each path is kept once, whichever thread adds it
 */
#include <check.h>
#include <pthread.h>
#include <stdlib.h>

#include "src/store/cdp_read.h"
#include "src/store/path_table.h"
#include "src/base/rng.h"
#include "tests/run_suite.h"
#include "tests/sandbox.h"

#define NAME "a.cdp"

enum {
	NODES = 1000,
	THREADS = 4,
	DEPTH = 12,
	PATHS = 2000,
};

static struct store store;
static struct path_table *table;
static void *memory;

static void make(uint32_t nodes)
{
	size_t bytes = path_table_size(nodes);

	memory = aligned_alloc(64, (bytes + 63) & ~(size_t)63);
	ck_assert_ptr_nonnull(memory);
	memset(memory, 0, bytes);
	table = path_table_init(memory, &store, nodes);
}

static void setup(void)
{
	sandbox_setup();
	ck_assert_int_eq(store_create(&store, sandbox_fd, NAME, 64 << 20), 0);
}

static void teardown(void)
{
	store_release(&store);
	free(memory);
	sandbox_teardown();
}

static uint64_t generation(uint64_t ip)
{
	return ip + 7;
}

static uint32_t node(uint32_t parent, uint64_t ip, bool recurs)
{
	struct path_call c = { ip, recurs };

	return path_table_put(table, parent, &c, generation);
}

/* What is in the file, by node. */
struct written {
	struct cdp_path path[NODES + 1];
	uint32_t n;
};

static int take(void *ctx, const void *record)
{
	const struct cdp_path *p = record;
	struct written *w = ctx;

	ck_assert_uint_le(p->node, NODES);
	ck_assert_uint_eq(w->path[p->node].node, 0); /* never twice */
	w->path[p->node] = *p;
	w->n++;
	return 0;
}

static struct written *written(void)
{
	static struct written w;
	struct cdp_reader r;
	uint64_t bad = 0;

	memset(&w, 0, sizeof(w));
	ck_assert_int_eq(cdp_open(&r, sandbox_fd, NAME), 0);
	ck_assert_int_eq(cdp_each(&r, CDP_PATHS, take, &w, &bad), 0);
	ck_assert_uint_eq(bad, 0);
	cdp_close(&r);
	return &w;
}

START_TEST(a_path_is_one_node_however_often_it_comes)
{
	uint32_t a, b, c;

	make(NODES);
	a = node(0, 0x1000, false);
	b = node(a, 0x2000, false);
	c = node(a, 0x2000, true);
	ck_assert_uint_eq(a, 1);
	ck_assert_uint_gt(b, a);
	ck_assert_uint_ne(b, c);
	ck_assert_uint_ne(node(0, 0x2000, false), b);
	for (int i = 0; i < 3; i++) {
		ck_assert_uint_eq(node(0, 0x1000, false), a);
		ck_assert_uint_eq(node(a, 0x2000, false), b);
		ck_assert_uint_eq(node(a, 0x2000, true), c);
	}
	ck_assert_uint_eq(path_table_stats(table).nodes, 4);
	ck_assert_uint_eq(path_table_stats(table).lost, 0);
}
END_TEST

START_TEST(the_file_has_each_node_as_it_came)
{
	const struct written *w;
	uint32_t a, b;

	make(NODES);
	a = node(0, 0x1000, false);
	b = node(a, 0x2000, true);
	node(b, 0x1000, false);
	w = written();
	ck_assert_uint_eq(w->n, 3);
	ck_assert_uint_eq(w->path[b].parent, a);
	ck_assert_uint_eq(w->path[b].ip, 0x2000);
	ck_assert_uint_eq(w->path[b].flags, CDP_PATH_RECURS);
	ck_assert_uint_eq(w->path[b].map_generation, 0x2007);
	ck_assert_uint_eq(w->path[a].parent, 0);
	ck_assert_uint_eq(w->path[a].flags, 0);
}
END_TEST

START_TEST(a_full_table_gives_the_parent_and_counts_it)
{
	uint32_t last = 0;

	make(10);
	for (uint64_t i = 1; i <= 10; i++)
		last = node(last, i, false);
	ck_assert_uint_eq(last, 10);
	ck_assert_uint_eq(node(last, 11, false), last);
	ck_assert_uint_eq(node(0, 12, false), 0);
	ck_assert_uint_eq(node(0, 1, false), 1); /* what is there is found */
	ck_assert_uint_eq(path_table_stats(table).lost, 2);
	ck_assert_uint_eq(written()->n, 10);
}
END_TEST

START_TEST(a_full_file_gives_the_parent_too)
{
	uint32_t had, a = 0;

	store_release(&store);
	ck_assert_int_eq(
		store_create(&store, sandbox_fd, "b.cdp", 2 * CDP_PAGE_BYTES),
		0);
	make(NODES);
	had = cdp_records_a_page(CDP_PATHS);
	for (uint32_t i = 0; i < had; i++)
		a = node(a, 0x1000 + i, false);
	ck_assert_uint_eq(a, had);
	ck_assert_uint_eq(node(a, 0x1000, false), a);
	ck_assert_uint_eq(path_table_stats(table).lost, 1);
}
END_TEST

START_TEST(sizes_that_cannot_be_are_refused)
{
	ck_assert_uint_eq(path_table_size(0), 0);
	ck_assert_uint_eq(path_table_size(CDP_PATHS_MAX + 1), 0);
	ck_assert_uint_gt(path_table_size(CDP_PATHS_MAX), 0);
}
END_TEST

/* Paths over a few instructions, so that threads meet in them. */
static void walk(struct rng *rng, struct path_call *call, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		call[i] =
			(struct path_call){ 0x1000 + rng_below(rng, 2), false };
}

struct seen {
	uint64_t seed;
	uint32_t node[PATHS];
};

static void *intern(void *arg)
{
	struct seen *s = arg;
	struct path_call call[DEPTH];
	struct rng rng;

	rng_seed(&rng, s->seed, 0);
	for (int i = 0; i < PATHS; i++) {
		uint32_t n = 1 + rng_below(&rng, 8), path = 0;

		walk(&rng, call, n);
		for (uint32_t k = 0; k < n; k++)
			path = path_table_put(table, path, &call[k],
					      generation);
		s->node[i] = path;
	}
	return NULL;
}

/* The oracle: the file's records, read back up to the root. */
static void check_paths(const struct seen *s, const struct written *w)
{
	struct path_call call[DEPTH];
	struct rng rng;

	rng_seed(&rng, s->seed, 0);
	for (int i = 0; i < PATHS; i++) {
		uint32_t n = 1 + rng_below(&rng, 8), path = s->node[i];

		walk(&rng, call, n);
		while (n--) {
			ck_assert_uint_eq(w->path[path].node, path);
			ck_assert_uint_eq(w->path[path].ip, call[n].ip);
			path = w->path[path].parent;
		}
		ck_assert_uint_eq(path, 0);
	}
}

START_TEST(threads_agree_on_every_path)
{
	static struct seen seen[THREADS];
	pthread_t id[THREADS];

	make(NODES);
	for (int i = 0; i < THREADS; i++) {
		seen[i].seed = 1 + i / 2; /* two with the same paths */
		ck_assert_int_eq(pthread_create(&id[i], NULL, intern, &seen[i]),
				 0);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(id[i], NULL);
	/* Two at each of eight depths: 510 at most. */
	ck_assert_uint_eq(path_table_stats(table).nodes, written()->n);
	ck_assert_uint_le(written()->n, 510);
	if (path_table_stats(table).lost)
		return; /* a holder lost its processor */
	for (int i = 0; i < THREADS; i++)
		check_paths(&seen[i], written());
	for (int i = 0; i < THREADS; i += 2)
		ck_assert_mem_eq(seen[i].node, seen[i + 1].node,
				 sizeof(seen[i].node));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("path_table");
	TCase *tc = tcase_create("path_table");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, a_path_is_one_node_however_often_it_comes);
	tcase_add_test(tc, the_file_has_each_node_as_it_came);
	tcase_add_test(tc, a_full_table_gives_the_parent_and_counts_it);
	tcase_add_test(tc, a_full_file_gives_the_parent_too);
	tcase_add_test(tc, sizes_that_cannot_be_are_refused);
	tcase_add_test(tc, threads_agree_on_every_path);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
