/* SPDX-License-Identifier: MIT */
/*
 * cures - cache lines whose cure is known
 *
 * Each pattern shares one line, or a few, in a way that real programs have.
 * With --cured, bytes of different use get lines of their own. Nothing else
 * changes: the same instructions, the same random numbers. What share of the
 * transfers padding avoids is the difference between the two runs, where both
 * are counted:
 *
 *   mutex        a mutex and the counter that it protects
 *   pool         spin locks of several buckets side by side
 *   ticket       the two numbers of a ticket lock
 *   seqlock      a sequence number and the data that it protects
 *   refcount     a reference count beside data that all read
 *   ring         the two indices of a ring between pairs of threads
 *   structs      a small struct for each thread
 *   heap         a small block of the heap for each thread
 *   lock-beside  a contended spin lock beside a word of one thread
 *   flag         a flag that all read beside a counter of one thread
 *   vector       a message of 64 bytes, written and read with wide accesses
 *   bitmap       words of a bitmap; each thread mostly uses its own
 *
 * For mutex, seqlock and vector the cure does not help: it separates what is
 * used together.
 */
#include <stdatomic.h>

#include "common.h"

enum {
	WORDS = 64, /* that a pattern may share */
	PRIVATE_WORDS = 128,
	THINK_MAX = 24, /* private accesses between two shared ones */
	DATA_WORDS = 3, /* protected by the sequence number */
	RING_SLOTS = 16,
	WRITE_ONE_IN = 8,
	OWN_OF = 4, /* three bitmap operations of four are on the own word */
};

static const char *pattern = "mutex";
static bool cured;

/* The words that are shared, close together or in lines of their own. */
static _Alignas(APART_BYTES) unsigned char memory[WORDS * APART_BYTES];
static _Alignas(APART_BYTES) uint64_t private_words[THREADS_MAX][PRIVATE_WORDS];
static _Atomic uint64_t *heap_block[THREADS_MAX];
static struct {
	_Alignas(APART_BYTES) _Atomic uint64_t word;
} slot[THREADS_MAX][RING_SLOTS];

/* Shared word @i of those that begin at word number @first. */
static inline _Atomic uint64_t *word(long first, long i)
{
	size_t stride = cured ? APART_BYTES : sizeof(uint64_t);

	return (void *)(memory + (size_t)first * APART_BYTES +
			(size_t)i * stride);
}

static inline uint64_t load(const _Atomic uint64_t *w)
{
	return atomic_load_explicit(w, memory_order_acquire);
}

static inline void store(_Atomic uint64_t *w, uint64_t value)
{
	atomic_store_explicit(w, value, memory_order_release);
}

/* A load and a store that no other thread can come between. */
static inline void count(_Atomic uint64_t *w)
{
	store(w, load(w) + 1);
}

static inline uint64_t below(uint64_t *rng, uint64_t n)
{
	return (rng_next(rng) >> 32) * n >> 32;
}

/* Do something else for a while. */
static inline void think(const struct worker *w, uint64_t *rng)
{
	volatile uint64_t *mine = private_words[w->id];

	for (uint64_t n = below(rng, THINK_MAX + 1); n; n--)
		mine[n] = n;
}

/* Wait until all threads run, without a call that the kernel may delay. */
static void meet(void)
{
	static _Alignas(APART_BYTES) _Atomic long running;

	atomic_fetch_add(&running, 1);
	while (atomic_load(&running) < opt.threads)
		;
}

static inline void spin_lock(_Atomic uint64_t *lock)
{
	while (atomic_exchange_explicit(lock, 1, memory_order_acquire))
		while (load(lock))
			;
}

/*
 * The mutex has 40 bytes, so the counter behind it is in the same line. Nobody
 * sleeps in wait for it: threads that sleep for long meet seldom.
 */
static void run_mutex(struct worker *w)
{
	pthread_mutex_t *mutex = (void *)word(0, 0);
	_Atomic uint64_t *counter = cured ? word(0, 1) : word(0, 5);
	uint64_t rng = w->rng, i;

	for (i = 0; !worker_done(w, i); i++) {
		while (pthread_mutex_trylock(mutex))
			;
		count(counter);
		pthread_mutex_unlock(mutex);
		think(w, &rng);
	}
	w->iterations = i;
}

static void run_pool(struct worker *w)
{
	uint64_t rng = w->rng, i;

	for (i = 0; !worker_done(w, i); i++) {
		/* Two threads have a bucket in common. */
		_Atomic uint64_t *lock = word(0, w->id / 2);

		spin_lock(lock);
		think(w, &rng);
		store(lock, 0);
		think(w, &rng);
	}
	w->iterations = i;
}

static void run_ticket(struct worker *w)
{
	_Atomic uint64_t *next = word(0, 0), *owner = word(0, 1);
	uint64_t rng = w->rng, i;

	for (i = 0; !worker_done(w, i); i++) {
		uint64_t mine = atomic_fetch_add(next, 1);

		while (load(owner) != mine)
			;
		think(w, &rng);
		store(owner, mine + 1);
		think(w, &rng);
	}
	w->iterations = i;
}

static void write_data(uint64_t value)
{
	count(word(0, 0));
	for (int d = 0; d < DATA_WORDS; d++)
		store(word(0, 1 + d), value);
	count(word(0, 0));
}

static void read_data(void)
{
	uint64_t before;

	do {
		before = load(word(0, 0));
		for (int d = 0; d < DATA_WORDS; d++)
			(void)load(word(0, 1 + d));
	} while (before % 2 || load(word(0, 0)) != before);
}

/* One thread writes, the others read. */
static void run_seqlock(struct worker *w)
{
	uint64_t rng = w->rng, i;

	for (i = 0; !worker_done(w, i); i++) {
		if (w->id == 0)
			write_data(i);
		else
			read_data();
		think(w, &rng);
	}
	w->iterations = i;
}

static void run_refcount(struct worker *w)
{
	_Atomic uint64_t *references = word(0, 0);
	uint64_t rng = w->rng, i;

	for (i = 0; !worker_done(w, i); i++) {
		if (below(&rng, WRITE_ONE_IN) == 0) {
			atomic_fetch_add(references, 1);
			think(w, &rng);
			atomic_fetch_sub(references, 1);
		}
		(void)load(word(0, 1));
		(void)load(word(0, 2));
		think(w, &rng);
	}
	w->iterations = i;
}

static void ring_send(_Atomic uint64_t *head, const _Atomic uint64_t *tail,
		      long pair)
{
	uint64_t n = load(head);

	if (n - load(tail) == RING_SLOTS)
		return;
	store(&slot[pair][n % RING_SLOTS].word, n);
	store(head, n + 1);
}

static void ring_receive(const _Atomic uint64_t *head, _Atomic uint64_t *tail,
			 long pair)
{
	uint64_t n = load(tail);

	if (n == load(head))
		return;
	(void)load(&slot[pair][n % RING_SLOTS].word);
	store(tail, n + 1);
}

static void run_ring(struct worker *w)
{
	long pair = w->id / 2;
	_Atomic uint64_t *head = word(4 * pair, 0), *tail = word(4 * pair, 1);
	uint64_t rng = w->rng, i;

	for (i = 0; !worker_done(w, i); i++) {
		if (w->id % 2)
			ring_receive(head, tail, pair);
		else
			ring_send(head, tail, pair);
		think(w, &rng);
	}
	w->iterations = i;
}

/* A struct is a word here, and so is a block of the heap. */
static void count_own(struct worker *w, _Atomic uint64_t *own)
{
	uint64_t rng = w->rng, i;

	for (i = 0; !worker_done(w, i); i++) {
		count(own);
		think(w, &rng);
	}
	w->iterations = i;
}

static void run_structs(struct worker *w)
{
	count_own(w, word(0, w->id));
}

static void run_heap(struct worker *w)
{
	count_own(w, heap_block[w->id]);
}

static void run_lock_beside(struct worker *w)
{
	_Atomic uint64_t *lock = word(0, 0), *beside = word(0, 1);
	uint64_t rng = w->rng, i;

	for (i = 0; !worker_done(w, i); i++) {
		if (w->id == 0) {
			count(beside);
		} else {
			spin_lock(lock);
			think(w, &rng);
			store(lock, 0);
		}
		think(w, &rng);
	}
	w->iterations = i;
}

static void run_flag(struct worker *w)
{
	_Atomic uint64_t *flag = word(0, 0), *counter = word(0, 1);
	uint64_t rng = w->rng, i;

	for (i = 0; !worker_done(w, i) && !load(flag); i++) {
		if (w->id == 0)
			count(counter);
		think(w, &rng);
	}
	w->iterations = i;
}

/* Word 0 is the turn; the message follows in lines of its own. */
static void run_vector(struct worker *w)
{
	_Atomic uint64_t *turn = word(2 * w->id - w->id % 2 * 2, 0);
	unsigned char *low = (unsigned char *)turn + APART_BYTES;
	unsigned char *high = low + (cured ? APART_BYTES : LINE_BYTES / 2);
	uint64_t text[LINE_BYTES / 8] = { 0 }, rng = w->rng, i;

	for (i = 0; !worker_done(w, i); i++) {
		if (load(turn) != (uint64_t)w->id % 2) {
			think(w, &rng);
			continue;
		}
		if (w->id % 2 == 0) {
			text[0] = i;
			memcpy(low, text, sizeof(text) / 2);
			memcpy(high, text + 4, sizeof(text) / 2);
		} else {
			text[0] += *(volatile uint64_t *)(void *)low;
			text[1] += *(volatile uint64_t *)(void *)high;
		}
		store(turn, !(w->id % 2));
		think(w, &rng);
	}
	w->iterations = i;
}

static void run_bitmap(struct worker *w)
{
	uint64_t rng = w->rng, i;

	for (i = 0; !worker_done(w, i); i++) {
		long n = below(&rng, OWN_OF) ? w->id : (long)below(&rng, 8);

		atomic_fetch_xor(word(0, n), 1ull << below(&rng, 64));
		think(w, &rng);
	}
	w->iterations = i;
}

static const struct {
	const char *name;
	void (*run)(struct worker *w);
} patterns[] = {
	{ "mutex", run_mutex },
	{ "pool", run_pool },
	{ "ticket", run_ticket },
	{ "seqlock", run_seqlock },
	{ "refcount", run_refcount },
	{ "ring", run_ring },
	{ "structs", run_structs },
	{ "heap", run_heap },
	{ "lock-beside", run_lock_beside },
	{ "flag", run_flag },
	{ "vector", run_vector },
	{ "bitmap", run_bitmap },
};
enum {
	PATTERNS = sizeof(patterns) / sizeof(*patterns)
};

static int chosen;

static void run(struct worker *w)
{
	meet();
	patterns[chosen].run(w);
}

static const struct option_row rows[] = {
	{ "pattern", OPT_STRING, &pattern,
	  "mutex, pool, ticket, seqlock, refcount, ring, structs, heap, "
	  "lock-beside, flag, vector or bitmap" },
	{ "cured", OPT_FLAG, &cured, "give each part lines of its own" },
	COMMON_ROWS,
	{ 0 }
};

/* The smallest blocks of glibc's heap are 32 bytes apart. */
static void allocate_blocks(void)
{
	for (long i = 0; i < opt.threads; i++) {
		heap_block[i] = cured ? aligned_alloc(APART_BYTES, APART_BYTES)
				      : malloc(sizeof(uint64_t));
		if (!heap_block[i]) {
			fprintf(stderr, "%s: no memory\n", program);
			exit(1);
		}
		store(heap_block[i], 0);
	}
}

static void print_result(void)
{
	uint64_t iterations = 0;

	for (long i = 0; i < opt.threads; i++)
		iterations += workers[i].iterations;
	printf(opt.json ? "{\"benchmark\": \"cures\", \"pattern\": \"%s\", "
			  "\"cured\": %s, \"iterations\": %llu}\n"
			: "cures: %s, cured: %s, %llu iterations\n",
	       pattern, cured ? "true" : "false",
	       (unsigned long long)iterations);
}

int main(int argc, char **argv)
{
	opt.threads = 4;
	parse_options(argc, argv, "Threads share lines whose cure is known.",
		      rows);
	check_common(2);
	while (chosen < PATTERNS && strcmp(patterns[chosen].name, pattern))
		chosen++;
	if (chosen == PATTERNS)
		usage_error("there is no pattern '%s'", pattern);
	if (opt.threads % 2 || opt.threads > 8)
		usage_error("--threads must be 2, 4, 6 or 8");
	allocate_blocks();
	run_workers(run);
	print_result();
	return fflush(stdout) || ferror(stdout) ? 1 : 0;
}
