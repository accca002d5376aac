/* SPDX-License-Identifier: MIT */
/*
 * board - latest sampled store per cache line, visible to all threads
 *
 * The bulletin board of ComDetective (thesis, section 5.3.1). A thread that
 * samples a store publishes it under its cache line. Other threads read the
 * slot to detect a communication or to choose a line to watch. A lost
 * publication costs one sample, never correctness, so no thread waits.
 *
 *                 board_publish  board_read
 * board_publish   loser drops    reader misses
 * board_read      reader misses  independent
 *
 * All calls are wait-free: none has a loop that depends on other threads. A
 * handler that interrupts a publisher on its own thread finds that one slot
 * busy and goes on. Memory order: docs/memory-model.md.
 *
 * A board belongs to the threads of one process. A child of fork() may inherit
 * a slot that was being written and would stay busy for ever, so it makes its
 * board anew with board_init().
 */
#ifndef COMDET_ENGINE_BOARD_H
#define COMDET_ENGINE_BOARD_H

#include <stddef.h>
#include <stdint.h>

#include "src/base/access.h"

enum {
	BOARD_SLOTS_DEFAULT = 127,
	BOARD_SLOTS_MAX = 1021
};

struct board_entry {
	uint64_t line;       /* address of the cache line, 0: empty */
	uint64_t time;       /* of publishing, in the engine's ticks */
	struct access store; /* what was sampled */
	uint32_t thread;     /* id of the publisher */
	uint32_t core;       /* where the publisher ran */
	uint32_t path;       /* of calls, to the store; 0: unknown */
};

struct board;

/* Bytes of memory that a board of @slots needs, 0 if there can be none. */
size_t board_size(uint32_t slots);

/*
 * Make an empty board in @mem, at least board_size(@slots) bytes and aligned
 * to 64. @line_bytes is a power of two.
 *
 * Context: set-up. Returns @mem as a board, NULL if an argument is invalid.
 */
struct board *board_init(void *mem, uint32_t slots, uint32_t line_bytes);

/* The cache line of @addr on this board. Any context. */
uint64_t board_line(const struct board *b, uint64_t addr);

/* The number of the slot for entries about @line. Any context. */
uint32_t board_slot(const struct board *b, uint64_t line);

/*
 * Publish @e in the slot of @e->line, over the entry that is there.
 *
 * Context: any, handler included; wait-free.
 * Returns 0, -EBUSY if another thread is writing the slot, or -EINVAL if
 * @e->line is 0 or not the address of a line.
 */
int board_publish(struct board *b, const struct board_entry *e);

/*
 * Copy the entry in the slot of @line to @e. It may be about another line.
 *
 * Context: any, handler included; wait-free.
 * Returns 1 if the entry is about @line, 0 if it is about another line or
 * empty (see @e->line), or -EBUSY if it was being written meanwhile; then @e is
 * unchanged.
 */
int board_read(const struct board *b, uint64_t line, struct board_entry *e);

/*
 * Copy the entry of slot number @slot (modulo the number of slots), to walk
 * over the board. Returns 1, 0 if it is empty, or -EBUSY as above.
 */
int board_read_slot(const struct board *b, uint32_t slot,
		    struct board_entry *e);

uint32_t board_slots(const struct board *b);

#endif
