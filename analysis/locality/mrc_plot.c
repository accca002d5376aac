/* SPDX-License-Identifier: MIT */
/*
 * mrc_plot - a miss ratio curve on a terminal
 */
#include <math.h>
#include <string.h>

#include "mrc.h"
#include "analysis/base/util.h"

enum {
	ROWS = 10,
	LABEL_OCTAVES = 2
};

/* Rows count from the bottom, 0 to ROWS. */
static int row_of(double ratio, double top)
{
	int row = (int)lround(100 * ratio / top * ROWS);

	return row < 0 ? 0 : row > ROWS ? ROWS : row;
}

static void print_row(FILE *f, const struct mrc *m, int row, double top)
{
	char cells[MRC_POINTS + 1];
	size_t end = 0;

	for (int i = 0; i < MRC_POINTS; i++) {
		const struct mrc_point *p = &m->point[i];

		cells[i] = ' ';
		if (row >= row_of(p->by.low, top) &&
		    row <= row_of(p->by.high, top))
			cells[i] = ':';
		if (row == row_of(p->lru, top))
			cells[i] = '*';
		if (cells[i] != ' ')
			end = (size_t)i + 1;
	}
	cells[end] = '\0';
	fprintf(f, "%s%s\n", end ? " " : "", cells);
}

/* Print a label every two octaves, 4K, 16K, ... 1G, below its column. */
static void print_sizes(FILE *f, int indent)
{
	int octave = MRC_OCTAVE_MIN;

	fprintf(f, "%*s", indent + 9, "");
	for (; octave <= MRC_OCTAVE_MAX; octave += LABEL_OCTAVES) {
		char label[8];

		snprintf(label, sizeof(label), "%d%c", 1 << octave % 10,
			 "KMG"[octave / 10 - 1]);
		if (octave + LABEL_OCTAVES > MRC_OCTAVE_MAX)
			fprintf(f, "%s\n", label);
		else
			fprintf(f, "%-*s", LABEL_OCTAVES * MRC_OCTAVE_POINTS,
				label);
	}
}

static int column_of(double bytes)
{
	double octaves = log2(bytes) - MRC_OCTAVE_MIN;

	return (int)lround(octaves * MRC_OCTAVE_POINTS);
}

/* Print the digit of each cache's name below its size. */
static void print_caches(FILE *f, const struct mrc_cache *cache, size_t n,
			 int indent)
{
	char marks[MRC_POINTS + 1];
	size_t end = 0;

	memset(marks, ' ', sizeof(marks));
	for (size_t i = 0; i < n; i++) {
		int at = column_of((double)cache[i].cache->bytes);

		if (at < 0 || at >= MRC_POINTS)
			continue;
		marks[at] = cache[i].cache->name[1];
		if (end < (size_t)at + 1)
			end = (size_t)at + 1;
	}
	marks[end] = '\0';
	if (end)
		fprintf(f, "%*s%s\n", indent + 9, "", marks);
}

void mrc_plot(FILE *f, const struct mrc *m, const struct mrc_cache *cache,
	      size_t n, int indent)
{
	double top = mrc_top(m);

	for (int row = ROWS; row >= 0; row--) {
		if (row % (ROWS / 2) == 0)
			fprintf(f, "%*s%4g %% |", indent, "", top * row / ROWS);
		else
			fprintf(f, "%*s       |", indent, "");
		print_row(f, m, row, top);
	}
	fprintf(f, "%*s       +", indent, "");
	for (int i = 0; i <= MRC_POINTS; i++)
		fputc('-', f);
	fputc('\n', f);
	print_caches(f, cache, n, indent);
	print_sizes(f, indent);
}
