/* SPDX-License-Identifier: MIT */
/*
 * test_exact - the directory against the definitions, applied by brute force
 *
 * The oracle of transfers keeps the whole stream. For each access it looks back
 * for the last store and forward to the end of the visit.
 */
#include <errno.h>
#include <pthread.h>

#include "exact_hand.h"
#include "tests/run_suite.h"

enum {
	RACERS = 4,
	RACES = 50000
};

/* The last store to the line before piece @i, -1 if there is none. */
static int last_store(const struct stream *s, int i)
{
	for (int j = i - 1; j >= 0; j--)
		if (s->piece[j].store && s->piece[j].line == s->piece[i].line)
			return j;
	return -1;
}

static bool touched_between(const struct stream *s, int store, int i)
{
	for (int j = store + 1; j < i; j++)
		if (s->piece[j].line == s->piece[i].line &&
		    s->piece[j].thread == s->piece[i].thread)
			return true;
	return false;
}

static bool stay_overlaps(const struct stream *s, int store, int i)
{
	for (int j = i; j < (int)s->n; j++) {
		if (s->piece[j].line != s->piece[i].line)
			continue;
		if (s->piece[j].thread == s->piece[i].thread &&
		    s->piece[j].bytes & s->piece[store].bytes)
			return true;
		if (s->piece[j].store)
			return false;
	}
	return false;
}

/*
 * True if, in its visit that begins with piece @i, the thread touches bytes
 * that others stored since piece @since, its last useful transfer (-1: never).
 */
static bool visit_is_useful(const struct stream *s, int since, int i)
{
	const struct piece *p = &s->piece[i];
	uint64_t fresh = 0;

	for (int j = since + 1; j < i; j++)
		if (s->piece[j].line == p->line && s->piece[j].store &&
		    s->piece[j].thread != p->thread)
			fresh |= s->piece[j].bytes;
	for (int j = i; j < (int)s->n; j++) {
		if (s->piece[j].line != p->line)
			continue;
		if (s->piece[j].thread != p->thread) {
			if (s->piece[j].store)
				return false;
		} else if (s->piece[j].bytes & fresh) {
			return true;
		}
	}
	return false;
}

struct truth {
	struct exact_cell cell[EXACT_THREADS_MAX][8]; /* [to][from % 8] */
	struct exact_line line[LINES + 8];
	struct exact_cell total;
	int useful[LINES + 8][EXACT_THREADS_MAX]; /* last piece, + 1 */
};

/* Cells are folded by from modulo 8, to keep the table small. */
static struct truth *find_truth(const struct stream *s)
{
	static struct truth truth;
	struct truth *t = &truth;

	for (int i = 0; i < (int)s->n; i++) {
		const struct piece *p = &s->piece[i];
		struct exact_line *line = &t->line[(p->line - BASE) / LINE];
		int store = last_store(s, i);
		int *useful = &t->useful[line - t->line][p->thread];
		struct exact_cell *cell;
		bool is_false, is_useful;

		line->stores += p->store;
		if (store < 0 || s->piece[store].thread == p->thread ||
		    touched_between(s, store, i))
			continue;
		is_false = !stay_overlaps(s, store, i);
		is_useful = visit_is_useful(s, *useful - 1, i);
		if (is_useful)
			*useful = i + 1;
		cell = &t->cell[p->thread][s->piece[store].thread % 8];
		cell->transfers++;
		cell->false_sharing += is_false;
		cell->useless += !is_useful;
		t->total.transfers++;
		t->total.false_sharing += is_false;
		t->total.useless += !is_useful;
		line->transfers++;
		line->false_sharing += is_false;
		line->useless += !is_useful;
		line->bytes |= s->piece[store].bytes | p->bytes;
	}
	return t;
}

static int compare_line(void *ctx, const struct exact_line *line)
{
	struct truth *t = ctx;
	struct exact_line *expected = &t->line[(line->line - BASE) / LINE];

	ck_assert_uint_eq(line->transfers, expected->transfers);
	ck_assert_uint_eq(line->false_sharing, expected->false_sharing);
	ck_assert_uint_eq(line->useless, expected->useless);
	ck_assert_uint_eq(line->stores, expected->stores);
	ck_assert_uint_eq(line->bytes, expected->bytes);
	expected->line = line->line; /* seen */
	return 0;
}

static const uint32_t thread_counts[] = { 1, 2, 3, 8, 64, 65, 130 };

START_TEST(transfers_of_every_cell_and_line_are_those_of_the_definition)
{
	uint32_t n = thread_counts[_i];
	struct exact_config c = config(n, NULL);
	struct exact *x = directory(&c, threads);
	struct stream *s = &stream;
	struct truth *t;

	run_stream(x, n, n, s, 1 + _i);
	t = find_truth(s);
	for (uint32_t to = 0; to < n; to++) {
		struct exact_cell sum[8] = { { 0, 0, 0 } };

		for (uint32_t from = 0; from < n; from++) {
			struct exact_cell cell = exact_cell(x, from, to);

			sum[from % 8].transfers += cell.transfers;
			sum[from % 8].false_sharing += cell.false_sharing;
			sum[from % 8].useless += cell.useless;
		}
		for (int i = 0; i < 8; i++) {
			ck_assert_uint_eq(sum[i].transfers,
					  t->cell[to][i].transfers);
			ck_assert_uint_eq(sum[i].false_sharing,
					  t->cell[to][i].false_sharing);
			ck_assert_uint_eq(sum[i].useless,
					  t->cell[to][i].useless);
		}
	}
	ck_assert_uint_eq(exact_total(x).transfers, t->total.transfers);
	ck_assert_uint_eq(exact_total(x).false_sharing, t->total.false_sharing);
	ck_assert_uint_eq(exact_total(x).useless, t->total.useless);
	if (n > 1)
		ck_assert_uint_gt(t->total.transfers, 500);
	ck_assert_int_eq(exact_lines(x, compare_line, t), 0);
	for (int i = 0; i < LINES; i++)
		ck_assert_uint_eq(t->line[i].line, BASE + i * LINE);
}
END_TEST

START_TEST(each_reader_after_a_store_is_a_transfer)
{
	struct exact_thread t[5];
	struct exact_config c = config(5, NULL);
	struct exact *x = directory(&c, t);

	make(x, &t[0], BASE, 8, ACCESS_STORE);
	for (int round = 0; round < 3; round++)
		for (int i = 0; i < 5; i++)
			make(x, &t[i], BASE, 8, ACCESS_LOAD);
	ck_assert_uint_eq(exact_total(x).transfers, 4);
	for (int i = 1; i < 5; i++)
		ck_assert_uint_eq(exact_cell(x, 0, i).transfers, 1);
	/* Thread 3 holds it: no transfer, but the others' copies are gone. */
	make(x, &t[3], BASE, 8, ACCESS_STORE);
	ck_assert_uint_eq(exact_total(x).transfers, 4);
	ck_assert_uint_eq(t[3].counts.miss[EXACT_UPGRADE][1], 1);
	ck_assert_uint_eq(t[3].counts.invalidated, 4);
}
END_TEST

START_TEST(false_is_judged_over_the_whole_stay)
{
	struct exact_thread t[2];
	struct exact_config c = config(2, NULL);
	struct exact *x = directory(&c, t);

	make(x, &t[0], BASE + 8, 8, ACCESS_STORE);
	make(x, &t[1], BASE, 8, ACCESS_LOAD);
	ck_assert_uint_eq(exact_cell(x, 0, 1).false_sharing, 1);
	make(x, &t[1], BASE + 15, 1, ACCESS_LOAD);
	ck_assert_uint_eq(exact_cell(x, 0, 1).false_sharing, 0);
	/* The store that ends the stay still belongs to it. */
	make(x, &t[0], BASE + 8, 8, ACCESS_STORE);
	make(x, &t[1], BASE, 8, ACCESS_LOAD);
	make(x, &t[1], BASE + 8, 8, ACCESS_STORE);
	ck_assert_uint_eq(exact_cell(x, 0, 1).false_sharing, 0);
	/* What comes after it does not. */
	make(x, &t[0], BASE + 8, 8, ACCESS_STORE);
	make(x, &t[1], BASE, 8, ACCESS_STORE);
	make(x, &t[1], BASE + 8, 8, ACCESS_LOAD);
	ck_assert_uint_eq(exact_cell(x, 0, 1).false_sharing, 1);
	ck_assert_uint_eq(exact_cell(x, 0, 1).transfers, 3);
}
END_TEST

/* One thread fills a line word by word, the other reads the first word. */
START_TEST(a_visit_is_useful_if_it_touches_what_others_stored_before)
{
	struct exact_thread t[2];
	struct exact_config c = config(2, NULL);
	struct exact *x = directory(&c, t);

	for (int i = 0; i < 8; i++)
		make(x, &t[0], BASE + i * 8, 8, ACCESS_STORE);
	make(x, &t[1], BASE, 8, ACCESS_LOAD);
	ck_assert_uint_eq(exact_cell(x, 0, 1).false_sharing, 1);
	ck_assert_uint_eq(exact_cell(x, 0, 1).useless, 0);
	/* Nothing new in what it touches. */
	make(x, &t[0], BASE + 8, 8, ACCESS_STORE);
	make(x, &t[1], BASE, 8, ACCESS_LOAD);
	ck_assert_uint_eq(exact_cell(x, 0, 1).useless, 1);
	/* It stays useless, but what was stored then is still new later. */
	make(x, &t[0], BASE + 16, 8, ACCESS_STORE);
	make(x, &t[1], BASE + 8, 8, ACCESS_STORE);
	ck_assert_uint_eq(exact_cell(x, 0, 1).useless, 1);
	ck_assert_uint_eq(exact_cell(x, 0, 1).transfers, 3);
}
END_TEST

static int keep_line(void *ctx, const struct exact_line *line)
{
	*(struct exact_line *)ctx = *line;
	return 0;
}

START_TEST(bytes_that_several_threads_modify_at_once_are_contended)
{
	const uint32_t modify = ACCESS_LOAD | ACCESS_STORE;
	struct exact_thread t[2];
	struct exact_config c = config(2, NULL);
	struct exact *x = directory(&c, t);
	struct exact_line line;

	make(x, &t[0], BASE, 4, modify);
	make(x, &t[1], BASE + 8, 4, modify);
	make(x, &t[0], BASE + 16, 4, ACCESS_STORE);
	make(x, &t[1], BASE + 16, 4, ACCESS_LOAD);
	exact_lines(x, keep_line, &line);
	ck_assert_uint_eq(line.contended, 0);
	make(x, &t[0], BASE, 4, modify);
	make(x, &t[1], BASE + 8, 4, modify);
	exact_lines(x, keep_line, &line);
	ck_assert_uint_eq(line.contended, 0);
	make(x, &t[0], BASE + 8, 4, modify);
	exact_lines(x, keep_line, &line);
	ck_assert_uint_eq(line.contended, 0xf00);
}
END_TEST

START_TEST(an_access_at_the_end_of_memory_ends_there)
{
	struct exact_thread t[1];
	struct exact_config c = config(1, NULL);
	struct exact *x = directory(&c, t);

	make(x, &t[0], -8ull, 100, ACCESS_STORE);
	ck_assert_uint_eq(t[0].counts.stores, 1);
	make(x, &t[0], 0, 1, ACCESS_STORE);
	ck_assert_uint_eq(t[0].counts.stores, 2);
	ck_assert_uint_eq(t[0].counts.cold_stores, 2);
}
END_TEST

START_TEST(what_finds_no_region_is_counted)
{
	struct exact_thread t[2];
	struct exact_config c = config(2, NULL);
	struct exact *x;

	c.regions = 4;
	x = directory(&c, t);
	for (uint64_t i = 0; i < 6; i++) {
		make(x, &t[0], BASE + i * LINE * EXACT_REGION_LINES, 8,
		     ACCESS_STORE);
		make(x, &t[1], BASE + i * LINE * EXACT_REGION_LINES, 8,
		     ACCESS_LOAD);
	}
	ck_assert_uint_eq(t[0].counts.full, 2);
	ck_assert_uint_eq(t[1].counts.full, 2);
	ck_assert_uint_eq(exact_total(x).transfers, 4);
}
END_TEST

START_TEST(a_call_that_interrupts_another_is_dropped_and_counted)
{
	struct exact_thread t[1];
	struct exact_config c = config(1, NULL);
	struct exact *x = directory(&c, t);

	t[0].inside = 1;
	make(x, &t[0], BASE, 8, ACCESS_STORE);
	ck_assert_uint_eq(t[0].counts.dropped, 1);
	ck_assert_uint_eq(t[0].counts.stores, 0);
}
END_TEST

START_TEST(invalid_configurations_are_refused)
{
	static const uint32_t beyond[] = { 0, 8, 1, 1, 1, 1, 1, 1 };
	const struct topology_shape bad[] = {
		{ 0, 1, { own_of_core } },
		{ 8, 0, { own_of_core } },
		{ 8, TOPOLOGY_LEVELS_MAX + 1, { own_of_core } },
		{ 8, 1, { beyond } },
	};
	struct exact_config c = config(1, NULL), good = c;
	struct exact_thread t;
	struct exact *x;

	for (int i = 0; i < 4; i++) {
		c.topology = &bad[i];
		ck_assert_uint_eq(exact_size(&c), 0);
	}
	c = good;
	c.threads = 0;
	ck_assert_uint_eq(exact_size(&c), 0);
	c.threads = EXACT_THREADS_MAX + 1;
	ck_assert_uint_eq(exact_size(&c), 0);
	c = good;
	c.line_bytes = 128;
	ck_assert_uint_eq(exact_size(&c), 0);
	c.line_bytes = 48;
	ck_assert_uint_eq(exact_size(&c), 0);
	c = good;
	c.regions = 3;
	ck_assert_uint_eq(exact_size(&c), 0);
	ck_assert_ptr_null(exact_init(NULL, &c));
	x = exact_init(map(exact_size(&good)), &good);
	ck_assert_int_eq(exact_thread_init(x, &t, 1), -EINVAL);
}
END_TEST

struct racer {
	struct exact *x;
	struct exact_thread t;
	pthread_barrier_t *start;
};

static void *race(void *arg)
{
	struct racer *r = arg;
	struct rng rng;

	rng_seed(&rng, 7, r->t.id);
	pthread_barrier_wait(r->start);
	for (int i = 0; i < RACES; i++)
		make(r->x, &r->t, BASE + rng_below(&rng, 4 * 8) * 8, 8,
		     rng_below(&rng, 4) ? ACCESS_LOAD : ACCESS_STORE);
	return NULL;
}

static int add_line(void *ctx, const struct exact_line *line)
{
	struct exact_line *sum = ctx;

	sum->transfers += line->transfers;
	sum->false_sharing += line->false_sharing;
	sum->useless += line->useless;
	sum->stores += line->stores;
	return 0;
}

/*
 * With a core to each thread the caches that hold a line are the threads that
 * have touched it since the last store, so once every line has been stored to,
 * transfers are the misses that another cache serves.
 */
START_TEST(threads_that_race_lose_nothing)
{
	struct exact_config c = config(RACERS, NULL);
	struct exact *x = exact_init(map(exact_size(&c)), &c);
	struct racer racer[RACERS];
	pthread_t thread[RACERS];
	pthread_barrier_t start;
	struct exact_line lines = { 0 };
	uint64_t served = 0, stores = 0, accesses = 0;

	ck_assert_int_eq(pthread_barrier_init(&start, NULL, RACERS), 0);
	for (uint32_t i = 0; i < RACERS; i++) {
		racer[i].x = x;
		racer[i].start = &start;
		ck_assert_int_eq(exact_thread_init(x, &racer[i].t, i), 0);
	}
	for (int i = 0; i < 4; i++)
		make(x, &racer[0].t, BASE + i * LINE, 8, ACCESS_STORE);
	for (int i = 0; i < RACERS; i++)
		ck_assert_int_eq(
			pthread_create(&thread[i], NULL, race, &racer[i]), 0);
	for (int i = 0; i < RACERS; i++)
		pthread_join(thread[i], NULL);
	for (int i = 0; i < RACERS; i++) {
		const struct exact_counts *n = &racer[i].t.counts;

		for (int d = 0; d <= TOPOLOGY_LEVELS_MAX; d++)
			served += n->miss[EXACT_LOAD_CLEAN][d] +
				  n->miss[EXACT_LOAD_MODIFIED][d] +
				  n->miss[EXACT_OWN_CLEAN][d] +
				  n->miss[EXACT_OWN_MODIFIED][d];
		stores += n->stores;
		accesses += n->stores + n->loads;
		ck_assert_uint_eq(n->dropped, 0);
	}
	ck_assert_int_eq(exact_lines(x, add_line, &lines), 0);
	ck_assert_uint_eq(accesses, RACERS * RACES + 4);
	ck_assert_uint_eq(lines.stores, stores);
	ck_assert_uint_eq(lines.transfers, served);
	ck_assert_uint_eq(exact_total(x).transfers, served);
	ck_assert_uint_eq(exact_total(x).false_sharing, lines.false_sharing);
	ck_assert_uint_le(lines.false_sharing, lines.transfers);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("exact");
	TCase *tc = tcase_create("exact");

	suite_add_tcase(suite, tc);
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(
		tc,
		transfers_of_every_cell_and_line_are_those_of_the_definition, 0,
		sizeof(thread_counts) / sizeof(thread_counts[0]));
	tcase_add_test(tc, each_reader_after_a_store_is_a_transfer);
	tcase_add_test(tc, false_is_judged_over_the_whole_stay);
	tcase_add_test(
		tc, a_visit_is_useful_if_it_touches_what_others_stored_before);
	tcase_add_test(tc,
		       bytes_that_several_threads_modify_at_once_are_contended);
	tcase_add_test(tc, an_access_at_the_end_of_memory_ends_there);
	tcase_add_test(tc, what_finds_no_region_is_counted);
	tcase_add_test(tc,
		       a_call_that_interrupts_another_is_dropped_and_counted);
	tcase_add_test(tc, invalid_configurations_are_refused);
	tcase_add_test(tc, threads_that_race_lose_nothing);
	return run_suite(suite);
}
