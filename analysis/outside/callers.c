/* SPDX-License-Identifier: MIT */
/*
 * callers - the calls that led to the accesses of watched threads (-g)
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "callers.h"
#include "frame_index.h"
#include "analysis/base/util.h"
#include "src/callers/access_path.h"
#include "src/unwind/module_table.h"
#include "src/unwind/row_cache.h"

enum {
	NODES = 1 << 16,
	ROWS = 1 << 14,
	PAGE = 4096,
	VDSO_MAX = 4 * PAGE, /* bytes of code without a file */
	INDEX_TRIES = 8,
};

struct process_callers {
	uint64_t taken; /* modules are of this value of space.code_changes */
	struct module_table modules;
	struct path_table *paths;
	uint64_t tried; /* the object without an index that was seen last */
	int tries;      /* a program may claim many; each costs us time */
	struct frame_index index;
};

/* What the unwinder looks modules up in. */
struct place {
	struct task_process *process;
	struct unwind_memory memory;
	struct outside_memory *copy;
};

/* Whose code path_table_put asks for; one thread watches. */
static _Thread_local struct task_process *asked;

static void *map(size_t bytes)
{
	void *mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (mem == MAP_FAILED)
		die("out of memory");
	return mem;
}

void callers_init(struct callers *c)
{
	c->rows = row_cache_init(map(row_cache_size(ROWS)), ROWS);
}

void callers_release(struct callers *c)
{
	if (c->rows)
		munmap(c->rows, row_cache_size(ROWS));
	c->rows = NULL;
}

static struct process_callers *callers_of(struct task_process *p)
{
	if (!p->callers) {
		p->callers = xcalloc(1, sizeof(*p->callers));
		p->callers->paths = path_table_init(map(path_table_size(NODES)),
						    &p->file.store, NODES);
	}
	return p->callers;
}

void callers_end_process(struct task_process *p)
{
	if (!p->callers)
		return;
	frame_index_release(&p->callers->index);
	munmap(p->callers->paths, path_table_size(NODES));
	free(p->callers);
	p->callers = NULL;
}

/* The first mapping of an object's file, or the kernel's vDSO. */
static bool begins_object(const struct space_range *r)
{
	if (r->offset)
		return false;
	return r->file ||
	       (r->prot & PROT_EXEC && r->end - r->start <= VDSO_MAX);
}

static void take_modules(struct place *at)
{
	struct process_callers *p = at->process->callers;
	const struct space *s = &at->process->space;

	module_table_begin(&p->modules);
	for (size_t i = 0; i < s->ranges; i++)
		if (begins_object(&s->range[i]))
			module_table_take(&p->modules, &at->memory,
					  s->range[i].start);
	module_table_end(&p->modules);
	p->taken = s->code_changes;
}

static bool is_free(const struct space *s, const struct frame_index *x)
{
	for (uint64_t at = x->at; at < x->low; at += PAGE)
		if (space_at(s, at))
			return false;
	return true;
}

/* The program itself, if it is the object at @low, may be a static one. */
static void make_index(struct place *at, uint64_t low)
{
	struct process_callers *p = at->process->callers;
	char path[64];
	int fd;

	if (p->tried == low || p->tries == INDEX_TRIES)
		return;
	p->tried = low;
	p->tries++;
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)at->process->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return;
	if (frame_index_make(&p->index, fd, low, &at->memory) &&
	    !is_free(&at->process->space, &p->index))
		frame_index_release(&p->index);
	close(fd);
}

/* Give @m an index, if it has none and one could be made. */
static void use_index(struct place *at, struct unwind_module *m)
{
	const struct frame_index *x = &at->process->callers->index;

	if (m->index)
		return;
	if (!x->bytes)
		make_index(at, m->low);
	if (x->bytes && x->low == m->low)
		m->index = x->at;
	at->copy->index = (struct memory_copy){ x->at, x->bytes, x->n };
}

static bool find(void *ctx, uint64_t pc, struct unwind_module *out)
{
	struct place *at = ctx;
	const struct space *s = &at->process->space;
	const struct space_range *r = space_at(s, pc);

	if (!r) {
		tasks_reread(at->process);
		r = space_at(s, pc);
	}
	if (at->process->callers->taken != s->code_changes)
		take_modules(at);
	if (!module_table_find(&at->process->callers->modules, pc, out))
		return false;
	use_index(at, out);
	/* Other processes have other objects there. */
	out->identity ^= (s->number + (r ? r->file << 20 : 0)) *
			 UINT64_C(0xD6E8FEB86659FD93);
	return true;
}

static uint64_t generation_of(uint64_t ip)
{
	return tasks_generation(asked, ip);
}

static struct path_finder finder_of(const struct callers *c,
				    struct outside_memory *m, struct place *at)
{
	asked = at->process;
	return (struct path_finder){
		.space = { .memory = at->memory,
			   .find = find,
			   .find_ctx = at,
			   .rows = c->rows },
		.table = callers_of(at->process)->paths,
		.map_generation = generation_of,
		.walking = &m->walking,
	};
}

static struct place place_of(struct task_thread *t, struct outside_memory *m,
			     const struct memory *memory)
{
	m->index = (struct memory_copy){ 0 };
	return (struct place){ t->process, { memory->read, memory->ctx }, m };
}

bool callers_of_choice(struct callers *c, struct outside_memory *m,
		       struct task_thread *t, const struct outside_record *r,
		       const struct choice *choice)
{
	const struct memory memory = memory_at(m, &t->process->space, r->time);
	struct place at = place_of(t, m, &memory);
	struct path_finder f;

	if (!c->rows)
		return true;
	f = finder_of(c, m, &at);
	t->comm.path = path_of_choice(&f, &t->choose, &r->regs, choice);
	return !f.ends_early;
}

bool callers_of_trap(struct callers *c, struct outside_memory *m,
		     struct task_thread *t, const struct outside_record *r,
		     const struct access *a)
{
	const struct memory memory = memory_at(m, &t->process->space, r->time);
	struct place at = place_of(t, m, &memory);
	struct path_finder f;

	if (!c->rows)
		return true;
	f = finder_of(c, m, &at);
	t->comm.path = a ? path_behind(&f, &r->regs, a) : 0;
	return !f.ends_early;
}

int callers_detected(struct task_thread *t, const struct detection *d)
{
	if (!d->publisher_path && !d->detector_path)
		return 0;
	if (d->publisher_process)
		return -EXDEV;
	return call_table_add(&t->process->file.store, &t->calls, d);
}
