/* SPDX-License-Identifier: MIT */
/*
 * visits - would padding have avoided what a detection found?
 *
 * By the published definition a detection is false sharing if the bytes of two
 * accesses do not overlap. But padding does not separate a mutex from the
 * counter that it protects: whoever takes the one needs the other. So a source
 * that sees more than one access looks at the whole visit, the bytes of the
 * line that the thread touches from there on. If other threads store to none of
 * them, a line of its own would have spared the thread the transfer. Otherwise
 * it needs what others have stored. (Dubois and others call the former useless
 * misses, ISCA 1993.)
 *
 * A table keeps who stored to which bytes of lines that had a detection, from
 * all visits and sampled stores since. So the first visits of a line are judged
 * by little: what is stored seldom is known late, and padding then seems to
 * avoid more.
 *
 * Context: any, handler included. Every operation on the table is relaxed and
 * concerns one byte or one line: a thread that reads while another one writes,
 * or while a line takes the place of another, may judge one visit wrongly.
 */
#ifndef COMDET_ENGINE_VISITS_H
#define COMDET_ENGINE_VISITS_H

#include <stdatomic.h>
#include <stdint.h>

#include "src/base/access.h"

enum {
	VISIT_LINE_BYTES = 64,
	VISIT_LINES = 512, /* that the table keeps, by their hash */
};

enum padding {
	PADDING_UNKNOWN,
	PADDING_AVOIDS,
	PADDING_KEEPS
};

/* What a thread does with a line; a bit for each byte. */
struct visit {
	uint64_t line;
	uint64_t touched, stored;
};

/* All zero at first. */
struct visit_table {
	struct {
		_Atomic uint64_t line;
		/* Who stored to each byte: thread + 1, MANY, or 0. */
		_Atomic uint32_t by[VISIT_LINE_BYTES];
	} slot[VISIT_LINES];
};

/* The bytes of @a that lie on @line. */
uint64_t visit_bytes(uint64_t line, const struct access *a);

/* Count @a, an access of the thread, if it is to the line. */
void visit_add(struct visit *v, const struct access *a);

/*
 * Thread @thread was sampled at access @a: if it stores to a line of the table,
 * remember that.
 */
void visit_sampled(struct visit_table *t, uint32_t thread,
		   const struct access *a);

/*
 * @thread's visit @v follows the store @published of @publisher. Remember what
 * they stored, and judge the visit.
 */
enum padding visit_judge(struct visit_table *t, const struct visit *v,
			 uint32_t thread, const struct access *published,
			 uint32_t publisher);

#endif
