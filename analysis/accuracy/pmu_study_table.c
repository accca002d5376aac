/* SPDX-License-Identifier: MIT */
/*
 * pmu_study_table - figures by case and source, laid out as in the thesis
 */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "pmu_study.h"
#include "analysis/base/util.h"

enum {
	ROWS_MAX = 32,
	LABEL_COLUMNS = 18,
	CELL_COLUMNS = 17,
};

struct precise_table {
	const struct precise *precise;
	const char *title, *head;
	char *label[ROWS_MAX];
	char *cell[ROWS_MAX][PRECISE_COLUMNS];
	bool used[PRECISE_COLUMNS];
	size_t rows;
};

struct precise_table *precise_table_new(const struct precise *p,
					const char *title, const char *head)
{
	struct precise_table *t = xcalloc(1, sizeof(*t));

	t->precise = p;
	t->title = title;
	t->head = head;
	for (int c = PRECISE_FIRST; c < PRECISE_COLUMNS; c++)
		t->used[c] = p->source[c].wanted && p->source[c].opens;
	return t;
}

static size_t row_of(struct precise_table *t, const char *label)
{
	size_t i = 0;

	while (i < t->rows && strcmp(t->label[i], label))
		i++;
	if (i == ROWS_MAX)
		die("a table of more than %d rows", ROWS_MAX);
	if (i == t->rows)
		t->label[t->rows++] = xstrdup(label);
	return i;
}

void precise_table_put(struct precise_table *t, const char *label,
		       enum precise_column c, const char *fmt, ...)
{
	char **cell = &t->cell[row_of(t, label)][c];
	va_list ap;

	t->used[c] = true;
	free(*cell);
	va_start(ap, fmt);
	if (vasprintf(cell, fmt, ap) < 0)
		die("out of memory");
	va_end(ap);
}

void precise_table_label(struct precise_table *t, const char *label)
{
	row_of(t, label);
}

static void print(const struct precise_table *t)
{
	printf("%s\n  %-*s", t->title, LABEL_COLUMNS, t->head);
	for (int c = 0; c < PRECISE_COLUMNS; c++)
		if (t->used[c])
			printf(" %*s", CELL_COLUMNS, precise_names[c]);
	putchar('\n');
	for (size_t i = 0; i < t->rows; i++) {
		printf("  %-*s", LABEL_COLUMNS, t->label[i]);
		for (int c = 0; c < PRECISE_COLUMNS; c++)
			if (t->used[c])
				printf(" %*s", CELL_COLUMNS,
				       t->cell[i][c] ? t->cell[i][c] : "-");
		putchar('\n');
	}
	putchar('\n');
	fflush(stdout);
}

void precise_table_end(struct precise_table *t)
{
	if (!t->precise->all->json)
		print(t);
	for (size_t i = 0; i < t->rows; i++) {
		for (int c = 0; c < PRECISE_COLUMNS; c++)
			free(t->cell[i][c]);
		free(t->label[i]);
	}
	free(t);
}

void precise_judge(struct precise *p, enum precise_column c, char *name,
		   const char *metric, struct precise_mean m, double truth,
		   bool points, double bound)
{
	struct accuracy_row *r = accuracy_row(p->all, "precise", name, metric);

	free(name);
	r->source = precise_names[c];
	r->threads = 1;
	r->measured = m.mean;
	r->truth = truth;
	r->error = points ? m.mean - truth : m.mean / truth - 1;
	r->low = m.mean - m.error;
	r->high = m.mean + m.error;
	accuracy_bound(r, bound);
}
