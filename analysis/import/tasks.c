/* SPDX-License-Identifier: MIT */
/*
 * tasks - find the process, thread and maps of each sample
 *
 * Task events are played back in order of time. A process begins with the maps
 * that its parent had. exec begins another process with the same pid (or
 * restarts the same one, if nothing refers to what it was), and a tid that is
 * used again after exit is another thread. A generation of the maps is the
 * number of maps seen so far, those of the ancestors included.
 */
#include <stdlib.h>
#include <string.h>

#include "tasks.h"
#include "analysis/base/util.h"

struct player {
	struct import *im;
	struct import_index pids;    /* pid to process */
	struct import_index threads; /* pid and tid to thread */
};

static uint64_t thread_key(uint32_t pid, uint32_t tid)
{
	return (uint64_t)pid << 32 | tid;
}

static uint32_t add_process(struct player *p, uint32_t pid)
{
	struct import *im = p->im;
	uint32_t number = (uint32_t)im->processes;

	im->process = grow(im->process, im->processes, &im->processes_room,
			   sizeof(*im->process));
	im->process[im->processes++] = (struct import_process){
		.pid = pid,
		.parent = IMPORT_NONE,
	};
	import_index_set(&p->pids, pid, number);
	return number;
}

static uint32_t process_of(struct player *p, uint32_t pid)
{
	uint32_t number = import_index_find(&p->pids, pid);

	return number == IMPORT_NONE ? add_process(p, pid) : number;
}

static uint32_t add_thread(struct player *p, uint32_t process, uint32_t tid,
			   const char *name)
{
	struct import *im = p->im;
	uint32_t number = (uint32_t)im->threads;
	struct import_thread *t;

	im->thread = grow(im->thread, im->threads, &im->threads_room,
			  sizeof(*im->thread));
	t = &im->thread[im->threads++];
	*t = (struct import_thread){ .process = process, .tid = tid };
	snprintf(t->name, sizeof(t->name), "%s", name ? name : "");
	import_index_set(&p->threads, thread_key(im->process[process].pid, tid),
			 number);
	return number;
}

/* A thread has the name of its process until it gets one of its own. */
static uint32_t thread_of(struct player *p, uint32_t pid, uint32_t tid)
{
	struct import *im = p->im;
	uint32_t process = process_of(p, pid);
	uint32_t number = import_index_find(&p->threads, thread_key(pid, tid));

	if (number != IMPORT_NONE && im->thread[number].process == process)
		return number;
	return add_thread(p, process, tid, im->process[process].name);
}

static void play_map(struct player *p, uint32_t task)
{
	struct import *im = p->im;
	uint32_t number = process_of(p, im->task[task].pid);
	struct import_process *s = &im->process[number];

	s->map = grow(s->map, s->maps, &s->maps_room, sizeof(*s->map));
	s->map[s->maps++] = task;
}

static void play_exec(struct player *p, const struct import_task *t)
{
	struct import *im = p->im;
	uint32_t number = process_of(p, t->pid);
	struct import_process *s = &im->process[number];
	uint32_t parent_pid = s->parent_pid;

	if (s->samples || s->forked) {
		s->execed = true;
		number = add_process(p, t->pid);
		s = &im->process[number];
		s->parent_pid = parent_pid;
	}
	s->maps = 0;
	s->base = 0;
	s->parent = IMPORT_NONE;
	s->parent_maps = 0;
	s->name = t->text;
}

static void play_comm(struct player *p, const struct import_task *t)
{
	struct import *im = p->im;
	struct import_thread *thread;
	uint32_t number;

	if (t->kind == IMPORT_EXEC)
		play_exec(p, t);
	number = thread_of(p, t->pid, t->tid);
	thread = &im->thread[number];
	snprintf(thread->name, sizeof(thread->name), "%s", t->text);
	if (t->pid == t->tid && !im->process[thread->process].name)
		im->process[thread->process].name = t->text;
}

static void play_fork(struct player *p, const struct import_task *t)
{
	struct import *im = p->im;
	uint32_t parent = thread_of(p, t->parent_pid, t->parent_tid);
	uint32_t from = im->thread[parent].process, process = from;
	char name[sizeof(im->thread->name)];

	memcpy(name, im->thread[parent].name, sizeof(name));
	if (t->pid != t->parent_pid) {
		struct import_process *child, *s;

		process = add_process(p, t->pid);
		child = &im->process[process];
		s = &im->process[from];
		s->forked = true;
		child->parent = from;
		child->parent_pid = t->parent_pid;
		child->parent_maps = (uint32_t)s->maps;
		child->base = s->base + (uint32_t)s->maps;
		child->name = s->name;
	}
	add_thread(p, process, t->tid, name);
}

static void play_exit(struct player *p, const struct import_task *t,
		      uint64_t time)
{
	uint64_t key = thread_key(t->pid, t->tid);
	uint32_t number = import_index_find(&p->threads, key);

	if (number == IMPORT_NONE)
		return;
	p->im->thread[number].end = time;
	import_index_set(&p->threads, key, IMPORT_NONE);
}

static void play_task(struct player *p, uint32_t number, uint64_t time)
{
	const struct import_task *t = &p->im->task[number];

	switch (t->kind) {
	case IMPORT_MAP:
		play_map(p, number);
		break;
	case IMPORT_COMM:
	case IMPORT_EXEC:
		play_comm(p, t);
		break;
	case IMPORT_FORK:
		play_fork(p, t);
		break;
	case IMPORT_EXIT:
		play_exit(p, t, time);
		break;
	}
}

static void play_sample(struct player *p, struct import_sample *s)
{
	struct import *im = p->im;
	struct import_thread *t;
	struct import_process *process;

	s->thread = thread_of(p, s->pid, s->tid);
	t = &im->thread[s->thread];
	process = &im->process[t->process];
	s->generation = process->base + (uint32_t)process->maps;
	if (!t->samples++)
		t->first = s->time;
	t->last = s->time;
	if (!process->samples++)
		process->first = s->time;
	process->last = s->time;
}

/* Order samples by process, and by time within each. */
static void order_samples(struct import *im)
{
	size_t from = 0;

	im->by_process = xcalloc(im->samples + 1, sizeof(*im->by_process));
	for (size_t i = 0; i < im->processes; i++) {
		im->process[i].from = from;
		from += im->process[i].samples;
	}
	for (size_t i = 0; i < im->items; i++) {
		uint32_t at = im->item[i].at;
		struct import_process *s;

		if (at & IMPORT_TASK_BIT)
			continue;
		s = &im->process[im->thread[im->sample[at].thread].process];
		im->by_process[s->from++] = at;
	}
	for (size_t i = 0; i < im->processes; i++)
		im->process[i].from -= im->process[i].samples;
}

/* Number the sampled threads of each process. */
static void number_threads(struct import *im)
{
	uint32_t *next = xcalloc(im->processes + 1, sizeof(*next));

	for (size_t i = 0; i < im->threads; i++) {
		struct import_thread *t = &im->thread[i];

		if (t->samples)
			t->id = next[t->process]++;
	}
	free(next);
}

void import_tasks(struct import *im)
{
	struct player p = { .im = im };

	for (size_t i = 0; i < im->items; i++) {
		uint32_t at = im->item[i].at;

		if (at & IMPORT_TASK_BIT)
			play_task(&p, at & ~IMPORT_TASK_BIT, im->item[i].time);
		else
			play_sample(&p, &im->sample[at]);
	}
	import_index_release(&p.pids);
	import_index_release(&p.threads);
	number_threads(im);
	order_samples(im);
}
