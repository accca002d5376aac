/* SPDX-License-Identifier: MIT */
/*
 * test_reuse_exact - exact reuse times and stack distances, against an oracle
 *
 * From each access the oracle reads the trace back to the stream's last access
 * to the line, and counts the distinct lines in between.
 */
#include <check.h>
#include <pthread.h>
#include <sys/mman.h>

#include "src/exact/reuse.h"
#include "tests/oracle/reuse_oracle.h"
#include "tests/src/engine/reuse_traces.h"
#include "tests/run_suite.h"

static const struct trace_shape shapes[] = {
	{ 1, 1, 1, 1, 50, 50 },    { 2, 2, 2, 5, 60, 30 },
	{ 8, 4, 2, 3, 20, 50 },    { 32, 32, 2, 50, 40, 10 },
	{ 64, 16, 1, 10, 10, 90 },
};
enum {
	SHAPES = sizeof(shapes) / sizeof(shapes[0]),
	ACCESSES = 4000,
	LINES = 1 << 12,
	REGIONS = 1 << 10,
	RACERS = 4,
};

static void *map(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	ck_assert_ptr_ne(p, MAP_FAILED);
	return p;
}

static bool touches(const struct trace_access *x, uint64_t line)
{
	return overlap(x->a.addr, x->a.len, line * 64, 64);
}

static bool in_stream(const struct trace_access *x,
		      const struct trace_access *of, bool domain)
{
	return domain ? x->place.domain == of->place.domain
		      : x->place.thread == of->place.thread;
}

static bool is_store(const struct trace_access *x)
{
	return x->a.flags & ACCESS_STORE;
}

static enum reuse_pairing pair_of(bool use, bool end)
{
	return end ? (use ? REUSE_WAW : REUSE_WAR)
		   : (use ? REUSE_RAW : REUSE_RAR);
}

/* Distinct lines of the stream after access @from and before @to. */
static uint64_t distinct(const struct trace *t, uint32_t from, uint32_t to,
			 bool domain, uint64_t line)
{
	static uint8_t seen[TRACE_LINES + 1];
	uint64_t n = 0;

	memset(seen, 0, sizeof(seen));
	for (uint32_t i = from; i <= to; i++) {
		const struct trace_access *x = &t->access[i];
		uint64_t first = x->a.addr / 64;

		if (!in_stream(x, &t->access[to], domain))
			continue;
		for (uint64_t l = first; touches(x, l); l++) {
			/* Lines of one access come in ascending order. */
			if (l == line || (i == from && l < line) ||
			    (i == to && l > line))
				continue;
			n += !seen[trace_line(l * 64)];
			seen[trace_line(l * 64)] = 1;
		}
	}
	return n;
}

/* How an access to @line is counted, looking back. */
static void expect_back(const struct trace *t, uint32_t at, uint64_t line,
			bool domain, struct reuse_exact_counts *c)
{
	const struct trace_access *x = &t->access[at], *y = NULL;
	uint32_t i = at, bin;
	bool invalidated = false;

	while (i-- > 0) {
		y = &t->access[i];
		if (!touches(y, line))
			continue;
		if (in_stream(y, x, domain))
			break;
		invalidated |= is_store(y);
	}
	if (i == UINT32_MAX) {
		/* The count so far includes this access. */
		bin = reuse_bin_of(c->accesses);
		c->cold[bin].weight++;
		c->cold[bin].offset +=
			(double)(c->accesses - reuse_bin_low(bin));
	} else if (invalidated) {
		c->returned++;
		c->invalidated[is_store(y)]++;
	} else {
		uint64_t time =
			domain ? x->of_domain - y->of_domain : x->own - y->own;
		bool spatial;
		/* Only the bytes on this line count. */
		uint64_t low = line * 64, high = low + 64;
		uint64_t xl = x->a.addr > low ? x->a.addr : low;
		uint64_t xh = x->a.addr + x->a.len < high ? x->a.addr + x->a.len
							  : high;
		uint64_t yl = y->a.addr > low ? y->a.addr : low;
		uint64_t yh = y->a.addr + y->a.len < high ? y->a.addr + y->a.len
							  : high;
		enum reuse_pairing p = pair_of(is_store(y), is_store(x));

		spatial = !(xl < yh && yl < xh);
		bin = reuse_bin_of(time);
		c->reused[p][spatial][bin].weight++;
		c->reused[p][spatial][bin].offset +=
			(double)(time - reuse_bin_low(bin));
		if (domain && x->place.core == y->place.core)
			c->same_core[p][spatial][bin].weight++;
		time = distinct(t, i, at, domain, line);
		bin = reuse_bin_of(time);
		c->distance[bin].weight++;
		c->distance[bin].offset += (double)(time - reuse_bin_low(bin));
	}
}

/* True if another thread has stored to @line since this one accessed it. */
static bool was_taken(const struct trace *t, uint32_t at, uint64_t line)
{
	bool stored = false;

	for (uint32_t i = at; i-- > 0;) {
		const struct trace_access *x = &t->access[i];

		if (!touches(x, line))
			continue;
		if (in_stream(x, &t->access[at], false))
			return stored;
		stored |= is_store(x);
	}
	return false;
}

/* A use without a next access in its stream. */
static void expect_ahead(const struct trace *t, uint32_t at, uint64_t line,
			 bool domain, struct reuse_exact_counts *c)
{
	const struct trace_access *x = &t->access[at];
	bool invalidated = false;
	struct reuse_mass *m;
	uint64_t time;

	for (uint32_t i = at + 1; i < t->n; i++) {
		const struct trace_access *y = &t->access[i];

		if (!touches(y, line))
			continue;
		if (in_stream(y, x, domain))
			return;
		invalidated |= is_store(y);
	}
	if (invalidated) {
		c->invalidated[is_store(x)]++;
		return;
	}
	time = domain ? t->of_domain[x->place.domain] + 1 - x->of_domain
		      : t->own[x->place.thread] + 1 - x->own;
	m = &c->dangling[is_store(x)][reuse_bin_of(time)];
	m->weight++;
	m->offset += (double)(time - reuse_bin_low(reuse_bin_of(time)));
}

static struct reuse_exact_counts *expect_stream(const struct trace *t,
						uint32_t id, bool domain)
{
	struct reuse_exact_counts *c = calloc(1, sizeof(*c));

	ck_assert_ptr_nonnull(c);
	for (uint32_t i = 0; i < t->n; i++) {
		const struct trace_access *x = &t->access[i];

		if ((domain ? x->place.domain : x->place.thread) != id)
			continue;
		c->accesses++;
		for (uint64_t l = x->a.addr / 64; touches(x, l); l++) {
			expect_back(t, i, l, domain, c);
			expect_ahead(t, i, l, domain, c);
		}
	}
	return c;
}

static void same_bins(const struct reuse_mass *a, const struct reuse_mass *b,
		      size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (a[i].weight != b[i].weight || a[i].offset != b[i].offset)
			ck_abort_msg("bin %zu: %g, not %g", i, a[i].weight,
				     b[i].weight);
	}
}

static void same_weights(const struct reuse_mass *a, const struct reuse_mass *b,
			 size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (a[i].weight != b[i].weight)
			ck_abort_msg("bin %zu: %g, not %g", i, a[i].weight,
				     b[i].weight);
}

static void same_counts(const struct reuse_exact_counts *have,
			const struct reuse_exact_counts *want)
{
	const size_t n = sizeof(have->reused) / sizeof(struct reuse_mass);

	ck_assert_uint_eq(have->accesses, want->accesses);
	ck_assert_uint_eq(have->full, 0);
	ck_assert_uint_eq(have->weight, 1);
	ck_assert_double_eq(have->returned, want->returned);
	for (int store = 0; store < 2; store++) {
		ck_assert_double_eq(have->invalidated[store],
				    want->invalidated[store]);
		same_bins(have->dangling[store], want->dangling[store],
			  REUSE_BINS);
	}
	same_bins(have->cold, want->cold, REUSE_BINS);
	same_bins(&have->reused[0][0][0], &want->reused[0][0][0], n);
	same_weights(&have->same_core[0][0][0], &want->same_core[0][0][0], n);
	same_bins(have->distance, want->distance, REUSE_BINS);
}

static const struct reuse_exact_config config = { .regions = REGIONS,
						  .lines = LINES,
						  .domains = 4 };

START_TEST(streams_of_threads_and_domains_are_those_of_reading_back)
{
	const struct trace_shape *shape = &shapes[_i];
	struct trace *t = trace_mixed(shape, ACCESSES, _i);
	struct reuse_exact *x =
		reuse_exact_init(map(reuse_exact_size(&config)), &config);
	struct reuse_exact_thread *thread[TRACE_THREADS];
	struct reuse_exact_counts *want;

	for (uint32_t i = 0; i < shape->threads; i++) {
		struct cpu_place place = trace_place(shape, i);

		thread[i] = reuse_exact_thread_init(
			map(reuse_exact_thread_size(&config)), x, &place);
	}
	for (uint32_t i = 0; i < t->n; i++) {
		const struct trace_access *y = &t->access[i];
		uint64_t line = y->a.addr / 64;
		unsigned int taken = was_taken(t, i, line);

		if (touches(y, line + 1))
			taken |= (unsigned int)was_taken(t, i, line + 1) << 1;
		ck_assert_uint_eq(
			reuse_exact_access(x, thread[y->place.thread], &y->a),
			taken);
	}
	for (uint32_t i = 0; i < shape->threads; i++) {
		want = expect_stream(t, i, false);
		reuse_exact_thread_end(x, thread[i]);
		same_counts(thread[i]->counts, want);
		free(want);
	}
	for (uint32_t i = 0; i < shape->domains; i++) {
		want = expect_stream(t, i, true);
		same_counts(reuse_exact_domain_end(x, i), want);
		free(want);
	}
	trace_free(t);
}
END_TEST

/*
 * De Pestel et al., RPPM, figure 2: alone, 3 accesses to 2 lines lie between
 * thread 1's to A and 3 between thread 2's to D; interleaved, 7 to 4 lines and,
 * since thread 1 accesses D too, 1.
 */
START_TEST(one_thread_can_shorten_and_lengthen_the_reuses_of_another)
{
	static const struct {
		uint32_t thread;
		char line;
	} order[] = {
		{ 1, 'D' }, { 0, 'A' }, { 1, 'E' }, { 0, 'B' }, { 1, 'F' },
		{ 0, 'D' }, { 1, 'E' }, { 1, 'D' }, { 0, 'B' }, { 0, 'A' },
	};
	const struct reuse_exact_config one = { REGIONS, LINES, 1 };
	struct reuse_exact *x =
		reuse_exact_init(map(reuse_exact_size(&one)), &one);
	struct reuse_exact_thread *thread[2];
	const struct reuse_exact_counts *domain;

	for (uint32_t i = 0; i < 2; i++) {
		struct cpu_place place = { i, i, 0 };

		thread[i] = reuse_exact_thread_init(
			map(reuse_exact_thread_size(&one)), x, &place);
	}
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		struct access a = { (uint64_t)order[i].line * 64, 1, 8,
				    ACCESS_LOAD };

		reuse_exact_access(x, thread[order[i].thread], &a);
	}
	/* Of A and D; besides, thread 1's B and thread 2's E after 2. */
	ck_assert_double_eq(thread[0]->counts->reused[REUSE_RAR][0][4].weight,
			    1);
	ck_assert_double_eq(thread[0]->counts->distance[2].weight, 1);
	ck_assert_double_eq(thread[1]->counts->reused[REUSE_RAR][0][4].weight,
			    1);
	ck_assert_double_eq(thread[1]->counts->distance[2].weight, 1);
	domain = reuse_exact_domain_end(x, 0);
	ck_assert_double_eq(domain->reused[REUSE_RAR][0][8].weight, 1);
	/* Thread 1's access to D follows 4 lines after thread 2's as well. */
	ck_assert_double_eq(domain->distance[4].weight, 2);
	ck_assert_double_eq(domain->reused[REUSE_RAR][0][2].weight, 1);
	ck_assert_double_eq(domain->distance[1].weight, 1);
}
END_TEST

struct racer {
	struct reuse_exact *x;
	struct reuse_exact_thread *t;
	pthread_t id;
};

static void *race(void *arg)
{
	struct racer *r = arg;
	struct rng rng;

	rng_seed(&rng, 5, r->t->place.thread);
	for (int i = 0; i < 20000; i++) {
		struct access a = {
			.addr = TRACE_BASE + 8 * rng_below(&rng, 1000),
			.len = 8,
			.flags =
				rng_below(&rng, 2) ? ACCESS_LOAD : ACCESS_STORE,
		};

		reuse_exact_access(r->x, r->t, &a);
	}
	reuse_exact_thread_end(r->x, r->t);
	return NULL;
}

/* All accesses are aligned and so touch one line. */
START_TEST(threads_that_race_lose_no_access)
{
	struct reuse_exact *x =
		reuse_exact_init(map(reuse_exact_size(&config)), &config);
	struct racer racer[RACERS];
	double sum;

	for (uint32_t i = 0; i < RACERS; i++) {
		struct cpu_place place = { i, i, i / 2 };

		racer[i].x = x;
		racer[i].t = reuse_exact_thread_init(
			map(reuse_exact_thread_size(&config)), x, &place);
		pthread_create(&racer[i].id, NULL, race, &racer[i]);
	}
	for (uint32_t i = 0; i < RACERS; i++)
		pthread_join(racer[i].id, NULL);
	for (uint32_t i = 0; i < RACERS + 2; i++) {
		const struct reuse_exact_counts *c =
			i < RACERS ? racer[i].t->counts
				   : reuse_exact_domain_end(x, i - RACERS);

		sum = c->returned;
		for (uint32_t b = 0; b < REUSE_BINS; b++)
			sum += c->cold[b].weight + c->distance[b].weight;
		ck_assert_double_eq(sum, (double)c->accesses);
		ck_assert_uint_eq(c->accesses, i < RACERS ? 20000 : 2 * 20000);
	}
}
END_TEST

START_TEST(configurations_that_cannot_be_are_refused)
{
	struct reuse_exact_config bad[] = {
		{ 0, LINES, 0 },
		{ 3, LINES, 0 },
		{ REGIONS, 5, 0 },
		{ REGIONS, LINES, REUSE_EXACT_DOMAINS_MAX + 1 },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ck_assert_uint_eq(reuse_exact_size(&bad[i]), 0);
		ck_assert_uint_eq(reuse_exact_thread_size(&bad[i]), 0);
		ck_assert_ptr_null(reuse_exact_init(NULL, &bad[i]));
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("reuse_exact");
	TCase *tc = tcase_create("reuse_exact");

	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(
		tc, streams_of_threads_and_domains_are_those_of_reading_back, 0,
		SHAPES);
	tcase_add_test(
		tc, one_thread_can_shorten_and_lengthen_the_reuses_of_another);
	tcase_add_test(tc, threads_that_race_lose_no_access);
	tcase_add_test(tc, configurations_that_cannot_be_are_refused);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
