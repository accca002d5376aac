/* SPDX-License-Identifier: MIT */
/*
 * timeline - what each thread did when, as a picture
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "timeline.h"
#include "analysis/base/util.h"

enum {
	FIRST_WIDTH = 64, /* cycles */
	LEFT = 90,        /* of the picture, in its units */
	TOP = 70,
	ROW = 60,
	PLOT = 1024,
	LEGEND = 96,
	TICKS = 8,
};

/* From below to above; colours that differ in lightness, too. */
static const char *const colours[CPI_COMPONENTS] = {
	[CPI_BASE] = "#2b6cb0",   [CPI_DEPENDENCE] = "#63a4dc",
	[CPI_UNIT] = "#a9cdee",   [CPI_PORT] = "#d3e5f6",
	[CPI_BRANCH] = "#e0a100", [CPI_ICACHE] = "#f5d76e",
	[CPI_L2] = "#f2b8a0",     [CPI_LLC] = "#e07b5a",
	[CPI_DRAM] = "#b03a2e",   [CPI_COHERENCE] = "#7d3c98",
	[CPI_BUS] = "#5b2c1c",    [CPI_SYNC] = "#c9c9c9",
};

void timeline_init(struct timeline *t, size_t threads)
{
	t->width = FIRST_WIDTH;
	t->threads = threads;
	t->thread = xcalloc(threads, sizeof(*t->thread));
}

void timeline_release(struct timeline *t)
{
	free(t->thread);
	memset(t, 0, sizeof(*t));
}

/* Make bins of twice the width until the time fits. */
static void make_room(struct timeline *t, double time)
{
	while (time > t->width * TIMELINE_BINS) {
		t->width *= 2;
		for (size_t i = 0; i < t->threads; i++) {
			double(*bin)[CPI_COMPONENTS] = t->thread[i].bin;

			for (int b = 0; b < TIMELINE_BINS; b++)
				for (int k = 0; k < CPI_COMPONENTS; k++) {
					double c = bin[b][k];

					bin[b][k] = 0;
					bin[b / 2][k] += c;
				}
		}
	}
}

void timeline_begin(struct timeline *t, size_t i, double time)
{
	t->thread[i].from = time;
}

static void add(struct timeline_thread *thread, int bin, double share,
		const struct cpi_stack *stack)
{
	if (bin >= TIMELINE_BINS)
		bin = TIMELINE_BINS - 1;
	for (int k = 0; k < CPI_COMPONENTS; k++)
		thread->bin[bin][k] +=
			share * (stack->cycles[k] - thread->last.cycles[k]);
}

void timeline_note(struct timeline *t, size_t i, double time,
		   const struct cpi_stack *stack)
{
	struct timeline_thread *thread = &t->thread[i];
	double from = thread->from, all = time - from;

	make_room(t, time);
	if (!(all > 0)) {
		add(thread, (int)(time / t->width), 1, stack);
		thread->last = *stack;
		return;
	}
	while (from < time) {
		int bin = (int)(from / t->width);
		double end = fmin((bin + 1) * t->width, time);

		add(thread, bin, (end - from) / all, stack);
		from = end;
	}
	thread->last = *stack;
	thread->from = time;
}

uint64_t timeline_next(const struct timeline *t, size_t i)
{
	return (uint64_t)(t->thread[i].from + t->width);
}

static void write_legend(FILE *f)
{
	for (int k = 0; k < CPI_COMPONENTS; k++) {
		int x = LEFT + k % (CPI_COMPONENTS / 2 + 4) * LEGEND;
		int y = 32 + k / (CPI_COMPONENTS / 2 + 4) * 18;

		fprintf(f,
			"<rect x='%d' y='%d' width='12' height='12' "
			"fill='%s'/><text x='%d' y='%d'>%s</text>\n",
			x, y, colours[k], x + 16, y + 10, cpi_names[k]);
	}
}

static void write_thread(const struct timeline *t, size_t i, int row, int bins,
			 FILE *f)
{
	const struct timeline_thread *thread = &t->thread[i];
	double wide = (double)PLOT / bins;
	int bottom = TOP + (row + 1) * ROW - 8;

	fprintf(f, "<text x='8' y='%d'>thread %u</text>\n", bottom - 20,
		thread->id);
	for (int b = 0; b < bins; b++) {
		double y = bottom;

		for (int k = 0; k < CPI_COMPONENTS; k++) {
			double part = thread->bin[b][k] / t->width;
			double high = part * (ROW - 12);

			if (high < 0.05)
				continue;
			y -= high;
			fprintf(f,
				"<rect x='%.2f' y='%.2f' width='%.2f' "
				"height='%.2f' fill='%s'><title>%s %.0f %%"
				"</title></rect>\n",
				LEFT + b * wide, y, wide, high, colours[k],
				cpi_names[k], 100 * part);
		}
	}
}

static void write_axis(double ns, int y, FILE *f)
{
	for (int i = 0; i <= TICKS; i++) {
		int x = LEFT + PLOT * i / TICKS;

		fprintf(f,
			"<line x1='%d' y1='%d' x2='%d' y2='%d' "
			"stroke='#888'/><text x='%d' y='%d' "
			"text-anchor='middle'>%s</text>\n",
			x, y, x, y + 5, x, y + 18,
			precise_time_text(ns * i / TICKS));
	}
}

static double end_of(const struct timeline *t)
{
	double end = 1;

	for (size_t i = 0; i < t->threads; i++)
		end = fmax(end, t->thread[i].from);
	return end;
}

static int has_cycles(const struct timeline_thread *thread)
{
	for (int k = 0; k < CPI_COMPONENTS; k++)
		if (thread->last.cycles[k] > 0)
			return 1;
	return 0;
}

/* Of text that SVG would read as something else. */
static void write_words(const char *words, FILE *f)
{
	for (; *words; words++)
		switch (*words) {
		case '&':
			fputs("&amp;", f);
			break;
		case '<':
			fputs("&lt;", f);
			break;
		default:
			fputc(*words, f);
		}
}

int timeline_write(const struct timeline *t, const char *title, double ghz,
		   FILE *f)
{
	int bins = (int)ceil(end_of(t) / t->width), row = 0, high;

	for (size_t i = 0; i < t->threads; i++)
		row += has_cycles(&t->thread[i]);
	high = TOP + row * ROW + 30;
	fprintf(f,
		"<svg xmlns='http://www.w3.org/2000/svg' "
		"viewBox='0 0 %d %d' font-family='sans-serif' "
		"font-size='12'>\n<rect width='100%%' height='100%%' "
		"fill='white'/>\n<text x='8' y='18' font-size='14'>",
		LEFT + PLOT + 40, high);
	write_words(safe_text(title), f);
	fputs("</text>\n", f);
	write_legend(f);
	row = 0;
	for (size_t i = 0; i < t->threads; i++)
		if (has_cycles(&t->thread[i]))
			write_thread(t, i, row++, bins, f);
	write_axis(bins * t->width / ghz, TOP + row * ROW, f);
	fputs("</svg>\n", f);
	return ferror(f) ? -EIO : 0;
}
