/* SPDX-License-Identifier: MIT */
/*
 * tasks - the watched threads and processes, by the kernel's numbers
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tasks.h"
#include "exit_signal.h"
#include "now.h"
#include "analysis/base/util.h"
#include "src/store/host.h"

struct task_process *tasks_add_process(struct tasks *t, pid_t pid,
				       struct keys *keys)
{
	struct task_process *p = xcalloc(1, sizeof(*p)), **last = &t->process;
	uint32_t parent;

	p->pid = pid;
	p->number = ++t->numbers;
	p->start = host_process_start(pid, &parent);
	p->pidfd = exit_signal_open(pid);
	space_init(&p->space, pid, p->number, keys);
	while (*last)
		last = &(*last)->next;
	*last = p;
	return p;
}

static struct task_thread **bucket_of(struct tasks *t, pid_t tid)
{
	return &t->bucket[(uint32_t)tid % TASK_BUCKETS];
}

struct task_thread *tasks_add_thread(struct tasks *t,
				     struct task_process *process, pid_t tid)
{
	struct task_thread *thread, **bucket = bucket_of(t, tid);

	if (posix_memalign((void **)&thread, 64, sizeof(*thread)))
		die("out of memory");
	memset(thread, 0, sizeof(*thread));
	thread->process = process;
	thread->tid = tid;
	thread->id = (uint32_t)t->ids;
	thread->pairs.writer.section = CDP_PAIRS;
	thread->cores.writer.section = CDP_CORES;
	thread->next = *bucket;
	*bucket = thread;
	process->threads++;
	t->owner = grow(t->owner, t->ids, &t->room, sizeof(*t->owner));
	t->owner[t->ids++] = process->number;
	return thread;
}

struct task_process *tasks_process(const struct tasks *t, pid_t pid)
{
	struct task_process *p = t->process;

	while (p && p->pid != pid)
		p = p->next;
	return p;
}

struct task_thread *tasks_thread(const struct tasks *t, pid_t tid)
{
	struct task_thread *thread = t->bucket[(uint32_t)tid % TASK_BUCKETS];

	while (thread && thread->tid != tid)
		thread = thread->next;
	return thread;
}

void tasks_end_thread(struct tasks *t, struct task_thread *thread)
{
	struct task_thread **at = bucket_of(t, thread->tid);

	while (*at != thread)
		at = &(*at)->next;
	*at = thread->next;
	thread->process->threads--;
	thread->process->ended_cpu_ns += thread->cpu_ns;
	pair_table_release(&thread->pairs);
	core_table_release(&thread->cores);
	slice_table_release(&thread->slices);
	call_table_release(&thread->calls);
	free(thread);
}

void tasks_end_process(struct tasks *t, struct task_process *process)
{
	struct task_process **at = &t->process;

	while (*at != process)
		at = &(*at)->next;
	*at = process->next;
	space_release(&process->space);
	if (process->pidfd >= 0)
		close(process->pidfd);
	free(process);
}

void tasks_reread(struct task_process *p)
{
	struct space_sink sink = { file_mapping, &p->file };

	space_reread(&p->space, outside_now(), &sink);
}

uint64_t tasks_generation(struct task_process *p, uint64_t ip)
{
	if (!map_table_has_code(&p->space.table, ip))
		tasks_reread(p);
	return atomic_load(&p->space.table.generation);
}

struct task_thread *tasks_any_thread(const struct tasks *t,
				     const struct task_process *process)
{
	for (size_t i = 0; i < TASK_BUCKETS; i++)
		for (struct task_thread *x = t->bucket[i]; x; x = x->next)
			if (!process || x->process == process)
				return x;
	return NULL;
}

uint32_t tasks_owner(const struct tasks *t, uint32_t id)
{
	return id < t->ids ? t->owner[id] : 0;
}

void tasks_release(struct tasks *t)
{
	free(t->owner);
	memset(t, 0, sizeof(*t));
}
