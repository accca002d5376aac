/* SPDX-License-Identifier: MIT */
/*
 * predict_print - a prediction as text and as JSON
 */
#include <string.h>

#include "predict_print.h"
#include "analysis/base/json_build.h"
#include "analysis/base/util.h"

/* The parts of a stack that people see: those of at least this share. */
#define SHOWN 0.005

enum {
	BAR_COLUMNS = 50
};

static uint64_t whole(double x)
{
	return x > 0 ? (uint64_t)(x + 0.5) : 0;
}

static void print_stack(const struct predicted_thread *t)
{
	const char *comma = "";

	printf("  cycles   ");
	for (int i = 0; i < CPI_COMPONENTS; i++) {
		if (!(t->stack[i] >= SHOWN * t->cycles))
			continue;
		printf("%s %s %.1f %%", comma, cpi_names[i],
		       100 * t->stack[i] / t->cycles);
		comma = ",";
	}
	putchar('\n');
}

/* Wide boxes first: those at the end are what holds the program up. */
static int by_width(const void *x, const void *y)
{
	const struct predicted_thread *a = x, *b = y;
	double p = a->height > 0 ? a->runs / a->height : 0;
	double q = b->height > 0 ? b->runs / b->height : 0;

	return (p < q) - (p > q);
}

/*
 * A row for each thread: its share of the time, and with how many threads it
 * runs at a time.
 */
static void print_bottlegraph(const struct predicted *p)
{
	size_t bytes = p->threads * sizeof(*p->thread);
	struct predicted_thread *t = xcalloc(1, bytes);

	memcpy(t, p->thread, bytes);
	qsort(t, p->threads, sizeof(*t), by_width);
	printf("\nBottlegraph: share of the time, and threads that run then\n");
	for (size_t i = 0; i < p->threads; i++) {
		double share = p->cycles > 0 ? t[i].height / p->cycles : 0;

		printf("  %6u %6.1f %% %5.2f  ", t[i].id, 100 * share,
		       t[i].height > 0 ? t[i].runs / t[i].height : 0);
		for (int k = 0; k < (int)(share * BAR_COLUMNS + 0.5); k++)
			putchar('#');
		putchar('\n');
	}
	free(t);
}

void predict_print_text(const struct predicted *p, const struct machine *m)
{
	static const char *const of[PREDICT_MODELS] = {
		[PREDICT_MAIN] = ", the first thread without its waits",
		[PREDICT_CRIT] = ", the slowest thread without its waits",
	};

	printf("%s on %s", precise_time_text(p->ns), safe_text(m->name));
	if (p->low < p->high) /* an equation has no limits */
		printf(" (%s to %s)", precise_time_text(p->low),
		       precise_time_text(p->high));
	printf("%s: %s cycles\n", of[p->model] ? of[p->model] : "",
	       count_text(whole(p->cycles)));
	if (p->quick)
		puts(PREDICT_QUICK_TEXT);
	for (size_t i = 0; i < p->threads; i++) {
		const struct predicted_thread *t = &p->thread[i];

		printf("\nThread %u: %s instructions, %s cycles", t->id,
		       count_text(t->instructions),
		       count_text(whole(t->cycles)));
		if (t->instructions)
			printf(", %.3f cycles per instruction",
			       t->cycles / (double)t->instructions);
		putchar('\n');
		if (t->cycles > 0)
			print_stack(t);
	}
	if (p->threads > 1)
		print_bottlegraph(p);
	if (p->low < p->high)
		fputs("\nThe limits cover which instructions the profile has "
		      "in "
		      "detail, not the error of\nthe method; lines for which "
		      "threads compete are the least certain "
		      "(docs/profile.md).\n",
		      stdout);
}

static json_t *json_thread(const struct predicted_thread *t, double ghz)
{
	json_t *o = json_object(), *stack = json_object();

	put_count(o, "id", t->id);
	put_count(o, "instructions", t->instructions);
	put(o, "active_ns", json_real((t->cycles - t->idle) / ghz));
	put(o, "idle_ns", json_real(t->idle / ghz));
	for (int k = 0; k < CPI_COMPONENTS; k++)
		put(stack, cpi_names[k], json_real(t->stack[k]));
	put(o, "stack", stack);
	return o;
}

static json_t *json_bottlegraph(const struct predicted *p, double ghz)
{
	json_t *all = json_array();

	for (size_t i = 0; i < p->threads; i++) {
		const struct predicted_thread *t = &p->thread[i];
		json_t *o = json_object();

		put_count(o, "id", t->id);
		put(o, "height_ns", json_real(t->height / ghz));
		put(o, "width",
		    json_real(t->height > 0 ? t->runs / t->height : 0));
		append(all, o);
	}
	return all;
}

void predict_print_json(const struct predicted *p, const struct machine *m)
{
	json_t *o = json_object(), *threads = json_array();

	for (size_t i = 0; i < p->threads; i++)
		append(threads, json_thread(&p->thread[i], m->ghz));
	put_count(o, "schema", 1);
	put_text(o, "machine", m->name);
	put(o, "time_ns", json_real(p->ns));
	put(o, "low", json_real(p->low));
	put(o, "high", json_real(p->high));
	put(o, "quick", json_boolean(p->quick));
	put(o, "threads", threads);
	put(o, "bottlegraph", json_bottlegraph(p, m->ghz));
	if (!json_write(o, stdout, JSON_COMPACT | JSON_PRESERVE_ORDER))
		putchar('\n');
	json_decref(o);
}
