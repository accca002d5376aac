/* SPDX-License-Identifier: MIT */
/*
 * adjacent - loops that an adjacent-line prefetcher helps, or harms
 *
 *   stream         each thread goes through an array of its own in order
 *   random         each thread reads random words of such an array
 *   false-sharing  each thread stores to words of its own that lie between
 *                  those of the others, in random lines
 *   mixed          one iteration in --one-in is of false-sharing, the others
 *                  are of stream
 *
 * An iteration is one word.
 */
#include "common.h"

enum {
	LINE_WORDS = LINE_BYTES / 8,
	SHARED_LINES = 64,
	KIB_MAX = 1 << 20,
};

static const char *kernel = "stream";
static long kib = 4096, one_in = 16;

static volatile uint64_t shared[SHARED_LINES * LINE_WORDS]
	__attribute__((aligned(APART_BYTES)));

/* Filled, so that every page has memory. */
static volatile uint64_t *own_array(size_t words)
{
	uint64_t *a = aligned_alloc(APART_BYTES, words * sizeof(*a));

	if (!a) {
		fprintf(stderr, "%s: out of memory\n", program);
		exit(1);
	}
	memset(a, 1, words * sizeof(*a));
	return a;
}

static void store(const struct worker *w, uint64_t *rng, uint64_t value)
{
	uint64_t line = (rng_next(rng) >> 32) % SHARED_LINES;

	shared[line * LINE_WORDS + (uint64_t)w->id] = value;
}

static void run(struct worker *w)
{
	bool random = !strcmp(kernel, "random");
	bool share = !strcmp(kernel, "false-sharing");
	bool mixed = !strcmp(kernel, "mixed");
	uint64_t words = (uint64_t)kib * 1024 / 8, rng = w->rng, i, at = 0;
	volatile uint64_t *own = share ? NULL : own_array(words);

	for (i = 0; !worker_done(w, i); i++) {
		if (share || (mixed && i % (uint64_t)one_in == 0)) {
			store(w, &rng, i);
			w->shared++;
			continue;
		}
		at = random ? (rng_next(&rng) >> 32) % words : at + 1;
		if (at >= words)
			at = 0;
		(void)own[at];
	}
	w->iterations = i;
	free((void *)own);
}

static const struct option_row rows[] = {
	{ "kernel", OPT_STRING, &kernel,
	  "stream, random, false-sharing or mixed" },
	{ "kib", OPT_LONG, &kib, "KiB of a thread's array" },
	{ "one-in", OPT_LONG, &one_in,
	  "mixed: iterations to one of false-sharing" },
	COMMON_ROWS,
	{ 0 }
};

int main(int argc, char **argv)
{
	uint64_t stored = 0;

	parse_options(argc, argv,
		      "Accesses that come in pairs of lines, or collide there.",
		      rows);
	check_common(1);
	if (strcmp(kernel, "stream") && strcmp(kernel, "random") &&
	    strcmp(kernel, "false-sharing") && strcmp(kernel, "mixed"))
		usage_error("no kernel %s", kernel);
	if (opt.threads > LINE_WORDS)
		usage_error("--threads must be 1 to %d", LINE_WORDS);
	if (kib < 1 || kib > KIB_MAX)
		usage_error("--kib must be 1 to %d", KIB_MAX);
	if (one_in < 1)
		usage_error("--one-in must be 1 or more");
	run_workers(run);
	for (long i = 0; i < opt.threads; i++)
		stored += workers[i].shared;
	printf("%s %ld threads: %llu stored between those of others\n", kernel,
	       opt.threads, (unsigned long long)stored);
	return 0;
}
