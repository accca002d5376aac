/* SPDX-License-Identifier: MIT */
/*
 * kernels - work whose cost under the hooks is measured
 *
 *	kernels NAME TURNS
 *
 * Prints a checksum, so that a build with hooks can be compared with one
 * without.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	SORTED = 100000,
	NODES = 20000,
	MATRIX = 160,
	WORDS = 4096,
	VECTOR = 65536,
	LINES = 1 << 20,
	LINE_WORDS = 8,
};

static uint64_t state = 88172645463325252u;

static uint64_t next_random(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static void sort(int *a, long low, long high)
{
	while (low < high) {
		int pivot = a[(low + high) / 2];
		long i = low, j = high;

		while (i <= j) {
			while (a[i] < pivot)
				i++;
			while (a[j] > pivot)
				j--;
			if (i <= j) {
				int t = a[i];

				a[i++] = a[j];
				a[j--] = t;
			}
		}
		sort(a, low, j);
		low = i;
	}
}

static uint64_t quicksort(long turns)
{
	int *a = malloc(SORTED * sizeof(*a));
	uint64_t sum = 0;

	while (turns--) {
		for (int i = 0; i < SORTED; i++)
			a[i] = next_random();
		sort(a, 0, SORTED - 1);
		sum = sum * 31 + (uint32_t)a[SORTED / 3];
	}
	free(a);
	return sum;
}

struct node {
	struct node *child[2];
	uint64_t key, value;
};

static uint64_t search_tree(long turns)
{
	struct node *pool = calloc(NODES, sizeof(*pool)), *root = NULL;
	uint64_t sum = 0;

	for (int i = 0; i < NODES; i++) {
		struct node *n = &pool[i], **at = &root;

		n->key = next_random();
		n->value = i;
		while (*at)
			at = &(*at)->child[n->key > (*at)->key];
		*at = n;
	}
	while (turns--)
		for (int i = 0; i < NODES; i++) {
			uint64_t key = pool[next_random() % NODES].key;
			struct node *n = root;

			while (n->key != key)
				n = n->child[key > n->key];
			sum += n->value++;
		}
	free(pool);
	return sum;
}

static uint64_t matrix_multiply(long turns)
{
	double(*a)[MATRIX] = malloc(MATRIX * sizeof(*a));
	double(*b)[MATRIX] = malloc(MATRIX * sizeof(*b));
	double(*c)[MATRIX] = malloc(MATRIX * sizeof(*c));
	double sum = 0;

	for (int i = 0; i < MATRIX; i++)
		for (int j = 0; j < MATRIX; j++) {
			a[i][j] = i + j;
			b[i][j] = i - j;
		}
	while (turns--) {
		for (int i = 0; i < MATRIX; i++)
			for (int j = 0; j < MATRIX; j++) {
				double s = 0;

				for (int k = 0; k < MATRIX; k++)
					s += a[i][k] * b[k][j];
				c[i][j] = s;
			}
		sum += c[turns % MATRIX][7];
	}
	free(a);
	free(b);
	free(c);
	return sum;
}

/* Every reuse has a distance, as in reuse benchmarks. */
static uint64_t reuse_loop(long turns)
{
	uint64_t *words = calloc(WORDS, sizeof(*words)), sum = 0;

	while (turns--)
		for (int i = 0; i < WORDS; i++) {
			sum += words[i];
			words[(i * 7) % WORDS] = sum;
		}
	free(words);
	return sum;
}

/* Each step depends on the one before, so the compiler cannot vectorize. */
static uint64_t scalar_loop(long turns)
{
	uint32_t *a = malloc(VECTOR * sizeof(*a));
	uint32_t last = 1;

	for (int i = 0; i < VECTOR; i++)
		a[i] = next_random();
	while (turns--)
		for (int i = 0; i < VECTOR; i++) {
			last = last * 1664525 + a[i];
			a[i] = last;
		}
	free(a);
	return last;
}

/* Without hooks the compiler vectorizes this. */
static uint64_t vector_loop(long turns)
{
	float *a = malloc(VECTOR * sizeof(*a)),
	      *b = malloc(VECTOR * sizeof(*b));
	float sum = 0;

	for (int i = 0; i < VECTOR; i++) {
		a[i] = i;
		b[i] = 1;
	}
	while (turns--) {
		for (int i = 0; i < VECTOR; i++)
			b[i] += a[i] * 0.5f;
		sum += b[turns % VECTOR];
	}
	free(a);
	free(b);
	return sum;
}

/* Random lines out of a million. */
static uint64_t random_lines(long turns)
{
	size_t bytes = LINES * LINE_WORDS * sizeof(uint64_t);
	uint64_t *words = memset(malloc(bytes), 1, bytes);
	uint64_t x = state, sum = 0;

	while (turns--)
		for (int i = 0; i < VECTOR; i++) {
			x = x * 6364136223846793005u + 1442695040888963407u;
			sum += words[(x >> 40) % LINES * LINE_WORDS];
		}
	free(words);
	return sum + x;
}

static const struct {
	const char *name;
	uint64_t (*run)(long turns);
} kernels[] = {
	{ "quicksort", quicksort },
	{ "search_tree", search_tree },
	{ "matrix_multiply", matrix_multiply },
	{ "reuse_loop", reuse_loop },
	{ "scalar_loop", scalar_loop },
	{ "vector_loop", vector_loop },
	{ "random_lines", random_lines },
};
enum {
	KERNELS = sizeof(kernels) / sizeof(kernels[0])
};

int main(int argc, char **argv)
{
	for (int i = 0; argc == 3 && i < KERNELS; i++)
		if (!strcmp(kernels[i].name, argv[1])) {
			printf("%llu\n", (unsigned long long)kernels[i].run(
						 atol(argv[2])));
			return 0;
		}
	fprintf(stderr, "usage: kernels NAME TURNS\n");
	return 1;
}
