/* SPDX-License-Identifier: MIT */
/*
 * sampler - from the kernel's samples of watched threads to detections
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sampler.h"
#include "now.h"
#include "analysis/base/util.h"
#include "src/store/sample_log.h"
#include "src/x86/decode/backdecode.h"
#include "src/x86/decode/sampled.h"

enum {
	LINE_BYTES = 64, /* on every x86-64 */
	CHUNK_BYTES = 8,
	ARM_ONE_IN = 8, /* as the preload does */
	/* In a larger board fewer entries are replaced; ours costs nobody. */
	SLOTS = BOARD_SLOTS_MAX,
	STALLED_PERCENT = 50,
};

static void lose(struct task_thread *t, enum loss_cause cause)
{
	store_add(&t->row->loss[cause], 1);
}

static void on_loss(void *ctx, enum loss_cause cause)
{
	lose(ctx, cause);
}

/* Would padding have avoided it? As preload/sources/visit.c does. */
static enum padding judge(struct sampler *s, struct task_thread *t,
			  const struct detection *here,
			  const struct detection *d)
{
	struct visit v = { .line = here->line };
	struct memory m;

	if (!s->cpu)
		return PADDING_UNKNOWN;
	m = memory_at(&s->memory, &t->process->space, s->time);
	interp_begin(s->interp, s->cpu, &m);
	interp_run(s->interp, 0);
	visit_add(&v, &here->detector);
	for (uint32_t i = 0; i < interp_count(s->interp); i++)
		visit_add(&v, interp_access(s->interp, i));
	/* What follows on racy memory may belong to the visit too. */
	if (s->memory.racy)
		return PADDING_UNKNOWN;
	v.line = d->line;
	return visit_judge(&s->visits, &v, d->detector_thread, &d->publisher,
			   d->publisher_thread);
}

static void on_detected(void *ctx, const struct detection *d)
{
	struct task_thread *t = ctx;
	struct sampler *s = t->sampler;
	struct outside_file *f = &t->process->file;
	uint32_t owner = tasks_owner(s->tasks, d->publisher_thread);
	struct detection here = *d;
	uint64_t g = tasks_generation(t->process, d->detector.ip);

	here.line += t->here;
	here.detector.addr += t->here;
	here.publisher.addr += t->here;
	if (owner != t->process->number)
		here.publisher_process = owner;
	here.padding = judge(s, t, &here, d);
	if (pair_table_add(&f->store, &t->pairs, &here, s->time, g)) {
		lose(t, LOSS_STORE_FULL);
		return;
	}
	if (callers_detected(t, &here))
		lose(t, LOSS_NO_PATH);
	core_table_add(&f->store, &t->cores, &here);
	slice_table_add(&f->store, &t->slices, &here, s->time);
	store_add(&t->row->detections, 1);
	s->detections++;
}

static const struct comm_sink sink = { on_detected, on_loss };

/* The ranges are keys; the thread's process may have none of them. */
static int arm(void *ctx, const struct watch_range *range, int n)
{
	struct task_thread *t = ctx;
	struct sampler *s = t->sampler;
	struct watch_range here[COMM_REGISTERS_MAX];
	int armed;

	for (int i = 0; i < n; i++) {
		here[i].len = range[i].len;
		here[i].addr = space_address(&t->process->space, range[i].addr);
		if (!here[i].addr)
			return -ENXIO;
	}
	s->armed_at = outside_now();
	armed = registers_arm(s->registers, &t->lease, t->tid, t, here, n,
			      s->armed_at);
	if (armed > 0)
		store_add(&t->row->arms, 1);
	return armed;
}

static void disarm(void *ctx)
{
	struct task_thread *t = ctx;

	if (t->lease)
		registers_disarm(t->lease);
}

static const struct comm_watch watch = { arm, disarm };

/* Private memory of one process is out of reach of the others. */
static bool reaches(void *ctx, uint64_t line)
{
	const struct task_thread *t = ctx;
	const struct space *s = &t->process->space;

	return key_is_shared(line)
		       ? space_address(s, line)
		       : key_number(line) == s->number % KEY_NUMBERS;
}

void sampler_init(struct sampler *s, struct tasks *tasks,
		  struct registers *pool, uint64_t period, int registers,
		  uint64_t seed)
{
	void *board;

	memset(s, 0, sizeof(*s));
	s->tasks = tasks;
	s->registers = pool;
	s->seed = seed;
	if (posix_memalign(&board, 64, board_size(SLOTS)) ||
	    posix_memalign((void **)&s->interp, 64, interp_bytes))
		die("out of memory");
	memset(s->interp, 0, interp_bytes);
	s->comm = (struct comm){
		.board = board_init(board, SLOTS, LINE_BYTES),
		.watch = registers ? &watch : NULL,
		.sink = &sink,
		.line_bytes = LINE_BYTES,
		.chunk_bytes = CHUNK_BYTES,
		.registers = (uint32_t)registers,
		.arm_one_in = ARM_ONE_IN,
		.reaches = reaches,
	};
	comm_set_expiry(&s->comm, period);
	memory_init(&s->memory);
}

void sampler_release(struct sampler *s)
{
	free(s->comm.board);
	free(s->interp);
	memory_release(&s->memory);
	keys_release(&s->keys);
	callers_release(&s->callers);
	memset(s, 0, sizeof(*s));
}

void sampler_thread(struct sampler *s, struct task_thread *t)
{
	t->sampler = s;
	rng_seed(&t->rng, s->seed, t->id);
	comm_thread_init(&t->comm, t->id, t, s->seed);
	t->choose.rng = &t->rng;
	t->choose.interp = s->interp;
	t->choose.stalled_percent = STALLED_PERCENT;
}

static void note(struct task_thread *t, const struct choice *c)
{
	struct outside_file *f = &t->process->file;

	store_add(&t->row->samples[c->kind], 1);
	slice_samples_add(&f->store, &f->samples, t->sampler->time);
	if (c->kind != SAMPLE_UNIFORM)
		return;
	if (c->access.flags & ACCESS_LOAD)
		store_add(&t->row->loads, 1);
	if (c->access.flags & ACCESS_STORE)
		store_add(&t->row->stores, 1);
}

/* The mapping of @addr; the list may be old. */
static const struct space_range *mapping(struct task_process *p, uint64_t addr)
{
	const struct space_range *r = space_at(&p->space, addr);

	if (r)
		return r;
	tasks_reread(p);
	return space_at(&p->space, addr);
}

static void begin(struct sampler *s, struct task_thread *t,
		  const struct outside_record *r)
{
	s->time = r->time;
	s->cpu = r->has_regs ? &r->regs : NULL;
	s->memory.stack = (struct memory_copy){ 0 };
	if (r->has_regs)
		s->memory.stack = (struct memory_copy){
			.at = r->regs.gpr[GPR_RSP],
			.bytes = r->stack,
			.n = r->stack_bytes,
		};
	t->here = 0;
}

/* Make @a's address a key; false if nothing is mapped there. */
static bool to_key(struct task_thread *t, struct access *a)
{
	const struct space_range *r = mapping(t->process, a->addr);
	uint64_t key;

	if (!r)
		return false;
	key = space_key(&t->process->space, r, a->addr);
	t->here = a->addr - key;
	a->addr = key;
	return true;
}

/* An access of which address and instruction are known. */
static void publish(struct sampler *s, struct task_thread *t, struct choice *c,
		    const struct outside_record *r)
{
	struct cdp_header *h = t->process->file.store.header;
	struct access here = c->access;

	store_add(s->memory.verified ? &h->samples_verified : &h->samples_exact,
		  1);
	if (!callers_of_choice(&s->callers, &s->memory, t, r, c))
		lose(t, LOSS_NO_PATH);
	if (!to_key(t, &c->access)) {
		lose(t, LOSS_UNREADABLE);
		return;
	}
	note(t, c);
	sample_log_add(t->id, &here, c->kind);
	s->samples++;
	s->armed_at = 0;
	visit_sampled(&s->visits, t->comm.id, &c->access);
	comm_sample(&s->comm, &t->comm, &c->access, r->time, r->cpu);
	/* Their time begins when they are armed, which is later. */
	if (s->armed_at && t->comm.armed)
		t->comm.armed_at = s->armed_at;
}

static void deliver(struct sampler *s, struct task_thread *t, struct choice *c,
		    const struct outside_record *r)
{
	if (c->stalled_unknown)
		lose(t, LOSS_NOT_STALLED);
	if (s->memory.racy)
		store_add(&t->process->file.store.header->samples_racy, 1);
	if (c->what == CHOSEN)
		publish(s, t, c, r);
	else
		lose(t, s->memory.racy ? LOSS_RACY : c->cause);
}

void sampler_clock(struct sampler *s, struct task_thread *t,
		   const struct outside_record *r)
{
	struct choice c;
	struct memory m;

	store_add(&t->row->interrupts, 1);
	store_set(&t->row->cpu_ns, t->cpu_ns);
	store_set(&t->row->clock_interrupts, t->interrupts);
	store_touch(&t->process->file.store, r->time);
	begin(s, t, r);
	if (!r->has_regs) { /* 32-bit code */
		lose(t, LOSS_UNDECODED);
		return;
	}
	mapping(t->process, r->regs.rip);
	m = memory_at(&s->memory, &t->process->space, r->time);
	choose_start(&t->choose, &r->regs, &m, &c);
	deliver(s, t, &c, r);
}

void sampler_hardware(struct sampler *s, struct task_thread *t,
		      const struct outside_record *r, uint64_t gap)
{
	const struct perf_memory *p = &r->hardware.memory;
	struct choice c = { .what = CHOSEN, .kind = SAMPLE_UNIFORM };
	struct memory m;
	int err;

	comm_set_expiry(&s->comm, gap);
	store_add(&t->row->interrupts, r->hardware.is_user);
	store_touch(&t->process->file.store, r->time);
	begin(s, t, r);
	if (!r->hardware.is_access) {
		lose(t, r->hardware.lost);
		return;
	}
	mapping(t->process, r->hardware.ip);
	m = memory_at(&s->memory, &t->process->space, r->time);
	err = decode_sampled(&m, r->hardware.ip, p->addr,
			     p->access & (ACCESS_LOAD | ACCESS_STORE), p->len,
			     &c.access);
	if (err && !p->len) {
		lose(t, err == -EFAULT ? LOSS_UNREADABLE : LOSS_UNDECODED);
		return;
	}
	if (p->access & ACCESS_LOCKED && p->access & ACCESS_STORE)
		c.access.flags |= ACCESS_LOCKED;
	publish(s, t, &c, r);
}

void sampler_hit(struct sampler *s, struct task_thread *t, int reg,
		 const struct outside_record *r)
{
	struct watch_range *w = &t->comm.ranges[reg];
	struct access a;
	struct memory m;
	uint64_t at;
	bool known;

	store_add(&t->row->traps, 1);
	begin(s, t, r);
	at = reg < (int)t->comm.armed
		     ? space_address(&t->process->space, w->addr)
		     : 0;
	/* A late hit of what was armed before. */
	if (!at || at != r->addr || r->time < t->comm.armed_at) {
		lose(t, LOSS_TRAP_STALE);
		return;
	}
	m = memory_at(&s->memory, &t->process->space, r->time);
	known = r->has_regs &&
		!backdecode_trapped(&r->regs, &m, at, w->len, false, &a);
	if (!callers_of_trap(&s->callers, &s->memory, t, r, known ? &a : NULL))
		lose(t, LOSS_NO_PATH);
	t->here = at - w->addr;
	if (known)
		a.addr -= t->here;
	comm_trap(&s->comm, &t->comm, reg, known ? &a : NULL, r->time, r->cpu);
}
