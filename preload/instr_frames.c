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
	GATHERED_MAX = 1024, /* of all copies */
	NODES = 1 << 16,
};

/* Of a thread, where its paths are put together. */
struct instr_gathered {
	struct instr_frame frame[GATHERED_MAX];
	struct path_call call[GATHERED_MAX];
	struct instr_stack stack;
};

static struct path_table *table;

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
	if (!instr_config.paths)
		return 0;
	mem = map(path_table_size(NODES));
	if (!mem)
		return -ENOMEM;
	table = path_table_init(mem, &runtime.store, NODES);
	return 0;
}

void instr_frames_begin(struct instr_thread *h)
{
	struct instr_frame *f;

	if (!table || h->top)
		return;
	f = map(FRAMES_BYTES);
	if (!f)
		return;
	f->sp = INSTR_NO_SP;
	h->last = f + (FRAMES - 1);
	atomic_signal_fence(memory_order_release);
	h->top = f;
}

void instr_thread_begin(void)
{
	for (int i = 0; table && instr_is_source() && i < instr_libraries();
	     i++)
		if (instr_library(i))
			instr_frames_begin(instr_library(i)->thread());
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
	if (t->instr.gathered)
		sys_call2(SYS_munmap, t->instr.gathered,
			  sizeof(*t->instr.gathered));
	t->instr.gathered = NULL;
}

/* The child may have been made by a handler that interrupted a hook: */
void instr_frames_forget(struct instr_thread *h)
{
	h->top = NULL; /* what it has in hand stays mapped */
}

/* Both outermost first, which is by stack pointer. Returns how many in all. */
static uint32_t merge(struct instr_frame *to, uint32_t n,
		      const struct instr_frame *from, uint32_t more)
{
	uint32_t all;

	if (more > GATHERED_MAX - n)
		more = GATHERED_MAX - n;
	all = n + more;
	for (uint32_t i = all; more; i--) {
		if (n && to[n - 1].sp < from[more - 1].sp)
			to[i - 1] = to[--n];
		else
			to[i - 1] = from[--more];
	}
	return all;
}

static uint32_t gather(struct instr_frame *to)
{
	uint32_t n = 0;

	for (int i = 0; i < instr_libraries(); i++) {
		const struct instr_thread *h;

		if (!instr_library(i))
			continue;
		h = instr_library(i)->thread();
		if (h->top)
			n = merge(to, n, base(h) + 1, h->top - base(h));
	}
	return n;
}

static uint32_t find_path(struct thread *t, uint64_t sp, uint64_t ip)
{
	const struct path_call access = { .ip = ip };
	struct instr_gathered *g = t->instr.gathered;
	uint32_t calls, node = 0, path;

	if (!g)
		g = t->instr.gathered = map(sizeof(*g));
	if (!g)
		return 0;
	g->stack.read = memread;
	g->stack.ctx = t;
	calls = instr_path(g->frame, gather(g->frame), sp, &g->stack, g->call);
	for (uint32_t i = 0; i < calls; i++)
		node = path_table_put(table, node, &g->call[i], maps_note);
	path = path_table_put(table, node, &access, maps_note);
	return path == node ? 0 : path;
}

void instr_frames_path(struct thread *t, uint64_t sp, uint64_t ip)
{
	uint32_t path;

	if (!table)
		return;
	path = find_path(t, sp, ip);
	for (int i = 0; i < INSTR_REUSE_ENGINES; i++)
		t->instr.reuse[i].thread.path = path;
}

uint64_t instr_frames_lost(void)
{
	return table ? path_table_stats(table).lost : 0;
}
