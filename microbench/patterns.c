/* SPDX-License-Identifier: MIT */
/*
 * patterns - ways of sharing that write_volume and its like lack
 *
 * A profiler that counts transfers of cache lines is tested by how the accesses
 * to a line follow each other:
 *
 *   bursts       as many lines as threads go from thread to thread; the thread
 *                that has one stores --burst times to it and sends it on to a
 *                random thread, through a pipe: that touches no line
 *   ring         pairs of threads, a ring of 64 messages of one line each
 *   lock         four spin locks, each before two lines of data
 *   lines        three accesses in ten go to --lines lines, half are stores
 *   read-mostly  64 lines that all read, one access in a hundred is a store
 *   counters     each thread counts in its own word of a line of eight
 *   private      999 accesses in 1000 are private, the others store one word
 *
 * In between, a thread makes private accesses. Nothing sleeps or yields: a
 * thread that waits for a line or a message makes private accesses, one that
 * waits for a lock reads it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>

#include "common.h"

enum {
	LINE_WORDS = LINE_BYTES / 8,
	PRIVATE_WORDS = 512,
	BURST_LOOK = 64, /* iterations between looks for new lines */
	RING_SLOTS = 64,
	LOCKS = 4,
	LOCK_HELD = 8,    /* accesses to the data */
	LOCK_ONE_IN = 50, /* private accesses between two critical sections */
	LOCK_WORDS = 4,   /* used words of a line of data */
	READ_LINES = 64,
	LINES_DEFAULT = 100000,
	LINES_MAX = 1 << 20,
	BURST_MAX = 1 << 20,
};

struct line {
	_Atomic uint64_t word[LINE_WORDS];
} __attribute__((aligned(LINE_BYTES)));

/* A line whose neighbouring line is unused. */
struct lone_line {
	_Alignas(APART_BYTES) _Atomic uint64_t word[LINE_WORDS];
};

static const char *pattern = "bursts";
static long burst = 10;
static long lines = LINES_DEFAULT;

static struct line own[THREADS_MAX][PRIVATE_WORDS / LINE_WORDS];
static struct lone_line burst_line[THREADS_MAX];
static int mailbox[THREADS_MAX][2]; /* pipes, with a byte for each line */
static struct line read_line[READ_LINES];
static struct line counter[THREADS_MAX / LINE_WORDS];
static struct lone_line rare;
static struct line many[LINES_MAX];

static struct ring {
	struct lone_line head, tail; /* messages written, and read */
	struct line slot[RING_SLOTS];
} ring[THREADS_MAX / 2];

static struct {
	struct lone_line lock;
	struct line data[2];
} guarded[LOCKS];

static inline void store(_Atomic uint64_t *word, uint64_t value)
{
	atomic_store_explicit(word, value, memory_order_relaxed);
}

static inline uint64_t load(_Atomic uint64_t *word)
{
	return atomic_load_explicit(word, memory_order_relaxed);
}

/* A random number below @n. */
static inline uint64_t below(uint64_t *rng, uint64_t n)
{
	return (rng_next(rng) >> 32) * n >> 32;
}

/* A store in one case of three, else a load. */
static inline void touch_private(struct worker *w, uint64_t *rng)
{
	uint64_t r = below(rng, 3 * PRIVATE_WORDS);
	struct line *l = &own[w->id][r / 3 / LINE_WORDS];
	_Atomic uint64_t *word = &l->word[r / 3 % LINE_WORDS];

	if (r % 3)
		(void)load(word);
	else
		store(word, r);
}

__attribute__((noreturn)) static void die_of_pipe(const char *what)
{
	fprintf(stderr, "%s: a pipe cannot be %s: %s\n", program, what,
		strerror(errno));
	exit(1);
}

/* The lines that a thread has, the oldest first. */
struct lines {
	uint8_t n[THREADS_MAX];
	ssize_t count;
};

static void open_mailboxes(void)
{
	for (long i = 0; i < opt.threads; i++) {
		uint8_t line = (uint8_t)i;

		if (pipe2(mailbox[i], O_NONBLOCK | O_CLOEXEC) ||
		    write(mailbox[i][1], &line, 1) != 1)
			die_of_pipe("opened");
	}
}

/*
 * Receive the lines that were sent; returns the thread's first line, or NULL.
 */
static struct lone_line *receive_lines(const struct worker *w,
				       struct lines *mine)
{
	ssize_t n = read(mailbox[w->id][0], mine->n + mine->count,
			 sizeof(mine->n) - (size_t)mine->count);

	if (n > 0)
		mine->count += n;
	return mine->count ? &burst_line[mine->n[0]] : NULL;
}

/* Send the first line to thread @to; a pipe has room for all lines. */
static struct lone_line *send_line(long to, struct lines *mine)
{
	if (write(mailbox[to % opt.threads][1], mine->n, 1) != 1)
		die_of_pipe("written");
	memmove(mine->n, mine->n + 1, (size_t)--mine->count);
	return mine->count ? &burst_line[mine->n[0]] : NULL;
}

/* Memory of this function is read only once in BURST_LOOK iterations. */
static void run_bursts(struct worker *w)
{
	uint64_t others = (uint64_t)opt.threads - 1, next = (uint64_t)w->id + 1;
	uint64_t rng = w->rng, shared = 0, i;
	struct lines mine = { .count = 0 };
	struct lone_line *line = NULL;
	long left = burst;

	for (i = 0; !worker_done(w, i); i++) {
		if (i % BURST_LOOK == 0)
			line = receive_lines(w, &mine);
		if (!line || below(&rng, 10) >= 8) {
			touch_private(w, &rng);
			continue;
		}
		store(&line->word[below(&rng, LINE_WORDS)], i);
		shared++;
		if (--left)
			continue;
		left = burst;
		line = send_line((long)(next + below(&rng, others)), &mine);
	}
	while (line)
		line = send_line((long)(next + below(&rng, others)), &mine);
	w->iterations = i;
	w->shared = shared;
}

static void fill_slot(struct line *slot, uint64_t value)
{
	for (int i = 0; i < LINE_WORDS; i++)
		store(&slot->word[i], value);
}

static uint64_t read_slot(struct line *slot)
{
	uint64_t sum = 0;

	for (int i = 0; i < LINE_WORDS; i++)
		sum += load(&slot->word[i]);
	return sum;
}

/* Write one message an iteration; the last one is zeros. */
static void run_producer(struct worker *w, struct ring *r)
{
	uint64_t rng = w->rng, sent = 0;
	bool done;

	do {
		done = worker_done(w, sent);
		while (sent - atomic_load_explicit(&r->tail.word[0],
						   memory_order_acquire) ==
		       RING_SLOTS)
			touch_private(w, &rng);
		fill_slot(&r->slot[sent % RING_SLOTS], done ? 0 : sent + 1);
		atomic_store_explicit(&r->head.word[0], ++sent,
				      memory_order_release);
		for (int i = 0; i < 4; i++)
			touch_private(w, &rng);
	} while (!done);
	w->iterations = w->shared = sent;
}

static void run_consumer(struct worker *w, struct ring *r)
{
	uint64_t rng = w->rng, got = 0, value;

	do {
		while (atomic_load_explicit(&r->head.word[0],
					    memory_order_acquire) == got)
			touch_private(w, &rng);
		value = read_slot(&r->slot[got % RING_SLOTS]);
		atomic_store_explicit(&r->tail.word[0], ++got,
				      memory_order_release);
		for (int i = 0; i < 4; i++)
			touch_private(w, &rng);
	} while (value);
	w->iterations = w->shared = got;
}

static void run_ring(struct worker *w)
{
	struct ring *r = &ring[w->id / 2];

	if (w->id % 2)
		run_consumer(w, r);
	else
		run_producer(w, r);
}

static void run_critical_section(uint64_t *rng)
{
	long n = (long)below(rng, LOCKS);
	_Atomic uint64_t *lock = &guarded[n].lock.word[0];

	do {
		while (load(lock))
			;
	} while (atomic_exchange_explicit(lock, 1, memory_order_acquire));
	for (int i = 0; i < LOCK_HELD; i++) {
		uint64_t r = below(rng, 2 * 2 * LOCK_WORDS);
		_Atomic uint64_t *word = &guarded[n].data[r % 2].word[r / 4];

		if (r / 2 % 2)
			(void)load(word);
		else
			store(word, r);
	}
	atomic_store_explicit(lock, 0, memory_order_release);
}

static void run_lock(struct worker *w)
{
	uint64_t rng = w->rng, shared = 0, i;

	for (i = 0; !worker_done(w, i); i++) {
		touch_private(w, &rng);
		if (below(&rng, LOCK_ONE_IN))
			continue;
		run_critical_section(&rng);
		shared++;
	}
	w->iterations = i;
	w->shared = shared;
}

static void run_lines(struct worker *w)
{
	uint64_t rng = w->rng, shared = 0, i;

	for (i = 0; !worker_done(w, i); i++) {
		uint64_t r;

		if (below(&rng, 10) >= 3) {
			touch_private(w, &rng);
			continue;
		}
		r = below(&rng, 4 * (uint64_t)lines);
		if (r % 2)
			store(&many[r / 4].word[r / 2 % 2 * 4], i);
		else
			(void)load(&many[r / 4].word[r / 2 % 2 * 4]);
		shared++;
	}
	w->iterations = i;
	w->shared = shared;
}

static void run_read_mostly(struct worker *w)
{
	uint64_t rng = w->rng, i;

	for (i = 0; !worker_done(w, i); i++) {
		uint64_t r = below(&rng, 100 * 2 * READ_LINES);
		_Atomic uint64_t *word =
			&read_line[r % READ_LINES].word[r / READ_LINES % 2];

		if (r / READ_LINES / 2)
			(void)load(word);
		else
			store(word, i);
	}
	w->iterations = w->shared = i;
}

static void run_counters(struct worker *w)
{
	_Atomic uint64_t *mine =
		&counter[w->id / LINE_WORDS].word[w->id % LINE_WORDS];
	uint64_t rng = w->rng, shared = 0, i;

	for (i = 0; !worker_done(w, i); i++) {
		if (below(&rng, 2)) {
			store(mine, load(mine) + 1);
			shared++;
		} else {
			touch_private(w, &rng);
		}
	}
	w->iterations = i;
	w->shared = shared;
}

static void run_private(struct worker *w)
{
	uint64_t rng = w->rng, shared = 0, i;

	for (i = 0; !worker_done(w, i); i++) {
		if (below(&rng, 1000)) {
			touch_private(w, &rng);
		} else {
			store(&rare.word[0], i);
			shared++;
		}
	}
	w->iterations = i;
	w->shared = shared;
}

static const struct {
	const char *name;
	void (*run)(struct worker *w);
} patterns[] = {
	{ "bursts", run_bursts },
	{ "ring", run_ring },
	{ "lock", run_lock },
	{ "lines", run_lines },
	{ "read-mostly", run_read_mostly },
	{ "counters", run_counters },
	{ "private", run_private },
};
enum {
	PATTERNS = sizeof(patterns) / sizeof(*patterns)
};

static const struct option_row rows[] = {
	{ "pattern", OPT_STRING, &pattern,
	  "bursts, ring, lock, lines, read-mostly, counters or private" },
	{ "burst", OPT_LONG, &burst, "stores before a line is sent on" },
	{ "lines", OPT_LONG, &lines, "of the pattern lines" },
	COMMON_ROWS,
	{ 0 }
};

static void print_json(void)
{
	printf("{\"benchmark\": \"patterns\", \"pattern\": \"%s\", "
	       "\"threads\": [",
	       pattern);
	for (long i = 0; i < opt.threads; i++)
		printf("%s{\"id\": %ld, \"tid\": %ld, \"iterations\": %llu, "
		       "\"shared\": %llu}",
		       i ? ", " : "", i, workers[i].tid,
		       (unsigned long long)workers[i].iterations,
		       (unsigned long long)workers[i].shared);
	printf("]}\n");
}

static void print_text(void)
{
	printf("patterns: %s\n", pattern);
	for (long i = 0; i < opt.threads; i++)
		printf("  thread %ld (tid %ld): %llu iterations, "
		       "%llu on shared words\n",
		       i, workers[i].tid,
		       (unsigned long long)workers[i].iterations,
		       (unsigned long long)workers[i].shared);
}

int main(int argc, char **argv)
{
	int n;

	opt.threads = 8;
	parse_options(argc, argv, "Threads share lines in one of these ways.",
		      rows);
	check_common(2);
	for (n = 0; n < PATTERNS && strcmp(patterns[n].name, pattern); n++)
		;
	if (n == PATTERNS)
		usage_error("there is no pattern '%s'", pattern);
	if (burst < 1 || burst > BURST_MAX)
		usage_error("--burst must be 1 to %d", BURST_MAX);
	if (lines < 1 || lines > LINES_MAX)
		usage_error("--lines must be 1 to %d", LINES_MAX);
	if (!strcmp(pattern, "ring") && opt.threads % 2)
		usage_error("--threads must be even");
	if (!strcmp(pattern, "bursts"))
		open_mailboxes();
	run_workers(patterns[n].run);
	if (opt.json)
		print_json();
	else
		print_text();
	return fflush(stdout) || ferror(stdout) ? 1 : 0;
}
