/* SPDX-License-Identifier: MIT */
/*
 * simulate_print - the result of a simulation as text and as JSON
 */
#include <math.h>

#include "simulate_print.h"
#include "analysis/base/util.h"

/* The parts of a stack that people see: those of at least this share. */
#define SHOWN 0.005

/* An interval that is as wide as this part of the estimate is worth a word. */
#define WIDE 0.05

struct cache_row {
	const char *name;
	uint64_t accesses, misses;
};

enum {
	CACHE_ROWS = 4,
	UNKNOWN_SHOWN = 8,
};

static void cache_rows(const struct caches_counts *c,
		       struct cache_row row[CACHE_ROWS])
{
	row[0] = (struct cache_row){ "l1i", c->l1i_accesses, c->l1i_misses };
	row[1] = (struct cache_row){ "l1d", c->l1d_accesses, c->l1d_misses };
	row[2] = (struct cache_row){ "l2", c->l2_accesses, c->l2_misses };
	row[3] = (struct cache_row){ "llc", c->llc_accesses, c->llc_misses };
}

static double ratio(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

/* The interval of an estimate, behind the cycles. */
static void print_within(const struct sampling_estimate *e)
{
	if (!e->units)
		return;
	if (isfinite(e->error))
		printf(" +- %s", count_text((uint64_t)(e->error + 0.5)));
	else
		printf(" (no interval)");
}

static void print_thread(const struct simulated_thread *t)
{
	struct cache_row row[CACHE_ROWS];
	const char *comma = "";

	printf("\nThread %u: %s instructions, %s cycles", t->id,
	       count_text(t->counts.instructions), count_text(t->cycles));
	print_within(&t->sampled);
	printf(", %.3f cycles per instruction\n",
	       ratio(t->cycles, t->counts.instructions));
	printf("  cycles   ");
	for (int i = 0; i < CPI_COMPONENTS; i++) {
		double share = t->stack.cycles[i] / (double)t->cycles;

		if (!(share >= SHOWN))
			continue;
		printf("%s %s %.1f %%", comma, cpi_names[i], 100 * share);
		comma = ",";
	}
	printf("\n  branches  %s, mispredicted %s\n",
	       count_text(t->counts.branches),
	       count_text(t->counts.mispredicted));
	cache_rows(&t->caches, row);
	for (int i = 0; i < CACHE_ROWS; i++)
		printf("  %-8s  %s accesses, %s misses\n", row[i].name,
		       count_text(row[i].accesses), count_text(row[i].misses));
	if (t->caches.transfers)
		printf("  transfers %s lines from other cores\n",
		       count_text(t->caches.transfers));
}

static void print_unknown(const struct simulated *s)
{
	uint64_t all = 0;

	for (size_t i = 0; i < s->unknowns; i++)
		all += s->unknown[i].count;
	if (!all)
		return;
	printf("%s instructions (%s) have no class of their own and take what "
	       "uop.unknown says:",
	       count_text(all),
	       percent_text((double)all, (double)s->instructions));
	for (size_t i = 0; i < s->unknowns && i < UNKNOWN_SHOWN; i++)
		printf("%s %s %s", i ? "," : "", s->unknown[i].mnemonic,
		       count_text(s->unknown[i].count));
	puts(s->unknowns > UNKNOWN_SHOWN ? ", ..." : "");
}

static void print_sampling(const struct simulated_sampling *s)
{
	const struct sampling_estimate *e = &s->cycles;
	double part = e->error / e->cycles;

	if (!e->units)
		return;
	printf("Estimated from %zu units of %s instructions, one at a random "
	       "place in each %s.\n",
	       e->units, count_text(s->unit), count_text(s->distance));
	if (s->contended)
		puts("Threads wait for each other's lines in over a quarter of "
		     "the time: how they do\nit depends on what a sample "
		     "leaves out. Simulate without --sampled.");
	else if (s->order > part / 2)
		printf("%s of the time depends on which thread has a core "
		       "when. "
		       "For a narrower interval\nsimulate without --sampled, "
		       "or "
		       "with a core for each thread.\n",
		       percent_text(s->order, 1));
	else if (part > WIDE)
		printf("More units make the interval narrower: --sampled=%zu\n",
		       4 * e->units);
}

void simulate_print_text(const struct simulated *s, const struct machine *m)
{
	printf("%s on %s: %s instructions, %s cycles", precise_time_text(s->ns),
	       safe_text(m->name), count_text(s->instructions),
	       count_text(s->cycles));
	print_within(&s->sampled.cycles);
	putchar('\n');
	print_sampling(&s->sampled);
	for (size_t i = 0; i < s->threads; i++)
		print_thread(&s->thread[i]);
	printf("\nMemory: %s lines read, %s written\n",
	       count_text(s->memory_reads), count_text(s->memory_writes));
	print_unknown(s);
}

/* Limits of the 95 % interval of @cycles; without one, null. */
static void put_limits(json_t *o, const struct sampling_estimate *e)
{
	bool is = isfinite(e->error);
	double low = e->cycles - e->error;

	put_count(o, "units", e->units);
	put(o, "low", is ? json_real(low > 0 ? low : 0) : json_null());
	put(o, "high", is ? json_real(e->cycles + e->error) : json_null());
}

static json_t *json_interval(const struct sampling_estimate *e)
{
	json_t *o = json_object();

	put_limits(o, e);
	return o;
}

static json_t *json_sampled(const struct simulated_sampling *s)
{
	json_t *o = json_object();

	put_limits(o, &s->cycles);
	put_count(o, "unit", s->unit);
	put_count(o, "warm", s->warm);
	put_count(o, "distance", s->distance);
	put_count(o, "head", s->head);
	put_count(o, "seed", s->seed);
	return o;
}

static json_t *json_threads(const struct simulated *s)
{
	json_t *all = json_array();

	for (size_t i = 0; i < s->threads; i++) {
		const struct simulated_thread *t = &s->thread[i];
		json_t *o = json_object(), *stack = json_object();

		put_count(o, "id", t->id);
		put_count(o, "instructions", t->counts.instructions);
		put_count(o, "cycles", t->cycles);
		put_count(o, "start", t->start);
		for (int k = 0; k < CPI_COMPONENTS; k++)
			put(stack, cpi_names[k], json_real(t->stack.cycles[k]));
		put(o, "stack", stack);
		put_count(o, "uops", t->counts.uops);
		put_count(o, "unknown", t->counts.unknown);
		if (s->sampled.cycles.units)
			put(o, "sampled", json_interval(&t->sampled));
		append(all, o);
	}
	return all;
}

static json_t *json_unknown(const struct simulated *s)
{
	json_t *all = json_object();

	for (size_t i = 0; i < s->unknowns; i++)
		put_count(all, s->unknown[i].mnemonic, s->unknown[i].count);
	return all;
}

static json_t *json_caches(const struct simulated *s)
{
	struct cache_row row[CACHE_ROWS];
	json_t *all = json_array();

	for (uint32_t i = 0; i < s->cores; i++) {
		cache_rows(&s->core[i], row);
		for (int k = 0; k < CACHE_ROWS; k++) {
			json_t *o = json_object();

			put_text(o, "name", row[k].name);
			put_count(o, "core", i);
			put_count(o, "accesses", row[k].accesses);
			put_count(o, "misses", row[k].misses);
			append(all, o);
		}
	}
	return all;
}

void simulate_print_json(const struct simulated *s, const struct machine *m,
			 json_t *misses)
{
	json_t *o = json_object(), *memory = json_object();
	json_t *branches = json_object(), *coherence = json_object();
	uint64_t conditional = 0, mispredicted = 0, transfers = 0;
	char *line;

	for (size_t i = 0; i < s->threads; i++) {
		conditional += s->thread[i].counts.branches;
		mispredicted += s->thread[i].counts.mispredicted;
		transfers += s->thread[i].caches.transfers;
	}
	put_count(o, "schema", 1);
	put_text(o, "machine", m->name);
	put_count(o, "instructions", s->instructions);
	put_count(o, "cycles", s->cycles);
	put(o, "time_ns", json_real(s->ns));
	put(o, "threads", json_threads(s));
	put(o, "caches", json_caches(s));
	put_count(memory, "reads", s->memory_reads);
	put_count(memory, "writes", s->memory_writes);
	put(o, "memory", memory);
	put_count(branches, "conditional", conditional);
	put_count(branches, "mispredicted", mispredicted);
	put(o, "branches", branches);
	put(o, "unknown", json_unknown(s));
	put_count(coherence, "transfers", transfers);
	put(o, "coherence", coherence);
	if (misses)
		put(o, "misses", misses);
	if (s->sampled.cycles.units)
		put(o, "sampled", json_sampled(&s->sampled));
	line = json_dumps(o, JSON_COMPACT | JSON_PRESERVE_ORDER);
	if (!line)
		die("out of memory");
	puts(line);
	free(line);
	json_decref(o);
}
