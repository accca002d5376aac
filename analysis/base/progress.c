/* SPDX-License-Identifier: MIT */
/*
 * progress - a line on a terminal that says how long something still takes
 */
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

#include "progress.h"
#include "util.h"

enum {
	NS_OF_MS = 1000000,
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

void progress_begin(struct progress *p, FILE *to, const char *what,
		    uint64_t all)
{
	p->to = isatty(fileno(to)) ? to : NULL;
	p->what = what;
	p->all = all;
	p->parts = 1;
	p->begin = now_ns();
	atomic_init(&p->done, 0);
	atomic_init(&p->next, (uint64_t)PROGRESS_AFTER_MS * NS_OF_MS);
	atomic_init(&p->shown, false);
}

void progress_count(struct progress *p, FILE *to, const char *what,
		    uint64_t parts)
{
	progress_begin(p, to, what, 0);
	p->parts = parts;
}

void progress_add_at(struct progress *p, uint64_t more, uint64_t now)
{
	uint64_t done = atomic_fetch_add(&p->done, more) + more;
	uint64_t next = atomic_load(&p->next);
	double left;

	if (!p->to || now < next || (p->all && done > p->all))
		return;
	if (!atomic_compare_exchange_strong(&p->next, &next,
					    now + PROGRESS_EVERY_MS * NS_OF_MS))
		return; /* another thread writes it */
	if (!p->all) {
		fprintf(p->to, "\r\033[K%s: %s instructions", p->what,
			count_text(done / p->parts));
		fflush(p->to);
		atomic_store(&p->shown, true);
		return;
	}
	left = (double)now / (double)done * (double)(p->all - done);
	fprintf(p->to, "\r\033[K%s: %llu %%, %s left", p->what,
		(unsigned long long)(100 * done / p->all),
		duration_text((uint64_t)left));
	fflush(p->to);
	atomic_store(&p->shown, true);
}

void progress_add(struct progress *p, uint64_t more)
{
	progress_add_at(p, more, now_ns() - p->begin);
}

void progress_end(struct progress *p)
{
	if (atomic_load(&p->shown))
		fputs("\r\033[K", p->to);
}
