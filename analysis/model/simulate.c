/* SPDX-License-Identifier: MIT */
/*
 * simulate - run a trace on a machine
 *
 * The core whose next instruction is dispatched first comes first, so that the
 * cores meet in the shared caches in the order of time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "simulate.h"
#include "analysis/base/util.h"

/* A thread of the trace on its core. */
struct runner {
	struct trace_stream *stream;
	struct core *core;
	uint32_t insn; /* next instruction of the step */
	size_t access; /* its first access */
	bool ended;
};

/* The mnemonics are static, so a pointer stands for one. */
static void count_unknown(struct simulated *s, const char *mnemonic)
{
	size_t i = 0;

	while (i < s->unknowns && s->unknown[i].mnemonic != mnemonic)
		i++;
	if (i == s->unknowns) {
		s->unknown = grow(s->unknown, s->unknowns, &s->unknown_room,
				  sizeof(*s->unknown));
		s->unknown[s->unknowns++] =
			(struct simulated_unknown){ .mnemonic = mnemonic };
	}
	s->unknown[i].count++;
}

static int by_count(const void *x, const void *y)
{
	const struct simulated_unknown *a = x, *b = y;

	return a->count != b->count ? order_u64(b->count, a->count)
				    : strcmp(a->mnemonic, b->mnemonic);
}

/* Execute the next instruction. Returns 1, 0 at the end, or -EINVAL. */
static int run_one(struct simulated *result, struct runner *r)
{
	struct trace_stream *s = r->stream;
	struct trace_step *step = &s->step;
	const struct trace_block *b = step->block;
	const struct trace_insn *insn;
	size_t first;

	while (!b || r->insn == b->insns) {
		int more = trace_stream_next(s);

		if (more <= 0)
			return more;
		b = step->block;
		r->insn = 0;
		r->access = 0;
	}
	first = r->access;
	while (r->access < step->accesses &&
	       step->access[r->access].index == r->insn)
		r->access++;
	insn = &s->trace->insn[b->first + r->insn++];
	if (!insn->decoded.known)
		count_unknown(result, insn->decoded.mnemonic);
	core_execute(r->core, insn, step->access + first, r->access - first,
		     r->insn == b->insns ? step->next_ip
					 : insn->ip + insn->bytes);
	return 1;
}

static struct runner *next_runner(struct runner *all, size_t n)
{
	struct runner *best = NULL;

	for (size_t i = 0; i < n; i++)
		if (!all[i].ended &&
		    (!best || core_now(all[i].core) < core_now(best->core)))
			best = &all[i];
	return best;
}

static int run_all(struct simulated *s, struct runner *all, size_t n,
		   char *error)
{
	struct runner *r;

	while ((r = next_runner(all, n))) {
		int more = run_one(s, r);

		if (more < 0) {
			snprintf(error, TRACE_ERROR_BYTES, "%s",
				 r->stream->error);
			return more;
		}
		r->ended = !more;
	}
	return 0;
}

static void collect(struct simulated *s, const struct trace *t,
		    const struct caches *caches, const struct runner *all)
{
	for (size_t i = 0; i < s->threads; i++) {
		struct simulated_thread *to = &s->thread[i];

		to->id = t->thread[i].id;
		to->cycles = core_end(all[i].core);
		to->counts = *core_counts(all[i].core);
		to->stack = *core_stack(all[i].core);
		to->caches = *caches_counts(caches, (uint32_t)i);
		s->instructions += to->counts.instructions;
		if (to->cycles > s->cycles)
			s->cycles = to->cycles;
	}
	caches_memory(caches, &s->memory_reads, &s->memory_writes);
	if (s->unknowns)
		qsort(s->unknown, s->unknowns, sizeof(*s->unknown), by_count);
}

int simulate(struct simulated *s, const struct trace *t,
	     const struct machine *m, char error[TRACE_ERROR_BYTES])
{
	struct caches *caches;
	struct runner *all;
	int err;

	memset(s, 0, sizeof(*s));
	if (t->threads > m->cores) {
		snprintf(error, TRACE_ERROR_BYTES,
			 "the trace has %zu threads and the machine %u cores; "
			 "give it more with --set cores=%zu",
			 t->threads, m->cores, t->threads);
		return -EINVAL;
	}
	s->threads = t->threads;
	s->thread = xcalloc(s->threads, sizeof(*s->thread));
	caches = caches_new(m, (uint32_t)t->threads);
	all = xcalloc(t->threads, sizeof(*all));
	for (size_t i = 0; i < t->threads; i++) {
		all[i].stream = trace_stream_open(t, i);
		all[i].core = core_new(m, caches, (uint32_t)i);
	}
	err = run_all(s, all, t->threads, error);
	collect(s, t, caches, all);
	s->ns = (double)s->cycles / m->ghz;
	for (size_t i = 0; i < t->threads; i++) {
		trace_stream_close(all[i].stream);
		core_free(all[i].core);
	}
	caches_free(caches);
	free(all);
	if (err)
		simulated_release(s);
	return err;
}

void simulated_release(struct simulated *s)
{
	free(s->thread);
	free(s->unknown);
	memset(s, 0, sizeof(*s));
}
