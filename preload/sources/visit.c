/* SPDX-License-Identifier: MIT */
/*
 * visit - what the thread does with a line that it was detected on
 */
#include <string.h>

#include "program_memory.h"
#include "visit.h"
#include "src/engine/visits.h"
#include "src/base/signal_safe.h"

static struct visit_table table;
static bool used; /* an empty table is left alone: it is large */

enum padding visit_of(struct thread *t, const struct cpu_state *cpu,
		      const struct detection *d)
{
	struct visit v = { .line = d->line };
	struct memory m;

	/* A window that waits for its breakpoint is still needed. */
	if (!cpu || t->exec_ip)
		return PADDING_UNKNOWN;
	m = program_memory_at(t, cpu);
	interp_begin(t->choose.interp, cpu, &m);
	interp_run(t->choose.interp, 0);
	visit_add(&v, &d->detector);
	for (uint32_t i = 0; i < interp_count(t->choose.interp); i++)
		visit_add(&v, interp_access(t->choose.interp, i));
	used = true;
	return visit_judge(&table, &v, d->detector_thread, &d->publisher,
			   d->publisher_thread);
}

void visit_note(const struct thread *t, const struct access *a)
{
	visit_sampled(&table, t->comm.id, a);
}

void visit_init(void)
{
	if (used)
		memset(&table, 0, sizeof(table));
	used = false;
}
