/* SPDX-License-Identifier: MIT */
/*
 * lru_stack - LRU stack distances of a stream of lines
 *
 * The stack distance of an access is the number of distinct lines accessed
 * since the last access to its line: A B B A is 1. A fully associative LRU
 * cache of C lines misses where the distance is C or more.
 *
 * Distances are exact while the lines fit. Then the stack keeps every second
 * line, chosen by a hash of the line, then every fourth, and so on. Distances
 * among the lines that are kept, times the inverse of the share kept, estimate
 * those among all (Waldspurger et al., Efficient MRC construction with SHARDS,
 * FAST 2015, with a fixed number of lines).
 *
 * An access costs one look into a hash table and a few cache lines of counts.
 *
 * A stack belongs to one thread, or to the holder of a lock. No call allocates.
 */
#ifndef COMDET_EXACT_LRU_STACK_H
#define COMDET_EXACT_LRU_STACK_H

#include <stddef.h>
#include <stdint.h>

enum {
	LRU_STACK_LINES_MIN = 1 << 12,
	LRU_STACK_LINES_MAX = 1 << 26,
};

#define LRU_STACK_COLD UINT64_MAX

/* One line of the stack. The caller's fields are 0 at its first access. */
struct lru_stack_line {
	uint64_t key; /* the line's number + 1; 0: no line */
	/* the caller's */
	uint64_t time : 48;
	uint64_t core : 15;
	uint64_t stored : 1;
	uint64_t bytes;
	uint32_t version;
	/* the stack's */
	uint32_t position;
};

struct lru_stack;

/* Bytes of memory for @lines lines, a power of two; 0 if out of range. */
size_t lru_stack_size(uint32_t lines);

/*
 * Make an empty stack in @mem: lru_stack_size() bytes, all zero, aligned to 64.
 * Map it with MAP_NORESERVE: some 100 bytes become resident for each line that
 * the stream touches. Context: set-up.
 */
struct lru_stack *lru_stack_init(void *mem, uint32_t lines);

/*
 * Access line number @line, below 2^58. Returns its entry, valid until the next
 * call, with the stack distance or LRU_STACK_COLD in *@distance; or NULL for a
 * line that is left out.
 */
struct lru_stack_line *lru_stack_access(struct lru_stack *s, uint64_t line,
					uint64_t *distance);

/*
 * How many accesses each access to a kept line stands for now, a power of two.
 * Distances include this factor already.
 */
uint64_t lru_stack_weight(const struct lru_stack *s);

/* Lines that are kept. */
uint32_t lru_stack_lines(const struct lru_stack *s);

/* Call @fn for each line that is kept, the least recently used first. */
void lru_stack_each(struct lru_stack *s,
		    void (*fn)(void *ctx, struct lru_stack_line *line),
		    void *ctx);

#endif
