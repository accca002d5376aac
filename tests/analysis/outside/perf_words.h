/* SPDX-License-Identifier: MIT */
/*
 * perf_words - records as the kernel writes them, and a ring without a kernel
 */
#ifndef TESTS_OUTSIDE_PERF_WORDS_H
#define TESTS_OUTSIDE_PERF_WORDS_H

#include <stdlib.h>
#include <string.h>

#include "analysis/outside/record.h"
#include "analysis/outside/rings.h"

enum {
	WORDS_MAX = 128
};

/* A record that is being made; its header is the first word. */
struct perf_words {
	uint64_t word[WORDS_MAX];
	size_t words;
};

static inline void words_add(struct perf_words *w, uint64_t word)
{
	w->word[w->words++] = word;
}

static inline void words_pair(struct perf_words *w, uint32_t low, uint32_t high)
{
	words_add(w, (uint64_t)high << 32 | low);
}

static inline void words_text(struct perf_words *w, const char *text)
{
	size_t n = strlen(text) / 8 + 1;

	memset(&w->word[w->words], 0, 8 * n);
	memcpy(&w->word[w->words], text, strlen(text));
	w->words += n;
}

static inline struct perf_event_header *words_end(struct perf_words *w,
						  uint32_t type, uint16_t misc)
{
	struct perf_event_header h = { .type = type,
				       .misc = misc,
				       .size = (uint16_t)(8 * w->words) };

	memcpy(w->word, &h, sizeof(h));
	return (struct perf_event_header *)w->word;
}

/* The fields behind every record but a sample. */
static inline struct perf_event_header *words_trailer(
	struct perf_words *w, uint32_t type, uint16_t misc, uint32_t pid,
	uint32_t tid, uint64_t time)
{
	words_pair(w, pid, tid);
	words_add(w, time);
	words_pair(w, 1, 0); /* processor */
	words_add(w, 77);    /* identifier */
	return words_end(w, type, misc);
}

static inline struct perf_words words_begin(void)
{
	return (struct perf_words){ .words = 1 };
}

static inline struct perf_words words_sample(uint64_t id, uint32_t pid,
					     uint32_t tid, uint64_t time,
					     uint64_t addr, bool regs)
{
	struct perf_words w = words_begin();

	words_add(&w, id);
	words_add(&w, 0x401000);
	words_pair(&w, pid, tid);
	words_add(&w, time);
	words_add(&w, addr);
	words_pair(&w, 3, 0);
	words_add(&w, regs ? PERF_SAMPLE_REGS_ABI_64 : 0);
	for (uint64_t i = 0; regs && i < 18; i++)
		words_add(&w, 100 + i);
	words_end(&w, PERF_RECORD_SAMPLE, 0);
	return w;
}

static inline struct perf_words words_task(uint32_t type, uint32_t pid,
					   uint32_t parent_pid, uint32_t tid,
					   uint32_t parent_tid, uint64_t time)
{
	struct perf_words w = words_begin();

	words_pair(&w, pid, parent_pid);
	words_pair(&w, tid, parent_tid);
	words_add(&w, time);
	words_trailer(&w, type, 0, parent_pid, parent_tid, time);
	return w;
}

/* A ring in ordinary memory. */
static inline void fake_ring_init(struct outside_ring *r, uint32_t pages)
{
	void *at = NULL;

	memset(r, 0, sizeof(*r));
	if (posix_memalign(&at, 4096, (pages + 1) * 4096ul))
		abort();
	memset(at, 0, (pages + 1) * 4096ul);
	perf_ring_init(&r->perf, at, pages);
}

static inline void fake_ring_put(struct outside_ring *r,
				 const struct perf_words *w)
{
	char *data = (char *)r->perf.page + 4096;

	for (size_t i = 0; i < w->words; i++) {
		memcpy(data + (r->perf.page->data_head & (r->perf.bytes - 1)),
		       &w->word[i], 8);
		r->perf.page->data_head += 8;
	}
}

static inline void fake_ring_release(struct outside_ring *r)
{
	free(r->perf.page);
}

#endif
