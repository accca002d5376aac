/* SPDX-License-Identifier: MIT */
/*
 * line_log - who touched which bytes of a cache line, in some windows of a run
 */
#include <string.h>

#include "line_log.h"
#include "src/base/signal_safe.h"

static void drop_every_other(struct line_log *log)
{
	uint32_t kept = 0;

	for (uint32_t w = 0; w < log->windows; w += 2, kept++) {
		if (w == kept)
			continue;
		memcpy(log->turn[kept], log->turn[w], sizeof(log->turn[w]));
		log->n[kept] = log->n[w];
	}
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
	if (log->windows == LINE_LOG_WINDOWS)
		drop_every_other(log);
	log->next = transfers + log->spacing;
	log->n[log->windows++] = 0;
	log->accesses = 0;
	log->open = true;
}

void line_log_add(struct line_log *log, uint32_t thread, uint64_t bytes,
		  bool is_store)
{
	uint32_t w = log->windows - 1, n;
	struct line_turn *t;

	if (!log->open)
		return;
	if (++log->accesses > LINE_LOG_ACCESSES) {
		log->open = false;
		return;
	}
	n = log->n[w];
	t = log->turn[w] + n - 1;
	if (!n || t->thread != thread) {
		if (n == LINE_LOG_TURNS) {
			log->open = false;
			return;
		}
		t = log->turn[w] + log->n[w]++;
		*t = (struct line_turn){ .thread = thread };
	}
	t->touched |= bytes;
	t->stored |= is_store ? bytes : 0;
}
