/* SPDX-License-Identifier: MIT */
/*
 * line_uses - how far back each use of a line reuses it, in a thread and in all
 *
 * Each line that anybody uses has a number, its id, in the order of the first
 * uses. A thread finds it with the time of its own latest use of the line, so a
 * use looks the line up once; the state that all threads share is at its id.
 */
#ifndef COMDET_ANALYSIS_PREDICT_LINE_USES_H
#define COMDET_ANALYSIS_PREDICT_LINE_USES_H

#include "depths.h"
#include "line_times.h"
#include "prefetches.h"
#include "workload.h"

/* Of a line, among all threads. */
struct line_state {
	uint64_t used;    /* number of the latest use, from 1; 0: none */
	uint32_t version; /* grows with stores that others can notice */
	uint16_t writer;  /* the thread that stored last, + 1 */
	bool seen;        /* others used it since that store */
};

/* Of all threads. */
struct line_uses {
	struct line_times ids;   /* finds the ids alone */
	struct line_state *line; /* by id */
	size_t room;
	struct depths *depths; /* NULL: one thread */
	uint64_t n;
};

/* Of one thread; data and instructions are apart. */
struct thread_uses {
	struct line_times data, code;
	struct depths *data_depths, *code_depths;
	uint64_t data_n, code_n;
	uint64_t lines, stored_lines; /* of data */
	bool deep; /* the latest use of data was no use of a recent line */
	struct prefetches *prefetches;
	struct workload_thread *to;
	uint64_t ip;   /* of the instruction that uses lines; 0: not known */
	uint32_t uop;  /* the number of the micro-operation that uses lines */
	bool in_micro; /* it is in a micro-trace */

	/*
	 * In this window: how many uses have a depth above 0 for so many
	 * numbers of sets, from the fewest on; the others are 0.
	 */
	uint32_t above[WINDOW_KINDS][DEPTH_SIZES + 1];
	uint32_t above_shared[WINDOW_KINDS][SHARED_SIZES + 1];
};

void line_uses_init(struct line_uses *all, bool shared);
void line_uses_release(struct line_uses *all);
void thread_uses_init(struct thread_uses *t, struct workload_thread *to);
void thread_uses_release(struct thread_uses *t);

/*
 * The thread @number with the state @t uses @line. Count that in @w, but for
 * the depths that are 0, and put it into @to.
 */
void thread_uses_add(struct thread_uses *t, struct line_uses *all,
		     uint32_t number, uint64_t line, enum window_kind kind,
		     struct window *w, struct micro_access *to);

/* Fetch what a use of the line of data reads, for a use soon: its entry. */
void thread_uses_fetch(const struct thread_uses *t, uint64_t line);
/* What its entry leads to: the entry has been fetched a while ago. */
void thread_uses_fetch_state(const struct thread_uses *t,
			     const struct line_uses *all, uint64_t line);
/* Its sets. */
void thread_uses_fetch_sets(const struct thread_uses *t,
			    const struct line_uses *all, uint64_t line);

/* Count the depths that are 0 in @w, which has been the window until now. */
void thread_uses_end_window(struct thread_uses *t, struct window *w);

#endif
