/* SPDX-License-Identifier: MIT */
/*
 * variants - the same work done in two ways, by two threads or more
 *
 * Each case has a first way and a second one that is expected to be faster.
 * What both compute is compared with each other. Only the function work_of() is
 * timed, from the moment when all threads are ready; it is also the region
 * to trace: record --roi region_begin,region_end.
 */
#include "common.h"

enum {
	SIDE = 512,   /* of the matrix that is transposed */
	MATRIX = 160, /* side of the matrices that are multiplied */
	TILE = 16,
	VALUES = 1 << 15,      /* of a thread */
	NODES = 1 << 16,       /* of a thread's list, a line each */
	TABLE_SMALL = 1 << 12, /* words */
	TABLE_LARGE = 1 << 22,
	RECORDS = 1 << 15,
};

struct node {
	struct node *next;
	long value;
	char rest[LINE_BYTES - sizeof(void *) - sizeof(long)];
};

struct record {
	long key;
	char rest[LINE_BYTES - sizeof(long)];
};

struct counter {
	volatile long n;
	char rest[APART_BYTES - sizeof(long)];
} __attribute__((aligned(APART_BYTES)));

static long threads = 2, rounds = 1;
static const char *name = "transpose";
static bool second;

static double *from, *to, *left, *right;
static uint8_t *byte;
static struct node *node;
static uint32_t *table;
static struct record *record;
static long *key;
static struct counter apart[THREADS_MAX];
static volatile long together[THREADS_MAX]
	__attribute__((aligned(APART_BYTES)));
static struct {
	uint64_t sum, begin, end; /* ns */
} result[THREADS_MAX] __attribute__((aligned(APART_BYTES)));
static pthread_barrier_t ready;

static void *memory(size_t n, size_t bytes)
{
	void *p = aligned_alloc(4096, (n * bytes + 4095) / 4096 * 4096);

	if (!p) {
		fprintf(stderr, "%s: out of memory\n", program);
		exit(1);
	}
	memset(p, 0, n * bytes);
	return p;
}

/* Rows [begin, end) of thread @id. */
static long row(long n, long id)
{
	return n * id / threads;
}

static uint64_t transpose(long id)
{
	long tile = second ? TILE : SIDE;

	for (long b = 0; b < SIDE; b += tile)
		for (long i = row(SIDE, id); i < row(SIDE, id + 1); i++)
			for (long j = b; j < b + tile; j++)
				to[j * SIDE + i] = from[i * SIDE + j];
	return (uint64_t)to[row(SIDE, id) + SIDE];
}

static uint64_t multiply(long id)
{
	double *c = to;

	for (long i = row(MATRIX, id); i < row(MATRIX, id + 1); i++) {
		memset(c + i * MATRIX, 0, MATRIX * sizeof(*c));
		for (long x = 0; x < MATRIX; x++)
			for (long y = 0; y < MATRIX; y++) {
				long j = second ? y : x, k = second ? x : y;

				c[i * MATRIX + j] += left[i * MATRIX + k] *
						     right[k * MATRIX + j];
			}
	}
	return (uint64_t)c[row(MATRIX, id) * MATRIX + 7];
}

/* A counter for each thread, side by side or each on lines of its own. */
static uint64_t count(long id)
{
	volatile long *n = second ? &apart[id].n : &together[id];
	uint64_t x = (uint64_t)id;

	*n = 0;
	for (long i = 0; i < VALUES; i++) {
		x = x * 5 + 1;
		*n += (long)(x & 1);
	}
	return (uint64_t)*n;
}

/* The first way gives three quarters of the work to thread 0. */
static uint64_t balance(long id)
{
	long n = VALUES * 4, half = second ? n / threads
				    : id   ? n / 4 / (threads - 1)
					   : n * 3 / 4;
	double x = 1;

	for (long i = 0; i < half; i++)
		x = x * 0.999 + 0.5;
	return (uint64_t)x;
}

/* A branch that depends on data: in random order, or ordered. */
static uint64_t branches(long id)
{
	const uint8_t *p = byte + id * VALUES;
	uint64_t sum = 0;

	for (long i = 0; i < VALUES; i++)
		if (p[i] >= 128) {
			sum += p[i];
			__asm__ volatile("" : "+r"(sum)); /* a real branch */
		}
	return sum;
}

/* Also the case room: how long a load takes of as much as list has. */
static uint64_t list(long id)
{
	const struct node *n = node + id * NODES;
	uint64_t sum = 0;

	for (long i = 0; i < NODES; i++, n = n->next)
		sum += (uint64_t)n->value;
	return sum;
}

/* One sum, or four that do not wait for each other. */
static uint64_t sums(long id)
{
	const double *p = left + id;
	double s[4] = { 0 };
	long n = MATRIX * (MATRIX - 1) / 4 * 4;

	if (second)
		for (long i = 0; i < n; i += 4)
			for (int k = 0; k < 4; k++)
				s[k] += p[i + k];
	else
		for (long i = 0; i < n; i++)
			s[0] += p[i];
	return (uint64_t)(s[0] + s[1] + s[2] + s[3]);
}

/* Remainders by division, or by a mask. */
static uint64_t divide(long id)
{
	volatile uint64_t hidden = 1024;
	uint64_t d = hidden, x = (uint64_t)id, sum = 0;

	for (long i = 0; i < VALUES; i++) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		sum += second ? (x & (d - 1)) : x % d;
	}
	return sum;
}

/* A table that no cache of a core holds, or one that L1D holds. */
static uint64_t look_up(long id)
{
	uint64_t x = (uint64_t)id, sum = 0;
	uint64_t mask = second ? TABLE_SMALL - 1 : TABLE_LARGE - 1;

	for (long i = 0; i < VALUES; i++) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		sum += table[(x >> 20 ^ sum) & mask] & 3;
	}
	return sum;
}

/* A member of each record, or an array of these members. */
static uint64_t members(long id)
{
	uint64_t sum = 0;

	for (long i = row(RECORDS, id); i < row(RECORDS, id + 1); i++)
		sum += (uint64_t)(second ? key[i] : record[i].key);
	return sum;
}

static volatile uint64_t turn __attribute__((aligned(APART_BYTES)));

/* Not a case of its own: how long a line takes to all threads in turn. */
static uint64_t turns(long id)
{
	uint64_t me = (uint64_t)id, all = (uint64_t)threads;

	while (turn % all != me)
		;
	turn = turn + 1;
	return 0;
}

static const struct variant {
	const char *name;
	uint64_t (*work)(long id);
	bool equal; /* both ways compute the same */
} variants[] = {
	{ "transpose", transpose, true }, { "multiply", multiply, true },
	{ "count", count, true },         { "balance", balance, false },
	{ "branches", branches, true },   { "list", list, true },
	{ "sums", sums, true },           { "divide", divide, true },
	{ "look-up", look_up, false },    { "members", members, true },
	{ "turns", turns, false },        { "room", list, true },
};

static void shuffle(uint32_t *order, uint32_t n)
{
	uint64_t rng = rng_seed(3, 0);

	for (uint32_t i = n; i-- > 1;) {
		uint32_t j = (uint32_t)(rng_next(&rng) % (i + 1)), x = order[i];

		order[i] = order[j];
		order[j] = x;
	}
}

static int compare(const void *a, const void *b)
{
	return *(const uint8_t *)a - *(const uint8_t *)b;
}

static void link_nodes(struct node *n)
{
	uint32_t *order = memory(NODES, sizeof(*order));

	for (uint32_t i = 0; i < NODES; i++)
		order[i] = i;
	if (!second)
		shuffle(order + 1, NODES - 1);
	for (uint32_t i = 0; i < NODES; i++) {
		n[order[i]].next = &n[order[(i + 1) % NODES]];
		n[order[i]].value = order[i];
	}
	free(order);
}

static void fill(void)
{
	uint64_t rng = rng_seed(9, 0);

	from = memory(SIDE * SIDE, sizeof(*from));
	to = memory(SIDE * SIDE, sizeof(*to));
	left = memory(MATRIX * MATRIX, sizeof(*left));
	right = memory(MATRIX * MATRIX, sizeof(*right));
	byte = memory((size_t)threads * VALUES, 1);
	node = memory((size_t)threads * NODES, sizeof(*node));
	table = memory(TABLE_LARGE, sizeof(*table));
	record = memory(RECORDS, sizeof(*record));
	key = memory(RECORDS, sizeof(*key));
	for (long i = 0; i < SIDE * SIDE; i++)
		from[i] = (double)i;
	for (long i = 0; i < MATRIX * MATRIX; i++) {
		left[i] = (double)(i % 7);
		right[i] = (double)(i % 5);
	}
	for (long i = 0; i < threads * VALUES; i++)
		byte[i] = (uint8_t)(rng_next(&rng) >> 56);
	for (long i = 0; second && i < threads; i++)
		qsort(byte + i * VALUES, VALUES, 1, compare);
	for (long i = 0; i < threads; i++)
		link_nodes(node + i * NODES);
	for (long i = 0; i < TABLE_LARGE; i++)
		table[i] = (uint32_t)(rng_next(&rng) >> 32);
	for (long i = 0; i < RECORDS; i++)
		record[i].key = key[i] = i % 100;
}

static const struct variant *chosen;

/* record --roi region_begin,region_end traces what lies between. */
__attribute__((noinline)) void region_begin(void);
__attribute__((noinline)) void region_begin(void)
{
	__asm__ volatile("");
}

__attribute__((noinline)) void region_end(void);
__attribute__((noinline)) void region_end(void)
{
	__asm__ volatile("");
}

static void *worker(void *arg)
{
	long id = (long)(intptr_t)arg;
	uint64_t begin, sum = chosen->work(id); /* fills the caches */

	pthread_barrier_wait(&ready);
	begin = now_ns();
	region_begin();
	for (long i = 0; i < rounds; i++)
		sum = chosen->work(id);
	region_end();
	result[id].end = now_ns();
	result[id].begin = begin;
	result[id].sum = sum;
	return NULL;
}

static const struct option_row rows[] = {
	{ "threads", OPT_LONG, &threads, "number of threads" },
	{ "rounds", OPT_LONG, &rounds, "times that the work is done" },
	{ "case", OPT_STRING, &name, "which work" },
	{ "second", OPT_FLAG, &second, "in the second way" },
	{ 0 }
};

int main(int argc, char **argv)
{
	pthread_t thread[THREADS_MAX];
	uint64_t begin = UINT64_MAX, end = 0, sum = 0;

	parse_options(argc, argv, "Does the same work in one of two ways.",
		      rows);
	for (size_t i = 0; i < sizeof(variants) / sizeof(*variants); i++)
		if (!strcmp(variants[i].name, name))
			chosen = &variants[i];
	if (!chosen)
		usage_error("--case: there is no '%s'", name);
	if (threads < 2 || threads > THREADS_MAX || rounds < 1)
		usage_error("--threads must be 2 to %d, --rounds 1 or more",
			    THREADS_MAX);
	fill();
	pthread_barrier_init(&ready, NULL, (unsigned int)threads);
	for (long i = 0; i < threads; i++)
		if (pthread_create(&thread[i], NULL, worker,
				   (void *)(intptr_t)i)) {
			fprintf(stderr, "%s: cannot create a thread\n",
				program);
			return 1;
		}
	for (long i = 0; i < threads; i++) {
		pthread_join(thread[i], NULL);
		sum += result[i].sum;
		begin = result[i].begin < begin ? result[i].begin : begin;
		end = result[i].end > end ? result[i].end : end;
	}
	if (chosen->equal)
		printf("result %llu\n", (unsigned long long)sum);
	fprintf(stderr, "%.9f s\n", (double)(end - begin) / 1e9);
	return 0;
}
