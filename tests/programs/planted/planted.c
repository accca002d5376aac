/* SPDX-License-Identifier: MIT */
/*
 * planted - eight ways to share a cache line by mistake, and the same mended
 *
 *	planted PROBLEM bad|good [ROUNDS]
 *
 * Two threads work on data of their own. In the bad version these lie on one
 * line, in the good one on lines of their own.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE   64
#define PADDED __attribute__((aligned(LINE)))
#define STEP   __asm__ volatile("" ::: "memory")

static long rounds = 60000000;

/*
 * A static structure with a counter of each thread. Variables that the program
 * alone could see would be kept in registers.
 */
struct totals {
	long read;
	long written;
};
struct totals totals PADDED;
struct {
	struct totals totals PADDED;
	long written PADDED;
} totals_good;

/* An array of structures in the heap, one a thread. */
struct worker {
	long hits;
	long misses;
	int id;
};
struct worker_good {
	PADDED long hits;
	long misses;
	int id;
};

/* Two blocks of the heap that are neighbours. */
struct small {
	long turns;
};

/* A thread-local counter that another thread adds to. */
struct inbox {
	long taken;
	long pushed;
};
static __thread struct inbox inbox PADDED;
static struct inbox *inbox_of_owner;
struct inbox_good {
	PADDED long taken;
	PADDED long pushed;
};
static __thread struct inbox_good inbox_good;
static struct inbox_good *inbox_good_of_owner;

/* A lock beside data that no lock protects. */
struct locked {
	int lock;
	int waiters;
	long ticks;
};
struct locked locked PADDED;
struct locked_good {
	PADDED int lock;
	int waiters;
	PADDED long ticks;
};
struct locked_good locked_good;

/* A field of a structure in a structure in an array. */
struct shard {
	int id;
	struct {
		long gets;
		long puts;
	} stats;
};
struct shard shards[8] PADDED;
struct shard_good {
	PADDED int id;
	struct {
		long gets;
		long puts;
	} stats;
};
struct shard_good shards_good[8];

/* The two indices of a ring, side by side. */
struct ring {
	unsigned long head;
	unsigned long tail;
	char data[256];
};
struct ring_good {
	PADDED unsigned long head;
	PADDED unsigned long tail;
	PADDED char data[256];
};

/* A pointer that both read, beside a counter that one writes. */
struct config {
	const char *name;
	long used;
};

/* A thread of a problem: @first of the two, or the second. */
struct task {
	void *data;
	int first;
};

static pthread_barrier_t start;

#define WORK(name, type, first_does, second_does)                              \
	static __attribute__((noinline)) void name##_first(type *p)            \
	{                                                                      \
		for (long i = 0; i < rounds; i++) {                            \
			first_does;                                            \
			STEP;                                                  \
		}                                                              \
	}                                                                      \
	static __attribute__((noinline)) void name##_second(type *p)           \
	{                                                                      \
		for (long i = 0; i < rounds; i++) {                            \
			second_does;                                           \
			STEP;                                                  \
		}                                                              \
	}                                                                      \
	static void *name(void *arg)                                           \
	{                                                                      \
		struct task *t = arg;                                          \
		pthread_barrier_wait(&start);                                  \
		if (t->first)                                                  \
			name##_first(t->data);                                 \
		else                                                           \
			name##_second(t->data);                                \
		return NULL;                                                   \
	}

WORK(static_bad, struct totals, totals.read++, totals.written++)
WORK(static_good, struct totals, totals_good.totals.read++,
     totals_good.written++)
WORK(array_bad, struct worker, p->hits++, p->hits++)
WORK(array_good, struct worker_good, p->hits++, p->hits++)
WORK(blocks_bad, struct small, p->turns++, p->turns++)
WORK(lock_bad, struct locked,
     (__atomic_exchange_n(&locked.lock, 1, __ATOMIC_ACQUIRE),
      __atomic_store_n(&locked.lock, 0, __ATOMIC_RELEASE)),
     locked.ticks++)
WORK(lock_good, struct locked_good,
     (__atomic_exchange_n(&locked_good.lock, 1, __ATOMIC_ACQUIRE),
      __atomic_store_n(&locked_good.lock, 0, __ATOMIC_RELEASE)),
     locked_good.ticks++)
WORK(nested_bad, struct shard, shards[2].stats.puts++, shards[3].stats.gets++)
WORK(nested_good, struct shard_good, shards_good[2].stats.puts++,
     shards_good[3].stats.gets++)
WORK(ring_bad, struct ring, p->head++, p->tail++)
WORK(ring_good, struct ring_good, p->head++, p->tail++)

static __attribute__((noinline)) void push(struct inbox *p)
{
	for (long i = 0; i < rounds; i++) {
		p->pushed++;
		STEP;
	}
}

static __attribute__((noinline)) void push_good(struct inbox_good *p)
{
	for (long i = 0; i < rounds; i++) {
		p->pushed++;
		STEP;
	}
}

static __attribute__((noinline)) void take(struct inbox *p)
{
	for (long i = 0; i < rounds; i++) {
		p->taken++;
		STEP;
	}
}

static __attribute__((noinline)) void take_good(struct inbox_good *p)
{
	for (long i = 0; i < rounds; i++) {
		p->taken++;
		STEP;
	}
}

static void *tls_bad(void *arg)
{
	if (((struct task *)arg)->first)
		inbox_of_owner = &inbox;
	pthread_barrier_wait(&start);
	if (((struct task *)arg)->first)
		take(&inbox);
	else
		push(inbox_of_owner);
	pthread_barrier_wait(&start);
	return NULL;
}

static void *tls_good(void *arg)
{
	if (((struct task *)arg)->first)
		inbox_good_of_owner = &inbox_good;
	pthread_barrier_wait(&start);
	if (((struct task *)arg)->first)
		take_good(&inbox_good);
	else
		push_good(inbox_good_of_owner);
	pthread_barrier_wait(&start);
	return NULL;
}

static __attribute__((noinline)) size_t look_up(const struct config *c)
{
	size_t n = 0;

	for (long i = 0; i < rounds; i++) {
		n += (size_t)c->name;
		STEP;
	}
	return n;
}

static __attribute__((noinline)) void count_use(long *used)
{
	for (long i = 0; i < rounds; i++) {
		++*used;
		STEP;
	}
}

static void *config_both(void *arg)
{
	struct task *t = arg;
	void **data = t->data;

	pthread_barrier_wait(&start);
	if (t->first)
		return look_up(data[0]) ? NULL : arg;
	count_use(data[1]);
	return NULL;
}

/* Blocks of a structure that begin at a line. */
static __attribute__((noinline)) void *at_line(size_t bytes)
{
	void *p;

	if (posix_memalign(&p, LINE, (bytes + LINE - 1) / LINE * LINE))
		abort();
	return memset(p, 0, bytes);
}

static __attribute__((noinline)) struct worker *make_workers(void)
{
	struct worker *w = at_line(4 * sizeof(*w));

	for (int i = 0; i < 4; i++)
		w[i].id = i;
	return w;
}

/* Two neighbours on one line: malloc gives blocks of 16 bytes and a header. */
static void small_blocks(void *out[2])
{
	void *block[16];
	int i = 1;

	for (int k = 0; k < 16; k++)
		block[k] = calloc(1, sizeof(struct small));
	while (i < 15 && (size_t)block[i - 1] / LINE != (size_t)block[i] / LINE)
		i++;
	out[0] = block[i - 1];
	out[1] = block[i];
}

static void run(void *(*f)(void *), void *first, void *second)
{
	struct task task[2] = { { first, 1 }, { second, 0 } };
	pthread_t thread[2];

	pthread_barrier_init(&start, NULL, 2);
	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, f, &task[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";
	int good = argc > 2 && !strcmp(argv[2], "good");

	if (argc > 3)
		rounds = atol(argv[3]);
	if (!strcmp(what, "static")) {
		run(good ? static_good : static_bad, NULL, NULL);
	} else if (!strcmp(what, "array") && good) {
		struct worker_good *w = at_line(4 * sizeof(*w));

		run(array_good, &w[0], &w[1]);
	} else if (!strcmp(what, "array")) {
		struct worker *w = make_workers();

		run(array_bad, &w[0], &w[1]);
	} else if (!strcmp(what, "blocks")) {
		void *block[2] = { at_line(LINE), at_line(LINE) };

		if (!good)
			small_blocks(block);
		run(blocks_bad, block[0], block[1]);
	} else if (!strcmp(what, "tls")) {
		run(good ? tls_good : tls_bad, NULL, NULL);
	} else if (!strcmp(what, "lock")) {
		run(good ? lock_good : lock_bad, NULL, NULL);
	} else if (!strcmp(what, "nested")) {
		run(good ? nested_good : nested_bad, NULL, NULL);
	} else if (!strcmp(what, "ring")) {
		void *r = at_line(sizeof(struct ring_good));

		run(good ? ring_good : ring_bad, r, r);
	} else if (!strcmp(what, "config")) {
		struct config *c = at_line(sizeof(*c));
		long *used = good ? at_line(sizeof(*used)) : &c->used;
		void *data[2] = { c, used };

		c->name = "name";
		run(config_both, data, data);
	} else {
		fputs("usage: planted static|array|blocks|tls|lock|nested|ring|"
		      "config bad|good [ROUNDS]\n",
		      stderr);
		return 2;
	}
	return 0;
}
