/* SPDX-License-Identifier: MIT */
/*
 * makers - threads that make short ones, and their fine clocks
 */
#include "makers.h"
#include "now.h"

enum {
	SHORT_PERIODS = 16, /* from there on half a period is 3 % */
	OPEN_ONE_IN = 100,  /* of the CPU time is that of short threads */
	CLOSE_ONE_IN = 200,
	KEEP_8TH = 7, /* of the sums, from second to second */
};

/* Fine clocks that were of no use are not opened again for so long. */
static const uint64_t again_ns = UINT64_C(10000000000);

static const struct maker *with_set(const struct makers *m, uint32_t set)
{
	for (int i = 0; i < m->n; i++)
		if (m->maker[i].set == set)
			return &m->maker[i];
	return NULL;
}

void makers_made(const struct makers *m, struct task_thread *t,
		 const struct task_thread *maker, uint64_t now)
{
	const struct maker *at = maker ? with_set(m, maker->clock.fine) : NULL;

	t->clock.made = now;
	if (!maker)
		return;
	t->clock.maker = maker->tid;
	if (at && now > at->since)
		t->clock.fine = maker->clock.fine;
}

static void open_fine(struct makers *m, struct clocks *clocks,
		      struct task_thread *t)
{
	struct maker *new = &m->maker[m->n];

	/* Without it, we miss what is short; that has no other harm. */
	if (m->n == MAKERS_MAX || clocks_attach_fine(clocks, t->tid))
		return;
	*new = (struct maker){ .set = clocks->sets,
			       .process = t->process->number,
			       .since = outside_now() };
	m->n++;
	t->clock.fine = new->set;
}

void makers_ended(struct makers *m, struct tasks *tasks, struct clocks *clocks,
		  const struct task_thread *t, uint64_t now)
{
	struct task_thread *maker =
		t->clock.maker ? tasks_thread(tasks, t->clock.maker) : NULL;
	uint64_t lived = now - t->clock.made, limit;
	struct task_process *p;

	limit = SHORT_PERIODS * clocks->ticks * clocks->tick;
	if (!maker || clocks->ticks == 1 || t->cpu_ns >= limit)
		return;
	p = maker->process;
	/* Without a fine clock its CPU time is not known. */
	if (t->clock.fine)
		p->short_lately += t->cpu_ns;
	else if (lived >= clocks->tick)
		p->short_lately += lived < limit ? lived : limit;
	if (!maker->clock.fine && now >= p->no_fine_until && p->short_lately &&
	    p->short_lately >= p->cpu_lately / OPEN_ONE_IN)
		open_fine(m, clocks, maker);
}

static void forget(struct tasks *tasks, uint32_t set)
{
	for (size_t i = 0; i < TASK_BUCKETS; i++)
		for (struct task_thread *t = tasks->bucket[i]; t; t = t->next)
			if (t->clock.fine == set)
				t->clock.fine = CLOCK_SET_NONE;
}

static struct task_process *numbered(struct tasks *tasks, uint32_t number)
{
	struct task_process *p = tasks->process;

	while (p && p->number != number)
		p = p->next;
	return p;
}

/* Is what the fine clocks of @p find worth their interrupts? */
static bool worth(const struct task_process *p)
{
	return p->short_lately >= p->cpu_lately / CLOSE_ONE_IN;
}

void makers_sweep(struct makers *m, struct tasks *tasks, struct clocks *clocks,
		  uint64_t now)
{
	for (struct task_process *p = tasks->process; p; p = p->next) {
		p->cpu_lately = p->cpu_lately / 8 * KEEP_8TH;
		p->short_lately = p->short_lately / 8 * KEEP_8TH;
	}
	for (int i = 0; i < m->n;) {
		uint32_t set = m->maker[i].set;
		struct task_process *p = numbered(tasks, m->maker[i].process);

		if (p && worth(p)) {
			i++;
			continue;
		}
		if (p)
			p->no_fine_until = now + again_ns;
		clocks_close(clocks, set);
		forget(tasks, set);
		m->maker[i] = m->maker[--m->n];
	}
}
