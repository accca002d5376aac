/* SPDX-License-Identifier: MIT */
/*
 * lru_stack - LRU stack distances of a stream of lines
 *
 * Positions are numbered. Each access takes the next one, and its line gives up
 * the one that it had. So the lines in the order of their positions are the
 * stack, and the distance is the number of occupied positions above the line's
 * old one. There is a bit for each position. Occupied positions are counted by
 * word of 64 bits, by block of 64 words, by group of 32 blocks and by range of
 * 16 groups; the counts of one level below a unit are one cache line, except
 * for ranges. Positions not yet taken count as occupied, since no sum includes
 * them, so taking a position only sets a bit.
 *
 * A line that was not accessed for long causes a cache miss in the table. The
 * processor overlaps the misses of several accesses if it predicts all branches
 * that depend on the data. So there are no such branches except for lines that
 * are new or far from home: sums are over whole cache lines under masks, and of
 * two places the right one is computed. The fewer instructions an access takes,
 * the more misses overlap.
 *
 * When the positions are used up, the lines move down to the first ones. There
 * are at least eight positions a line, so that costs each access a seventh of a
 * move.
 *
 * The hash table has rows of 16 lines that are neighbours in memory, because
 * they are accessed together. A line has two places in its row, in one cache
 * line. If both are taken it goes to the same two of the next row, so the table
 * is eight tables with linear probing. It begins small and moves to twice as
 * many rows when it is half full, so that few pages are used.
 */
#include <emmintrin.h>
#include <stdbool.h>

#include "src/base/rawcall.h"
#include "lru_stack.h"
#include "src/base/bits.h"

#include <sys/mman.h>

#define ALWAYS_INLINE inline __attribute__((always_inline))
#define NOINLINE      __attribute__((noinline))

enum {
	ALIGN = 64,
	PAGE_BYTES = 4096,
	HUGE_BYTES = 4 << 20, /* tables from here on ask for huge pages */
	VECTORS = 4,          /* of a cache line */
	WORD = 64,            /* number of positions; likewise the next three */
	BLOCK = 64 * WORD,
	GROUP = 32 * BLOCK,
	RANGE = 16 * GROUP,
	ROW = 16,
	PAIR = 2,
	ROOM = 8, /* positions a line */
	PLACES_MIN = 2 * LRU_STACK_LINES_MIN,
	POSITIONS_MIN = 8 * BLOCK,
	HASH_BITS = 32,
};

struct lru_stack {
	uint32_t lines_max, lines;
	uint32_t rows;                 /* of the table, a power of two */
	uint32_t positions;            /* in use at present, whole blocks */
	uint32_t next;                 /* the position of the next access */
	uint32_t left_out;             /* log2 of the weight */
	struct lru_stack_line *table;  /* lies behind all smaller tables */
	struct lru_stack_line *recent; /* the last one accessed, or NULL */
	uint64_t *bits;
	uint8_t *words; /* occupied positions */
	uint16_t *blocks;
	uint32_t *groups, *ranges;
	uint32_t *order; /* for lru_stack_each: places by position */
};

struct layout {
	size_t table, bits, words, blocks, groups, ranges, order, end;
};

static uint32_t positions_max(uint32_t lines)
{
	return lines * ROOM;
}

/* Bytes of one count, of @bytes bytes, for every @what positions. */
static size_t counts(size_t positions, size_t what, size_t bytes)
{
	return round_up((positions + what - 1) / what * bytes, ALIGN);
}

static struct layout layout(uint32_t lines)
{
	size_t positions = positions_max(lines);
	size_t places = 4 * (size_t)lines - PLACES_MIN; /* of all tables */
	struct layout l;

	l.table = round_up(sizeof(struct lru_stack), ALIGN);
	l.bits = l.table + places * sizeof(struct lru_stack_line);
	l.words = l.bits + counts(positions, 8, sizeof(uint8_t));
	l.blocks = l.words + counts(positions, WORD, sizeof(uint8_t));
	l.groups = l.blocks + counts(positions, BLOCK, sizeof(uint16_t));
	l.ranges = l.groups + counts(positions, GROUP, sizeof(uint32_t));
	l.order = l.ranges + counts(positions, RANGE, sizeof(uint32_t));
	l.end = l.order + lines * sizeof(uint32_t);
	return l;
}

size_t lru_stack_size(uint32_t lines)
{
	if (lines < LRU_STACK_LINES_MIN || lines > LRU_STACK_LINES_MAX ||
	    (lines & (lines - 1)))
		return 0;
	return layout(lines).end;
}

/* All positions count as occupied. */
static void fill_counts(struct lru_stack *s)
{
	for (uint32_t i = 0; i * WORD < s->positions; i++)
		s->words[i] = WORD;
	for (uint32_t i = 0; i * BLOCK < s->positions; i++)
		s->blocks[i] = BLOCK;
	for (uint32_t i = 0; i * GROUP < s->positions; i++)
		s->groups[i] = GROUP;
	for (uint32_t i = 0; i * RANGE < s->positions; i++)
		s->ranges[i] = RANGE;
}

struct lru_stack *lru_stack_init(void *mem, uint32_t lines)
{
	struct lru_stack *s = mem;
	unsigned char *base = mem;
	struct layout l;

	if (!lru_stack_size(lines))
		return NULL;
	l = layout(lines);
	s->lines_max = lines;
	s->rows = PLACES_MIN / ROW;
	s->positions = POSITIONS_MIN;
	s->table = (void *)(base + l.table);
	s->bits = (void *)(base + l.bits);
	s->words = (void *)(base + l.words);
	s->blocks = (void *)(base + l.blocks);
	s->groups = (void *)(base + l.groups);
	s->ranges = (void *)(base + l.ranges);
	s->order = (void *)(base + l.order);
	fill_counts(s);
	return s;
}

/* ---- the table ----------------------------------------------------------- */

#define FACTOR 0xD6E8FEB86659FD93ull

static uint64_t mix(uint64_t x)
{
	x ^= x >> 32;
	x *= FACTOR;
	x ^= x >> 32;
	x *= FACTOR;
	return x ^ (x >> 32);
}

/* Decided by those bits of the line's hash that nothing else uses. */
static bool is_left_out(const struct lru_stack *s, uint64_t line)
{
	return s->left_out && mix(line + 1) >> (WORD - s->left_out) != 0;
}

struct place {
	uint32_t row, at; /* the first of the two in the row */
};

/*
 * Lines a power of two apart would all have the same place in their rows:
 * the row's hash permutes the places.
 */
static struct place home(const struct lru_stack *s, uint64_t line)
{
	unsigned __int128 product = (line / ROW) * (unsigned __int128)FACTOR;
	uint64_t h = (uint64_t)product ^ (uint64_t)(product >> 64);

	return (struct place){
		.row = h & (s->rows - 1),
		.at = (line ^ h >> HASH_BITS) % ROW / PAIR * PAIR,
	};
}

/*
 * Choose between the two places from @l on: the one that holds @key, else the
 * first empty one, else the second. The second is never used before the first.
 * No branch depends on the choice.
 */
static inline struct lru_stack_line *choose(struct lru_stack_line *l,
					    uint64_t key)
{
	return l + ((l[0].key != key) & (l[0].key != 0));
}

/* The line's place, or the empty one that it would take. */
static NOINLINE struct lru_stack_line *find(const struct lru_stack *s,
					    uint64_t line)
{
	struct place p = home(s, line);

	for (;; p.row = (p.row + 1) & (s->rows - 1)) {
		struct lru_stack_line *l =
			choose(&s->table[p.row * ROW + p.at], line + 1);

		if (l->key == line + 1 || !l->key)
			return l;
	}
}

/* The same, for a line that is in its home row. */
static inline struct lru_stack_line *find_near(const struct lru_stack *s,
					       uint64_t line)
{
	struct place p = home(s, line);
	struct lru_stack_line *l =
		choose(&s->table[p.row * ROW + p.at], line + 1);

	return l->key == line + 1 ? l : find(s, line);
}

static uint32_t places(const struct lru_stack *s)
{
	return s->rows * ROW;
}

/* True if a line in row @from with home row @home is found without row @to. */
static bool is_found_without(const struct lru_stack *s, uint32_t home,
			     uint32_t to, uint32_t from)
{
	uint32_t mask = s->rows - 1;

	/* Cyclically: home lies in (to, from]. */
	return ((from - home) & mask) < ((from - to) & mask);
}

/* Empty @hole, and move up lines that probing would no longer find. */
static void delete (struct lru_stack *s, struct lru_stack_line *hole)
{
	uint32_t mask = s->rows - 1, place = hole - s->table;
	uint32_t at = place % ROW / PAIR * PAIR;
	uint32_t to = place / ROW, from = to;
	bool passed; /* the row is full: lines may have gone past it */

	do {
		struct lru_stack_line *l;

		from = (from + 1) & mask;
		l = &s->table[from * ROW + at];
		passed = l[0].key && l[1].key;
		for (int i = 0; i < PAIR; i++, l++) {
			uint32_t wanted = home(s, l->key - 1).row;

			if (!l->key || is_found_without(s, wanted, to, from))
				continue;
			*hole = *l;
			hole = l;
			to = from;
			break;
		}
	} while (passed);
	if ((hole - s->table) % PAIR == 0) {
		*hole = hole[1];
		hole++;
	}
	*hole = (struct lru_stack_line){ 0 };
}

/* Advise the kernel about the whole pages of [@start, @end). */
static void advise(void *start, void *end, int advice)
{
	uintptr_t low = ((uintptr_t)start + PAGE_BYTES - 1) & -PAGE_BYTES;
	uintptr_t high = (uintptr_t)end & -PAGE_BYTES;

	if (low < high)
		rawcall3(SYS_madvise, low, high - low, advice);
}

static void grow(struct lru_stack *s)
{
	struct lru_stack_line *old = s->table, *end = old + places(s);

	s->table = end;
	s->rows *= 2;
	if (places(s) * sizeof(*old) >= HUGE_BYTES)
		advise(end, end + places(s), MADV_HUGEPAGE);
	for (struct lru_stack_line *l = old; l < end; l++)
		if (l->key)
			*find(s, l->key - 1) = *l;
	advise(old, end, MADV_DONTNEED);
}

/* ---- positions ----------------------------------------------------------- */

static ALWAYS_INLINE uint32_t ones(uint64_t x)
{
	x -= x >> 1 & 0x5555555555555555;
	x = (x & 0x3333333333333333) + (x >> 2 & 0x3333333333333333);
	x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0f;
	return x * 0x0101010101010101 >> 56;
}

/* The first @n bytes of the cache line at @line, the others 0. */
static ALWAYS_INLINE void first(__m128i to[VECTORS], const void *line,
				uint32_t n)
{
	static const _Alignas(ALIGN) uint8_t keep[2 * ALIGN] = {
		[0 ... ALIGN - 1] = 0xff,
	};
	const __m128i *from = line, *mask = (const void *)(keep + ALIGN - n);

#pragma GCC unroll 4
	for (int i = 0; i < VECTORS; i++)
		to[i] = _mm_loadu_si128(mask + i) & _mm_load_si128(from + i);
}

/* Sum the counts of the few ranges below @range, in four parts. */
static ALWAYS_INLINE __m128i ranges_below(const struct lru_stack *s,
					  uint32_t range)
{
	const __m128i end = _mm_set1_epi32(range), four = _mm_set1_epi32(4);
	const __m128i *from = (const void *)s->ranges;
	__m128i sum = _mm_setzero_si128(), at = _mm_set_epi32(3, 2, 1, 0);

	for (uint32_t i = 0; i < s->positions; i += 4u * RANGE) {
		sum = _mm_add_epi32(sum, *from++ & _mm_cmplt_epi32(at, end));
		at = _mm_add_epi32(at, four);
	}
	return sum;
}

/* Occupied positions below @p. */
static ALWAYS_INLINE uint32_t below(const struct lru_stack *s, uint32_t p)
{
	uint32_t word = p / WORD, block = p / BLOCK, group = p / GROUP;
	uint32_t range = p / RANGE;
	const __m128i zero = _mm_setzero_si128(), one = _mm_set1_epi16(1);
	__m128i a[VECTORS], b[VECTORS], c[VECTORS], sum;

	first(a, s->words + block * 64, word % 64);
	first(b, s->blocks + group * 32, block % 32 * sizeof(*s->blocks));
	first(c, s->groups + range * 16, group % 16 * sizeof(*s->groups));
	/* No sum overflows: two words are 128, four blocks 16384. */
	a[0] = _mm_sad_epu8(_mm_add_epi8(a[0], a[1]), zero);
	a[2] = _mm_sad_epu8(_mm_add_epi8(a[2], a[3]), zero);
	b[0] = _mm_add_epi16(_mm_add_epi16(b[0], b[1]),
			     _mm_add_epi16(b[2], b[3]));
	sum = _mm_add_epi32(_mm_add_epi32(a[0], a[2]),
			    _mm_madd_epi16(b[0], one));
	c[0] = _mm_add_epi32(_mm_add_epi32(c[0], c[1]),
			     _mm_add_epi32(c[2], c[3]));
	sum = _mm_add_epi32(sum, _mm_add_epi32(c[0], ranges_below(s, range)));
	sum = _mm_add_epi32(sum, _mm_srli_si128(sum, 8));
	sum = _mm_add_epi32(sum, _mm_srli_si128(sum, 4));
	return (uint32_t)_mm_cvtsi128_si32(sum) +
	       ones(s->bits[word] & ~(~UINT64_C(0) << p % WORD));
}

static inline void give_up(struct lru_stack *s, uint32_t p)
{
	s->bits[p / WORD] &= ~(UINT64_C(1) << p % WORD);
	s->words[p / WORD]--;
	s->blocks[p / BLOCK]--;
	s->groups[p / GROUP]--;
	s->ranges[p / RANGE]--;
}

static uint32_t take_position(struct lru_stack *s)
{
	uint32_t p = s->next++;

	s->bits[p / WORD] |= UINT64_C(1) << p % WORD;
	return p;
}

/* Move all lines to the lowest positions, in their order. */
static NOINLINE void compact(struct lru_stack *s)
{
	uint32_t most = positions_max(s->lines_max);
	struct lru_stack_line *end = s->table + places(s);

	for (struct lru_stack_line *l = s->table; l < end; l++)
		if (l->key)
			l->position = below(s, l->position);
	for (uint32_t w = 0; w < s->positions / WORD; w++)
		s->bits[w] = w < s->lines / WORD ? ~UINT64_C(0) : 0;
	if (s->lines % WORD)
		s->bits[s->lines / WORD] = (UINT64_C(1) << s->lines % WORD) - 1;
	while (s->positions < most && s->positions < s->lines * ROOM)
		s->positions *= 2;
	s->next = s->lines;
	fill_counts(s);
}

/* Leave out every second line of those that are kept. */
static void thin_out(struct lru_stack *s)
{
	s->left_out++;
	for (uint32_t i = 0; i < places(s); i++) {
		struct lru_stack_line *l = &s->table[i];

		/* Another line may move to the place. */
		while (l->key && is_left_out(s, l->key - 1)) {
			give_up(s, l->position);
			delete (s, l);
			s->lines--;
		}
	}
}

/* A place for the new line @line; NULL if it is left out from now on. */
static NOINLINE struct lru_stack_line *insert(struct lru_stack *s,
					      uint64_t line)
{
	struct lru_stack_line *l;

	if (s->lines == s->lines_max) {
		do
			thin_out(s);
		while (s->lines > s->lines_max / 4 * 3);
		if (is_left_out(s, line))
			return NULL;
	} else if (s->lines == places(s) / 2) {
		grow(s);
	}
	l = find(s, line);
	l->key = line + 1;
	s->lines++;
	return l;
}

struct lru_stack_line *lru_stack_access(struct lru_stack *s, uint64_t line,
					uint64_t *distance)
{
	struct lru_stack_line *l = s->recent;

	if (l && l->key == line + 1) {
		*distance = 0;
		return l;
	}
	if (is_left_out(s, line))
		return NULL;
	if (s->next == s->positions)
		compact(s);
	l = find_near(s, line);
	if (l->key) {
		*distance = (uint64_t)(s->lines - 1 - below(s, l->position))
			    << s->left_out;
		give_up(s, l->position);
	} else {
		*distance = LRU_STACK_COLD;
		l = insert(s, line);
		if (!l) {
			s->recent = NULL;
			return NULL;
		}
	}
	l->position = take_position(s);
	s->recent = l;
	return l;
}

uint64_t lru_stack_weight(const struct lru_stack *s)
{
	return UINT64_C(1) << s->left_out;
}

uint32_t lru_stack_lines(const struct lru_stack *s)
{
	return s->lines;
}

void lru_stack_each(struct lru_stack *s,
		    void (*fn)(void *ctx, struct lru_stack_line *line),
		    void *ctx)
{
	compact(s);
	for (uint32_t i = 0; i < places(s); i++)
		if (s->table[i].key)
			s->order[s->table[i].position] = i;
	for (uint32_t i = 0; i < s->lines; i++)
		fn(ctx, &s->table[s->order[i]]);
}
