/* SPDX-License-Identifier: MIT */
/*
 * reuse_stack - LRU stack distances of a stream of lines
 *
 * Each access takes the next of a row of positions, and the line gives up the
 * one it had: the lines in the order of their positions are the stack. The
 * distance is the number of occupied positions above the line's old one. There
 * is a bit for each position, and a Fenwick tree over blocks of 512 of them;
 * the block that is being filled is not in the tree yet, so that only what an
 * access takes away is a walk of the tree.
 *
 * When the positions are used up, the lines move down to the first ones. There
 * are at least eight positions a line, so that costs each access a seventh of a
 * move.
 *
 * The hash table has groups of 16 lines, neighbours in memory, because they
 * are neighbours in time too. A line that finds its place taken goes to the
 * same place of the next group, so the table is 16 tables with linear probing.
 */
#include <stdbool.h>

#include "reuse_stack.h"

enum {
	ALIGN = 64,
	BLOCK_BITS = 512,
	WORD_BITS = 64,
	BLOCK_WORDS = BLOCK_BITS / WORD_BITS,
	GROUP = 16,
	ROOM = 8,        /* positions a line */
	LOOK_AHEAD = 16, /* lines, while they are moved */
	POSITIONS_MIN = 64 * BLOCK_BITS,
	HASH_BITS = 32,
};

struct reuse_stack {
	uint32_t lines_max, lines;
	uint32_t groups;    /* of the table, a power of two */
	uint32_t positions; /* in use at present, whole blocks */
	uint32_t next;      /* the position of the next access */
	uint32_t head;      /* its block, which is not in the tree */
	uint32_t left_out;  /* log2 of the weight */
	struct reuse_stack_line *table;
	uint64_t *bits;
	uint32_t *tree;  /* [1] is the first block */
	uint32_t *where; /* the place in the table, by position */
};

struct layout {
	size_t table, bits, tree, where, end;
};

static size_t round_up(size_t bytes)
{
	return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

static uint32_t positions_max(uint32_t lines)
{
	uint32_t n = lines * ROOM;

	return n < POSITIONS_MIN ? POSITIONS_MIN : n;
}

static struct layout layout(uint32_t lines)
{
	size_t positions = positions_max(lines);
	struct layout l;

	l.table = round_up(sizeof(struct reuse_stack));
	l.bits = l.table +
		 round_up(2 * (size_t)lines * sizeof(struct reuse_stack_line));
	l.tree = l.bits + round_up(positions / 8);
	l.where = l.tree +
		  round_up((positions / BLOCK_BITS + 1) * sizeof(uint32_t));
	l.end = l.where + positions * sizeof(uint32_t);
	return l;
}

size_t reuse_stack_size(uint32_t lines)
{
	if (lines < REUSE_STACK_LINES_MIN || lines > REUSE_STACK_LINES_MAX ||
	    (lines & (lines - 1)))
		return 0;
	return layout(lines).end;
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
	s->groups = 2 * lines / GROUP;
	s->positions = POSITIONS_MIN;
	s->table = (void *)(base + l.table);
	s->bits = (void *)(base + l.bits);
	s->tree = (void *)(base + l.tree);
	s->where = (void *)(base + l.where);
	return s;
}

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
	uint32_t group, at; /* in the group */
};

/*
 * Lines a power of two apart would all have the same place in their groups:
 * the group's hash permutes the places.
 */
static struct place home(const struct reuse_stack *s, uint64_t line)
{
	uint64_t h = mix(line / GROUP);

	return (struct place){
		.group = h & (s->groups - 1),
		.at = (line ^ h >> HASH_BITS) % GROUP,
	};
}

static uint32_t index_of(const struct reuse_stack *s, struct place p)
{
	return (p.group & (s->groups - 1)) * GROUP + p.at;
}

/* The line's place, or the empty one that it would take. */
static uint32_t find(const struct reuse_stack *s, uint64_t line)
{
	struct place p = home(s, line);
	uint32_t i;

	for (;; p.group++) {
		i = index_of(s, p);
		if (s->table[i].key == line + 1 || !s->table[i].key)
			return i;
	}
}

/* Empty place @hole, and move up what probing would not find any more. */
static void delete (struct reuse_stack *s, uint32_t hole)
{
	uint32_t mask = s->groups - 1, at = hole % GROUP;
	uint32_t to = hole / GROUP, from = to;

	for (;;) {
		struct reuse_stack_line *l;
		uint32_t wanted;

		from = (from + 1) & mask;
		l = &s->table[from * GROUP + at];
		if (!l->key)
			break;
		wanted = home(s, l->key - 1).group;
		/* Stays if its home lies cyclically in (to, from]. */
		if (((from - wanted) & mask) < ((from - to) & mask))
			continue;
		s->table[to * GROUP + at] = *l;
		s->where[l->position] = to * GROUP + at;
		to = from;
	}
	s->table[to * GROUP + at] = (struct reuse_stack_line){ 0 };
}

/* Ones of each byte, in that byte: not every processor counts them itself. */
static uint64_t ones(uint64_t x)
{
	x -= x >> 1 & 0x5555555555555555;
	x = (x & 0x3333333333333333) + (x >> 2 & 0x3333333333333333);
	return (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0f;
}

/* The sum over the bytes; of a block that is more than a byte holds. */
static uint32_t sum_of(uint64_t x)
{
	x = (x & 0x00ff00ff00ff00ff) + (x >> 8 & 0x00ff00ff00ff00ff);
	return x * 0x0001000100010001 >> 48;
}

/* Occupied positions of @position's block that are above it. */
static uint32_t above_in_block(const struct reuse_stack *s, uint32_t position)
{
	uint32_t word = position / WORD_BITS;
	uint32_t end = (position / BLOCK_BITS + 1) * BLOCK_WORDS;
	uint64_t n = ones(s->bits[word] >> position % WORD_BITS);

	while (++word < end)
		n += ones(s->bits[word]);
	return sum_of(n) - 1;
}

/* Occupied positions of the blocks up to @block, head excluded. */
static uint32_t up_to(const struct reuse_stack *s, uint32_t block)
{
	uint32_t n = 0;

	for (uint32_t i = block + 1; i; i &= i - 1)
		n += s->tree[i];
	return n;
}

static void add(struct reuse_stack *s, uint32_t block, uint32_t n)
{
	uint32_t blocks = s->positions / BLOCK_BITS;

	for (uint32_t i = block + 1; i <= blocks; i += i & -i)
		s->tree[i] += n;
}

static uint32_t in_block(const struct reuse_stack *s, uint32_t block)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < BLOCK_WORDS; i++)
		n += ones(s->bits[block * BLOCK_WORDS + i]);
	return sum_of(n);
}

/* The lines above @position, which is occupied and is given up. */
static uint32_t give_up(struct reuse_stack *s, uint32_t position)
{
	uint32_t block = position / BLOCK_BITS, n;

	n = above_in_block(s, position);
	if (block != s->head) {
		n += s->lines - up_to(s, block);
		add(s, block, -1u);
	}
	s->bits[position / WORD_BITS] &= ~(UINT64_C(1) << position % WORD_BITS);
	return n;
}

/* From the bits below @end, which are whole blocks but for the last. */
static void build_tree(struct reuse_stack *s, uint32_t end)
{
	uint32_t blocks = s->positions / BLOCK_BITS;

	s->head = end / BLOCK_BITS;
	for (uint32_t i = 1; i <= blocks; i++)
		s->tree[i] = i <= s->head ? in_block(s, i - 1) : 0;
	for (uint32_t i = 1; i <= blocks; i++) {
		uint32_t parent = i + (i & -i);

		if (parent <= blocks)
			s->tree[parent] += s->tree[i];
	}
}

/* Leave out every second line of those that are left. */
static void thin_out(struct reuse_stack *s)
{
	s->left_out++;
	for (uint32_t p = 0; p < s->next; p++) {
		uint64_t *word = &s->bits[p / WORD_BITS];
		uint64_t bit = UINT64_C(1) << p % WORD_BITS;

		if (!(*word & bit) ||
		    !is_left_out(s, s->table[s->where[p]].key - 1))
			continue;
		*word &= ~bit;
		s->lines--;
		delete (s, s->where[p]);
	}
}

/* Make room: move all lines to the lowest positions, in their order. */
static void compact(struct reuse_stack *s)
{
	uint32_t to = 0, most = positions_max(s->lines_max);

	for (uint32_t w = 0; w < s->positions / WORD_BITS; w++) {
		uint64_t word = s->bits[w];

		for (; word; word &= word - 1)
			s->where[to++] =
				s->where[w * WORD_BITS + __builtin_ctzll(word)];
		s->bits[w] = 0;
	}
	for (uint32_t p = 0; p < to; p++) {
		if (p + LOOK_AHEAD < to)
			__builtin_prefetch(&s->table[s->where[p + LOOK_AHEAD]],
					   1);
		s->table[s->where[p]].position = p;
		s->bits[p / WORD_BITS] |= UINT64_C(1) << p % WORD_BITS;
	}
	while (s->positions < most && s->positions < to * ROOM)
		s->positions *= 2;
	s->next = to;
	build_tree(s, to);
}

static uint32_t take_position(struct reuse_stack *s)
{
	uint32_t p = s->next++;

	if (p / BLOCK_BITS != s->head) {
		add(s, s->head, in_block(s, s->head));
		s->head = p / BLOCK_BITS;
	}
	s->bits[p / WORD_BITS] |= UINT64_C(1) << p % WORD_BITS;
	return p;
}

struct reuse_stack_line *reuse_stack_access(struct reuse_stack *s,
					    uint64_t line, uint64_t *distance)
{
	struct reuse_stack_line *l;
	uint32_t i;

	if (is_left_out(s, line))
		return NULL;
	if (s->next == s->positions)
		compact(s);
	i = find(s, line);
	l = &s->table[i];
	if (l->key) {
		*distance = (uint64_t)give_up(s, l->position) << s->left_out;
	} else {
		*distance = REUSE_STACK_COLD;
		if (s->lines == s->lines_max) {
			do
				thin_out(s);
			while (s->lines > s->lines_max / 4 * 3);
			compact(s);
			if (is_left_out(s, line))
				return NULL;
			i = find(s, line);
			l = &s->table[i];
		}
		l->key = line + 1;
		s->lines++;
	}
	l->position = take_position(s);
	s->where[l->position] = i;
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
	for (uint32_t w = 0; w < s->positions / WORD_BITS; w++) {
		uint64_t word = s->bits[w];

		for (; word; word &= word - 1)
			fn(ctx, &s->table[s->where[w * WORD_BITS +
						   __builtin_ctzll(word)]]);
	}
}
