/* SPDX-License-Identifier: MIT */
/*
 * ways - ways of sharing on which no estimator was designed
 *
 *	ways NAME [STEPS [SEED]]
 *
 *   once       a thread fills lines, another one reads them, once
 *   deque      work stealing: four deques, top and bottom on one line
 *   pipeline   each line passes through three threads, once
 *   gather     each thread fills its part, then all read all, once
 *   log        records of 24 bytes in a log that only grows
 *   stencil    a barrier, and rows whose edges the neighbours read
 *   readers    a count of readers on the line of what they read
 *   table      a hash table with striped spin locks
 *   pingpong   two threads hand a word to and fro, others read it
 *   stats      counters of 24 bytes a thread, which one thread sums up
 *   stack      a lock-free stack of 16-byte nodes
 *   publish    a writer replaces an object of three lines, readers follow
 *   transpose  threads fill columns of a matrix whose rows others read
 *   resonance  a loop of 1,000 stores, a tenth of them for another thread
 *
 * Without hooks, threads and their number are the same, so that the sources
 * clock, emu and instr see the same program.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	THREADS = 4,
	LINE_WORDS = 8,
	LINES = 1 << 17,
	DEQUE = 256,
	RECORD = 3, /* words */
	ROW = 512,
	STRIPES = 16,
	BUCKETS = 512,
	NODES = 64,
	VERSIONS = 8,
	PRIVATE = 512
};

typedef _Atomic uint64_t word;

struct line {
	_Alignas(64) word w[LINE_WORDS];
};

/* Alone, also for a prefetcher of adjacent lines. */
struct lone {
	_Alignas(128) word w[LINE_WORDS];
};

static long steps;
static uint64_t first_seed = 1;
static struct line many[LINES];
static struct lone started, shared[8];
static struct line own[THREADS][PRIVATE / LINE_WORDS];

static uint64_t load(word *w)
{
	return atomic_load_explicit(w, memory_order_relaxed);
}

static uint64_t load_acquire(word *w)
{
	return atomic_load_explicit(w, memory_order_acquire);
}

static void store(word *w, uint64_t x)
{
	atomic_store_explicit(w, x, memory_order_relaxed);
}

static void store_release(word *w, uint64_t x)
{
	atomic_store_explicit(w, x, memory_order_release);
}

static uint64_t next(uint64_t *rng)
{
	uint64_t x = *rng += 0x9E3779B97F4A7C15ull;

	x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
	x = (x ^ x >> 27) * 0x94D049BB133111EBull;
	return x ^ x >> 31;
}

static uint64_t below(uint64_t *rng, uint64_t n)
{
	return (next(rng) >> 32) * n >> 32;
}

/* @n accesses of the thread's own, a third of them stores. */
static void work(int id, uint64_t *rng, int n)
{
	while (n--) {
		uint64_t r = next(rng);
		word *w = &own[id][r % (PRIVATE / LINE_WORDS)].w[r >> 8 & 7];

		if (r >> 16 & 1 && r >> 17 & 1)
			store(w, r);
		else
			(void)load(w);
	}
}

static void await(word *w, uint64_t at_least, int id, uint64_t *rng)
{
	while (load_acquire(w) < at_least)
		work(id, rng, 8);
}

/* Thread 0 fills, thread 1 reads. */
static void once(int id, uint64_t *rng)
{
	if (id > 1)
		return;
	if (id)
		await(&shared[0].w[0], 1, id, rng);
	for (long i = 0; i < steps; i++)
		for (int k = 0; k < LINE_WORDS; k++)
			if (id)
				(void)load(&many[i].w[k]);
			else
				store(&many[i].w[k], i);
	if (!id)
		store_release(&shared[0].w[0], 1);
}

/* Chase and Lev, 2005: top, bottom and the tasks. */
static struct deque {
	_Alignas(128) word top, bottom;
	_Alignas(128) word task[DEQUE];
} deque[THREADS];
static struct lone undone;

static void push(struct deque *d, uint64_t task)
{
	uint64_t b = load(&d->bottom);

	store(&d->task[b % DEQUE], task);
	store_release(&d->bottom, b + 1);
}

static uint64_t pop(struct deque *d)
{
	uint64_t b = load(&d->bottom) - 1, t, task;

	atomic_store(&d->bottom, b);
	t = atomic_load(&d->top);
	if ((int64_t)(b - t) < 0) {
		store(&d->bottom, b + 1);
		return 0;
	}
	task = load(&d->task[b % DEQUE]);
	if (b > t)
		return task;
	if (!atomic_compare_exchange_strong(&d->top, &t, t + 1))
		task = 0;
	store(&d->bottom, b + 1);
	return task;
}

static uint64_t steal(struct deque *d)
{
	uint64_t t = atomic_load(&d->top), b = atomic_load(&d->bottom), task;

	if ((int64_t)(b - t) <= 0)
		return 0;
	task = load(&d->task[t % DEQUE]);
	return atomic_compare_exchange_strong(&d->top, &t, t + 1) ? task : 0;
}

/* A task of size n makes two of half the size. */
static void work_stealing(int id, uint64_t *rng)
{
	uint64_t task;

	if (!id)
		push(&deque[0], (uint64_t)steps);
	while (load_acquire(&undone.w[0])) {
		task = pop(&deque[id]);
		if (!task)
			task = steal(&deque[below(rng, THREADS)]);
		if (!task) {
			work(id, rng, 4);
			continue;
		}
		work(id, rng, 12);
		if (task > 1) {
			push(&deque[id], task / 2);
			push(&deque[id], task - task / 2);
		} else {
			atomic_fetch_sub_explicit(&undone.w[0], 1,
						  memory_order_release);
		}
	}
}

/* Thread i takes a line from thread i - 1, eight lines at a time. */
static void pipeline(int id, uint64_t *rng)
{
	if (id > 2)
		return;
	for (long i = 0; i < steps; i++) {
		if (id && i % 8 == 0)
			await(&shared[id - 1].w[0], i + 8, id, rng);
		for (int k = 0; k < LINE_WORDS; k += 1 + id)
			if (id < 2)
				store(&many[i].w[k], load(&many[i].w[k]) + 1);
			else
				(void)load(&many[i].w[k]);
		if (i % 8 == 7)
			store_release(&shared[id].w[0], i + 1);
		work(id, rng, 4);
	}
}

static void barrier(uint64_t *round, int id, uint64_t *rng)
{
	++*round;
	atomic_fetch_add(&shared[7].w[0], 1);
	await(&shared[7].w[0], *round * THREADS, id, rng);
}

static void gather(int id, uint64_t *rng)
{
	uint64_t round = 0;
	long part = steps / THREADS;

	for (long i = id * part; i < (id + 1) * part; i++)
		for (int k = 0; k < 4; k++)
			store(&many[i].w[k], i);
	barrier(&round, id, rng);
	for (long i = 0; i < part * THREADS; i++)
		(void)load(&many[(i + id * part) % (part * THREADS)].w[i % 4]);
}

/* A record has three words, so every line has those of several threads. */
static void log_records(int id, uint64_t *rng)
{
	word *log = many[0].w;

	for (long i = 0; i < steps; i++) {
		uint64_t at = atomic_fetch_add_explicit(&shared[0].w[0], RECORD,
							memory_order_relaxed);

		for (int k = 0; k < RECORD; k++)
			store(&log[(at + k) % (LINES * LINE_WORDS)], i);
		work(id, rng, (int)below(rng, 30));
	}
}

/* Rows of 512 words and a half line, so that rows of two threads share one. */
static void stencil(int id, uint64_t *rng)
{
	word *grid = many[0].w;
	uint64_t round = 0;
	long pitch = ROW + 4;

	for (long i = 0; i < steps; i++) {
		word *mine = grid + (id + 1) * pitch;

		for (int k = 0; k < ROW; k += 4)
			store(&mine[k],
			      load(&mine[k - pitch]) + load(&mine[k + pitch]));
		barrier(&round, id, rng);
	}
}

static void readers(int id, uint64_t *rng)
{
	word *count = &shared[0].w[0], *data = &shared[0].w[2];

	for (long i = 0; i < steps; i++) {
		atomic_fetch_add(count, 1);
		for (int k = 0; k < 4; k++)
			(void)load(&data[k]);
		atomic_fetch_sub(count, 1);
		if (below(rng, 20) == 0)
			store(&data[below(rng, 4)], i);
		work(id, rng, 20);
	}
}

static void table(int id, uint64_t *rng)
{
	for (long i = 0; i < steps; i++) {
		uint64_t key = below(rng, BUCKETS);
		word *lock = &many[BUCKETS].w[key % STRIPES * 4];
		word *entry = &many[key / 2].w[key % 2 * 4];
		uint64_t is_free = 0;

		while (!atomic_compare_exchange_strong(lock, &is_free, 1)) {
			is_free = 0;
			work(id, rng, 4);
		}
		if (load(entry) % 4)
			(void)load(entry + 1);
		else
			store(entry + 1, key);
		store(entry, load(entry) + 1);
		store_release(lock, 0);
		work(id, rng, 24);
	}
}

static void pingpong(int id, uint64_t *rng)
{
	word *w = shared[0].w;

	for (long i = 0; i < steps; i++) {
		if (id > 1) {
			(void)load(&w[id]);
			work(id, rng, 30);
			continue;
		}
		await(&w[0], 2 * i + id, id, rng);
		store(&w[2 + id], i);
		store_release(&w[0], 2 * i + id + 1);
		work(id, rng, 10);
	}
}

static void stats(int id, uint64_t *rng)
{
	word *mine = &many[0].w[id * RECORD];

	for (long i = 0; i < steps; i++) {
		store(&mine[0], load(&mine[0]) + 1);
		if (i % 4 == 0)
			store(&mine[1], load(&mine[1]) + 1);
		if (i % 64 == 0)
			store(&mine[2], i);
		work(id, rng, 12);
		if (!id && i % 32 == 0)
			for (int k = 0; k < THREADS * RECORD; k += RECORD)
				(void)load(&many[0].w[k]);
	}
}

/* The top has the index of a node plus 1, and above it a count. */
static struct node {
	word next, value;
} node[NODES];

static void stack(int id, uint64_t *rng)
{
	word *top = &shared[0].w[0];

	for (long i = 0; i < steps; i++) {
		uint64_t old = load_acquire(top), n, new;

		do {
			n = old & 0xFFFF;
			if (!n)
				break;
			new = (old >> 16) + 1;
			new = new << 16 | load(&node[n - 1].next);
		} while (!atomic_compare_exchange_weak(top, &old, new));
		work(id, rng, 16);
		if (!n)
			continue;
		store(&node[n - 1].value, i);
		old = load(top);
		do {
			store(&node[n - 1].next, old & 0xFFFF);
			new = ((old >> 16) + 1) << 16 | n;
		} while (!atomic_compare_exchange_weak(top, &old, new));
		work(id, rng, 16);
	}
}

static void publish(int id, uint64_t *rng)
{
	word *current = &shared[0].w[0];

	for (long i = 0; i < steps; i++) {
		struct line *object = &many[load_acquire(current) * 3];

		if (!id && i % 8 == 0) {
			uint64_t new = (i / 8 + 1) % VERSIONS;

			for (int k = 0; k < 3 * LINE_WORDS; k += 2)
				store(&many[new * 3 + k / 8].w[k % 8], i);
			store_release(current, new);
		} else {
			for (int k = 0; k < 3 * LINE_WORDS; k += 3)
				(void)load(&object[k / 8].w[k % 8]);
		}
		work(id, rng, 8 + (int)below(rng, 16));
	}
}

/* 64 by 64 words: a thread stores every fourth column, and reads rows. */
static void transpose(int id, uint64_t *rng)
{
	uint64_t round = 0;

	for (long i = 0; i < steps; i++) {
		word *m = many[i % 8 * 512].w;

		for (int column = id; column < 64; column += THREADS)
			for (int row = 0; row < 64; row += 4)
				store(&m[row * 64 + column], i);
		barrier(&round, id, rng);
		for (int row = 4 * id; row < 64; row += 4 * THREADS)
			for (int column = 0; column < 64; column += 2)
				(void)load(&m[row * 64 + column]);
	}
}

/* The second thread reads at the end of each round; the first stores 1,000. */
static void resonance(int id, uint64_t *rng)
{
	(void)rng;
	if (id > 1)
		return;
	for (long i = 0; i < steps; i++) {
		while ((long)load_acquire(&shared[1 - id].w[0]) < i + id)
			;
		for (int k = 0; k < 999 && !id; k++)
			store(k < 100 ? &many[k].w[0] : &own[0][k % 8].w[0], i);
		for (int k = 0; k < 100 && id; k++)
			(void)load(&many[k].w[0]);
		store_release(&shared[id].w[0], i + 1);
	}
}

static const struct {
	const char *name;
	void (*run)(int id, uint64_t *rng);
	long steps;
} ways[] = {
	{ "once", once, 60000 },         { "deque", work_stealing, 40000 },
	{ "pipeline", pipeline, 60000 }, { "gather", gather, 100000 },
	{ "log", log_records, 60000 },   { "stencil", stencil, 3000 },
	{ "readers", readers, 30000 },   { "table", table, 30000 },
	{ "pingpong", pingpong, 8000 },  { "stats", stats, 60000 },
	{ "stack", stack, 25000 },       { "publish", publish, 40000 },
	{ "transpose", transpose, 800 }, { "resonance", resonance, 1000 },
};

static void (*run)(int id, uint64_t *rng);

static void *thread(void *arg)
{
	int id = (int)(uintptr_t)arg;
	uint64_t rng = first_seed * 1000 + id;

	atomic_fetch_add(&started.w[0], 1);
	while (load(&started.w[0]) < THREADS)
		;
	run(id, &rng);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[THREADS];

	for (size_t i = 0; argc > 1 && i < sizeof(ways) / sizeof(*ways); i++)
		if (!strcmp(ways[i].name, argv[1])) {
			run = ways[i].run;
			steps = ways[i].steps;
		}
	if (argc > 2)
		steps = atol(argv[2]);
	if (argc > 3)
		first_seed = strtoull(argv[3], NULL, 0);
	if (!run || steps < 1) {
		fprintf(stderr, "usage: ways NAME [STEPS [SEED]]\n");
		return 2;
	}
	if ((run == once || run == pipeline || run == gather) && steps > LINES)
		steps = LINES;
	steps = steps / 8 * 8;
	store(&undone.w[0], (uint64_t)steps);
	for (int i = 0; i < NODES / 2; i++)
		store(&node[i].next, i);
	store(&shared[0].w[0], run == stack ? NODES / 2 : 0);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&t[i], NULL, thread, (void *)(uintptr_t)i))
			return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	return 0;
}
