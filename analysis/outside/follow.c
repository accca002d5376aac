/* SPDX-License-Identifier: MIT */
/*
 * follow - threads and processes that begin, execute programs and end
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "follow.h"
#include "analysis/base/util.h"

static void end_thread(struct follow *f, struct task_thread *t, uint64_t now)
{
	registers_end(&f->registers, &t->lease);
	if (t->row) {
		store_set(&t->row->cpu_ns, t->cpu_ns);
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
	file_close(&p->file, state, now, p->ended_cpu_ns, note);
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

static void on_clock(struct follow *f, const struct outside_record *r,
		     uint32_t set)
{
	struct task_thread *t = thread_of(f, r);

	if (!t)
		return;
	if (!t->set)
		t->set = set;
	if (t->set != set)
		return; /* it has two clocks */
	t->cpu_ns += f->period;
	if (has_row(f, t, r->time))
		sampler_clock(&f->sampler, t, r);
}

static void on_sample(struct follow *f, const struct outside_record *r,
		      struct outside_ring *from)
{
	uint32_t set = clocks_set(&f->clocks, r->id);
	struct task_thread *t = from->owner;
	int reg;

	if (set) {
		on_clock(f, r, set);
		return;
	}
	if (!t || !t->lease || &t->lease->ring != from || !t->row)
		return;
	reg = registers_hit(t->lease, r->id);
	if (reg >= 0)
		sampler_hit(&f->sampler, t, reg, r);
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
		p = follow_add_process(f, (pid_t)r->pid);
	}
	old = tasks_thread(&f->tasks, (pid_t)r->tid);
	if (old)
		end_thread(f, old, r->time);
	parent = tasks_thread(&f->tasks, (pid_t)r->parent_tid);
	name = parent ? parent->name : NULL;
	follow_add_thread(f, p, (pid_t)r->tid, name);
}

static void on_exit_of(struct follow *f, const struct outside_record *r)
{
	struct task_thread *t = tasks_thread(&f->tasks, (pid_t)r->tid);
	struct task_process *p;

	if (!t || t->process->pid != (pid_t)r->pid)
		return;
	p = t->process;
	end_thread(f, t, r->time);
	if (!p->threads)
		follow_end_process(f, p, CDP_ENDED, r->time, "");
}

/* Its address space is new, and it has one thread. */
static void on_exec(struct follow *f, const struct outside_record *r)
{
	struct task_process *old = tasks_process(&f->tasks, (pid_t)r->pid);
	struct task_thread *t = tasks_thread(&f->tasks, (pid_t)r->tid);
	uint32_t set = t ? t->set : CLOCK_SET_NONE;
	bool sampled = old && (old->file.open || !f->on_exec);

	if (!old)
		return;
	if (sampled && !old->file.open)
		follow_open_file(f, old);
	follow_end_process(f, old, CDP_EXECED, r->time, "");
	t = follow_add_thread(f, follow_add_process(f, (pid_t)r->pid),
			      (pid_t)r->tid, r->name);
	t->set = set;
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
		follow_lose(f, LOSS_RING_FULL, r->lost);
		break;
	case PERF_RECORD_THROTTLE:
		follow_lose(f, LOSS_THROTTLED, 1);
		break;
	}
}
