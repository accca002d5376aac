/* SPDX-License-Identifier: MIT */
/*
 * line_log - who touched which bytes of a cache line, in some windows of a run
 */
#include "line_log.h"
#include "src/base/signal_safe.h"

size_t line_log_windows(uint32_t logs)
{
	size_t more = LINE_LOG_LONG_WINDOWS - LINE_LOG_WINDOWS;
	size_t longer = logs < LINE_LOG_LONG ? logs : LINE_LOG_LONG;

	return (size_t)logs * LINE_LOG_WINDOWS + longer * more;
}

void line_log_begin(struct line_log *log, struct line_window *windows,
		    uint32_t i)
{
	*log = (struct line_log){
		.capacity = line_log_windows(i + 1) - line_log_windows(i),
		.window = windows + line_log_windows(i),
	};
}

static void drop_every_other(struct line_log *log)
{
	uint32_t kept = 0;

	for (uint32_t w = 0; w < log->windows; w += 2, kept++)
		if (w != kept)
			log->window[kept] = log->window[w];
	log->windows = kept;
	log->spacing *= 2;
}

void line_log_transfer(struct line_log *log, uint64_t transfers)
{
	if (!log->next) {
		log->next = LINE_LOG_FIRST;
		log->spacing = LINE_LOG_SPACING;
	}
	if (log->open || transfers < log->next)
		return;
	if (log->windows == log->capacity)
		drop_every_other(log);
	log->next = transfers + log->spacing;
	log->window[log->windows++].n = 0;
	log->open = true;
}

void line_log_add(struct line_log *log, uint32_t thread, uint64_t bytes,
		  bool is_store)
{
	struct line_window *w;
	struct line_turn *t;
	uint32_t n;

	if (!log->open)
		return;
	w = &log->window[log->windows - 1];
	n = w->n;
	t = w->turn + n - 1;
	if (!n || t->thread != thread) {
		if (n == LINE_LOG_TURNS) {
			log->open = false;
			return;
		}
		t = w->turn + w->n++;
		*t = (struct line_turn){ .thread = thread };
	}
	t->touched |= bytes;
	t->stored |= is_store ? bytes : 0;
}
