/* SPDX-License-Identifier: MIT */
/*
 * matrix - which threads share with which
 *
 * For up to 12 threads it prints a matrix of numbers, for more a picture of at
 * most 64 by 64 characters, and always the list of the pairs with most
 * detections. Where there are estimates of transfers, the matrix shows those,
 * and estimate.c prints the pairs.
 */
#include <stdlib.h>
#include <string.h>

#include "matrix.h"
#include "estimate.h"
#include "style.h"
#include "analysis/base/util.h"
#include "src/base/interval.h"

enum {
	NUMBERS_MAX = 12,
	PICTURE_MAX = 64
};

static const char shades[] = ".:-=+*#%@";

/* What is drawn. */
struct matrix {
	const struct cell *cell; /* ordered by a, b */
	size_t cells;
	const char *unit;
	uint32_t *row; /* ids of the threads in it, ordered */
	size_t rows;
	uint64_t max; /* of all cells */
};

static const struct cell *find_cell(const struct matrix *t, uint32_t a,
				    uint32_t b)
{
	size_t low = 0, high = t->cells;
	uint32_t x = a < b ? a : b, y = a < b ? b : a;

	while (low < high) {
		size_t mid = (low + high) / 2;
		const struct cell *c = &t->cell[mid];

		if (c->a < x || (c->a == x && c->b < y))
			low = mid + 1;
		else
			high = mid;
	}
	if (low < t->cells && t->cell[low].a == x && t->cell[low].b == y)
		return &t->cell[low];
	return NULL;
}

static const char *cell_paint(const struct report *r, uint64_t n, uint64_t max)
{
	if (!n)
		return paint(r, PAINT_DIM);
	if (n >= max / 2 + max % 2)
		return paint(r, PAINT_HOT);
	if (n >= max / 5)
		return paint(r, PAINT_WARM);
	return "";
}

static void print_numbers(struct report *r, const struct matrix *m)
{
	const uint32_t *row = m->row;
	size_t n = m->rows;
	char buf[16];

	fprintf(r->out, "%s     ", paint(r, PAINT_DIM));
	for (size_t j = 0; j < n; j++)
		fprintf(r->out, " %5u", row[j]);
	fprintf(r->out, "%s\n", paint(r, PAINT_OFF));
	for (size_t i = 0; i < n; i++) {
		fprintf(r->out, "%5u", row[i]);
		for (size_t j = 0; j < n; j++) {
			const struct cell *c = find_cell(m, row[i], row[j]);
			uint64_t all = c ? tally_total(c->kind) : 0;

			fprintf(r->out, "%s %5s%s", cell_paint(r, all, m->max),
				all ? short_count(all, buf, sizeof(buf)) : ".",
				r->colour ? paint(r, PAINT_OFF) : "");
		}
		fputc('\n', r->out);
	}
}

/* The place of thread @id among the @n ordered ids of @row. */
static size_t place_of(const uint32_t *row, size_t n, uint32_t id)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (row[mid] < id)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* With more threads than columns, a character stands for a block of cells. */
static void print_picture(struct report *r, const struct matrix *m)
{
	static uint64_t sum[PICTURE_MAX][PICTURE_MAX];
	const uint32_t *row = m->row;
	size_t n = m->rows;
	size_t block = (n + PICTURE_MAX - 1) / PICTURE_MAX;
	size_t side = (n + block - 1) / block, levels = sizeof(shades) - 1;
	uint64_t max = 0;

	memset(sum, 0, sizeof(sum));
	for (size_t i = 0; i < m->cells; i++) {
		const struct cell *c = &m->cell[i];
		size_t a = place_of(row, n, c->a) / block;
		size_t b = place_of(row, n, c->b) / block;

		sum[a][b] = sat_add(sum[a][b], tally_total(c->kind));
		if (a != b)
			sum[b][a] = sat_add(sum[b][a], tally_total(c->kind));
		if (sum[a][b] > max)
			max = sum[a][b];
	}
	for (size_t i = 0; i < side; i++) {
		fprintf(r->out, "%6u |", row[i * block]);
		for (size_t j = 0; j < side; j++) {
			double part = (double)sum[i][j] / ((double)max + 1);

			fprintf(r->out, "%s%c%s", cell_paint(r, sum[i][j], max),
				sum[i][j] ? shades[(size_t)(part * levels)]
					  : ' ',
				r->colour ? paint(r, PAINT_OFF) : "");
		}
		fputs("|\n", r->out);
	}
	fprintf(r->out,
		"  Rows and columns are the same threads in the same order.\n"
		"  ' ' none, '.' few, '@' up to %s %s.\n",
		count_text(max), m->unit);
	if (block > 1)
		fprintf(r->out,
			"  A row and a column stand for %zu threads "
			"each; the first one's id is shown.\n",
			block);
}

static int compare_weight(const void *a, const void *b)
{
	const struct cell *x = a, *y = b;
	uint64_t n = tally_total(x->kind), m = tally_total(y->kind);

	if (n != m)
		return n > m ? -1 : 1;
	return x->a != y->a ? (x->a > y->a) - (x->a < y->a)
			    : (x->b > y->b) - (x->b < y->b);
}

/* Print the cells with most detections, of threads or of processors. */
static void print_pairs(struct report *r, const struct cell *cells, size_t n)
{
	struct cell *cell = xcalloc(n, sizeof(*cell));
	uint64_t total = 0;

	memcpy(cell, cells, n * sizeof(*cell));
	qsort(cell, n, sizeof(*cell), compare_weight);
	for (size_t i = 0; i < n; i++)
		total = sat_add(total, tally_total(cell[i].kind));
	fprintf(r->out, "%s  %5s %5s %10s %15s %7s %7s %9s %9s%s\n",
		paint(r, PAINT_DIM), "a", "b", "detections", "95 % interval",
		"of all", "false", "a then b", "b then a", paint(r, PAINT_OFF));
	for (size_t i = 0; i < n && i < r->top; i++) {
		uint64_t all = tally_total(cell[i].kind);
		struct interval v = tally_count_interval(&r->tally, all);
		char range[64];

		snprintf(range, sizeof(range), "%.0f to %.0f", v.low, v.high);
		fprintf(r->out, "  %5u %5u %10s %15s %7s %7s %9s %9s\n",
			cell[i].a, cell[i].b, count_text(all), range,
			percent_text(all, total),
			percent_text(cell[i].kind[SHARING_FALSE], all),
			count_text(cell[i].a_to_b), count_text(cell[i].b_to_a));
	}
	if (n > r->top)
		fprintf(r->out, "  ... and %s more pairs\n",
			count_text(n - r->top));
	free(cell);
}

static void report_pairs(struct report *r)
{
	const struct tally *t = &r->tally;

	report_heading(r, "Pairs of threads");
	print_pairs(r, t->cell, t->cells);
	fputs("  a then b: stored by a, then accessed by b.", r->out);
	if (r->profile->merged)
		fputs(" a = b: among the threads of one row.", r->out);
	fputc('\n', r->out);
	if (t->cores < 2) /* one pair is the whole table */
		return;
	report_heading(r, "Pairs of processors (where those threads ran)");
	print_pairs(r, t->core, t->cores);
	for (size_t i = 0; i < t->cores; i++)
		if (t->core[i].a == t->core[i].b) {
			fputs("  a = b: both threads ran there, one after the "
			      "other.\n",
			      r->out);
			break;
		}
}

static void draw(struct report *r, struct matrix *m)
{
	bool *used = xcalloc(r->profile->threads, sizeof(*used));

	m->row = xcalloc(r->profile->threads, sizeof(*m->row));
	for (size_t i = 0; i < m->cells; i++) {
		uint64_t all = tally_total(m->cell[i].kind);

		used[m->cell[i].a] = used[m->cell[i].b] = true;
		if (all > m->max)
			m->max = all;
	}
	for (size_t i = 0; i < r->profile->threads; i++)
		if (used[i])
			m->row[m->rows++] = i;
	if (m->rows > 2)
		report_heading(r, "Communication matrix (%s by thread id)",
			       m->unit);
	if (m->rows > 2 && m->rows <= NUMBERS_MAX)
		print_numbers(r, m);
	else if (m->rows > 2)
		print_picture(r, m);
	free(used);
	free(m->row);
}

void report_matrix(struct report *r)
{
	struct matrix m = { .unit = "transfers" };
	struct cell *estimated = report_estimate_cells(r, &m.cells);

	m.cell = estimated;
	if (!estimated) {
		m.cell = r->tally.cell;
		m.cells = r->tally.cells;
		m.unit = "detections";
	}
	draw(r, &m);
	free(estimated);
	if (!estimated)
		report_pairs(r);
}
