/* SPDX-License-Identifier: MIT */
/*
 * reuse_stack - LRU stack distances of a stream of lines
 *
 * Each access takes the next of a row of positions, and the line gives up the
 * one it had: the lines in the order of their positions are the stack. The
 * distance is the number of occupied positions above the line's old one, that
 * is, all lines but those up to it. There is a bit for each position, and
 * counts of what is occupied by block of 512 positions, by group of 32 blocks
 * and by 16 groups: each is one cache line of what is below it. The counts
 * take what is still to come for occupied, since nobody asks for it; so taking
 * a position sets a bit and no more.
 *
 * When the positions are used up, the lines move down to the first ones. There
 * are at least eight positions a line, so that costs each access a seventh of a
 * move.
 *
 * The hash table has rows of 16 lines, neighbours in memory, because they
 * are neighbours in time too. A line that finds its place taken goes to the
 * same place of the next row, so the table is 16 tables with linear probing.
 * It begins small and moves to twice as many rows when it is half full: few
 * pages hold what is used.
 */
#include <stdbool.h>

#include "rawcall.h"
#include "reuse_stack.h"

#include <sys/mman.h>

enum {
	ALIGN = 64,
	PAGE_BYTES = 4096,
	HUGE_BYTES = 4 << 20, /* tables from here on ask for huge pages */
	WORD_BITS = 64,
	WORDS = 8, /* of a cache line */
	BLOCK = 512,
	GROUP = 32 * BLOCK,
	RANGE = 16 * GROUP,
	BLOCK_COUNT_BITS = 16,
	GROUP_COUNT_BITS = 32,
	ROW = 16,
	ROOM = 8, /* positions a line */
	PLACES_MIN = 2 * REUSE_STACK_LINES_MIN,
	POSITIONS_MIN = 2 * GROUP,
	HASH_BITS = 32,
};

struct reuse_stack {
	uint32_t lines_max, lines;
	uint32_t rows;                   /* of the table, a power of two */
	uint32_t positions;              /* in use at present, whole groups */
	uint32_t next;                   /* the position of the next access */
	uint32_t left_out;               /* log2 of the weight */
	struct reuse_stack_line *table;  /* behind all smaller ones */
	struct reuse_stack_line *recent; /* the last one accessed, or NULL */
	uint64_t *bits;
	uint64_t *blocks; /* occupied positions, 16 bits each */
	uint64_t *groups; /* 32 bits each */
	uint32_t *ranges;
	uint32_t *order; /* of reuse_stack_each: places by position */
};

struct layout {
	size_t table, bits, blocks, groups, ranges, order, end;
};

static size_t round_up(size_t bytes)
{
	return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

static uint32_t positions_max(uint32_t lines)
{
	uint32_t n = lines * ROOM;

	return n < RANGE ? RANGE : n;
}

static struct layout layout(uint32_t lines)
{
	size_t positions = positions_max(lines);
	size_t places = 4 * (size_t)lines - PLACES_MIN; /* of all tables */
	struct layout l;

	l.table = round_up(sizeof(struct reuse_stack));
	l.bits = l.table + places * sizeof(struct reuse_stack_line);
	l.blocks = l.bits + positions / 8;
	l.groups = l.blocks + positions / BLOCK * (BLOCK_COUNT_BITS / 8);
	l.ranges = l.groups + positions / GROUP * (GROUP_COUNT_BITS / 8);
	l.order = l.ranges + round_up(positions / RANGE * sizeof(uint32_t));
	l.end = l.order + lines * sizeof(uint32_t);
	return l;
}

size_t reuse_stack_size(uint32_t lines)
{
	if (lines < REUSE_STACK_LINES_MIN || lines > REUSE_STACK_LINES_MAX ||
	    (lines & (lines - 1)))
		return 0;
	return layout(lines).end;
}

/* Nobody has given anything up. */
static void fill_counts(struct reuse_stack *s)
{
	uint32_t ranges = (s->positions + RANGE - 1) / RANGE;

	for (uint32_t i = 0; i < ranges * (RANGE / BLOCK / 4); i++)
		s->blocks[i] = BLOCK * UINT64_C(0x0001000100010001);
	for (uint32_t i = 0; i < ranges * (RANGE / GROUP / 2); i++)
		s->groups[i] = GROUP * UINT64_C(0x0000000100000001);
	for (uint32_t i = 0; i < ranges; i++)
		s->ranges[i] = RANGE;
}

struct reuse_stack *reuse_stack_init(void *mem, uint32_t lines)
{
	struct reuse_stack *s = mem;
	unsigned char *base = mem;
	struct layout l;

	if (!reuse_stack_size(lines))
		return NULL;
	l = layout(lines);
	s->lines_max = lines;
	s->rows = PLACES_MIN / ROW;
	s->positions = POSITIONS_MIN;
	s->table = (void *)(base + l.table);
	s->bits = (void *)(base + l.bits);
	s->blocks = (void *)(base + l.blocks);
	s->groups = (void *)(base + l.groups);
	s->ranges = (void *)(base + l.ranges);
	s->order = (void *)(base + l.order);
	fill_counts(s);
	return s;
}

/* ---- the table ----------------------------------------------------------- */

static uint64_t mix(uint64_t x)
{
	x ^= x >> 32;
	x *= 0xD6E8FEB86659FD93ull;
	x ^= x >> 32;
	x *= 0xD6E8FEB86659FD93ull;
	return x ^ (x >> 32);
}

/* By its own bits of a hash of the line alone. */
static bool is_left_out(const struct reuse_stack *s, uint64_t line)
{
	return s->left_out && mix(line + 1) >> (WORD_BITS - s->left_out) != 0;
}

struct place {
	uint32_t row, at; /* in the row */
};

/*
 * Lines a power of two apart would all have the same place in their rows:
 * the row's hash permutes the places.
 */
static struct place home(const struct reuse_stack *s, uint64_t line)
{
	uint64_t h = mix(line / ROW);

	return (struct place){
		.row = h & (s->rows - 1),
		.at = (line ^ h >> HASH_BITS) % ROW,
	};
}

/* The line's place, or the empty one that it would take. */
static struct reuse_stack_line *find(const struct reuse_stack *s, uint64_t line)
{
	struct place p = home(s, line);

	for (;; p.row = (p.row + 1) & (s->rows - 1)) {
		struct reuse_stack_line *l = &s->table[p.row * ROW + p.at];

		if (l->key == line + 1 || !l->key)
			return l;
	}
}

static uint32_t places(const struct reuse_stack *s)
{
	return s->rows * ROW;
}

/* Empty place @hole, and move up what probing would not find any more. */
static void delete (struct reuse_stack *s, uint32_t hole)
{
	uint32_t mask = s->rows - 1, at = hole % ROW;
	uint32_t to = hole / ROW, from = to;

	for (;;) {
		struct reuse_stack_line *l;
		uint32_t wanted;

		from = (from + 1) & mask;
		l = &s->table[from * ROW + at];
		if (!l->key)
			break;
		wanted = home(s, l->key - 1).row;
		/* Stays if its home lies cyclically in (to, from]. */
		if (((from - wanted) & mask) < ((from - to) & mask))
			continue;
		s->table[to * ROW + at] = *l;
		to = from;
	}
	s->table[to * ROW + at] = (struct reuse_stack_line){ 0 };
}

/* Advice about the whole pages of [@start, @end); it may be ignored. */
static void advise(void *start, void *end, int advice)
{
	uintptr_t low = ((uintptr_t)start + PAGE_BYTES - 1) & -PAGE_BYTES;
	uintptr_t high = (uintptr_t)end & -PAGE_BYTES;

	if (low < high)
		rawcall3(SYS_madvise, low, high - low, advice);
}

static void grow(struct reuse_stack *s)
{
	struct reuse_stack_line *old = s->table, *end = old + places(s);

	s->table = end;
	s->rows *= 2;
	if (places(s) * sizeof(*old) >= HUGE_BYTES)
		advise(end, end + places(s), MADV_HUGEPAGE);
	for (struct reuse_stack_line *l = old; l < end; l++)
		if (l->key)
			*find(s, l->key - 1) = *l;
	advise(old, end, MADV_DONTNEED);
}

/* ---- positions ----------------------------------------------------------- */

/* Ones of each byte, in that byte: not every processor counts them itself. */
static uint64_t ones(uint64_t x)
{
	x -= x >> 1 & 0x5555555555555555;
	x = (x & 0x3333333333333333) + (x >> 2 & 0x3333333333333333);
	return (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0f;
}

static const uint64_t keep[2 * WORDS] = {
	[0 ... WORDS - 1] = ~UINT64_C(0),
};

/* The lowest @n bits of the cache line at @from, which n < 512 is within. */
static inline void lowest(uint64_t to[WORDS], const uint64_t *from, uint32_t n)
{
	const uint64_t *k = keep + WORDS - n / WORD_BITS;

	for (int i = 0; i < WORDS; i++)
		to[i] = from[i] & k[i];
	to[n / WORD_BITS] =
		from[n / WORD_BITS] & ((UINT64_C(1) << n % WORD_BITS) - 1);
}

/* Occupied positions below @p. */
static uint32_t below(const struct reuse_stack *s, uint32_t p)
{
	uint32_t block = p / BLOCK, group = p / GROUP, range = p / RANGE;
	uint64_t in_block[WORDS], in_group[WORDS], in_range[WORDS];
	uint64_t a = 0, b = 0, c = 0;
	uint32_t n = 0;

	lowest(in_block, s->bits + block * WORDS, p % BLOCK);
	lowest(in_group, s->blocks + group * WORDS,
	       block % 32 * BLOCK_COUNT_BITS);
	lowest(in_range, s->groups + range * WORDS,
	       group % 16 * GROUP_COUNT_BITS);
	for (int i = 0; i < WORDS; i++) {
		a += ones(in_block[i]);
		b += in_group[i];
		c += in_range[i];
	}
	for (uint32_t i = 0; i < range; i++)
		n += s->ranges[i];
	a = (a & 0x00ff00ff00ff00ff) + (a >> 8 & 0x00ff00ff00ff00ff);
	return n + (uint32_t)c + (uint32_t)(c >> 32) +
	       (uint32_t)((a + b) * 0x0001000100010001 >> 48);
}

static void give_up(struct reuse_stack *s, uint32_t p)
{
	uint32_t block = p / BLOCK, group = p / GROUP;

	s->bits[p / WORD_BITS] &= ~(UINT64_C(1) << p % WORD_BITS);
	s->blocks[block / 4] -= UINT64_C(1) << block % 4 * BLOCK_COUNT_BITS;
	s->groups[group / 2] -= UINT64_C(1) << group % 2 * GROUP_COUNT_BITS;
	s->ranges[p / RANGE]--;
}

static uint32_t take_position(struct reuse_stack *s)
{
	uint32_t p = s->next++;

	s->bits[p / WORD_BITS] |= UINT64_C(1) << p % WORD_BITS;
	return p;
}

/* Make room: move all lines to the lowest positions, in their order. */
static void compact(struct reuse_stack *s)
{
	uint32_t most = positions_max(s->lines_max);
	struct reuse_stack_line *end = s->table + places(s);

	for (struct reuse_stack_line *l = s->table; l < end; l++)
		if (l->key)
			l->position = below(s, l->position);
	for (uint32_t w = 0; w < s->positions / WORD_BITS; w++)
		s->bits[w] = w < s->lines / WORD_BITS ? ~UINT64_C(0) : 0;
	if (s->lines % WORD_BITS)
		s->bits[s->lines / WORD_BITS] =
			(UINT64_C(1) << s->lines % WORD_BITS) - 1;
	while (s->positions < most && s->positions < s->lines * ROOM)
		s->positions *= 2;
	s->next = s->lines;
	fill_counts(s);
}

/* Leave out every second line of those that are left. */
static void thin_out(struct reuse_stack *s)
{
	s->left_out++;
	for (uint32_t i = 0; i < places(s); i++) {
		struct reuse_stack_line *l = &s->table[i];

		/* Another line may move to the place. */
		while (l->key && is_left_out(s, l->key - 1)) {
			give_up(s, l->position);
			delete (s, i);
			s->lines--;
		}
	}
}

/* A place for @line, which is new and not left out. NULL: it now is. */
static struct reuse_stack_line *insert(struct reuse_stack *s, uint64_t line)
{
	struct reuse_stack_line *l;

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

struct reuse_stack_line *reuse_stack_access(struct reuse_stack *s,
					    uint64_t line, uint64_t *distance)
{
	struct reuse_stack_line *l = s->recent;

	if (l && l->key == line + 1) {
		*distance = 0;
		return l;
	}
	if (is_left_out(s, line))
		return NULL;
	if (s->next == s->positions)
		compact(s);
	l = find(s, line);
	if (l->key) {
		*distance = (uint64_t)(s->lines - 1 - below(s, l->position))
			    << s->left_out;
		give_up(s, l->position);
	} else {
		*distance = REUSE_STACK_COLD;
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

uint64_t reuse_stack_weight(const struct reuse_stack *s)
{
	return UINT64_C(1) << s->left_out;
}

uint32_t reuse_stack_lines(const struct reuse_stack *s)
{
	return s->lines;
}

void reuse_stack_each(struct reuse_stack *s,
		      void (*fn)(void *ctx, struct reuse_stack_line *line),
		      void *ctx)
{
	compact(s);
	for (uint32_t i = 0; i < places(s); i++)
		if (s->table[i].key)
			s->order[s->table[i].position] = i;
	for (uint32_t i = 0; i < s->lines; i++)
		fn(ctx, &s->table[s->order[i]]);
}
