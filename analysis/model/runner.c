/* SPDX-License-Identifier: MIT */
/*
 * runner - a thread of a simulation, an instruction or an event at a time
 */
#include "runner.h"
#include "trace_live.h"
#include "analysis/base/util.h"

/* The thread comes to an event, which takes @cycles before it happens. */
static void come_to_event(struct simulation *s, struct runner *r,
			  uint64_t cycles)
{
	struct core *c = s->core[r->core];

	r->next.where = r->where;
	r->at_event = true;
	core_sleep(c, core_end(c) + cycles);
}

void runner_meet(struct simulation *s, size_t known)
{
	struct trace_live *l = s->trace->live;

	s->known = trace_live_threads(l, known ? known - 1 : 0, &s->threads);
	sync_engine_extend(s->engine, (uint32_t)s->threads);
	for (uint32_t i = 0; i < s->threads; i++) {
		if (s->runner[i].stream || !trace_live_knows(l, i))
			continue;
		s->runner[i].stream = trace_stream_open(s->trace, i);
		sync_engine_name(s->engine, i, i);
		if (!trace_live_is_created(l, i))
			sync_engine_start(s->engine, i, 0);
	}
}

static void take_event(struct simulation *s, struct runner *r)
{
	const struct trace_event *e = &r->stream->step.event[r->event++];

	if (s->trace->live &&
	    (e->kind == TRACE_CREATE || e->kind == TRACE_JOIN)) {
		trace_live_await(s->trace->live, e->object);
		runner_meet(s, 1);
	}
	if (trace_sync_event(&r->sync, s->trace, e, &r->next))
		come_to_event(s, r, e->outside ? 0 : s->machine->sync_call);
}

/* The stream has ended, and so does the thread. */
static void take_end(struct simulation *s, struct runner *r)
{
	r->over = true;
	r->next = (struct sync_event){ .kind = SYNC_EXIT };
	come_to_event(s, r, 0);
}

/* @r has executed all of @b. */
static void note_end(struct simulation *s, struct runner *r,
		     const struct trace_block *b)
{
	/* A call of a library goes through a jump, which says nothing. */
	if (!b->jump)
		r->where = b->last;
	s->executed += b->insns;
	if (s->executed < PROGRESS_STEP)
		return;
	if (s->progress)
		progress_add(s->progress, s->executed);
	s->executed = 0;
}

/* True if the next instruction, of @r, is simulated in detail. */
static bool is_detailed(struct simulation *s, const struct runner *r)
{
	struct unit_sampler *sampler = s->sampler;

	if (!sampler)
		return true;
	if (unit_sampler_is_turn(sampler)) {
		unit_sampler_turn(sampler, (double)core_now(s->core[r->core]));
		caches_set_warming(s->caches,
				   !unit_sampler_is_detailed(sampler));
	}
	if (!unit_sampler_is_detailed(sampler))
		return false;
	sampler->executed++;
	return true;
}

/* @n instructions of @r's block have gone through its core. */
static void foresee(struct simulation *s, const struct runner *r, uint32_t n)
{
	unit_sampler_foresee(s->sampler, s->machine, r->core, s->trace,
			     r->stream->step.block, n);
}

/* Execute the whole block between units, if all of it is. */
static bool pass_block(struct simulation *s, struct runner *r)
{
	const struct trace_step *step = &r->stream->step;
	const struct trace_block *b = step->block;
	struct core *c = s->core[r->core];

	if (!s->sampler || r->insn || !b->plain ||
	    !unit_sampler_passes(s->sampler, b->insns))
		return false;
	note_end(s, r, b);
	r->insn = b->insns;
	core_warm_block(c, s->trace, step,
			unit_sampler_pass(s->sampler, (size_t)(r - s->runner),
					  (size_t)(b - s->trace->block),
					  b->insns, core_end(c)));
	foresee(s, r, b->insns);
	return true;
}

static void execute_one(struct simulation *s, struct runner *r)
{
	const struct trace_step *step = &r->stream->step;
	const struct trace_block *b = step->block;
	const struct trace_insn *insn = &s->trace->insn[b->first + r->insn];
	struct core *c = s->core[r->core];
	size_t first = r->access, number = (size_t)(b - s->trace->block);
	uint64_t next;

	while (r->access < step->accesses &&
	       step->access[r->access].index == r->insn)
		r->access++;
	r->insn++;
	if (r->insn == b->insns)
		note_end(s, r, b);
	if (!insn->decoded.known)
		simulated_count_unknown(s->result, insn->decoded.mnemonic);
	next = r->insn == b->insns ? step->next_ip : insn->ip + insn->bytes;
	if (r->insn == 1) {
		r->from = core_end(c);
		r->detailed = s->sampler;
	}
	if (is_detailed(s, r)) {
		core_execute(c, insn, step->access + first, r->access - first,
			     next);
	} else {
		r->detailed = false;
		core_warm(c, insn, step->access + first, r->access - first,
			  next,
			  unit_sampler_pass(s->sampler, (size_t)(r - s->runner),
					    number, 1, core_end(c)));
	}
	if (s->sampler)
		foresee(s, r, 1);
	if (r->detailed && r->insn == b->insns)
		unit_sampler_learn(s->sampler, number, b->insns,
				   core_end(c) - r->from);
}

int runner_read(const struct simulation *s, struct runner *r)
{
	int more;

	r->insn = 0;
	r->access = 0;
	r->event = 0;
	more = trace_stream_next(r->stream);
	if (s->separate && more > 0)
		separate_step(s->separate, s->trace, &r->stream->step);
	return more;
}

int runner_step(struct simulation *s, struct runner *r)
{
	const struct trace_step *step = &r->stream->step;
	int more;

	if (step->block && r->insn < step->block->insns) {
		if (!pass_block(s, r))
			execute_one(s, r);
		return 0;
	}
	if (r->event < step->events) {
		take_event(s, r);
		return 0;
	}
	more = runner_read(s, r);
	if (!more)
		take_end(s, r);
	return more < 0 ? more : 0;
}
