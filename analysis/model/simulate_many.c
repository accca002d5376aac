/* SPDX-License-Identifier: MIT */
/*
 * simulate_many - a trace on several machines, several at a time
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "simulate_many.h"
#include "analysis/base/util.h"
#include "analysis/base/workers.h"

struct one {
	const struct machine *machine;
	struct simulate_extras extras;
	struct simulated *result;
	int err;
	char error[TRACE_ERROR_BYTES];
};

struct work {
	const struct trace *trace;
	struct one *one;
	size_t n;
	atomic_size_t next;
};

static void *work_on(void *data)
{
	struct work *w = data;
	size_t i;

	while ((i = atomic_fetch_add_explicit(&w->next, 1,
					      memory_order_relaxed)) < w->n) {
		struct one *o = &w->one[i];

		o->err = simulate_with(o->result, w->trace, o->machine,
				       &o->extras, o->error);
	}
	return NULL;
}

int simulate_many(struct simulated *result, const struct trace *t,
		  const struct machine *m, size_t n, unsigned int jobs,
		  const struct simulate_extras *extras,
		  char error[TRACE_ERROR_BYTES])
{
	struct work w = { .trace = t, .n = n };
	struct progress progress;
	int err = 0;

	w.one = xcalloc(n + 1, sizeof(*w.one));
	for (size_t i = 0; i < n; i++)
		w.one[i] =
			(struct one){ .machine = &m[i], .result = &result[i] };
	for (size_t i = 0; i < n && extras; i++)
		w.one[i].extras = extras[i];
	if (t->live) /* nobody knows how long it will be */
		progress_count(&progress, stderr, "simulate", n);
	else
		progress_begin(&progress, stderr, "simulate",
			       n * trace_instructions(t));
	for (size_t i = 0; i < n; i++)
		w.one[i].extras.progress = &progress;
	/* All read what is being recorded; it says who runs. */
	workers_run(work_on, &w, jobs < n && !t->live ? jobs : (unsigned int)n);
	progress_end(&progress);
	for (size_t i = 0; i < n && (!err || err == -ECANCELED); i++) {
		if (w.one[i].err)
			err = w.one[i].err;
		if (err)
			snprintf(error, TRACE_ERROR_BYTES, "%s",
				 w.one[i].error);
	}
	for (size_t i = 0; err && i < n; i++)
		simulated_release(&result[i]);
	free(w.one);
	return err;
}
