/* SPDX-License-Identifier: MIT */
/*
 * what_if - what single changes of a machine would bring a program
 */
#include <stdlib.h>
#include <string.h>

#include "simulate_many.h"
#include "what_if.h"
#include "analysis/base/json_build.h"
#include "analysis/base/util.h"

/* Parts of the stack that the text shows, in its columns. */
static const struct column {
	const char *name;
	enum cpi_component part[3];
	int parts;
} columns[] = {
	{ "base", { CPI_BASE }, 1 },
	{ "depend", { CPI_DEPENDENCE, CPI_UNIT, CPI_PORT }, 3 },
	{ "branch", { CPI_BRANCH }, 1 },
	{ "icache", { CPI_ICACHE }, 1 },
	{ "l2,llc", { CPI_L2, CPI_LLC }, 2 },
	{ "dram", { CPI_DRAM }, 1 },
	{ "bus", { CPI_BUS }, 1 },
	{ "coher.", { CPI_COHERENCE }, 1 },
	{ "sync", { CPI_SYNC }, 1 },
};
enum {
	COLUMNS = sizeof(columns) / sizeof(columns[0])
};

#define CHANGE(name, statements)                                               \
	static void name(struct machine *m)                                    \
	{                                                                      \
		statements;                                                    \
	}

CHANGE(nothing, (void)m)
CHANGE(double_l1i, m->l1i.size *= 2)
CHANGE(double_l1d, m->l1d.size *= 2)
CHANGE(double_l2, m->l2.size *= 2)
CHANGE(double_llc, m->llc.size *= 2)
CHANGE(double_width, m->width *= 2)
CHANGE(double_window, m->rob *= 2; m->iq *= 2; m->load_queue *= 2;
       m->store_queue *= 2)
CHANGE(double_mshrs, m->mshrs *= 2)
CHANGE(perfect_branches, m->predictor = PREDICTOR_PERFECT)
CHANGE(next_line, m->prefetcher = PREFETCHER_NEXT_LINE)
CHANGE(double_bandwidth, m->memory_gbs *= 2)
CHANGE(halve_memory, m->memory_ns /= 2)
CHANGE(halve_transfer, m->transfer /= 2)
CHANGE(halve_call, m->sync_call /= 2)
CHANGE(double_cores, m->cores *= 2)
CHANGE(double_frequency, m->ghz *= 2)
CHANGE(separate_bytes, (void)m) /* a change of the program: separate.h */

static const struct change {
	const char *words;
	void (*make)(struct machine *m);
} changes[] = {
	{ "as it is", nothing },
	{ "twice the l1i.size", double_l1i },
	{ "twice the l1d.size", double_l1d },
	{ "twice the l2.size", double_l2 },
	{ "twice the llc.size", double_llc },
	{ "twice the core.width", double_width },
	{ "twice the ROB and queues", double_window },
	{ "twice the core.mshrs", double_mshrs },
	{ "perfect branch prediction", perfect_branches },
	{ "a next-line prefetcher", next_line },
	{ "twice the memory bandwidth", double_bandwidth },
	{ "half the memory latency", halve_memory },
	{ "half the coherence.transfer", halve_transfer },
	{ "half the sync.call", halve_call },
	{ "twice the cores", double_cores },
	{ "twice the frequency", double_frequency },
	{ "no avoidable sharing", separate_bytes },
};
enum {
	CHANGES = sizeof(changes) / sizeof(changes[0])
};
_Static_assert((int)CHANGES <= (int)WHAT_IF_ROWS, "a row for each change");

/* Make the change; false if it changes nothing, or is not possible. */
static bool make_change(struct machine *to, const struct machine *from,
			const struct change *c)
{
	char error[MACHINE_ERROR_BYTES];

	*to = *from;
	c->make(to);
	if (to->cores > MACHINE_CORES || to->rob > MACHINE_ROB_MAX ||
	    machine_check(to, error))
		return false;
	return c->make == nothing || c->make == separate_bytes ||
	       memcmp(to, from, sizeof(*to)) != 0;
}

static void take_row(struct what_if *w, const char *words,
		     const struct simulated *s, double ghz)
{
	struct what_if_row *r = &w->row[w->rows++];

	memset(r, 0, sizeof(*r));
	r->change = words;
	r->ns = s->ns;
	r->gain = 1 - s->ns / w->row[0].ns;
	for (size_t i = 0; i < s->threads; i++)
		for (int k = 0; k < CPI_COMPONENTS; k++)
			r->cycles[k] += s->thread[i].stack.cycles[k] / ghz;
}

static int by_gain(const void *x, const void *y)
{
	const struct what_if_row *a = x, *b = y;

	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	return strcmp(a->change, b->change);
}

int what_if(struct what_if *w, const struct trace *t, const struct machine *m,
	    unsigned int jobs, char error[TRACE_ERROR_BYTES])
{
	struct simulated result[CHANGES];
	struct machine machine[CHANGES];
	struct simulate_extras extras[CHANGES] = { 0 };
	struct separate *separate = m->cores > 1 ? separate_new(t) : NULL;
	const char *words[CHANGES];
	size_t n = 0;
	int err;

	for (size_t i = 0; i < CHANGES; i++) {
		if (!make_change(&machine[n], m, &changes[i]))
			continue;
		if (changes[i].make == double_cores && t->threads <= m->cores)
			continue;
		if (changes[i].make == separate_bytes) {
			if (!separate)
				continue;
			extras[n].separate = separate;
		}
		words[n++] = changes[i].words;
	}
	err = simulate_many(result, t, machine, n, jobs, extras, error);
	separate_free(separate);
	if (err)
		return err;
	w->rows = 0;
	for (size_t i = 0; i < n; i++) {
		take_row(w, words[i], &result[i], machine[i].ghz);
		simulated_release(&result[i]);
	}
	qsort(w->row + 1, w->rows - 1, sizeof(w->row[0]), by_gain);
	return 0;
}

static double column_of(const struct what_if_row *r, const struct column *c)
{
	double sum = 0;

	for (int i = 0; i < c->parts; i++)
		sum += r->cycles[c->part[i]];
	return sum;
}

static double all_of(const struct what_if_row *r)
{
	double sum = 0;

	for (int k = 0; k < CPI_COMPONENTS; k++)
		sum += r->cycles[k];
	return sum;
}

void what_if_print_text(const struct what_if *w, const struct machine *m)
{
	double all = all_of(&w->row[0]);

	printf("What single changes of %s would bring. Of the time of all "
	       "threads, %%:\n\n%-28s %9s %7s  ",
	       safe_text(m->name), "", "time", "gain");
	for (int i = 0; i < COLUMNS; i++)
		printf(" %6s", columns[i].name);
	putchar('\n');
	for (size_t i = 0; i < w->rows; i++) {
		const struct what_if_row *r = &w->row[i];

		printf("%-28s %9s ", r->change,
		       duration_text((uint64_t)(r->ns + 0.5)));
		if (i)
			printf("%5.1f %%  ", 100 * r->gain);
		else
			printf("%9s", "");
		for (int k = 0; k < COLUMNS; k++)
			printf(" %6.1f",
			       all > 0 ? 100 * column_of(r, &columns[k]) / all
				       : 0);
		putchar('\n');
	}
}

void what_if_print_json(const struct what_if *w, const struct machine *m)
{
	json_t *o = json_object(), *rows = json_array();

	put_count(o, "schema", 1);
	put_text(o, "machine", m->name);
	put(o, "time_ns", json_real(w->row[0].ns));
	for (size_t i = 0; i < w->rows; i++) {
		const struct what_if_row *r = &w->row[i];
		json_t *row = json_object(), *stack = json_object();

		put_text(row, "change", r->change);
		put(row, "time_ns", json_real(r->ns));
		put(row, "gain", json_real(r->gain));
		for (int k = 0; k < CPI_COMPONENTS; k++)
			put(stack, cpi_names[k], json_real(r->cycles[k]));
		put(row, "stack_ns", stack);
		append(rows, row);
	}
	put(o, "what_if", rows);
	if (json_dumpf(o, stdout, JSON_COMPACT | JSON_PRESERVE_ORDER))
		die("cannot print the answer");
	putchar('\n');
	json_decref(o);
}
