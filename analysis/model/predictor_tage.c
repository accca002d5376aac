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
	WORDS = 3, /* of 64 outcomes: more than the longest history */
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

enum {
	LENGTH_0 = 5, /* of histories */
	LENGTH_1 = 15,
	LENGTH_2 = 44,
	LENGTH_3 = 130,
};

/* Where the outcomes that leave the histories are folded to @bits. */
#define LEAVES(bits)                                                           \
	(UINT64_C(1) << LENGTH_0 % (bits) |                                    \
	 UINT64_C(1) << (LENGTH_1 % (bits) + LANE_BITS) |                      \
	 UINT64_C(1) << (LENGTH_2 % (bits) + 2 * LANE_BITS) |                  \
	 UINT64_C(1) << (LENGTH_3 % (bits) + 3 * LANE_BITS))

struct entry {
	uint16_t tag; /* + 1; 0: empty */
	uint8_t counter, useful;
};

struct tage {
	struct entry entry[TABLES][1 << INDEX_BITS];
	/* The last outcomes of each table, folded by exclusive or. */
	uint64_t index, tag, tag_low;
	uint8_t base[COUNTERS];
	uint64_t outcome[WORDS]; /* a bit each, the latest one the lowest */
	uint32_t branches;
	uint8_t trust; /* high: new entries are worse than what was before */
};

/* Where the branch is in each table, and what is predicted. */
struct look_up {
	uint64_t index, tag; /* of each table */
	int provider, other; /* longest and next match; -1: the base */
	bool provided, otherwise;
};

_Static_assert(TABLES == 4 && WORDS == 3, "the code names each of them");

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

/* The outcome of so many branches before, in the lowest bit. */
static inline uint64_t before(const struct tage *p, int branches)
{
	int at = branches - 1;

	return p->outcome[at / 64] >> at % 64 & 1;
}

/*
 * Fold @new, in each lane, into each of @f, and the outcomes at @leave out of
 * it.
 */
static inline uint64_t fold(uint64_t f, int bits, uint64_t new, uint64_t leave)
{
	f = (f << 1 | new) ^ leave;
	f ^= f >> bits & LANES;
	return f & LANES * ((1u << bits) - 1);
}

static void remember(struct tage *p, bool taken)
{
	uint64_t new = taken ? LANES : 0;
	uint64_t leave = before(p, LENGTH_0) |
			 before(p, LENGTH_1) << LANE_BITS |
			 before(p, LENGTH_2) << 2 * LANE_BITS |
			 before(p, LENGTH_3) << 3 * LANE_BITS;

	leave *= (1u << LANE_BITS) - 1; /* all bits of a lane */
	p->index = fold(p->index, INDEX_BITS, new, leave & LEAVES(INDEX_BITS));
	p->tag = fold(p->tag, TAG_BITS, new, leave & LEAVES(TAG_BITS));
	p->tag_low = fold(p->tag_low, TAG_BITS - 1, new,
			  leave & LEAVES(TAG_BITS - 1));
	p->outcome[2] = p->outcome[2] << 1 | p->outcome[1] >> 63;
	p->outcome[1] = p->outcome[1] << 1 | p->outcome[0] >> 63;
	p->outcome[0] = p->outcome[0] << 1 | taken;
}

static inline uint16_t lane(uint64_t lanes, int i)
{
	return (uint16_t)(lanes >> i * LANE_BITS);
}

static inline struct entry *entry_of(struct tage *p, const struct look_up *l,
				     int table)
{
	return &p->entry[table][lane(l->index, table)];
}

static bool predicts(struct tage *p, const struct look_up *l, int table,
		     uint64_t ip)
{
	if (table < 0)
		return p->base[ip % COUNTERS] > TWO_BIT_MAX / 2;
	return entry_of(p, l, table)->counter >= WEAK_TAKEN;
}

/* The highest bit that is set, or -1. */
static inline int highest(unsigned int bits)
{
	return 30 - __builtin_clz(bits << 1 | 1);
}

/* Bit @table, if the branch has the entry there. */
static inline unsigned int match(struct tage *p, const struct look_up *l,
				 int table)
{
	bool has = entry_of(p, l, table)->tag == lane(l->tag, table);

	return (unsigned int)has << table;
}

static void look_up(struct tage *p, uint64_t ip, struct look_up *l)
{
	uint64_t low = (ip ^ ip >> INDEX_BITS) % (1 << INDEX_BITS);
	uint64_t tag = ip % (1 << TAG_BITS) * LANES;
	unsigned int found;

	l->index = p->index ^ low * LANES;
	l->tag = (tag ^ p->tag ^ p->tag_low << 1) + LANES;
	found = match(p, l, 0) | match(p, l, 1) | match(p, l, 2) |
		match(p, l, 3);
	l->provider = highest(found);
	l->other = found ? highest(found ^ 1u << l->provider) : -1;
	l->provided = predicts(p, l, l->provider, ip);
	l->otherwise = predicts(p, l, l->other, ip);
}

static bool is_new(const struct entry *e)
{
	return !e->useful &&
	       (e->counter == WEAK_TAKEN || e->counter == WEAK_TAKEN - 1);
}

/* Give the branch an entry with a longer history. */
static void allocate(struct tage *p, const struct look_up *l, bool taken)
{
	for (int i = l->provider + 1; i < TABLES; i++) {
		struct entry *e = entry_of(p, l, i);

		if (e->useful)
			continue;
		*e = (struct entry){
			.tag = lane(l->tag, i),
			.counter = taken ? WEAK_TAKEN : WEAK_TAKEN - 1,
		};
		return;
	}
	for (int i = l->provider + 1; i < TABLES; i++)
		entry_of(p, l, i)->useful--;
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

static void learn(struct tage *p, const struct look_up *l, uint64_t ip,
		  bool taken)
{
	struct entry *e;

	if (l->provider < 0) {
		count(&p->base[ip % COUNTERS], taken, TWO_BIT_MAX);
		return;
	}
	e = entry_of(p, l, l->provider);
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
	if (l.provider >= 0 && is_new(entry_of(p, &l, l.provider)) &&
	    p->trust > TRUST_MAX / 2)
		predicted = l.otherwise;
	learn(p, &l, ip, taken);
	if (predicted != taken)
		allocate(p, &l, taken);
	age(p);
	remember(p, taken);
	return predicted == taken;
}
