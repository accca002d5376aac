/* SPDX-License-Identifier: MIT */
/*
 * reuse - reuse times from the samples of the source instr
 *
 * There is an engine of src/engine/reuse.h for each scope and granularity asked
 * for. Time is the number of accesses that hooks count: of the thread or, for
 * the scopes shared and global, of all threads under its cache (count.h).
 *
 * When software watches, the hooks report accesses to lines that are marked,
 * and this file compares the ranges themselves. reuse_registers.c watches with
 * debug registers.
 */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "reuse.h"
#include "config.h"
#include "count.h"
#include "counters.h"
#include "frames.h"
#include "place.h"
#include "rearm.h"
#include "reuse_internal.h"
#include "state.h"
#include "preload/core/maps.h"
#include "preload/core/sys.h"
#include "preload/core/thread.h"
#include "preload/threads/thread_rows.h"
#include "src/base/zero_pages.h"
#include "src/base/signal_safe.h"

enum {
	PIECES_MAX = 1024, /* that a sampled range is cut into */
};

struct engine {
	struct reuse *reuse;
	size_t bytes; /* bytes that reuse points at */
	enum reuse_scope scope;
	enum reuse_granularity granularity;
	struct instr_watched *watched; /* by slot */
};

static struct engine engine[INSTR_REUSE_ENGINES];
static uint32_t engines;
static struct reuse_tally rest; /* for the uses left at the end */
static uint32_t slots;          /* of each engine */

static uint64_t count_for(const struct thread *t, const struct engine *e)
{
	return e->scope == REUSE_PRIVATE
		       ? instr_counters_accesses(t)
		       : instr_count_domain(instr_of(t)->place.domain);
}

/* The time of a use: accesses of its thread, or under its cache. */
static uint64_t count_of(void *ctx, const struct cpu_place *use)
{
	const struct instr_reuse *r = ctx;
	uint64_t count;

	if (engine[r->engine].scope != REUSE_PRIVATE)
		return instr_count_domain(use->domain);
	return instr_count_thread(use->thread, &count) ? count
						       : REUSE_TIME_UNKNOWN;
}

/* Make sure that the code of @e is described. Returns the maps' generation. */
static uint64_t note_code(const struct reuse_event *e)
{
	uint64_t generation = maps_note(e->use.ip);

	return e->end.flags ? maps_note(e->end.ip) : generation;
}

static void decided(void *ctx, const struct reuse_event *e)
{
	struct instr_reuse *r = ctx;
	const struct engine *g = &engine[r->engine];

	if (reuse_tally_add(&runtime.store, r->tally, g->scope, g->granularity,
			    e, note_code(e)))
		count_loss(r->owner, LOSS_STORE_FULL);
}

static int arm(void *ctx, const struct reuse_watched *w)
{
	struct instr_reuse *r = ctx;

	instr_reuse_slots_arm(&engine[r->engine].watched[w->slot], w);
	store_add(&r->owner->record->arms, 1);
	return 0;
}

static void disarm(void *ctx, uint32_t slot)
{
	struct instr_reuse *r = ctx;

	instr_reuse_slots_disarm(&engine[r->engine].watched[slot]);
}

static const struct reuse_watch software = { arm, disarm, count_of };
static const struct reuse_watch debug_registers = {
	instr_reuse_registers_arm,
	instr_reuse_registers_disarm,
	count_of,
};
static const struct reuse_sink sink = { decided };

static int make(struct engine *g, bool hardware)
{
	struct reuse_config config = {
		.scope = g->scope,
		.granularity = g->granularity,
		.line_bytes = INSTR_REUSE_LINE_BYTES,
		.slots = slots,
		.use_next = hardware,
	};
	void *mem;

	g->bytes = reuse_size(&config);
	mem = zero_pages(g->bytes);
	if (!mem)
		return -ENOMEM;
	g->reuse = reuse_init(mem, &config,
			      hardware ? &debug_registers : &software, &sink);
	return g->reuse ? 0 : -EINVAL;
}

int instr_reuse_init(uint32_t registers)
{
	const struct instr_config *c = &instr_config;
	int r = instr_frames_init();

	if (registers)
		instr_rearm_init();
	slots = registers ? registers : c->slots;
	instr_reuse_slots_init();
	rest = (struct reuse_tally){ .writer.section = CDP_REUSE,
				     .period = c->period };
	instr_count_init();
	for (uint32_t i = 0; i < engines;
	     i++) /* in a forked child: they belong to the parent */
		munmap(engine[i].reuse, engine[i].bytes);
	engines = 0;
	for (enum reuse_scope s = 0; s < REUSE_SCOPES; s++)
		for (enum reuse_granularity g = 0; g < REUSE_GRANULARITIES; g++)
			if (!r && c->scopes & 1u << s &&
			    c->granularities & 1u << g) {
				engine[engines] = (struct engine){
					.scope = s,
					.granularity = g,
					.watched = instr_reuse_slots(engines *
								     slots),
				};
				r = make(&engine[engines], registers);
				engines += !r;
			}
	instr_reuse_registers_init(registers ? engine[0].reuse : NULL,
				   registers);
	return r;
}

void instr_reuse_after_fork(void)
{
	instr_reuse_registers_init(NULL, 0);
}

void instr_reuse_start(struct thread *t)
{
	instr_of(t)->place = instr_place(t->record->id);
	instr_of(t)->awaited.call = 0;
	instr_of(t)->reuse_tally = (struct reuse_tally){
		.writer.section = CDP_REUSE,
		.period = instr_config.period,
	};
	for (uint32_t i = 0; i < engines; i++) {
		struct instr_reuse *r = &instr_of(t)->reuse[i];

		r->owner = t;
		r->tally = &instr_of(t)->reuse_tally;
		r->engine = i;
		reuse_thread_init(&r->thread, &instr_of(t)->place, r,
				  runtime.seed + 2 + i);
	}
	thread_mark_referenced(t->record->id);
	instr_count_begin(t);
	instr_of(t)->in_reuse = true;
}

void instr_reuse_end(struct thread *t)
{
	uint64_t all = ~0ull, before = 0;

	instr_of(t)->in_reuse = false;
	/* Signals stay blocked while we hold the engine's lock. */
	sys_call4(SYS_rt_sigprocmask, SIG_BLOCK, &all, &before, sizeof(all));
	for (uint32_t i = 0; i < engines; i++)
		reuse_thread_end(engine[i].reuse,
				 &instr_of(t)->reuse[i].thread);
	sys_call4(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL,
		  sizeof(before));
	reuse_tally_release(&instr_of(t)->reuse_tally);
}

bool instr_reuse_watches(const struct thread *t, const struct access *a)
{
	struct access piece;
	uint32_t generation;

	if (instr_of(t)->bank || !instr_reuse_slots_may_touch(a))
		return false;
	for (const struct engine *g = engine; g < engine + engines; g++)
		if (instr_reuse_slots_find(g->watched, slots, 0, g->scope, t, a,
					   &piece, &generation) < slots)
			return true;
	return false;
}

static void trap_in(struct thread *t, uint32_t n, const struct access *a)
{
	const struct engine *g = &engine[n];
	struct access piece;
	uint32_t generation, i = 0;

	for (;; i++) {
		i = instr_reuse_slots_find(g->watched, slots, i, g->scope, t, a,
					   &piece, &generation);
		if (i == slots)
			return;
		store_add(&t->record->traps, 1);
		reuse_trap(g->reuse, &instr_of(t)->reuse[n].thread, i,
			   generation, &piece, count_for(t, g));
	}
}

static void trap(struct thread *t, const struct access *a)
{
	for (uint32_t n = 0; instr_of(t)->in_reuse && n < engines; n++)
		trap_in(t, n, a);
}

void instr_reuse_trap(struct thread *t, const struct access *a, uint64_t sp)
{
	instr_frames_path(t, sp, a->ip);
	trap(t, a);
}

void instr_reuse_sample(struct thread *t, const struct access *a, uint64_t sp)
{
	struct access piece = *a;
	uint64_t end = a->addr + a->len;
	int pieces = 0;

	if (!instr_of(t)->in_reuse)
		return;
	instr_frames_path(t, sp, a->ip);
	while (piece.addr < end && pieces++ < PIECES_MAX) {
		uint64_t next = (piece.addr | (INSTR_REUSE_LINE_BYTES - 1)) + 1;

		if (a->len <= INSTR_REUSE_LINE_BYTES || next > end)
			next = end;
		piece.len = next - piece.addr;
		for (uint32_t i = 0; i < engines; i++)
			reuse_sample(engine[i].reuse,
				     &instr_of(t)->reuse[i].thread, &piece,
				     count_for(t, &engine[i]));
		piece.addr = next;
	}
	if (piece.addr < end)
		count_loss(t, LOSS_NO_REGISTER);
	/* The use is this very access, which no later report contains. */
	if (instr_of(t)->bank)
		instr_reuse_registers_sampled(t, a);
	else if (instr_reuse_by_registers())
		trap(t, a);
}

static void add_loss(enum loss_cause cause, uint64_t uses)
{
	store_lose(&runtime.store, cause, uses);
}

void instr_reuse_finish(void)
{
	struct cpu_place nowhere = { 0, 0, 0 };
	struct reuse_stats stats;

	for (uint32_t i = 0; i < engines; i++) {
		struct instr_reuse r = { .tally = &rest, .engine = i };

		reuse_thread_init(&r.thread, &nowhere, &r, runtime.seed);
		reuse_finish(engine[i].reuse, &r.thread);
		stats = reuse_stats(engine[i].reuse);
		add_loss(LOSS_EXITING, stats.waiting);
		add_loss(LOSS_NO_REGISTER,
			 stats.failed - stats.waiting -
				 instr_reuse_registers_given_up());
	}
	add_loss(LOSS_NO_PATH, instr_frames_lost());
}
