/* SPDX-License-Identifier: MIT */
/*
 * machine_measure - what a machine file says, measured on this machine
 *
 * A chain of additions tells the frequency, chains of loads through memory of
 * a chosen size tell the latency of the cache that holds it.
 */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "machine_chain.h"
#include "machine_measure.h"
#include "analysis/base/line_trip.h"
#include "analysis/base/util.h"
#include "analysis/base/workers.h"

enum {
	LINE_BYTES = 1 << MACHINE_LINE_SHIFT,
	ROUNDS = 5,
	REPEATS = 7,
	ADDITIONS = 16, /* in a row */
	ADD_ROUNDS = 20 * 1000,
	CACHE_LOADS = 100 * 1000,
	SET_ACCESSES = 100 * 1000,
	MEMORY_LOADS = 50 * 1000,
	MEMORY_BYTES = 128 << 20, /* at the least, of a chain through memory */
	MEMORY_BYTES_MAX = 1 << 30,
	STREAM_BYTES = 64 << 20, /* that each core reads */
};

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Additions that each need the one before it, in a register. */
static void add_in_register(uint64_t *x)
{
	uint64_t sum = *x;

	__asm__ volatile(".rept 16\n\tadd %1, %0\n\t.endr"
			 : "+r"(sum)
			 : "r"(sum | 1)
			 : "cc");
	*x = sum;
}

/* The same to one place in memory. */
static void add_in_memory(uint64_t *x)
{
	__asm__ volatile(".rept 16\n\tadd %1, %0\n\t.endr"
			 : "+m"(*x)
			 : "r"(UINT64_C(1))
			 : "cc");
}

/* Likewise, of floating-point numbers. */
static void add_double_in_memory(uint64_t *x)
{
	__asm__ volatile("xorps %%xmm1, %%xmm1\n\t"
			 ".rept 16\n\t"
			 "movsd %0, %%xmm0\n\t"
			 "addsd %%xmm1, %%xmm0\n\t"
			 "movsd %%xmm0, %0\n\t"
			 ".endr"
			 : "+m"(*x)
			 :
			 : "xmm0", "xmm1");
}

/* ns of an addition, the least of some tries. */
static inline __attribute__((always_inline)) double addition_ns(
	void (*add)(uint64_t *x))
{
	uint64_t best = UINT64_MAX, t, x = 0; /* as a double, too */

	for (int i = 0; i < REPEATS; i++) {
		t = now();
		for (int k = 0; k < ADD_ROUNDS; k++)
			add(&x);
		t = now() - t;
		best = t < best ? t : best;
	}
	return (double)best / ADD_ROUNDS / ADDITIONS;
}

static void load_each(const volatile uint64_t *p, size_t words, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		(void)p[i * words];
}

static void store_each(volatile uint64_t *p, size_t words, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		p[i * words] = i;
}

/*
 * ns of an access to @n lines @bytes apart, which need not wait for each other;
 * 0 if there is not enough memory.
 */
static double apart_ns(size_t bytes, uint32_t n, bool store)
{
	uint64_t best = UINT64_MAX, t;
	uint32_t rounds = SET_ACCESSES / n + 1;
	size_t length;
	void *mapped;
	uint64_t *p = machine_pages(bytes * n, &mapped, &length);

	if (!p)
		return 0;
	store_each(p, bytes / sizeof(*p), n);
	for (int i = 0; i < REPEATS; i++) {
		t = now();
		for (uint32_t k = 0; k < rounds; k++)
			if (store)
				store_each(p, bytes / sizeof(*p), n);
			else
				load_each(p, bytes / sizeof(*p), n);
		t = now() - t;
		best = t < best ? t : best;
	}
	munmap(mapped, length);
	return (double)best / rounds / n;
}

/*
 * Lines of one set of L1D, half of those that L2 holds. They are many, as some
 * processors still hit now and then with a few more lines than ways.
 */
static void measure_set(const struct machine *m, struct machine_times *t)
{
	size_t apart = m->l1d.size / m->l1d.ways;
	uint32_t n = (uint32_t)(m->l2.size / 2 / apart);

	if (n < 4 * m->l1d.ways)
		return;
	t->set_load_ns = apart_ns(apart, n, false);
	t->set_store_ns = apart_ns(apart, n, true);
}

/* ns of a load in chains through @bytes in all, each longer than L2. */
static double llc_chains_ns(const struct machine *m, uint64_t bytes,
			    unsigned int cores)
{
	uint64_t most = bytes / (2 * m->l2.size);
	unsigned int n = most < cores ? (unsigned int)most : cores;

	return machine_chain_ns(bytes / n, CACHE_LOADS, machine_circle, n);
}

/* What is looked for: how much of the LLC the machine has. */
struct llc_search {
	const struct machine *machine;
	unsigned int cores;
	double limit_ns; /* of a load that hits */
	uint64_t bytes;  /* that it has at least */
	bool failed;     /* something could not be measured */
};

/* Does it have @step bytes more, or as many of them as CPUID says? */
static bool has_more(struct llc_search *s, uint64_t step)
{
	uint64_t left = s->machine->llc.size - s->bytes;
	double ns;

	if (step > left)
		step = left;
	if (!step)
		return false;
	ns = llc_chains_ns(s->machine, s->bytes + step, s->cores);
	s->failed |= ns <= 0;
	if (ns <= 0 || ns > s->limit_ns)
		return false;
	s->bytes += step;
	return true;
}

/*
 * A virtual machine shares its LLC, and has less of it than CPUID says. Double
 * what chains of as many cores as possible have until a load takes longer than
 * @limit_ns, then add quarters of what they held. 0: it could not be measured.
 */
static uint64_t llc_bytes(const struct machine *m, double limit_ns,
			  unsigned int cores)
{
	struct llc_search s = { m, cores, limit_ns, 2 * m->l2.size, false };
	uint64_t quarter;

	while (has_more(&s, s.bytes))
		;
	quarter = s.bytes / 4;
	for (int i = 0; i < 3 && has_more(&s, quarter); i++)
		;
	return s.failed ? 0 : s.bytes;
}

/*
 * By twice L2, which finds some lines in L2, and by four times L2, which finds
 * few. If that takes twice as long, the LLC has not room enough for it.
 */
static double llc_ns(const struct machine *m)
{
	double near = machine_chain_ns(2 * m->l2.size, CACHE_LOADS,
				       machine_circle, 1);
	double far = machine_chain_ns(4 * m->l2.size, CACHE_LOADS,
				      machine_circle, 1);

	return far < 2 * near ? far : near;
}

struct stream {
	const char *from;
	unsigned int cores, next;
};

static void *read_part(void *arg)
{
	struct stream *s = arg;
	unsigned int i = __atomic_fetch_add(&s->next, 1, __ATOMIC_RELAXED);
	const uint64_t *p = (const void *)(s->from + (size_t)i * STREAM_BYTES);
	uint64_t sum = 0;

	for (size_t k = 0; k < STREAM_BYTES / sizeof(*p); k++)
		sum += p[k];
	__asm__ volatile("" : : "r"(sum));
	return NULL;
}

static double bandwidth_gbs(unsigned int cores)
{
	size_t bytes = (size_t)cores * STREAM_BYTES, length;
	uint64_t best = UINT64_MAX, t;
	void *mapped;
	char *p = machine_pages(bytes, &mapped, &length);

	if (!p)
		return 0;
	for (size_t i = 0; i < bytes; i += LINE_BYTES)
		p[i] = 1;
	for (int i = 0; i < REPEATS; i++) {
		struct stream s = { .from = p, .cores = cores };

		t = now();
		workers_run(read_part, &s, cores);
		t = now() - t;
		best = t < best ? t : best;
	}
	munmap(mapped, length);
	return (double)bytes / (double)best;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double round_trip_ns(const cpu_set_t *all)
{
	double ns[REPEATS];
	int cpu[2], n = 0;

	if (!two_processors(all, cpu))
		return 0;
	for (int i = 0; i < REPEATS; i++)
		n += line_round_trip(cpu, &ns[n]);
	qsort(ns, (size_t)n, sizeof(*ns), compare);
	return n ? ns[n / 2] : 0;
}

/*
 * Memory by four times what the LLC holds: much more would measure pages, too.
 */
static void measure_memory(const struct machine *m, unsigned int cores,
			   struct machine_times *t)
{
	uint64_t far = 4 * m->llc.size;
	double memory_ns;

	if (far < MEMORY_BYTES)
		far = MEMORY_BYTES;
	if (far > MEMORY_BYTES_MAX)
		far = MEMORY_BYTES_MAX;
	if (m->llc.size >= 4 * m->l2.size) {
		t->llc_ns = llc_ns(m);
		memory_ns =
			machine_chain_ns(far, MEMORY_LOADS, machine_circle, 1);
		if (t->llc_ns > 0 && memory_ns > 0)
			t->llc_bytes = (double)llc_bytes(
				m, sqrt(t->llc_ns * memory_ns), cores);
		if (t->llc_bytes > 0)
			far = 4 * (uint64_t)t->llc_bytes;
	}
	if (far < 4 * m->llc.size && t->llc_bytes <= 0)
		return;
	t->memory_ns = machine_chain_ns(far, MEMORY_LOADS, machine_circle, 1);
	t->next_ns = machine_chain_ns(far, MEMORY_LOADS, machine_straight, 1);
}

static void measure_round(const struct machine *m, const cpu_set_t *all,
			  struct machine_times *t)
{
	unsigned int cores = (unsigned int)CPU_COUNT(all);

	t->cycle_ns = addition_ns(add_in_register);
	t->rmw_ns = addition_ns(add_in_memory);
	t->rmw_double_ns = addition_ns(add_double_in_memory);
	if (m->l2.size >= 4 * m->l1d.size)
		t->l2_ns = machine_chain_ns(m->l2.size / 2, CACHE_LOADS,
					    machine_circle, 1);
	measure_set(m, t);
	measure_memory(m, cores, t);
	t->bandwidth_gbs = bandwidth_gbs(cores);
	t->round_trip_ns = round_trip_ns(all);
	sched_setaffinity(0, sizeof(*all), all);
}

/* The median of those that could be measured. */
static double middle(double *value, size_t n)
{
	size_t known = 0;

	for (size_t i = 0; i < n; i++)
		if (value[i] > 0)
			value[known++] = value[i];
	qsort(value, known, sizeof(*value), compare);
	return known ? value[known / 2] : 0;
}

void machine_middle_times(const struct machine_times *rounds, size_t n,
			  struct machine_times *t)
{
#define AT(name) offsetof(struct machine_times, name)
	static const size_t times[] = {
		AT(cycle_ns),      AT(l2_ns),         AT(set_load_ns),
		AT(set_store_ns),  AT(llc_ns),        AT(llc_bytes),
		AT(memory_ns),     AT(next_ns),       AT(rmw_ns),
		AT(rmw_double_ns), AT(bandwidth_gbs), AT(round_trip_ns),
	};
#undef AT
	double *value = xcalloc(n, sizeof(*value));

	_Static_assert(sizeof(*t) ==
			       sizeof(times) / sizeof(*times) * sizeof(*value),
		       "each time has a median");
	for (size_t k = 0; k < sizeof(times) / sizeof(*times); k++) {
		for (size_t i = 0; i < n; i++)
			memcpy(&value[i], (const char *)&rounds[i] + times[k],
			       sizeof(*value));
		value[0] = middle(value, n);
		memcpy((char *)t + times[k], value, sizeof(*value));
	}
	free(value);
}

void machine_measure(const struct machine *m, struct machine_times *t)
{
	struct machine_times rounds[ROUNDS] = { 0 };
	cpu_set_t all;

	if (!sched_getaffinity(0, sizeof(all), &all))
		for (int i = 0; i < ROUNDS; i++)
			measure_round(m, &all, &rounds[i]);
	machine_middle_times(rounds, ROUNDS, t);
}

/* Cycles of @ns, less what other keys say of them already; at least @least. */
static uint32_t cycles(double ns, double cycle_ns, uint32_t less,
		       uint32_t least)
{
	double n = round(ns / cycle_ns) - less;

	return n > least ? (uint32_t)n : least;
}

/*
 * Little's law: lines that take @ratio times as long as they come one after the
 * other are so many at a time, the one that is loaded among them.
 */
static uint32_t ahead(double ratio)
{
	if (ratio < 2)
		return 1;
	return ratio < MACHINE_AHEAD_MAX ? (uint32_t)round(ratio) - 1
					 : MACHINE_AHEAD_MAX;
}

/* Halved, as a machine has a power of two of sets; then it has fewer ways. */
static void take_llc_bytes(struct machine *m, uint64_t bytes)
{
	struct machine_cache *c = &m->llc;
	uint64_t way;

	while (c->size >= 2 * bytes && c->size >= 2 * m->l2.size)
		c->size /= 2;
	way = c->size / c->ways;
	if (bytes < c->size && bytes / way * way >= m->l2.size) {
		c->ways = (uint32_t)(bytes / way);
		c->size = c->ways * way;
	}
}

void machine_take_times(struct machine *m, const struct machine_times *t)
{
	double cycle = t->cycle_ns, rest;
	uint32_t to_llc = m->l1d.tag + m->l2.tag;

	if (cycle <= 0)
		return;
	m->ghz = 1 / cycle;
	if (t->l2_ns > 0)
		m->l2.latency = cycles(t->l2_ns, cycle, m->l1d.tag, 1);
	if (t->set_load_ns > 0)
		m->after_load = cycles(t->set_load_ns, cycle, 0, 0);
	if (t->set_store_ns > 0)
		m->after_store = cycles(t->set_store_ns, cycle, 0, 0);
	if (t->llc_ns > 0)
		m->llc.latency = cycles(t->llc_ns, cycle, to_llc, 1);
	if (t->llc_bytes > 0)
		take_llc_bytes(m, (uint64_t)t->llc_bytes);
	if (t->rmw_ns > 0)
		m->forwarding =
			cycles(t->rmw_ns, cycle, m->uop[UOP_ALU].latency, 1);
	if (t->rmw_double_ns > 0)
		m->forwarding_vector =
			cycles(t->rmw_double_ns, cycle,
			       m->uop[UOP_FADD].latency + m->forwarding +
				       m->vector_load_extra,
			       0);
	if (t->memory_ns > 0 && t->next_ns > 0)
		m->ahead = ahead(t->memory_ns / t->next_ns);
	if (t->bandwidth_gbs > 0)
		m->memory_gbs = t->bandwidth_gbs;
	if (t->memory_ns > 0) {
		rest = (to_llc + m->llc.tag + m->directory) * cycle +
		       LINE_BYTES / m->memory_gbs;
		m->memory_ns =
			t->memory_ns > rest + 1 ? t->memory_ns - rest : 1;
	}
	if (t->round_trip_ns > 0)
		m->transfer = cycles(t->round_trip_ns / 2, cycle,
				     to_llc + m->llc.latency, 0);
}
