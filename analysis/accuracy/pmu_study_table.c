/* SPDX-License-Identifier: MIT */
/*
 * pmu_study_table - figures by case and source, laid out as in the thesis
 */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "pmu_study_internal.h"
#include "judge.h"
#include "analysis/base/util.h"

enum {
	ROWS_MAX = 32,
	LABEL_COLUMNS = 18,
	CELL_COLUMNS = 17,
};

struct pmu_study_table {
	const struct pmu_study *precise;
	const char *title, *head;
	char *label[ROWS_MAX];
	char *cell[ROWS_MAX][PMU_STUDY_COLUMNS];
	bool used[PMU_STUDY_COLUMNS];
	size_t rows;
};

struct pmu_study_table *pmu_study_table_new(const struct pmu_study *p,
					    const char *title, const char *head)
{
	struct pmu_study_table *t = xcalloc(1, sizeof(*t));

	t->precise = p;
	t->title = title;
	t->head = head;
	for (int c = PMU_STUDY_FIRST; c < PMU_STUDY_COLUMNS; c++)
		t->used[c] = p->source[c].wanted && p->source[c].opens;
	return t;
}

static size_t row_of(struct pmu_study_table *t, const char *label)
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

void pmu_study_table_put(struct pmu_study_table *t, const char *label,
			 enum pmu_study_column c, const char *fmt, ...)
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

void pmu_study_table_label(struct pmu_study_table *t, const char *label)
{
	row_of(t, label);
}

static void print(const struct pmu_study_table *t)
{
	printf("%s\n  %-*s", t->title, LABEL_COLUMNS, t->head);
	for (int c = 0; c < PMU_STUDY_COLUMNS; c++)
		if (t->used[c])
			printf(" %*s", CELL_COLUMNS, pmu_study_names[c]);
	putchar('\n');
	for (size_t i = 0; i < t->rows; i++) {
		printf("  %-*s", LABEL_COLUMNS, t->label[i]);
		for (int c = 0; c < PMU_STUDY_COLUMNS; c++)
			if (t->used[c])
				printf(" %*s", CELL_COLUMNS,
				       t->cell[i][c] ? t->cell[i][c] : "-");
		putchar('\n');
	}
	putchar('\n');
	fflush(stdout);
}

void pmu_study_table_end(struct pmu_study_table *t)
{
	if (!t->precise->all->json)
		print(t);
	for (size_t i = 0; i < t->rows; i++) {
		for (int c = 0; c < PMU_STUDY_COLUMNS; c++)
			free(t->cell[i][c]);
		free(t->label[i]);
	}
	free(t);
}

void pmu_study_judge(struct pmu_study *p, enum pmu_study_column c, char *name,
		     const char *metric, struct pmu_study_mean m, double truth,
		     bool points, double bound)
{
	struct accuracy_row *r = accuracy_row(p->all, "precise", name, metric);

	free(name);
	r->source = pmu_study_names[c];
	r->threads = 1;
	r->measured = m.mean;
	r->truth = truth;
	r->error = points ? m.mean - truth : m.mean / truth - 1;
	r->low = m.mean - m.error;
	r->high = m.mean + m.error;
	accuracy_bound(r, bound);
}
