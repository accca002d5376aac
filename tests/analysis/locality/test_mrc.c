/* SPDX-License-Identifier: MIT */
/*
 * test_mrc - miss ratio curves: invalidations, drawings
 *
 * Invalidations are compared with simulated private caches, and drawings with
 * the curve.
 */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/locality/mrc.h"
#include "analysis/base/util.h"
#include "tests/oracle/stack_oracle.h"
#include "tests/run_suite.h"

static struct reuse_histogram h;
static struct locality l;

/* A private cache of @ways lines, into whose lines another thread stores. */
struct private_cache {
	uint32_t *line, used, ways, misses;
};

static uint32_t find(const struct private_cache *c, uint32_t line)
{
	uint32_t at = 0;

	while (at < c->used && c->line[at] != line)
		at++;
	return at;
}

static void touch(struct private_cache *c, uint32_t line)
{
	uint32_t at = find(c, line);

	c->misses += at == c->used;
	if (at == c->ways)
		at--;
	else if (at == c->used)
		c->used++;
	memmove(c->line + 1, c->line, at * sizeof(*c->line));
	c->line[0] = line;
}

static void invalidate(struct private_cache *c, uint32_t line)
{
	uint32_t at = find(c, line);

	if (at == c->used)
		return;
	c->used--;
	memmove(c->line + at, c->line + at + 1,
		(c->used - at) * sizeof(*c->line));
}

/*
 * The last access of each line, and the owner's count at the last store since.
 */
struct last_use {
	uint32_t access, store;
};

/*
 * At each access of the owner, the other thread stores with probability @stores
 * into one of the first @shared lines.
 */
static void share_lines(const struct trace *t, uint32_t shared, double stores,
			struct private_cache *c, int caches)
{
	struct last_use *last = oracle_alloc(t->lines, sizeof(*last));
	struct rng r;

	memset(&h, 0, sizeof(h));
	rng_seed(&r, 31, 0);
	for (uint32_t i = 1; i <= t->accesses; i++) {
		uint32_t line = t->line[i - 1];
		struct last_use *u = &last[line];

		if (!u->access)
			reuse_histogram_add_never(&h, i, 1);
		else if (u->store)
			reuse_histogram_add_invalidated(
				&h, u->store - u->access, 1);
		else
			reuse_histogram_add(&h, i - u->access, 1);
		u->access = i;
		u->store = 0;
		for (int j = 0; j < caches; j++)
			touch(&c[j], line);
		if (draw_unit(&r) >= stores)
			continue;
		line = (uint32_t)rng_below(&r, shared);
		for (int j = 0; j < caches; j++)
			invalidate(&c[j], line);
		u = &last[line];
		if (u->access && !u->store)
			u->store = i + 1;
	}
	free(last);
}

START_TEST(invalidated_lines_miss_and_make_room)
{
	static const struct {
		enum pattern_name pattern;
		uint32_t shared;
		double stores;
	} by[] = { { PATTERN_UNIFORM, 2048, 0.1 },
		   { PATTERN_UNIFORM, 256, 0.5 },
		   { PATTERN_HOT, 256, 0.2 },
		   { PATTERN_SKEWED, 64, 0.1 },
		   { PATTERN_MIXED, 256, 0.3 } };
	enum {
		CACHES = 5
	};
	struct private_cache c[CACHES];
	struct trace t;

	trace_pattern(&t, by[_i].pattern, 150000, 2048, 32);
	for (int j = 0; j < CACHES; j++)
		c[j] = (struct private_cache){
			.line = oracle_alloc(2048, 4),
			.ways = 64u << j,
		};
	share_lines(&t, by[_i].shared, by[_i].stores, c, CACHES);
	locality_init(&l, &h);
	for (int j = 0; j < CACHES; j++) {
		double truth = (double)c[j].misses / t.accesses;
		double model = locality_miss_stack(&l, &h, c[j].ways);

		ck_assert_msg(fabs(model - truth) <= 0.02,
			      "%u lines: %.4f, simulated %.4f", c[j].ways,
			      model, truth);
		free(c[j].line);
	}
	trace_release(&t);
}
END_TEST

static char *drawn(void (*draw)(FILE *f, const struct mrc *m,
				const struct mrc_cache *cache),
		   const struct mrc *m, const struct mrc_cache *cache)
{
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	ck_assert_ptr_nonnull(f);
	draw(f, m, cache);
	ck_assert_int_eq(fclose(f), 0);
	return text;
}

static void plot(FILE *f, const struct mrc *m, const struct mrc_cache *cache)
{
	mrc_plot(f, m, cache, 1, 2);
}

static void svg(FILE *f, const struct mrc *m, const struct mrc_cache *cache)
{
	struct mrc_named curve = { "a & b <c>", m };

	mrc_svg(f, "\033title", &curve, 1, cache, 1);
}

/* A step at 1 MiB: everything misses below, a fifth from there on. */
static void step(struct mrc *m)
{
	for (int i = 0; i < MRC_POINTS; i++) {
		struct mrc_point *p = &m->point[i];

		p->bytes = exp2(MRC_OCTAVE_MIN + (double)i / MRC_OCTAVE_POINTS);
		p->lru = p->bytes < (1 << 20) ? 1 : 0.2;
		p->by = (struct interval){ p->lru - 0.1, p->lru };
	}
}

static const struct host_cache megabyte = { .name = "L2", .bytes = 1 << 20 };

START_TEST(plot_shows_ratios_band_and_caches_where_they_are)
{
	struct mrc_cache cache = { .cache = &megabyte };
	struct mrc m;
	char *text, *line, *rest;
	int rows = 0, stars = 0;

	step(&m);
	text = drawn(plot, &m, &cache);
	rest = text;
	while ((line = strsep(&rest, "\n")) && *line) {
		size_t at = strcspn(line, "*");

		ck_assert_uint_le(strlen(line), 72);
		if (line[at] == '*') {
			const char *from = line + at;
			size_t run = strspn(from, "*");

			stars += (int)run;
			/* 8 octaves of 3 columns below 1 MiB, 31 from there */
			if (!strncmp(line, "   100 % |", 10)) {
				ck_assert_uint_eq(at, 11);
				ck_assert_uint_eq(run, 24);
			} else {
				ck_assert_uint_eq(at, 11 + 24);
				ck_assert_uint_eq(run, 31);
			}
		}
		if (strchr(line, '2') && !strpbrk(line, "|%KMG"))
			ck_assert_uint_eq(strcspn(line, "2"), 11 + 24);
		rows++;
	}
	ck_assert_int_eq(stars, MRC_POINTS);
	ck_assert_int_eq(rows, 11 + 3);
	free(text);
}
END_TEST

/* A curve at 0 with a band up to 8 % is drawn on a scale up to 10. */
START_TEST(the_scale_holds_curve_and_band)
{
	struct mrc_cache cache = { .cache = &megabyte };
	struct mrc m;
	char *text;

	step(&m);
	for (int i = 0; i < MRC_POINTS; i++) {
		m.point[i].lru = 0;
		m.point[i].by = (struct interval){ 0, 0.08 };
	}
	ck_assert_double_eq(mrc_top(&m), 10);
	text = drawn(plot, &m, &cache);
	ck_assert_ptr_nonnull(strstr(text, "    10 % |\n"));
	ck_assert_ptr_nonnull(strstr(text, "     5 % | :"));
	free(text);
	text = drawn(svg, &m, &cache);
	ck_assert_ptr_nonnull(strstr(text, ">10 %</text>"));
	ck_assert_ptr_nonnull(strstr(text, ">miss ratio</text>"));
	ck_assert_ptr_nonnull(strstr(text, ">cache size</text>"));
	free(text);
}
END_TEST

/* Every '<' opens or closes an element; names cannot contain one. */
START_TEST(svg_is_balanced_and_escapes_names)
{
	struct mrc_cache cache = { .cache = &megabyte };
	struct mrc m;
	char *text;
	int open = 0;

	step(&m);
	text = drawn(svg, &m, &cache);
	for (const char *c = text; (c = strchr(c, '<')); c++) {
		const char *end = strchr(c, '>');

		ck_assert_ptr_nonnull(end);
		if (c[1] == '/')
			open--;
		else if (end[-1] != '/')
			open++;
		ck_assert_int_ge(open, 0);
	}
	ck_assert_int_eq(open, 0);
	ck_assert_ptr_nonnull(strstr(text, "a &amp; b &lt;c>"));
	ck_assert_ptr_null(strchr(text, '\033'));
	ck_assert_ptr_nonnull(strstr(text, ">L2</text>"));
	ck_assert_ptr_null(strstr(text, "nan"));
	free(text);
}
END_TEST

START_TEST(caches_of_this_machine_grow_outwards)
{
	struct host_cache cache[HOST_CACHES_MAX];
	size_t n = host_caches(cache);

	for (size_t i = 0; i < n; i++) {
		ck_assert_uint_gt(cache[i].bytes, 0);
		if (cache[i].ways)
			ck_assert_uint_eq(cache[i].sets * cache[i].ways *
						  cache[i].line_bytes,
					  cache[i].bytes);
		if (i) {
			ck_assert_uint_gt(cache[i].bytes, cache[i - 1].bytes);
			ck_assert_uint_ge(cache[i].cores, cache[i - 1].cores);
		}
	}
}
END_TEST

START_TEST(sizes_are_shown_in_their_unit)
{
	ck_assert_str_eq(size_text(4096), "4 KiB");
	ck_assert_str_eq(size_text(512), "512 B");
	ck_assert_str_eq(size_text(1.5 * (1 << 20)), "1.5 MiB");
	ck_assert_str_eq(size_text(exp2(30)), "1 GiB");
	ck_assert_str_eq(size_text(exp2(45)), "32768 GiB");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mrc");
	TCase *t = tcase_create("mrc");

	tcase_set_timeout(t, 120);
	tcase_add_loop_test(t, invalidated_lines_miss_and_make_room, 0, 5);
	tcase_add_test(t, plot_shows_ratios_band_and_caches_where_they_are);
	tcase_add_test(t, the_scale_holds_curve_and_band);
	tcase_add_test(t, svg_is_balanced_and_escapes_names);
	tcase_add_test(t, caches_of_this_machine_grow_outwards);
	tcase_add_test(t, sizes_are_shown_in_their_unit);
	suite_add_tcase(s, t);
	return run_suite(s);
}
