/* SPDX-License-Identifier: MIT */
/*
 * emu_exact - every access through the directory of src/exact.h
 *
 * The directory's thread numbers are few, since each line keeps a bit for
 * every one of them. A thread takes a number that nobody has had, then the one
 * whose thread ended first, if possible on the same core; those two are one to
 * the directory, and what it counted goes to the row of the later one. The file
 * gets the results when the process ends or executes another program.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "emu.h"

enum {
	LINE_BYTES = 64,
	THREADS = 128,     /* directory numbers */
	REGIONS = 1 << 19, /* 8 GiB of lines that may be touched */
	REGIONS_MIN = 1 << 12,
	LINES_KEPT = 4096, /* lines with records of their own, about */
	FREE = UINT32_MAX,
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct exact *exact;
static size_t exact_bytes;
static uint32_t row_of[THREADS];  /* the latest */
static uint32_t core_of[THREADS]; /* the first */
static uint32_t idle[THREADS];    /* numbers in the order to be used */
static uint32_t idles, used_twice;
static struct store_writer writer;

int emu_exact_init(void)
{
	struct exact_config config = {
		.threads = THREADS,
		.line_bytes = LINE_BYTES,
		.regions = REGIONS,
		.topology = emu.config.topology ? &emu.topology.shape : NULL,
	};
	void *mem = MAP_FAILED;

	if (exact) /* a forked child's is its own */
		munmap(exact, exact_bytes);
	exact = NULL;
	for (; mem == MAP_FAILED && config.regions >= REGIONS_MIN;
	     config.regions /= 2) {
		exact_bytes = exact_size(&config);
		mem = mmap(NULL, exact_bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (mem != MAP_FAILED)
			break;
	}
	if (mem == MAP_FAILED)
		return -ENOMEM;
	exact = exact_init(mem, &config);
	if (!exact)
		return -EINVAL;
	pthread_mutex_init(&lock, NULL);
	writer = (struct store_writer){ .section = CDP_TRANSFERS };
	for (idles = 0; idles < THREADS; idles++) {
		idle[idles] = idles;
		row_of[idles] = FREE;
	}
	used_twice = 0;
	return 0;
}

/* With the lock held; FREE if all are in use. */
static uint32_t take_number(uint32_t core)
{
	uint32_t i = 0, id;

	if (!idles)
		return FREE;
	while (i < idles && row_of[idle[i]] != FREE && core_of[idle[i]] != core)
		i++;
	if (i == idles)
		i = 0;
	id = idle[i];
	memmove(idle + i, idle + i + 1, (--idles - i) * sizeof(idle[0]));
	return id;
}

void emu_exact_start(struct vcpu *v)
{
	uint32_t id;

	pthread_mutex_lock(&lock);
	id = take_number(v->core);
	if (id != FREE && row_of[id] != FREE)
		used_twice++;
	else if (id != FREE)
		core_of[id] = v->core;
	if (id != FREE)
		row_of[id] = v->record->id;
	pthread_mutex_unlock(&lock);
	if (id != FREE && !exact_thread_init(exact, &v->exact, id))
		v->directory = exact;
	else
		store_add(&v->record->loss[LOSS_NO_THREAD], 1);
}

static void put(uint32_t kind, uint32_t a, uint32_t b, const uint64_t *value,
		int n)
{
	struct cdp_transfer *t = store_record(&emu.store, &writer);

	if (!t) {
		__atomic_fetch_add(&emu.store.header->loss[LOSS_STORE_FULL], 1,
				   __ATOMIC_RELAXED);
		return;
	}
	t->kind = kind;
	t->a = a;
	t->b = b;
	memcpy(t->value, value, n * sizeof(*value));
	store_commit(&writer);
}

static void put_thread(const struct vcpu *v)
{
	const struct exact_counts *c = &v->exact.counts;
	uint64_t value[] = { c->loads,       c->stores,
			     c->cold_loads,  c->cold_stores,
			     c->invalidated, c->dropped + c->full };
	uint32_t id = v->record->id;

	put(CDP_EXACT_THREAD, id, 0, value, 6);
	for (uint32_t m = 0; m < EXACT_MISSES; m++)
		for (uint32_t d = 0; d <= EXACT_LEVELS_MAX; d++)
			if (c->miss[m][d])
				put(CDP_EXACT_MISS, id, m * 8 + d,
				    &c->miss[m][d], 1);
}

void emu_exact_end(struct vcpu *v)
{
	if (!v->directory)
		return;
	v->directory = NULL;
	pthread_mutex_lock(&lock);
	put_thread(v);
	idle[idles++] = v->exact.id;
	pthread_mutex_unlock(&lock);
}

/* Lines by the logarithm of their transfers, to know which to keep. */
struct lines {
	uint64_t by_log[64];
	uint64_t least;   /* transfers of a line that is kept */
	uint64_t rest[5]; /* the others, added up; no address */
};

static int count_line(void *ctx, const struct exact_line *line)
{
	struct lines *l = ctx;

	if (line->transfers)
		l->by_log[63 - __builtin_clzll(line->transfers)]++;
	return 0;
}

static int put_line(void *ctx, const struct exact_line *line)
{
	struct lines *l = ctx;
	uint64_t value[] = { line->line, line->transfers, line->false_sharing,
			     line->stores, line->ownership };

	if (line->transfers >= l->least)
		put(CDP_EXACT_LINE, 0, 0, value, 5);
	else
		for (int i = 1; i < 5; i++)
			l->rest[i] += value[i];
	return 0;
}

static void put_lines(void)
{
	struct lines l = { .least = 1 };
	uint64_t kept = 0;

	exact_lines(exact, count_line, &l);
	for (int log = 63; log >= 0; log--) {
		kept += l.by_log[log];
		if (kept > LINES_KEPT && log < 63) {
			l.least = UINT64_C(2) << log;
			break;
		}
	}
	exact_lines(exact, put_line, &l);
	put(CDP_EXACT_LINE, 0, 0, l.rest, 5);
}

void emu_exact_finish(void)
{
	char *note = emu.store.header->note;

	pthread_mutex_lock(&lock);
	for (unsigned int i = 0; i < EMU_VCPUS_MAX; i++)
		if (emu.vcpu[i].record && emu.vcpu[i].directory)
			put_thread(&emu.vcpu[i]);
	for (uint32_t from = 0; from < THREADS; from++)
		for (uint32_t to = 0; to < THREADS; to++) {
			struct exact_cell c = exact_cell(exact, from, to);
			uint64_t value[] = { c.transfers, c.false_sharing };

			if (c.transfers)
				put(CDP_EXACT_CELL, row_of[from], row_of[to],
				    value, 2);
		}
	put_lines();
	if (used_twice)
		snprintf(note, sizeof(emu.store.header->note),
			 "%u threads took the place of earlier ones in the "
			 "exact counts, which keep %d apart",
			 used_twice, THREADS);
	pthread_mutex_unlock(&lock);
}
