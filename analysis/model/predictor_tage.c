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

/*
 * A number of each table, 16 bits wide, the first in the lowest bits. LANES is
 * 1 in each.
 */
#define LANE_BITS 16
#define LANES     UINT64_C(0x0001000100010001)

static const uint32_t lengths[TABLES] = { 5, 15, 44, 130 }; /* of histories */

/* Where an outcome that leaves the history of each table is folded to @bits. */
#define LEAVES(bits)                                                           \
	{                                                                      \
		UINT64_C(1) << 5 % (bits),                                     \
			UINT64_C(1) << 15 % (bits) << LANE_BITS,               \
			UINT64_C(1) << 44 % (bits) << 2 * LANE_BITS,           \
			UINT64_C(1) << 130 % (bits) << 3 * LANE_BITS           \
	}

struct entry {
	uint16_t tag; /* + 1; 0: empty */
	uint8_t counter, useful;
};

struct tage {
	struct entry entry[TABLES][1 << INDEX_BITS];
	/* The last outcomes of each table, folded by exclusive or. */
	uint64_t index, tag, tag_low;
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

/*
 * Fold @new, all ones or 0, into each lane of @f, and the outcomes that leave
 * their tables' histories out of it.
 */
static inline uint64_t fold(uint64_t f, int bits, const uint64_t leaves[TABLES],
			    uint64_t new, const bool leaving[TABLES])
{
	f = f << 1 | (LANES & new);
	for (int i = 0; i < TABLES; i++)
		f ^= leaves[i] & -(uint64_t)leaving[i];
	f ^= f >> bits & LANES;
	return f & LANES * ((1u << bits) - 1);
}

static void remember(struct tage *p, bool taken)
{
	static const uint64_t index[TABLES] = LEAVES(INDEX_BITS);
	static const uint64_t tag[TABLES] = LEAVES(TAG_BITS);
	static const uint64_t tag_low[TABLES] = LEAVES(TAG_BITS - 1);
	uint64_t new = -(uint64_t)taken;
	bool leaving[TABLES];

	for (int i = 0; i < TABLES; i++)
		leaving[i] = p->outcome[(p->at - lengths[i]) % OUTCOMES];
	p->index = fold(p->index, INDEX_BITS, index, new, leaving);
	p->tag = fold(p->tag, TAG_BITS, tag, new, leaving);
	p->tag_low = fold(p->tag_low, TAG_BITS - 1, tag_low, new, leaving);
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
	uint64_t low = (ip ^ ip >> INDEX_BITS) % (1 << INDEX_BITS);
	uint64_t index = p->index ^ low * LANES;
	uint64_t tag = ip % (1 << TAG_BITS) * LANES;

	tag = (tag ^ p->tag ^ p->tag_low << 1) + LANES;
	l->provider = l->other = -1;
	for (int i = 0; i < TABLES; i++) {
		l->entry[i] = &p->entry[i][(uint16_t)(index >> i * LANE_BITS)];
		l->tag[i] = (uint16_t)(tag >> i * LANE_BITS);
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
			p->entry[i][k].useful /= 2;
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
