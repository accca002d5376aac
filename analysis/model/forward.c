/* SPDX-License-Identifier: MIT */
/*
 * forward - stores whose data loads can take before they reach the cache
 */
#include "forward.h"
#include "analysis/base/util.h"

enum {
	BUCKETS = 1024,
	WORD_SHIFT = 3,
};

struct entry {
	uint64_t word;
	uint64_t number; /* of the store, plus 1 */
	uint64_t ready, until;
	uint64_t before; /* number, plus 1, of the one before in its bucket */
};

struct forward {
	uint64_t latest[BUCKETS]; /* number, plus 1 */
	uint32_t rob;
	struct entry entry[]; /* by number modulo rob */
};

struct forward *forward_new(uint32_t rob)
{
	struct forward *f = xcalloc(1, sizeof(*f) + rob * sizeof(f->entry[0]));

	f->rob = rob;
	return f;
}

void forward_store(struct forward *f, uint64_t addr, uint64_t number,
		   uint64_t ready, uint64_t until)
{
	uint64_t word = addr >> WORD_SHIFT,
		 *latest = &f->latest[word % BUCKETS];

	f->entry[number % f->rob] = (struct entry){
		.word = word,
		.number = number + 1,
		.ready = ready,
		.until = until,
		.before = *latest,
	};
	*latest = number + 1;
}

uint64_t forward_ready(const struct forward *f, uint64_t addr, uint64_t number,
		       uint64_t *until)
{
	uint64_t word = addr >> WORD_SHIFT;
	uint64_t at = f->latest[word % BUCKETS];

	*until = 0;
	/* A store is in the ROB with this load if fewer than rob lie between.
	 */
	while (at && number - (at - 1) < f->rob) {
		const struct entry *e = &f->entry[(at - 1) % f->rob];

		if (e->number != at)
			return 0;
		if (e->word == word) {
			*until = e->until;
			return e->ready;
		}
		at = e->before;
	}
	return 0;
}
