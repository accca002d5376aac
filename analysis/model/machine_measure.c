/* SPDX-License-Identifier: MIT */
/*
 * machine_measure - what a machine file says, measured on this machine
 *
 * A chain of additions tells the frequency, chains of loads through memory of
 * a chosen size tell the latency of the cache that holds it. Each load reads
 * the place of the next one, in an order that no prefetcher knows. Lines come
 * again only after all others, so a chain longer than a cache finds nothing in
 * it.
 */
#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#include "machine_measure.h"
#include "analysis/base/line_trip.h"
#include "analysis/base/workers.h"
#include "src/base/rng.h"

enum {
	LINE_BYTES = 1 << MACHINE_LINE_SHIFT,
	HUGE_BYTES = 2 << 20,
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

struct place {
	uint32_t next;
	char rest[LINE_BYTES - sizeof(uint32_t)];
};

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

void machine_circle(uint32_t *next, uint32_t n)
{
	struct rng r;

	rng_seed(&r, 1, n);
	for (uint32_t i = 0; i < n; i++)
		next[i] = i;
	for (uint32_t i = n; i-- > 1;) {
		uint32_t j = (uint32_t)(rng_next(&r) % i), x = next[i];

		next[i] = next[j];
		next[j] = x;
	}
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

/* Memory on huge pages, if there are any; NULL if there is not enough. */
static void *pages(size_t bytes, void **mapped, size_t *length)
{
	uintptr_t at;

	*length = bytes + HUGE_BYTES;
	*mapped = mmap(NULL, *length, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (*mapped == MAP_FAILED)
		return NULL;
	at = ((uintptr_t)*mapped + HUGE_BYTES - 1) &
	     ~(uintptr_t)(HUGE_BYTES - 1);
	madvise((void *)at, bytes, MADV_HUGEPAGE);
	return (void *)at;
}

static uint32_t follow(const struct place *p, uint32_t at, uint32_t loads)
{
	while (loads--)
		at = p[at].next;
	return at;
}

/* In the order of the addresses. */
static void straight(uint32_t *next, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		next[i] = i + 1 < n ? i + 1 : 0;
}

/*
 * ns of a load in a chain through @bytes, in the order that @lead gives; 0 if
 * there is not enough memory.
 */
static double load_ns(uint64_t bytes, uint32_t loads,
		      void (*lead)(uint32_t *next, uint32_t n))
{
	uint32_t n = (uint32_t)(bytes / LINE_BYTES), at = 0;
	uint32_t *next = malloc(n * sizeof(*next));
	uint64_t best = UINT64_MAX, t;
	struct place *p;
	size_t length;
	void *mapped;

	p = next ? pages(bytes, &mapped, &length) : NULL;
	if (!p) {
		free(next);
		return 0;
	}
	lead(next, n);
	for (uint32_t i = 0; i < n; i++)
		p[i].next = next[i];
	free(next);
	if (n <= loads)
		at = follow(p, at, n);
	for (int i = 0; i < REPEATS; i++) {
		t = now();
		at = follow(p, at, loads);
		t = now() - t;
		best = t < best ? t : best;
	}
	__asm__ volatile("" : : "r"(at)); /* it is used */
	munmap(mapped, length);
	return (double)best / loads;
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
	uint64_t *p = pages(bytes * n, &mapped, &length);

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

/*
 * A virtual machine shares its LLC, and has less of it than CPUID says. Double
 * a chain until it takes longer than the mean, of logarithms, of the LLC and
 * memory.
 */
static uint64_t llc_bytes(const struct machine *m, double llc_ns,
			  double memory_ns)
{
	uint64_t bytes = 2 * m->l2.size;

	while (2 * bytes <= m->llc.size) {
		double ns = load_ns(2 * bytes, CACHE_LOADS, machine_circle);

		if (ns > sqrt(llc_ns * memory_ns))
			break;
		bytes *= 2;
	}
	return bytes;
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
	char *p = pages(bytes, &mapped, &length);

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
 * The LLC by twice L2, which it holds if it holds anything more, and memory by
 * four times what the LLC holds: much more would measure pages, too.
 */
static void measure_memory(const struct machine *m, struct machine_times *t)
{
	uint64_t far = 4 * m->llc.size;

	if (far < MEMORY_BYTES)
		far = MEMORY_BYTES;
	if (far > MEMORY_BYTES_MAX)
		far = MEMORY_BYTES_MAX;
	if (m->llc.size >= 4 * m->l2.size) {
		t->llc_ns =
			load_ns(2 * m->l2.size, CACHE_LOADS, machine_circle);
		t->llc_bytes =
			llc_bytes(m, t->llc_ns,
				  load_ns(far, MEMORY_LOADS, machine_circle));
		far = 4 * t->llc_bytes;
	}
	if (far < 4 * m->llc.size && !t->llc_bytes)
		return;
	t->memory_ns = load_ns(far, MEMORY_LOADS, machine_circle);
	t->next_ns = load_ns(far, MEMORY_LOADS, straight);
}

void machine_measure(const struct machine *m, struct machine_times *t)
{
	cpu_set_t all;

	*t = (struct machine_times){ 0 };
	if (sched_getaffinity(0, sizeof(all), &all))
		return;
	t->cycle_ns = addition_ns(add_in_register);
	t->rmw_ns = addition_ns(add_in_memory);
	t->rmw_double_ns = addition_ns(add_double_in_memory);
	if (m->l2.size >= 4 * m->l1d.size)
		t->l2_ns = load_ns(m->l2.size / 2, CACHE_LOADS, machine_circle);
	measure_set(m, t);
	measure_memory(m, t);
	t->bandwidth_gbs = bandwidth_gbs((unsigned int)CPU_COUNT(&all));
	t->round_trip_ns = round_trip_ns(&all);
	sched_setaffinity(0, sizeof(all), &all);
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
	/* Halved, as a machine has a power of two of sets. */
	while (t->llc_bytes && m->llc.size >= 2 * t->llc_bytes &&
	       m->llc.size >= 2 * m->l2.size)
		m->llc.size /= 2;
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
