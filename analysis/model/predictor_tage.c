/* SPDX-License-Identifier: MIT */
/*
 * predictor_tage - predict by the longest history that was seen before
 */
#include <stddef.h>

#include "predictor_tage.h"
#include "analysis/base/util.h"

enum {
	TABLES = 4,
	INDEX_BITS = 10,
	TAG_BITS = 9,
	OUTCOMES = 256, /* a power of two above the longest history */
	COUNTERS = 4096,
	TWO_BIT_MAX = 3,
	THREE_BIT_MAX = 7,
	WEAK_TAKEN = 4, /* of a 3-bit counter */
	USEFUL_MAX = 3,
	TRUST_MAX = 15,
	AGE_AFTER = 1 << 18, /* branches */
};

/* Of each table: its history, and where an outcome that leaves it is folded. */
#define HISTORY(n)                                                             \
	{                                                                      \
		n, n % INDEX_BITS, n % TAG_BITS, n % (TAG_BITS - 1)            \
	}
static const struct history {
	uint32_t length, index, tag, tag_low;
} histories[TABLES] = { HISTORY(5), HISTORY(15), HISTORY(44), HISTORY(130) };

struct entry {
	uint16_t tag; /* + 1; 0: empty */
	uint8_t counter, useful;
};

struct table {
	struct entry entry[1 << INDEX_BITS];
	/* The last outcomes, folded to a few bits by exclusive or. */
	uint32_t index, tag, tag_low;
};

struct tage {
	struct table table[TABLES];
	uint8_t base[COUNTERS];
	uint8_t outcome[OUTCOMES]; /* ring */
	uint32_t at;               /* there: of the next outcome */
	uint32_t branches;
	uint8_t trust; /* high: new entries are worse than what was before */
};

/* Where the branch is in each table, and what is predicted. */
struct look_up {
	struct entry *entry[TABLES];
	uint16_t tag[TABLES];
	int provider, other; /* longest and next match; -1: the base */
	bool provided, otherwise;
};

struct tage *tage_new(void)
{
	return xcalloc(1, sizeof(struct tage));
}

static void count(uint8_t *counter, bool up, uint8_t max)
{
	if (up && *counter < max)
		++*counter;
	if (!up && *counter)
		--*counter;
}

static inline uint32_t fold(uint32_t f, uint32_t bits, uint32_t leaves,
			    bool new, bool old)
{
	f = f << 1 | new;
	f ^= (uint32_t)old << leaves;
	f ^= f >> bits;
	return f & ((1u << bits) - 1);
}

static void remember(struct tage *p, bool taken)
{
	for (int i = 0; i < TABLES; i++) {
		const struct history *h = &histories[i];
		struct table *t = &p->table[i];
		bool old = p->outcome[(p->at - h->length) % OUTCOMES];

		t->index = fold(t->index, INDEX_BITS, h->index, taken, old);
		t->tag = fold(t->tag, TAG_BITS, h->tag, taken, old);
		t->tag_low =
			fold(t->tag_low, TAG_BITS - 1, h->tag_low, taken, old);
	}
	p->outcome[p->at++ % OUTCOMES] = taken;
}

static bool predicts(const struct tage *p, const struct look_up *l, int table,
		     uint64_t ip)
{
	if (table < 0)
		return p->base[ip % COUNTERS] > TWO_BIT_MAX / 2;
	return l->entry[table]->counter >= WEAK_TAKEN;
}

static void look_up(struct tage *p, uint64_t ip, struct look_up *l)
{
	l->provider = l->other = -1;
	for (int i = 0; i < TABLES; i++) {
		struct table *t = &p->table[i];
		uint64_t index = ip ^ ip >> INDEX_BITS ^ t->index;
		uint64_t tag = ip ^ t->tag ^ t->tag_low << 1;

		l->entry[i] = &t->entry[index % (1 << INDEX_BITS)];
		l->tag[i] = (uint16_t)(tag % (1 << TAG_BITS) + 1);
		if (l->entry[i]->tag != l->tag[i])
			continue;
		l->other = l->provider;
		l->provider = i;
	}
	l->provided = predicts(p, l, l->provider, ip);
	l->otherwise = predicts(p, l, l->other, ip);
}

static bool is_new(const struct entry *e)
{
	return !e->useful &&
	       (e->counter == WEAK_TAKEN || e->counter == WEAK_TAKEN - 1);
}

/* Give the branch an entry with a longer history. */
static void allocate(struct look_up *l, bool taken)
{
	for (int i = l->provider + 1; i < TABLES; i++)
		if (!l->entry[i]->useful) {
			*l->entry[i] = (struct entry){
				.tag = l->tag[i],
				.counter = taken ? WEAK_TAKEN : WEAK_TAKEN - 1,
			};
			return;
		}
	for (int i = l->provider + 1; i < TABLES; i++)
		l->entry[i]->useful--;
}

/* What was useful long ago makes room. */
static void age(struct tage *p)
{
	if (++p->branches % AGE_AFTER)
		return;
	for (int i = 0; i < TABLES; i++)
		for (int k = 0; k < 1 << INDEX_BITS; k++)
			p->table[i].entry[k].useful /= 2;
}

static void learn(struct tage *p, struct look_up *l, uint64_t ip, bool taken)
{
	struct entry *e;

	if (l->provider < 0) {
		count(&p->base[ip % COUNTERS], taken, TWO_BIT_MAX);
		return;
	}
	e = l->entry[l->provider];
	if (l->provided != l->otherwise) {
		if (is_new(e))
			count(&p->trust, l->otherwise == taken, TRUST_MAX);
		count(&e->useful, l->provided == taken, USEFUL_MAX);
	}
	count(&e->counter, taken, THREE_BIT_MAX);
}

bool tage_right(struct tage *p, uint64_t ip, bool taken)
{
	struct look_up l;
	bool predicted;

	look_up(p, ip, &l);
	predicted = l.provided;
	if (l.provider >= 0 && is_new(l.entry[l.provider]) &&
	    p->trust > TRUST_MAX / 2)
		predicted = l.otherwise;
	learn(p, &l, ip, taken);
	if (predicted != taken)
		allocate(&l, taken);
	age(p);
	remember(p, taken);
	return predicted == taken;
}
