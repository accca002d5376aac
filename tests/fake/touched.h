/* SPDX-License-Identifier: MIT */
/*
 * touched - accesses to members, by instructions of this program
 *
 * The compiler is the oracle: it knows where the members are. Labels in the
 * code say which instructions access them. fake_own_maps() makes them known to
 * the reader.
 */
#ifndef COMDET_TESTS_FAKE_TOUCHED_H
#define COMDET_TESTS_FAKE_TOUCHED_H

#include <sys/stat.h>

#include "fake_profile.h"

#define LINE UINT64_C(0x7f0000001000)

struct part {
	long hits, misses;
};
struct worker {
	int id;
	struct part part;
};

struct part variable[4] __attribute__((aligned(64)));

void touch_worker(struct worker *w);
void touch_part(struct part *p);
void touch_variable(void);
void touch_library(struct stat *s);

/* One instruction each, whose address is that of the label. */
#define TOUCH(label, member)                                                   \
	__asm__ volatile(".globl " #label "\n" #label ":\n\t"                  \
			 "incq %0"                                             \
			 : "+m"(member))

__attribute__((noinline, used)) void touch_worker(struct worker *w)
{
	TOUCH(touches_misses, w->part.misses);
}

__attribute__((noinline, used)) void touch_part(struct part *p)
{
	TOUCH(touches_part, p->hits);
}

__attribute__((noinline, used)) void touch_variable(void)
{
	TOUCH(touches_variable, variable[2].hits);
}

/* A type that the C library declares. */
__attribute__((noinline, used)) void touch_library(struct stat *s)
{
	TOUCH(touches_library, s->st_size);
}

extern const char touches_misses[], touches_part[], touches_variable[],
	touches_library[];

/* @n detections of accesses to @first and @second, by the same instruction. */
static inline struct cdp_pair *touched_by(struct fake *f, const char *ip,
					  uint64_t first, uint64_t second,
					  int n)
{
	struct cdp_pair *p = fake_pair(f, 0, 1, first, second, n);

	p->publisher_len = p->detector_len = 8;
	p->publisher_ip = p->detector_ip = (uintptr_t)ip;
	return p;
}

#endif
