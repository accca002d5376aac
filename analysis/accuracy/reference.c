/* SPDX-License-Identifier: MIT */
/*
 * reference - results of another simulator, from a table of them
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "reference.h"
#include "analysis/base/util.h"

enum {
	LINE_BYTES = 4096,
	COLUMNS_MAX = 64,
};

/* Column numbers by name; the words come first. */
static const char *const names[] = {
	"kernel",   "config",     "predictor",    "threads",
	"core",     "quantum_ns", "instructions", "cycles",
	"l1d_miss", "l2_miss",    "llc_miss",     "branch_mispredict",
};
enum {
	KERNEL,
	CONFIG,
	PREDICTOR,
	WORDS,
	THREADS = WORDS,
	CORE,
	QUANTUM,
	INSTRUCTIONS,
	CYCLES,
	MISS,
	MISPREDICTED = MISS + REFERENCE_MISSES,
	NAMES
};

/* Cut @line at its commas; returns the number of cells. */
static int split(char *line, char *cell[COLUMNS_MAX])
{
	int n = 0;

	line[strcspn(line, "\r\n")] = '\0';
	while (n < COLUMNS_MAX && (cell[n] = strsep(&line, ",")))
		n++;
	return n;
}

static void find_columns(char *line, const char *path, int column[NAMES])
{
	char *cell[COLUMNS_MAX];
	int n = split(line, cell);

	for (int i = 0; i < NAMES; i++) {
		column[i] = 0;
		while (column[i] < n && strcmp(cell[column[i]], names[i]))
			column[i]++;
		if (column[i] == n)
			die("%s has no column %s", safe_text(path), names[i]);
	}
}

static void copy_word(char to[REFERENCE_WORD], const char *from)
{
	snprintf(to, REFERENCE_WORD, "%s", from);
}

/* False if a cell that is needed is missing or no number. */
static bool take_row(struct reference_row *row, char *line,
		     const int column[NAMES])
{
	char *cell[COLUMNS_MAX], *end;
	int n = split(line, cell);
	double x[NAMES];

	for (int i = 0; i < NAMES; i++) {
		if (column[i] >= n || !*cell[column[i]])
			return false;
		x[i] = i < WORDS ? 0 : strtod(cell[column[i]], &end);
		if (i >= WORDS && *end)
			return false;
	}
	copy_word(row->kernel, cell[column[KERNEL]]);
	copy_word(row->config, cell[column[CONFIG]]);
	copy_word(row->predictor, cell[column[PREDICTOR]]);
	row->threads = (uint32_t)x[THREADS];
	row->core = (uint32_t)x[CORE];
	row->quantum_ns = x[QUANTUM];
	row->instructions = x[INSTRUCTIONS];
	row->cycles = x[CYCLES];
	for (int i = 0; i < REFERENCE_MISSES; i++)
		row->miss[i] = x[MISS + i];
	row->mispredicted = x[MISPREDICTED];
	return row->cycles > 0;
}

void reference_read(struct reference *r, const char *path)
{
	FILE *f = fopen(path, "re");
	char line[LINE_BYTES];
	int column[NAMES];

	memset(r, 0, sizeof(*r));
	if (!f || !fgets(line, sizeof(line), f))
		die("cannot read %s: %s", safe_text(path), strerror(errno));
	find_columns(line, path, column);
	for (int n = 2; fgets(line, sizeof(line), f); n++) {
		r->row = grow(r->row, r->rows, &r->room, sizeof(*r->row));
		if (!take_row(&r->row[r->rows], line, column))
			die("%s, line %d: not a row of the table",
			    safe_text(path), n);
		r->rows++;
	}
	fclose(f);
}

void reference_release(struct reference *r)
{
	free(r->row);
	memset(r, 0, sizeof(*r));
}

const struct reference_row *reference_find(const struct reference *r,
					   const char *kernel,
					   const char *config,
					   const char *predictor,
					   uint32_t threads, uint32_t core)
{
	const struct reference_row *best = NULL;

	for (size_t i = 0; i < r->rows; i++) {
		const struct reference_row *row = &r->row[i];

		if (row->threads == threads && row->core == core &&
		    !strcmp(row->kernel, kernel) &&
		    !strcmp(row->config, config) &&
		    !strcmp(row->predictor, predictor) &&
		    (!best || row->quantum_ns < best->quantum_ns))
			best = row;
	}
	return best;
}
