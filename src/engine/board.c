/* SPDX-License-Identifier: MIT */
/*
 * board - latest sampled store per cache line, visible to all threads
 *
 * A table of slots, each a sequence lock of its own on its own cache line.
 * The sequence is odd while a writer fills in the words. All words are
 * atomics, so a reader that loses the race reads words of two entries and
 * discards them, without undefined behaviour (H. Boehm, Can seqlocks get along
 * with programming language memory models?, MSPC 2012).
 *
 * Neither side loops. A writer that finds the sequence odd gives up, since it
 * may have interrupted the writer that it would wait for.
 *
 *   board_publish                     board_read
 *     compare-exchange s, s+1  (A)      load s, must be even      (D)
 *     release fence            (B)      load words
 *     store words                       acquire fence             (E)
 *     store s+2                (C)      load s again, must be equal
 *
 * The letters are explained in docs/memory-model.md.
 */
#include <errno.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "board.h"
#include "src/base/bits.h"
#include "src/base/signal_safe.h"

enum {
	SLOT_BYTES = 64,
	ENTRY_WORDS = 7
};

struct slot {
	alignas(SLOT_BYTES) _Atomic uint64_t sequence; /* odd: being written */
	_Atomic uint64_t word[ENTRY_WORDS];
};
_Static_assert(sizeof(struct slot) == SLOT_BYTES, "a slot is a cache line");

struct board {
	uint32_t slots;
	uint32_t line_shift;
	struct slot slot[];
};

static bool slots_valid(uint32_t slots)
{
	return slots >= 1 && slots <= BOARD_SLOTS_MAX;
}

static void pack(const struct board_entry *e, uint64_t word[ENTRY_WORDS])
{
	word[0] = e->line;
	word[1] = e->time;
	word[2] = e->store.addr;
	word[3] = e->store.ip;
	word[4] = (uint64_t)e->store.flags << 32 | e->store.len;
	word[5] = (uint64_t)e->core << 32 | e->thread;
	word[6] = e->path;
}

static void unpack(const uint64_t word[ENTRY_WORDS], struct board_entry *e)
{
	e->line = word[0];
	e->time = word[1];
	e->store.addr = word[2];
	e->store.ip = word[3];
	e->store.len = (uint32_t)word[4];
	e->store.flags = word[4] >> 32;
	e->thread = (uint32_t)word[5];
	e->core = word[5] >> 32;
	e->path = (uint32_t)word[6];
}

/*
 * GCC's ThreadSanitizer does not understand fences and warns. It need not
 * understand them here: they order nothing but atomics.
 */
#if defined(__SANITIZE_THREAD__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wtsan"
#endif

static int slot_write(struct slot *s, const struct board_entry *e)
{
	uint64_t word[ENTRY_WORDS];
	uint64_t seq = atomic_load_explicit(&s->sequence, memory_order_relaxed);

	if (seq & 1)
		return -EBUSY;

	/* (A) pairs with (C): the previous writer's words are stored first. */
	if (!atomic_compare_exchange_strong_explicit(
		    &s->sequence, &seq, seq + 1, memory_order_acquire,
		    memory_order_relaxed))
		return -EBUSY;

	/* (B) pairs with (E): a reader that sees our word sees the odd number.
	 */
	atomic_thread_fence(memory_order_release);

	pack(e, word);
	for (int i = 0; i < ENTRY_WORDS; i++)
		atomic_store_explicit(&s->word[i], word[i],
				      memory_order_relaxed);

	/* (C) pairs with (A) and (D): all words come before this number. */
	atomic_store_explicit(&s->sequence, seq + 2, memory_order_release);
	return 0;
}

static int slot_read(const struct slot *s, struct board_entry *e)
{
	uint64_t word[ENTRY_WORDS];
	/* (D) pairs with (C). */
	uint64_t seq = atomic_load_explicit(&s->sequence, memory_order_acquire);

	if (seq & 1)
		return -EBUSY;
	for (int i = 0; i < ENTRY_WORDS; i++)
		word[i] =
			atomic_load_explicit(&s->word[i], memory_order_relaxed);

	/* (E) pairs with (B): the second look comes after the words. */
	atomic_thread_fence(memory_order_acquire);
	if (atomic_load_explicit(&s->sequence, memory_order_relaxed) != seq)
		return -EBUSY;
	unpack(word, e);
	return 0;
}

size_t board_size(uint32_t slots)
{
	if (!slots_valid(slots))
		return 0;
	return sizeof(struct board) + slots * sizeof(struct slot);
}

struct board *board_init(void *mem, uint32_t slots, uint32_t line_bytes)
{
	struct board *b = mem;

	if (!mem || (uintptr_t)mem % SLOT_BYTES || !slots_valid(slots) ||
	    !is_power_of_two(line_bytes))
		return NULL;
	b->slots = slots;
	b->line_shift = __builtin_ctz(line_bytes);
	for (uint32_t i = 0; i < slots; i++) {
		atomic_init(&b->slot[i].sequence, 0);
		for (int j = 0; j < ENTRY_WORDS; j++)
			atomic_init(&b->slot[i].word[j], 0);
	}
	return b;
}

uint64_t board_line(const struct board *b, uint64_t addr)
{
	return addr >> b->line_shift << b->line_shift;
}

/* Fibonacci hashing of the line's number: neighbours land far apart. */
uint32_t board_slot(const struct board *b, uint64_t line)
{
	uint64_t hash = (line >> b->line_shift) * 0x9E3779B97F4A7C15ull;

	return (uint32_t)(hash >> 32) % b->slots;
}

uint32_t board_slots(const struct board *b)
{
	return b->slots;
}

int board_publish(struct board *b, const struct board_entry *e)
{
	if (!e->line || board_line(b, e->line) != e->line)
		return -EINVAL;
	return slot_write(&b->slot[board_slot(b, e->line)], e);
}

int board_read(const struct board *b, uint64_t line, struct board_entry *e)
{
	int err = slot_read(&b->slot[board_slot(b, line)], e);

	if (err)
		return err;
	return line && e->line == line;
}

int board_read_slot(const struct board *b, uint32_t slot, struct board_entry *e)
{
	int err = slot_read(&b->slot[slot % b->slots], e);

	if (err)
		return err;
	return e->line != 0;
}
