/* SPDX-License-Identifier: MIT */
/*
 * block_work - what a block does that a profile counts
 */
#include <stdlib.h>
#include <string.h>

#include "block_work.h"
#include "analysis/base/util.h"
#include "analysis/model/machine.h"

enum {
	INSN_STEPS = 2 + 3 * UOPS_MAX, /* at most */
};

void block_works_init(struct block_works *all, const struct trace *t)
{
	all->trace = t;
	all->work = xcalloc(t->blocks, sizeof(*all->work));
}

void block_works_release(struct block_works *all)
{
	for (size_t i = 0; i < all->trace->blocks; i++) {
		free(all->work[i].step);
		free(all->work[i].class);
	}
	free(all->work);
}

static void add(struct block_work *w, struct block_step step)
{
	step.uops = w->rest;
	w->rest = 0;
	w->step[w->steps++] = step;
}

static void add_fetch(struct block_work *w, uint64_t addr, uint64_t *line)
{
	uint64_t next = addr >> MACHINE_LINE_SHIFT;

	if (w->steps && next == *line)
		return;
	*line = next;
	add(w, (struct block_step){ .kind = BLOCK_FETCH, .line = next });
}

static void add_uop(struct block_work *w, const struct uop *u, uint32_t index)
{
	bool memory = u->flags & (UOP_IS_LOAD | UOP_IS_STORE);

	if (memory)
		add(w, (struct block_step){ .kind = u->flags & UOP_IS_STORE
							    ? BLOCK_STORES
							    : BLOCK_LOADS,
					    .index = index });
	if (u->flags & UOP_IS_BRANCH)
		add(w, (struct block_step){ .kind = BLOCK_BRANCH,
					    .index = index });
}

static void add_classes(struct block_work *w, const uint32_t uops[UOP_CLASSES])
{
	w->class = xcalloc(UOP_CLASSES, sizeof(*w->class));
	for (uint32_t i = 0; i < UOP_CLASSES; i++)
		if (uops[i])
			w->class[w->classes++] =
				(struct block_class){ i, uops[i] };
}

void block_works_make(struct block_works *all, const struct trace_block *b)
{
	struct block_work *w = &all->work[b - all->trace->block];
	uint32_t uops[UOP_CLASSES] = { 0 };
	uint64_t line = 0;

	w->step = xcalloc((size_t)b->insns * INSN_STEPS, sizeof(*w->step));
	for (uint32_t i = 0; i < b->insns; i++) {
		const struct trace_insn *insn = &all->trace->insn[b->first + i];

		add_fetch(w, insn->ip, &line);
		add_fetch(w, insn->ip + insn->bytes - 1, &line);
		for (int k = 0; k < insn->decoded.uops; k++) {
			w->rest++;
			add_uop(w, &insn->decoded.uop[k], i);
			uops[insn->decoded.uop[k].class]++;
		}
	}
	add_classes(w, uops);
}
