/* SPDX-License-Identifier: MIT */
/*
 * instr_frames - room for the frames that hooks keep, and paths made of them
 *
 * With config.paths each thread gets room in each copy of the hooks before it
 * runs any of the program's code, so that its paths begin where it does; a
 * thread that no hook saw gets it at its first event. A path has the functions
 * that were compiled with hooks, whichever copy they call.
 */
#include <errno.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "instr_path.h"
#include "instr_source.h"
#include "memread.h"
#include "runtime.h"
#include "state.h"
#include "sys.h"
#include "signal_safe.h"

enum {
	FRAMES_BYTES = 8192, /* two pages */
	FRAMES = FRAMES_BYTES / sizeof(struct instr_frame),
	NODES = 1 << 16,
};

static struct path_table *table;
static _Atomic uint64_t cut; /* paths that are not complete */

static void *map(size_t bytes)
{
	long p = sys_call6(SYS_mmap, 0, bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p < 0 && p > -4096 ? NULL : (void *)p;
}

/* The first frame, which is no function. */
static struct instr_frame *base(const struct instr_thread *h)
{
	return h->last - (FRAMES - 1);
}

int instr_frames_init(void)
{
	void *mem;

	table = NULL; /* a forked child's is its own */
	atomic_store(&cut, 0);
	if (!instr_config.paths)
		return 0;
	stack_bounds_look();
	mem = map(path_table_size(NODES));
	if (!mem)
		return -ENOMEM;
	table = path_table_init(mem, &runtime.store, NODES);
	return 0;
}

void instr_frames_begin(struct thread *t, struct instr_thread *h, uint64_t sp)
{
	struct stack_bounds stack = stack_bounds_own();
	struct instr_frame *f;

	if (!table || !t || h->top)
		return;
	f = map(FRAMES_BYTES);
	if (!f)
		return;
	h->stack_low = stack.low;
	h->stack_bytes = stack.bytes;
	h->left_out = 0;
	f->sp = INSTR_NO_SP;
	h->last = f + (FRAMES - 1);
	atomic_signal_fence(memory_order_release);
	h->top = f;
}

void instr_thread_begin(struct thread *t)
{
	uint64_t sp = (uint64_t)(uintptr_t)__builtin_frame_address(0);

	for (int i = 0; table && instr_is_source() && i < instr_libraries();
	     i++)
		if (instr_library(i))
			instr_frames_begin(t, instr_library(i)->thread(), sp);
}

void instr_frames_end(struct thread *t)
{
	for (int i = 0; table && i < instr_libraries(); i++) {
		struct instr_thread *h;

		if (!instr_library(i))
			continue;
		h = instr_library(i)->thread();
		if (!h->top)
			continue;
		h->top = NULL;
		atomic_signal_fence(memory_order_release);
		sys_call2(SYS_munmap, base(h), FRAMES_BYTES);
	}
	if (t->instr.path)
		sys_call2(SYS_munmap, t->instr.path, sizeof(*t->instr.path));
	t->instr.path = NULL;
}

/* The child may have been made by a handler that interrupted a hook: */
void instr_frames_forget(struct instr_thread *h)
{
	h->top = NULL; /* what it has in hand stays mapped */
}

static void find(struct thread *t, uint64_t sp)
{
	struct instr_frames copy[INSTR_LIBRARIES_MAX];
	struct instr_path *p = t->instr.path;
	bool left_out = false;
	uint32_t copies = 0;

	for (int i = 0; i < instr_libraries(); i++) {
		const struct instr_thread *h;

		if (!instr_library(i))
			continue;
		h = instr_library(i)->thread();
		if (!h->top)
			continue;
		left_out |= h->left_out;
		copy[copies++] =
			(struct instr_frames){ base(h) + 1, h->top - base(h) };
	}
	p->stack.read = memread;
	p->stack.ctx = t;
	p->stack.bounds = stack_bounds_own();
	instr_path_find(p, copy, copies, sp);
	if (p->is_cut || left_out)
		atomic_fetch_add_explicit(&cut, 1, memory_order_relaxed);
}

static uint32_t path_of(struct thread *t, uint64_t sp, uint64_t ip)
{
	const struct path_call access = { .ip = ip };
	struct instr_path *p = t->instr.path;
	uint32_t node = 0, parent;

	if (!p)
		p = t->instr.path = map(sizeof(*p));
	if (!p)
		return 0;
	find(t, sp);
	for (uint32_t i = 0; i <= p->calls; i++) {
		parent = node;
		node = path_table_put(table, parent,
				      i < p->calls ? &p->call[i] : &access,
				      maps_note);
		if (node == parent) /* no room */
			return 0;
	}
	return node;
}

void instr_frames_path(struct thread *t, uint64_t sp, uint64_t ip)
{
	uint32_t path;

	if (!table)
		return;
	path = path_of(t, sp, ip);
	for (int i = 0; i < INSTR_REUSE_ENGINES; i++)
		t->instr.reuse[i].thread.path = path;
}

uint64_t instr_frames_lost(void)
{
	return table ? path_table_stats(table).lost + atomic_load(&cut) : 0;
}
