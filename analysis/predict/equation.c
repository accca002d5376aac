/* SPDX-License-Identifier: MIT */
/*
 * equation - RPPM's equation 1, and its corrections
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "chains.h"
#include "equation.h"
#include "analysis/base/util.h"

enum {
	LENGTH_MIN = 8, /* of the windows in which branches are followed */
	LENGTHS = 10,   /* 8, 16, ... */
	BUCKET_STEPS = 100000,
};

const char *const equation_names[EQUATION_STEPS] = {
#define X(NAME, name, words) [EQUATION_##NAME##_BIT] = #name,
	EQUATION_LIST(X)
#undef X
};
const char *const equation_words[EQUATION_STEPS] = {
#define X(NAME, name, words) [EQUATION_##NAME##_BIT] = words,
	EQUATION_LIST(X)
#undef X
};

unsigned int equation_without(const char *names)
{
	unsigned int with = EQUATION_PAPER;
	char name[32];
	size_t n;
	int i;

	for (;; names += n + 1) {
		n = strcspn(names, ",");
		snprintf(name, sizeof(name), "%.*s", (int)n, names);
		for (i = 0; i < EQUATION_STEPS; i++)
			if (!strcmp(name, equation_names[i]))
				break;
		if (i < EQUATION_STEPS)
			with |= 1u << i;
		else if (!strcmp(name, "corrected"))
			with |= EQUATION_CORRECTED;
		else if (strcmp(name, "paper"))
			die("predict: --equations: there is no '%s'; the man "
			    "page lists them",
			    safe_text(name));
		if (with & EQUATION_TIMED)
			with = EQUATION_ALL;
		if (!names[n])
			return EQUATION_ALL & ~with;
	}
}

struct equation {
	const struct machine *machine;
	unsigned int steps;
	double load[LEVELS]; /* cycles of a load, by its level */
	double slot;         /* of a transfer */
	struct chains *chains;
	struct chains_costs costs;
};

/* What the windows are, and what the equation needs of them. */
struct terms {
	const struct workload_thread *t;
	const struct levels *levels;
	size_t micro, micros;
	double uops[UOP_CLASSES], all;
	double branches, wrong;
	struct levels_misses loads, stores, code;
	double load;    /* mean cycles of a load that does not miss the LLC */
	double latency; /* mean cycles of a micro-operation, likewise */
	double dependence, unit, port; /* rates, in micro-operations a cycle */
	double resolve[LENGTHS];       /* cycles of a branch, by length */
	double overlap;                /* misses at a time */
};

struct equation *equation_new(const struct machine *m, unsigned int steps)
{
	struct equation *e = xcalloc(1, sizeof(*e));
	double beyond = m->l1d.tag + m->l2.tag;

	e->machine = m;
	e->steps = steps;
	e->slot = (1 << MACHINE_LINE_SHIFT) / m->memory_gbs * m->ghz;
	e->load[LEVEL_L1] = m->l1d.latency;
	e->load[LEVEL_L2] = m->l1d.tag + m->l2.latency;
	e->load[LEVEL_LLC] = beyond + m->llc.latency;
	e->load[LEVEL_CORE] = beyond + m->llc.latency + m->transfer;
	e->load[LEVEL_MEMORY] = beyond + m->llc.tag + m->directory +
				m->memory_ns * m->ghz + e->slot;
	e->chains = chains_new();
	return e;
}

void equation_free(struct equation *e)
{
	chains_free(e->chains);
	free(e);
}

static bool has(const struct equation *e, unsigned int step)
{
	return e->steps & step;
}

static void add_misses(struct levels_misses *to, struct levels_misses m)
{
	to->accesses += m.accesses;
	to->l1 += m.l1;
	to->l2 += m.l2;
	to->llc += m.llc;
	to->core += m.core;
}

/* The predictor's mispredictions, or those that the entropy implies. */
static double wrong_of(const struct equation *e, const struct window *w)
{
	if (e->machine->predictor == PREDICTOR_PERFECT)
		return 0;
	if (has(e, EQUATION_COUNTS))
		return w->wrong[e->machine->predictor];
	return w->entropy[ENTROPY_TOURNAMENT] / 2 * w->uops[UOP_BRANCH];
}

static void add_window(const struct equation *e, struct terms *x,
		       const struct window *w)
{
	for (int k = 0; k < UOP_CLASSES; k++) {
		x->uops[k] += w->uops[k];
		x->all += w->uops[k];
	}
	x->wrong += wrong_of(e, w);
	add_misses(&x->loads, levels_count(x->levels, w, WINDOW_LOADS));
	add_misses(&x->stores, levels_count(x->levels, w, WINDOW_STORES));
	add_misses(&x->code, levels_count(x->levels, w, WINDOW_FETCHES));
}

/* Mean latencies; loads from memory have their own component. */
static void find_latencies(const struct equation *e, struct terms *x)
{
	const struct levels_misses *l = &x->loads;
	double sum = 0;

	x->load = e->load[LEVEL_L1];
	if (l->accesses > 0)
		x->load = ((l->accesses - l->l1 + l->llc) * e->load[LEVEL_L1] +
			   (l->l1 - l->l2) * e->load[LEVEL_L2] +
			   (l->l2 - l->llc) * e->load[LEVEL_LLC]) /
			  l->accesses;
	for (int k = 0; k < UOP_CLASSES; k++)
		sum += x->uops[k] *
		       (k == UOP_LOAD ? x->load : e->machine->uop[k].latency);
	x->latency = sum / x->all;
}

/*
 * The ports' bound: of all sets of ports that classes may use, the one with the
 * most micro-operations for each of its ports.
 */
static double port_rate(const struct equation *e, const struct terms *x)
{
	const struct machine_uop *u = e->machine->uop;
	double most = 0;

	for (int a = 0; a < UOP_CLASSES; a++)
		for (int b = a; b < UOP_CLASSES; b++) {
			uint32_t ports = u[a].ports | u[b].ports;
			double n = 0;

			for (int k = 0; k < UOP_CLASSES; k++)
				if (!(u[k].ports & ~ports))
					n += x->uops[k];
			most = fmax(most, n / __builtin_popcount(ports));
		}
	return most > 0 ? x->all / most : INFINITY;
}

static double unit_rate(const struct equation *e, const struct terms *x)
{
	double busy = 0;

	for (int k = 0; k < UOP_CLASSES; k++)
		busy += x->uops[k] * e->machine->uop[k].busy;
	return busy > 0 ? x->all / busy : INFINITY;
}

static double load_cost(const struct equation *e, const struct terms *x,
			enum caches_level level, bool memory)
{
	if (!has(e, EQUATION_LEVELS))
		return x->load;
	return e->load[level == LEVEL_MEMORY && !memory ? LEVEL_L1 : level];
}

/* With @memory, loads from memory cost what they take. */
static void set_costs(struct equation *e, const struct terms *x,
		      const struct micro_trace *m, bool memory)
{
	struct chains_costs *c = &e->costs;

	c->zero_idioms = e->machine->zero_idioms;
	for (uint32_t i = 0; i < m->uops; i++) {
		const struct micro_uop *u = &x->t->uop[m->first + i];
		enum caches_level level = LEVEL_L1;

		c->cost[i] = 1;
		if (u->flags & UOP_IS_LOAD && u->access)
			level = levels_of_data(x->levels,
					       &x->t->access[u->access - 1]);
		c->miss[i] = u->flags & UOP_IS_LOAD && level == LEVEL_MEMORY;
		if (c->zero_idioms && u->flags & UOP_IS_ZERO) {
			c->cost[i] = 0;
			continue;
		}
		if (!has(e, EQUATION_CLASSES))
			continue;
		c->cost[i] = e->machine->uop[u->class].latency;
		if (!(u->flags & UOP_IS_LOAD))
			continue;
		c->cost[i] += (float)load_cost(e, x, level, memory);
		if (u->flags & UOP_IS_VECTOR)
			c->cost[i] += e->machine->vector_load_extra;
	}
	c->flight = has(e, EQUATION_FLIGHT);
}

static struct chains_sums sums_of(struct equation *e, const struct terms *x,
				  uint32_t length, bool memory, double entry)
{
	struct chains_sums sums = { 0 };

	e->costs.entry = entry;
	for (size_t i = x->micro; i < x->micro + x->micros; i++) {
		set_costs(e, x, &x->t->micro[i], memory);
		chains_add(e->chains, x->t, &x->t->micro[i], &e->costs, length,
			   &sums);
	}
	return sums;
}

static double mean(double sum, double n, double none)
{
	return n > 0 ? sum / n : none;
}

static void find_dependence(struct equation *e, struct terms *x)
{
	uint32_t b = e->machine->rob;
	struct chains_sums one = sums_of(e, x, b, false, 0), two;
	double length = mean(one.longest, one.windows, 1), longer;

	if (!has(e, EQUATION_CLASSES))
		length *= x->latency;
	if (has(e, EQUATION_GROWTH)) {
		two = sums_of(e, x, 2 * b, false, 0);
		longer = mean(two.longest, two.windows, 2 * length);
		length = longer - length;
	}
	x->dependence = b / fmax(length, 1e-9);
	x->overlap = fmax(1, mean(one.misses, one.in_row, 1));
	if (!has(e, EQUATION_LEVELS)) {
		double m = mean(x->loads.llc, x->loads.accesses, 0);
		double loads = x->loads.accesses / x->all * b;
		double row = mean(one.in_row, one.windows, 0);

		/* Independent, uniform misses. */
		x->overlap = fmax(1, m * loads / fmax(1, row));
	}
	x->overlap = fmin(x->overlap, e->machine->mshrs);
}

/* How long a branch waits for its operands, by the length of the window. */
static void find_resolve(struct equation *e, struct terms *x)
{
	bool fill = has(e, EQUATION_FILL);
	double entry = fill ? 1.0 / e->machine->width : 0;

	for (int k = 0; k < LENGTHS; k++) {
		uint32_t length = (uint32_t)LENGTH_MIN << k;
		struct chains_sums s;

		if (length > e->machine->rob)
			length = e->machine->rob;
		s = sums_of(e, x, length, fill, entry);
		x->resolve[k] =
			mean(s.resolve, s.branches, k ? x->resolve[k - 1] : 1);
		if (!has(e, EQUATION_CLASSES))
			x->resolve[k] *= x->latency;
		if (length == e->machine->rob) {
			while (++k < LENGTHS)
				x->resolve[k] = x->resolve[k - 1];
		}
	}
}

/* Between two lengths it is linear in their logarithm. */
static double resolve_at(const struct terms *x, double length)
{
	double at = log2(fmax(length, LENGTH_MIN) / LENGTH_MIN);
	int k = (int)fmin(at, LENGTHS - 2);

	at = fmin(at - k, 1);
	return x->resolve[k] * (1 - at) + x->resolve[k + 1] * at;
}

/*
 * What the window holds when the mispredicted branch enters: it fills at the
 * width and drains as chains allow.
 */
static double occupied(const struct equation *e, const struct terms *x,
		       double between)
{
	double width = e->machine->width, rob = e->machine->rob, in = width;

	if (has(e, EQUATION_FILL))
		return fmin(between, rob);
	for (int i = 0; between > 0 && i < BUCKET_STEPS; i++) {
		double enters = fmin(fmin(width, between), rob - in);

		in += enters;
		between -= enters;
		in -= fmin(fmin(x->dependence * in / rob, width), in);
	}
	return fmax(in, 1);
}

static double memory_cycles(const struct equation *e, const struct terms *x,
			    double rate)
{
	double misses = x->loads.llc, groups = misses / x->overlap;
	double each = e->load[LEVEL_MEMORY];

	if (!(misses > 0))
		return 0;
	if (has(e, EQUATION_FILL))
		each = fmax(0, each - fmin(e->machine->rob, x->all / groups) /
					       rate);
	return groups * each;
}

static double code_cycles(const struct equation *e, const struct terms *x)
{
	const struct levels_misses *c = &x->code;

	return (c->l1 - c->l2) * e->load[LEVEL_L2] +
	       (c->l2 - c->llc) * e->load[LEVEL_LLC] +
	       c->llc * e->load[LEVEL_MEMORY];
}

/* No window ends before the bus and the MSHRs have done their part. */
static void bound(const struct equation *e, const struct terms *x,
		  double written, double stack[CPI_COMPONENTS])
{
	double l1 = x->loads.l1 + x->stores.l1, l2 = x->loads.l2 + x->stores.l2;
	double llc = x->loads.llc + x->stores.llc, sum = 0;
	double bus = (llc + x->code.llc) * (1 + written) * e->slot;
	double held = ((l1 - l2) * e->load[LEVEL_L2] +
		       (l2 - llc) * e->load[LEVEL_LLC] +
		       llc * e->load[LEVEL_MEMORY]) /
		      e->machine->mshrs;

	for (int k = 0; k < CPI_COMPONENTS; k++)
		sum += stack[k];
	if (has(e, EQUATION_BOUNDS) && fmax(bus, held) > sum)
		stack[bus > held ? CPI_BUS : CPI_DRAM] += fmax(bus, held) - sum;
}

static void put_together(struct equation *e, struct terms *x,
			 double stack[CPI_COMPONENTS])
{
	double width = e->machine->width;
	double own = fmin(width, fmin(x->unit, x->port));
	double rate = fmin(own, x->dependence), last;
	double wait = 0;

	stack[CPI_BASE] = last = x->all / width;
	stack[CPI_UNIT] = fmax(0, x->all / x->unit - last);
	last += stack[CPI_UNIT];
	stack[CPI_PORT] = fmax(0, x->all / x->port - last);
	last += stack[CPI_PORT];
	stack[CPI_DEPENDENCE] = fmax(0, x->all / x->dependence - last);
	if (x->wrong > 0) {
		wait = x->wrong *
		       fmax(1,
			    resolve_at(x, occupied(e, x, x->all / x->wrong)));
		stack[CPI_BRANCH] = x->wrong * e->machine->refill;
	}
	if (has(e, EQUATION_OVERLAP))
		wait = fmax(0, x->all / own + wait - x->all / rate);
	stack[CPI_BRANCH] += wait;
	stack[CPI_ICACHE] = code_cycles(e, x);
	stack[CPI_DRAM] = memory_cycles(e, x, rate);
}

void equation_windows(struct equation *e, const struct levels *levels,
		      const struct workload_thread *t, size_t first, size_t end,
		      size_t micro, size_t micros, double written,
		      double stack[CPI_COMPONENTS])
{
	struct terms x = {
		.t = t, .levels = levels, .micro = micro, .micros = micros
	};

	for (size_t i = first; i < end; i++)
		add_window(e, &x, &t->window[i]);
	if (!(x.all > 0))
		return;
	find_latencies(e, &x);
	x.port = port_rate(e, &x);
	x.unit = unit_rate(e, &x);
	find_dependence(e, &x);
	if (x.wrong > 0)
		find_resolve(e, &x);
	put_together(e, &x, stack);
	bound(e, &x, written, stack);
}
