/* SPDX-License-Identifier: MIT */
/*
 * follow - threads and processes that begin, execute programs and end
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "follow.h"
#include "exit_signal.h"
#include "listing.h"
#include "now.h"
#include "analysis/base/util.h"
#include "src/store/host.h"

static void end_thread(struct follow *f, struct task_thread *t, uint64_t now)
{
	registers_end(&f->registers, &t->lease);
	if (t->row) {
		store_set(&t->row->cpu_ns, t->cpu_ns);
		store_set(&t->row->clock_interrupts, t->interrupts);
		store_set(&t->row->end_mono, now);
		__atomic_store_n(&t->row->state, CDP_THREAD_ENDED,
				 __ATOMIC_RELEASE);
	}
	tasks_end_thread(&f->tasks, t);
}

void follow_end_process(struct follow *f, struct task_process *p,
			enum cdp_state state, uint64_t now, const char *note)
{
	struct task_thread *t;

	while ((t = tasks_any_thread(&f->tasks, p)))
		end_thread(f, t, now);
	if (state == CDP_ENDED)
		file_ended_by(&p->file,
			      exit_signal_of(p->pid, p->start, p->pidfd));
	file_close(&p->file, state, now, p->ended_cpu_ns, note);
	callers_end_process(p);
	tasks_end_process(&f->tasks, p);
}

static void read_name(const struct task_process *p, struct task_thread *t)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", (int)p->pid,
		 (int)t->tid);
	read_line(path, t->name, sizeof(t->name));
}

struct task_thread *follow_add_thread(struct follow *f, struct task_process *p,
				      pid_t tid, const char *name)
{
	struct task_thread *t = tasks_add_thread(&f->tasks, p, tid);

	sampler_thread(&f->sampler, t);
	if (name)
		snprintf(t->name, sizeof(t->name), "%s", name);
	else
		read_name(p, t);
	return t;
}

/* Open the events of a thread; which clocks it has becomes known. */
static int open_events(struct follow *f, pid_t tid)
{
	int err = clocks_attach(&f->clocks, tid);

	if (err || !f->hardware.plan)
		return err;
	err = hardware_attach(&f->hardware, tid, f->clocks.sets);
	if (err)
		clocks_close(&f->clocks, f->clocks.sets);
	return err;
}

static void own_events(const struct follow *f, struct task_thread *t)
{
	t->clock.set = t->clock.hardware = f->clocks.sets;
}

int follow_watch(struct follow *f, struct task_process *p, pid_t tid)
{
	int err = open_events(f, tid);

	if (!err)
		own_events(f, follow_add_thread(f, p, tid, NULL));
	return err;
}

struct task_process *follow_add_process(struct follow *f, pid_t pid)
{
	return tasks_add_process(&f->tasks, pid, &f->sampler.keys);
}

bool follow_open_file(struct follow *f, struct task_process *p)
{
	struct space_sink sink = { file_mapping, &p->file };

	if (p->file.open || p->file_failed)
		return p->file.open;
	if (file_open(&p->file, &f->run, p->pid, p->number)) {
		p->file_failed = true;
		return false;
	}
	space_read(&p->space, &sink);
	return true;
}

/* The thread has a row, and so its process a file. */
static bool has_row(struct follow *f, struct task_thread *t, uint64_t now)
{
	if (!t->row && follow_open_file(f, t->process))
		t->row = file_row(&t->process->file, t->id, t->tid, t->name,
				  now);
	return t->row;
}

/* The thread that @r is about; its beginning may have been missed. */
static struct task_thread *thread_of(struct follow *f,
				     const struct outside_record *r)
{
	struct task_thread *t = tasks_thread(&f->tasks, (pid_t)r->tid);
	struct task_process *p;

	if (t && t->process->pid == (pid_t)r->pid)
		return t;
	if (t) /* its end was missed */
		end_thread(f, t, r->time);
	p = tasks_process(&f->tasks, (pid_t)r->pid);
	if (!p && f->children)
		p = follow_add_process(f, (pid_t)r->pid);
	return p ? follow_add_thread(f, p, (pid_t)r->tid, NULL) : NULL;
}

/* A tick of a period; *@sample becomes whether it is a sample. */
static uint64_t take_tick(const struct follow *f, struct task_thread *t,
			  bool *sample)
{
	uint32_t ticks = f->clocks.ticks;
	uint32_t left =
		t->clock.fine_ticks < ticks ? ticks - t->clock.fine_ticks : 0;

	t->clock.fine_ticks = 0;
	*sample = left == ticks || (left && rng_below(&t->rng, ticks) < left);
	return left * f->clocks.tick;
}

static uint64_t take_fine_tick(const struct follow *f, struct task_thread *t)
{
	t->clock.fine_ticks++;
	return f->clocks.tick;
}

/* The budget of the watcher is used up. */
static void rest(struct task_thread *t)
{
	store_add(&t->row->interrupts, 1);
	store_add(&t->row->loss[LOSS_WATCHER_BUDGET], 1);
}

static void on_clock(struct follow *f, const struct outside_record *r,
		     const struct clock_event *e, bool sample)
{
	struct task_thread *t = thread_of(f, r);
	uint32_t *set = t ? e->fine ? &t->clock.fine : &t->clock.set : NULL;
	uint64_t cpu_ns;

	if (!t)
		return;
	if (!*set)
		*set = e->set;
	if (*set != e->set)
		return; /* it has two clocks */
	cpu_ns = e->fine ? take_fine_tick(f, t) : take_tick(f, t, &sample);
	t->interrupts++;
	t->cpu_ns += cpu_ns;
	t->process->cpu_lately += cpu_ns;
	f->cpu_ns += cpu_ns;
	if (!sample || f->paused || f->hardware.plan || !has_row(f, t, r->time))
		return;
	if (f->resting)
		rest(t);
	else
		sampler_clock(&f->sampler, t, r);
}

static void on_hardware(struct follow *f, const struct outside_record *r)
{
	struct task_thread *t = thread_of(f, r);
	uint64_t gap;

	if (!t || f->paused || !has_row(f, t, r->time))
		return;
	if (!t->clock.hardware)
		t->clock.hardware = r->hardware.set;
	if (t->clock.hardware != r->hardware.set)
		return; /* it has two sets of events */
	gap = t->clock.sampled ? r->time - t->clock.sampled : 0;
	t->clock.sampled = r->time;
	hardware_gap(&f->hardware, gap);
	if (f->resting)
		rest(t);
	else
		sampler_hardware(&f->sampler, t, r, f->hardware.gap_ns);
}

static void on_sample(struct follow *f, const struct outside_record *r,
		      struct outside_ring *from)
{
	const struct clock_event *e = clocks_event(&f->clocks, r->id);
	struct task_thread *t = from->owner;
	bool sample =
		!t && (!e || e->fine) && clocks_is_sample(&f->clocks, from);
	int reg;

	if (e) {
		on_clock(f, r, e, sample);
		return;
	}
	if (!t || !t->lease || &t->lease->ring != from || !t->row || f->paused)
		return;
	reg = registers_hit(t->lease, r->id);
	if (reg >= 0)
		sampler_hit(&f->sampler, t, reg, r);
}

/*
 * The process that was made. It is known if it was found in a list meanwhile;
 * or an earlier one had its number, and the record of its end was lost.
 */
static struct task_process *made_process(struct follow *f,
					 const struct outside_record *r)
{
	struct task_process *p = tasks_process(&f->tasks, (pid_t)r->pid);
	uint32_t parent;

	if (p && p->start &&
	    p->start == host_process_start((pid_t)r->pid, &parent))
		return p;
	if (p)
		follow_end_process(f, p, CDP_ENDED, r->time, "");
	return follow_add_process(f, (pid_t)r->pid);
}

static void on_fork(struct follow *f, const struct outside_record *r)
{
	struct task_process *p = tasks_process(&f->tasks, (pid_t)r->parent_pid);
	struct task_thread *parent, *old;
	const char *name;

	if (!p || f->threads)
		return;
	if (r->pid != r->parent_pid) {
		if (!f->children) {
			if (p->file.open)
				store_add(&p->file.store.header->not_followed,
					  1);
			return;
		}
		p = made_process(f, r);
	}
	old = tasks_thread(&f->tasks, (pid_t)r->tid);
	if (old)
		end_thread(f, old, r->time);
	parent = tasks_thread(&f->tasks, (pid_t)r->parent_tid);
	name = parent ? parent->name : NULL;
	makers_made(&f->makers, follow_add_thread(f, p, (pid_t)r->tid, name),
		    parent, r->time);
}

/*
 * Attach to the threads that are not known. One that began after its maker had
 * our events has two clocks then, and one counts.
 */
static int attach_rest(struct follow *f, struct task_process *p)
{
	int err = 0, added;

	do {
		struct listing tids = list_threads(p->pid);

		added = 0;
		for (size_t i = 0; i < tids.n && !err; i++) {
			if (tasks_thread(&f->tasks, tids.pid[i]))
				continue;
			err = follow_watch(f, p, tids.pid[i]);
			added += !err;
			if (err == -ESRCH)
				err = 0;
		}
		listing_release(&tids);
	} while (added && !err);
	return err;
}

/*
 * The kernel takes our events from a task that executes a program whose file it
 * may not read, or that gains rights: its records say that the task ended. If
 * it lives, open new events, which the kernel allows to those that may watch
 * such programs. Returns 0, or -errno: -ESRCH if the task has ended indeed.
 */
static int watch_again(struct follow *f, struct task_thread *t)
{
	struct task_process *p = t->process;
	uint32_t parent;
	int err;

	if (!p->executed || t->cpu_ns ||
	    host_process_start(p->pid, &parent) != p->start)
		return -ESRCH;
	/* That has happened. */
	f->clocks.on_exec = f->hardware.on_exec = false;
	err = open_events(f, t->tid);
	if (err)
		return err;
	own_events(f, t);
	return attach_rest(f, p);
}

static void on_exit_of(struct follow *f, const struct outside_record *r)
{
	struct task_thread *t = tasks_thread(&f->tasks, (pid_t)r->tid);
	struct task_process *p;
	int err;

	if (!t || t->process->pid != (pid_t)r->pid)
		return;
	p = t->process;
	err = watch_again(f, t);
	if (!err)
		return;
	if (err != -ESRCH) {
		follow_open_file(f, p);
		follow_end_process(f, p, CDP_STOPPED, r->time,
				   "the kernel let us watch it no longer when "
				   "it executed a program that may not be read "
				   "or that gains rights; watch it as root");
		return;
	}
	makers_ended(&f->makers, &f->tasks, &f->clocks, t, r->time);
	end_thread(f, t, r->time);
	if (!p->threads)
		follow_end_process(f, p, CDP_ENDED, r->time, "");
}

/* Its address space is new, and it has one thread. */
static void on_exec(struct follow *f, const struct outside_record *r)
{
	struct task_process *old = tasks_process(&f->tasks, (pid_t)r->pid);
	struct task_thread *t = tasks_thread(&f->tasks, (pid_t)r->tid);
	struct task_clock clock = t ? t->clock : (struct task_clock){ 0 };
	struct task_process *new;
	bool sampled = old && (old->file.open || !f->on_exec);

	if (!old)
		return;
	if (sampled && !old->file.open)
		follow_open_file(f, old);
	follow_end_process(f, old, CDP_EXECED, r->time, "");
	new = follow_add_process(f, (pid_t)r->pid);
	new->executed = true;
	follow_add_thread(f, new, (pid_t)r->tid, r->name)->clock = clock;
}

static void on_name(struct follow *f, const struct outside_record *r)
{
	struct task_thread *t = tasks_thread(&f->tasks, (pid_t)r->tid);

	if (!t)
		return;
	snprintf(t->name, sizeof(t->name), "%s", r->name);
	if (t->row)
		memcpy(t->row->name, t->name, sizeof(t->row->name));
}

static void on_map(struct follow *f, const struct outside_record *r)
{
	struct task_process *p = tasks_process(&f->tasks, (pid_t)r->pid);

	if (!p)
		return;
	if (r->map.prot & 4) /* PROT_EXEC */
		memory_forget_code(&f->sampler.memory, &p->space);
	space_map(&p->space, r);
}

void follow_pause(struct follow *f, bool paused)
{
	f->paused = paused;
	if (!paused)
		return;
	for (size_t i = 0; i < TASK_BUCKETS; i++)
		for (struct task_thread *t = f->tasks.bucket[i]; t; t = t->next)
			comm_stop(&f->sampler.comm, &t->comm);
}

void follow_lose(struct follow *f, enum loss_cause cause, uint64_t n)
{
	for (struct task_process *p = f->tasks.process; p; p = p->next)
		if (p->file.open) {
			store_lose(&p->file.store, cause, n);
			return;
		}
}

void follow_record(struct follow *f, const struct outside_record *r,
		   struct outside_ring *from)
{
	switch (r->type) {
	case PERF_RECORD_SAMPLE:
		if (r->hardware.set)
			on_hardware(f, r);
		else
			on_sample(f, r, from);
		break;
	case PERF_RECORD_FORK:
		on_fork(f, r);
		break;
	case PERF_RECORD_EXIT:
		on_exit_of(f, r);
		break;
	case PERF_RECORD_COMM:
		if (r->exec)
			on_exec(f, r);
		else
			on_name(f, r);
		break;
	case PERF_RECORD_MMAP2:
		on_map(f, r);
		break;
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		follow_lose(f, LOSS_RING_FULL, r->lost);
		break;
	case PERF_RECORD_THROTTLE:
		follow_lose(f, LOSS_THROTTLED, 1);
		break;
	}
}

void follow_close_ended(struct follow *f)
{
	uint32_t set = 0;

	while ((set = clocks_ended(&f->clocks, set))) {
		clocks_close(&f->clocks, set);
		if (f->hardware.plan)
			hardware_close(&f->hardware, set);
	}
}

void follow_drain(struct follow *f)
{
	uint64_t until = outside_now(), damaged = f->rings.damaged;
	struct outside_record r;
	struct outside_ring *from;

	while (rings_next(&f->rings, until, &r, &from))
		follow_record(f, &r, from);
	if (f->rings.damaged > damaged)
		follow_lose(f, LOSS_MALFORMED, f->rings.damaged - damaged);
	if (!f->rings.maps_missed)
		return;
	f->rings.maps_missed = false;
	for (struct task_process *p = f->tasks.process; p; p = p->next) {
		struct space_sink sink = { file_mapping, &p->file };

		space_reread(&p->space, until, &sink);
	}
}
