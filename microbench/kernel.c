/* SPDX-License-Identifier: MIT */
/*
 * kernel - CPU-bound loops of different kinds, to measure overhead on
 *
 *	nbody    gravity between bodies: scalar floating point, square roots
 *	matmul   product of matrices in blocks: vector floating point, caches
 *	join     a hash table is built and looked up: branches, random loads
 *	stencil  sweeps over a large grid: memory bandwidth
 *	chase    a list in random order: memory latency
 *	lines    words of a text counted by automaton: integers and branches
 *
 * Threads work on data of their own, except for stencil, whose threads share
 * a grid and meet at a barrier after each sweep. The work is fixed by
 * --rounds, and so is the sum that is printed: a profiler must not change it.
 */
#include <math.h>

#include "common.h"

enum {
	BODIES = 128,
	MATRIX = 192, /* rows */
	BLOCK = 32,   /* rows */
	JOIN_ROWS = 1 << 16,
	JOIN_SLOTS = 1 << 17,
	GRID = 2048, /* points a side */
	CHASE_NODES = 1 << 20,
	LINES_BYTES = 1 << 20,
};

static const char *kernel = "nbody";
static long threads = 2, rounds = 1000;
static pthread_barrier_t sweep;

static void *allocate(size_t bytes)
{
	void *p = aligned_alloc(APART_BYTES, bytes);

	if (!p) {
		fprintf(stderr, "%s: out of memory\n", program);
		exit(1);
	}
	memset(p, 0, bytes);
	return p;
}

/* 0 to 1 */
static double random_double(uint64_t *rng)
{
	return (double)(rng_next(rng) >> 11) / 9007199254740992.0;
}

struct body {
	double at[3], speed[3], mass;
};

static void attract(struct body *a, struct body *b)
{
	double d[3], square = 1e-3, pull;
	int k;

	for (k = 0; k < 3; k++) {
		d[k] = a->at[k] - b->at[k];
		square += d[k] * d[k];
	}
	pull = 1e-4 / (square * sqrt(square));
	for (k = 0; k < 3; k++) {
		a->speed[k] -= d[k] * b->mass * pull;
		b->speed[k] += d[k] * a->mass * pull;
	}
}

static double nbody(long id)
{
	struct body *body = allocate(BODIES * sizeof(*body));
	uint64_t rng = rng_seed(1, (uint64_t)id);
	double sum = 0;
	long r;
	int i, k;

	for (i = 0; i < BODIES; i++) {
		for (k = 0; k < 3; k++)
			body[i].at[k] = random_double(&rng);
		body[i].mass = 1 + random_double(&rng);
	}
	for (r = 0; r < rounds; r++) {
		for (i = 0; i < BODIES; i++)
			for (k = i + 1; k < BODIES; k++)
				attract(&body[i], &body[k]);
		for (i = 0; i < BODIES; i++)
			for (k = 0; k < 3; k++)
				body[i].at[k] += 1e-4 * body[i].speed[k];
	}
	for (i = 0; i < BODIES; i++)
		sum += body[i].at[0] + body[i].at[1] + body[i].at[2];
	free(body);
	return sum;
}

typedef double matrix[MATRIX];

static void multiply_block(matrix *c, const matrix *a, const matrix *b, int i0,
			   int k0)
{
	int i, j, k;

	for (i = i0; i < i0 + BLOCK; i++)
		for (k = k0; k < k0 + BLOCK; k++)
			for (j = 0; j < MATRIX; j++)
				c[i][j] += a[i][k] * b[k][j];
}

static double matmul(long id)
{
	matrix *a = allocate(MATRIX * sizeof(matrix));
	matrix *b = allocate(MATRIX * sizeof(matrix));
	matrix *c = allocate(MATRIX * sizeof(matrix));
	uint64_t rng = rng_seed(2, (uint64_t)id);
	double sum = 0;
	long r;
	int i, k;

	for (i = 0; i < MATRIX; i++) {
		for (k = 0; k < MATRIX; k++) {
			a[i][k] = random_double(&rng);
			b[i][k] = random_double(&rng);
		}
	}
	for (r = 0; r < rounds; r++)
		for (i = 0; i < MATRIX; i += BLOCK)
			for (k = 0; k < MATRIX; k += BLOCK)
				multiply_block(c, a, b, i, k);
	for (i = 0; i < MATRIX; i++)
		sum += c[i][MATRIX - 1 - i];
	free(a);
	free(b);
	free(c);
	return sum;
}

struct row {
	uint64_t key, value;
};

static struct row *find_slot(struct row *slot, uint64_t key)
{
	uint64_t at = key * 0x9e3779b97f4a7c15u >> 47;

	while (slot[at].key && slot[at].key != key)
		at = (at + 1) % JOIN_SLOTS;
	return &slot[at];
}

static double join(long id)
{
	struct row *slot = allocate(JOIN_SLOTS * sizeof(*slot));
	uint64_t sum = 0, rng;
	long r;
	int i;

	for (r = 0; r < rounds; r++) {
		memset(slot, 0, JOIN_SLOTS * sizeof(*slot));
		rng = rng_seed(3, (uint64_t)(id + r));
		for (i = 0; i < JOIN_ROWS; i++) {
			uint64_t key = rng_next(&rng) % (4 * JOIN_ROWS) + 1;
			struct row *row = find_slot(slot, key);

			row->key = key;
			row->value += (uint64_t)i;
		}
		for (i = 0; i < 2 * JOIN_ROWS; i++) {
			uint64_t key = rng_next(&rng) % (4 * JOIN_ROWS) + 1;

			sum += find_slot(slot, key)->value;
		}
	}
	free(slot);
	return (double)(sum % 1000000007);
}

static float *grid[2];

static double stencil(long id)
{
	long part = (GRID - 2) / threads, first = 1 + id * part;
	long last = id == threads - 1 ? GRID - 1 : first + part;
	long r, y, x;

	for (r = 0; r < rounds; r++) {
		const float *from = grid[r % 2];
		float *to = grid[(r + 1) % 2];

		for (y = first; y < last; y++)
			for (x = 1; x < GRID - 1; x++) {
				const float *p = from + y * GRID + x;

				to[y * GRID + x] = 0.2f * (p[0] + p[-1] + p[1] +
							   p[-GRID] + p[GRID]);
			}
		pthread_barrier_wait(&sweep);
	}
	return id ? 0 : (double)grid[rounds % 2][GRID * 8 + 8];
}

static void stencil_prepare(void)
{
	uint64_t rng = rng_seed(4, 0);
	long i;

	grid[0] = allocate(GRID * GRID * sizeof(float));
	grid[1] = allocate(GRID * GRID * sizeof(float));
	for (i = 0; i < GRID * GRID; i++)
		grid[0][i] = grid[1][i] = (float)random_double(&rng);
}

struct node {
	struct node *next;
	uint64_t value;
	char rest[LINE_BYTES - 16];
};

/* Sattolo's shuffle makes a single cycle of all nodes. */
static double chase(long id)
{
	struct node *node = allocate(CHASE_NODES * sizeof(*node)), *at;
	uint32_t *order = allocate(CHASE_NODES * sizeof(*order));
	uint64_t rng = rng_seed(5, (uint64_t)id), sum = 0;
	long i;

	for (i = 0; i < CHASE_NODES; i++)
		order[i] = (uint32_t)i;
	for (i = CHASE_NODES - 1; i > 0; i--) {
		long k = (long)(rng_next(&rng) % (uint64_t)i);
		uint32_t other = order[k];

		order[k] = order[i];
		order[i] = other;
	}
	for (i = 0; i < CHASE_NODES; i++) {
		node[i].next = &node[order[i]];
		node[i].value = (uint64_t)i;
	}
	for (at = node, i = 0; i < rounds * 1000; i++, at = at->next)
		sum += at->value;
	free(order);
	free(node);
	return (double)(sum % 1000000007);
}

static double lines(long id)
{
	static const uint8_t next[3][3] = { { 0, 1, 2 },
					    { 0, 1, 1 },
					    { 2, 0, 2 } };
	uint64_t rng = rng_seed(6, (uint64_t)id);
	uint64_t count[3] = { 0 };
	char *text = allocate(LINES_BYTES);
	uint8_t state = 0;
	long r, i;

	for (i = 0; i < LINES_BYTES; i++)
		text[i] = (char)(' ' + (rng_next(&rng) >> 58));
	for (r = 0; r < rounds; r++) {
		for (i = 0; i < LINES_BYTES; i++) {
			int class = text[i] == ' ' ? 0 : text[i] < '@' ? 1 : 2;

			if (next[state][class] != state)
				count[state]++;
			state = next[state][class];
		}
	}
	free(text);
	return (double)(count[0] + 3 * count[1] + 7 * count[2]);
}

static const struct {
	const char *name;
	double (*run)(long id);
	void (*prepare)(void);
} kernels[] = {
	{ "nbody", nbody, NULL }, { "matmul", matmul, NULL },
	{ "join", join, NULL },   { "stencil", stencil, stencil_prepare },
	{ "chase", chase, NULL }, { "lines", lines, NULL },
};

static double (*run_kernel)(long id);
static double results[THREADS_MAX][APART_BYTES / sizeof(double)];

static void *kernel_main(void *arg)
{
	long id = (long)(intptr_t)arg;

	results[id][0] = run_kernel(id);
	return NULL;
}

static const struct option_row rows[] = {
	{ "kernel", OPT_STRING, &kernel,
	  "nbody, matmul, join, stencil, chase or lines" },
	{ "threads", OPT_LONG, &threads, "number of threads" },
	{ "rounds", OPT_LONG, &rounds, "how much work" },
	{ 0 }
};

int main(int argc, char **argv)
{
	size_t k, n = sizeof(kernels) / sizeof(*kernels);
	pthread_t thread[THREADS_MAX];
	double sum = 0;
	long i;

	parse_options(argc, argv, "Threads compute, each for itself.", rows);
	if (threads < 1 || threads > THREADS_MAX)
		usage_error("--threads must be 1 to %d", THREADS_MAX);
	for (k = 0; k < n && strcmp(kernels[k].name, kernel); k++)
		;
	if (k == n)
		usage_error("no kernel %s", kernel);
	run_kernel = kernels[k].run;
	if (kernels[k].prepare)
		kernels[k].prepare();
	pthread_barrier_init(&sweep, NULL, (unsigned int)threads);
	for (i = 0; i < threads; i++)
		if (pthread_create(&thread[i], NULL, kernel_main,
				   (void *)(intptr_t)i)) {
			fprintf(stderr, "%s: cannot create a thread\n",
				program);
			return 1;
		}
	for (i = 0; i < threads; i++) {
		pthread_join(thread[i], NULL);
		sum += results[i][0];
	}
	printf("%s %ld threads %ld rounds: %.9g\n", kernel, threads, rounds,
	       sum);
	return 0;
}
