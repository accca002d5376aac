/* SPDX-License-Identifier: MIT */
/*
 * mrc_svg - miss ratio curves as a picture
 *
 * The file needs no scripts, style sheets or fonts. Sizes are on a logarithmic
 * axis, ratios on a linear one from 0.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mrc.h"
#include "analysis/base/util.h"

enum {
	WIDTH = 720,
	HEIGHT = 440,
	LEFT = 66,
	RIGHT = 20,
	TOP = 40,
	BOTTOM = 60,
	RATIO_STEPS = 5, /* grid lines above 0 */
	KEY_LINE = 18,
	KEY_COLUMN = 7, /* pixels per character, about */
};

/* Colours that colour-blind readers can tell apart (Okabe and Ito, 2002). */
static const char *const colours[] = { "#0072b2", "#d55e00", "#009e73",
				       "#cc79a7", "#e69f00", "#56b4e9" };
enum {
	COLOURS = sizeof(colours) / sizeof(colours[0])
};

static double x_of(double bytes)
{
	double part = (log2(bytes) - MRC_OCTAVE_MIN) /
		      (MRC_OCTAVE_MAX - MRC_OCTAVE_MIN);

	return LEFT + part * (WIDTH - LEFT - RIGHT);
}

/* @part of the highest ratio, 0 to 1. */
static double y_of(double part)
{
	return TOP + (1 - part) * (HEIGHT - TOP - BOTTOM);
}

static void put_escaped(FILE *f, const char *s)
{
	char *valid = utf8_text(s);

	for (const char *c = valid; *c; c++) {
		if (*c == '<')
			fputs("&lt;", f);
		else if (*c == '&')
			fputs("&amp;", f);
		else if ((unsigned char)*c >= ' ')
			fputc(*c, f);
	}
	free(valid);
}

static void put_text(FILE *f, double x, double y, const char *anchor,
		     const char *s)
{
	fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y,
		anchor);
	put_escaped(f, s);
	fputs("</text>\n", f);
}

static void put_line(FILE *f, double x1, double y1, double x2, double y2,
		     const char *style)
{
	fprintf(f,
		"<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" %s/>\n",
		x1, y1, x2, y2, style);
}

/* @top: the highest ratio, in percent. */
static void put_axes(FILE *f, double top)
{
	char label[16];

	for (int i = 0; i <= RATIO_STEPS; i++) {
		double part = (double)i / RATIO_STEPS;

		put_line(f, LEFT, y_of(part), WIDTH - RIGHT, y_of(part),
			 i ? "stroke=\"#ddd\"" : "stroke=\"#333\"");
		snprintf(label, sizeof(label), "%g %%", top * part);
		put_text(f, LEFT - 6, y_of(part) + 4, "end", label);
	}
	for (int octave = MRC_OCTAVE_MIN; octave <= MRC_OCTAVE_MAX;
	     octave += 2) {
		double x = x_of(exp2(octave));

		put_line(f, x, y_of(0), x, y_of(0) + 5, "stroke=\"#333\"");
		put_text(f, x, y_of(0) + 18, "middle", size_text(exp2(octave)));
	}
	put_text(f, (LEFT + WIDTH - RIGHT) / 2., HEIGHT - 12, "middle",
		 "cache size");
	fprintf(f, "<g transform=\"rotate(-90)\">\n");
	put_text(f, -(y_of(0) + y_of(1)) / 2, 14, "middle", "miss ratio");
	fputs("</g>\n", f);
}

static void put_caches(FILE *f, const struct mrc_cache *cache, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		double x = x_of((double)cache[i].cache->bytes);

		if (x < LEFT || x > WIDTH - RIGHT)
			continue;
		put_line(f, x, TOP, x, y_of(0),
			 "stroke=\"#999\" stroke-dasharray=\"4 3\"");
		put_text(f, x, TOP - 4, "middle", cache[i].cache->name);
	}
}

static void put_curve(FILE *f, const struct mrc *m, double top,
		      const char *colour)
{
	fprintf(f, "<path fill=\"%s\" fill-opacity=\"0.2\" d=\"", colour);
	for (int i = 0; i < MRC_POINTS; i++)
		fprintf(f, "%c%.1f %.1f", i ? 'L' : 'M',
			x_of(m->point[i].bytes),
			y_of(m->point[i].by.high * 100 / top));
	for (int i = MRC_POINTS - 1; i >= 0; i--)
		fprintf(f, "L%.1f %.1f", x_of(m->point[i].bytes),
			y_of(m->point[i].by.low * 100 / top));
	fprintf(f,
		"Z\"/>\n<path fill=\"none\" stroke=\"%s\" "
		"stroke-width=\"2\" d=\"",
		colour);
	for (int i = 0; i < MRC_POINTS; i++)
		fprintf(f, "%c%.1f %.1f", i ? 'L' : 'M',
			x_of(m->point[i].bytes),
			y_of(m->point[i].lru * 100 / top));
	fputs("\"/>\n", f);
}

/* In the upper right corner, on a background of its own. */
static void put_key(FILE *f, const struct mrc_named *curve, size_t curves)
{
	size_t columns = 0;
	double width;

	for (size_t i = 0; i < curves; i++)
		columns = strlen(curve[i].name) > columns
				  ? strlen(curve[i].name)
				  : columns;
	width = 38 + KEY_COLUMN * (double)columns;
	fprintf(f,
		"<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%zu\" "
		"fill=\"#fff\" fill-opacity=\"0.6\"/>\n",
		WIDTH - RIGHT - width, TOP + 1, width, curves * KEY_LINE + 4);
	for (size_t i = 0; i < curves; i++) {
		double y = TOP + 12 + KEY_LINE * (double)i;
		char stroke[64];

		snprintf(stroke, sizeof(stroke),
			 "stroke=\"%s\" stroke-width=\"2\"",
			 colours[i % COLOURS]);
		put_line(f, WIDTH - RIGHT - 24, y, WIDTH - RIGHT - 4, y,
			 stroke);
		put_text(f, WIDTH - RIGHT - 30, y + 4, "end", curve[i].name);
	}
}

void mrc_svg(FILE *f, const char *title, const struct mrc_named *curve,
	     size_t curves, const struct mrc_cache *cache, size_t caches)
{
	double top = 0;

	for (size_t i = 0; i < curves; i++)
		top = fmax(top, mrc_top(curve[i].mrc));
	fprintf(f,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
		"height=\"%d\" viewBox=\"0 0 %d %d\" "
		"font-family=\"sans-serif\" font-size=\"12\">\n"
		"<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n",
		WIDTH, HEIGHT, WIDTH, HEIGHT, WIDTH, HEIGHT);
	put_text(f, LEFT, 18, "start", title);
	put_axes(f, top);
	put_caches(f, cache, caches);
	for (size_t i = 0; i < curves; i++)
		put_curve(f, curve[i].mrc, top, colours[i % COLOURS]);
	put_key(f, curve, curves);
	fputs("</svg>\n", f);
}
