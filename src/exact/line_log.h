/* SPDX-License-Identifier: MIT */
/*
 * line_log - who touched which bytes of a cache line, in some windows of a run
 *
 * From a log follows what would have happened if some bytes of the line had had
 * a line of their own (cure.h). What a thread does before another one accesses
 * the line is one entry, a turn: the order within it changes no transfer.
 *
 * A log has room for some windows of consecutive turns: the logs that are begun
 * first, of which the most used lines are likely to have one, for more than
 * others. The first window opens with the line's transfer number
 * LINE_LOG_FIRST. Whenever there is no room, every other window is dropped and
 * the distance between windows is doubled. So the windows are spread evenly
 * over the line's transfers, however many there are.
 *
 * Context: one thread at a time, handler included. Nothing is allocated.
 */
#ifndef COMDET_EXACT_LINE_LOG_H
#define COMDET_EXACT_LINE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	LINE_LOG_TURNS = 128,
	LINE_LOG_WINDOWS = 32,
	LINE_LOG_LONG = 64,          /* so many logs have more: */
	LINE_LOG_LONG_WINDOWS = 128, /* of these lines */
	LINE_LOG_FIRST = 8,     /* a line with fewer transfers needs no log */
	LINE_LOG_SPACING = 160, /* transfers between windows, at first */
};

struct line_turn {
	uint64_t touched, stored; /* bytes, a bit each */
	uint32_t thread;
	uint32_t spare;
};

struct line_window {
	uint32_t n; /* turns */
	uint32_t spare;
	struct line_turn turn[LINE_LOG_TURNS];
};

struct line_log {
	uint32_t windows;  /* the last one may be open */
	uint32_t capacity; /* there is room for so many */
	bool open;
	uint64_t next;    /* transfer that opens a window; 0: LINE_LOG_FIRST */
	uint64_t spacing; /* 0: LINE_LOG_SPACING */
	struct line_window *window;
};

/* Windows that the first @logs logs need. */
size_t line_log_windows(uint32_t logs);

/*
 * Begin log number @i of those whose windows are at @windows: as many as all
 * need, all zero.
 */
void line_log_begin(struct line_log *log, struct line_window *windows,
		    uint32_t i);

/*
 * The line had its transfer number @transfers. This may open a window; the
 * access that caused the transfer belongs to it.
 */
void line_log_transfer(struct line_log *log, uint64_t transfers);

/*
 * Thread @thread touched @bytes of the line, and stored to them if @is_store.
 * Nothing is written while no window is open. A full window closes.
 */
void line_log_add(struct line_log *log, uint32_t thread, uint64_t bytes,
		  bool is_store);

#endif
