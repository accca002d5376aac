/* SPDX-License-Identifier: MIT */
/*
 * frames - memory for the frames that hooks keep, and paths made of them
 *
 * With config.paths each thread gets a room for frames in each copy of the
 * hooks before it runs any of the program's code, so that its paths are
 * complete. A thread that no hook saw gets it at its first event. A path has
 * the functions that were compiled with hooks, of all copies.
 *
 * A thread keeps its rooms in a list, since the library with a copy may be
 * unloaded. The room of an unloaded copy is free for the next copy. It stays
 * mapped even when the thread has ended: code of the unloaded copy may still
 * run while the process ends, and we cannot tell it that its room is gone. If
 * such code uses a room that has a new owner, it spoils that owner's paths.
 */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "frames.h"
#include "config.h"
#include "libraries.h"
#include "path.h"
#include "state.h"
#include "preload/core/maps.h"
#include "preload/core/memread.h"
#include "preload/core/sys.h"
#include "preload/core/thread.h"
#include "preload/core/local.h"
#include "preload/threads/stack_bounds.h"
#include "src/base/signal_safe.h"

enum {
	ROOM_BYTES = 8192, /* two pages */
	FRAMES = (ROOM_BYTES - sizeof(void *)) / sizeof(struct instr_frame),
	NODES = 1 << 16,
};

struct room {
	struct room *next;
	struct instr_frame
		frame[FRAMES]; /* the first one stands for no function */
};
_Static_assert(sizeof(struct room) <= ROOM_BYTES, "frames fit in");

static struct path_table *table;
static _Atomic uint64_t cut; /* paths that are not complete */
static _Atomic(struct room *) spare;

/* The calling thread's. */
struct mine {
	struct room *rooms;
	bool lacks_room;     /* some copy got no room */
	uint64_t at, sp, ip; /* time and access of the latest path */
};
_Static_assert(sizeof(struct mine) <= LOCAL_SIGNAL - LOCAL_FRAMES, "it fits");

static struct mine *mine(void)
{
	return local_get(LOCAL_FRAMES);
}

static void *map(size_t bytes)
{
	long p = sys_call6(SYS_mmap, 0, bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p < 0 && p > -4096 ? NULL : (void *)p;
}

/* The first frame, which stands for no function. */
static struct instr_frame *base(const struct instr_thread *h)
{
	return h->last - (FRAMES - 1);
}

/* The hooks of the calling thread that keep their frames in @r, or NULL. */
static struct instr_thread *user(const struct room *r)
{
	for (int i = 0; i < instr_libraries(); i++) {
		const struct instr_library *l = instr_library(i);
		struct instr_thread *h = l ? l->thread() : NULL;

		if (h && h->top && base(h) == r->frame)
			return h;
	}
	return NULL;
}

/*
 * A room that no hooks use. After a fork, prefer the one that @h had: a hook
 * that was interrupted may go on in it.
 */
static struct room *find_free(const struct instr_thread *h)
{
	struct room *found = NULL;

	for (struct room *r = mine()->rooms; r; r = r->next)
		if ((!found || &r->frame[FRAMES - 1] == h->last) && !user(r))
			found = r;
	return found;
}

static void give_away(struct room *r)
{
	struct room *first = atomic_load_explicit(&spare, memory_order_relaxed);

	do
		r->next = first;
	while (!atomic_compare_exchange_weak_explicit(
		/* (F1) pairs with (F2): the taker sees next. */
		&spare, &first, r, memory_order_release, memory_order_relaxed));
}

/* Take all spare rooms: taking one of them is not safe against other takers. */
static void take_spare(void)
{
	struct room **end = &mine()->rooms;

	while (*end)
		end = &(*end)->next;
	/* (F2) pairs with (F1). */
	*end = atomic_exchange_explicit(&spare, NULL, memory_order_acquire);
}

static struct room *take(const struct instr_thread *h)
{
	struct room *r = find_free(h);

	if (r)
		return r;
	take_spare();
	r = find_free(h);
	if (r)
		return r;
	r = map(ROOM_BYTES);
	if (!r)
		return NULL;
	r->next = mine()->rooms;
	mine()->rooms = r;
	return r;
}

int instr_frames_init(void)
{
	void *mem;

	table = NULL; /* in a forked child: it belongs to the parent */
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

static void keep_frames(struct instr_thread *h)
{
	struct stack_bounds stack = stack_bounds_own();
	struct room *r = take(h);

	if (!r) {
		mine()->lacks_room = true;
		return;
	}
	h->stack_low = stack.low;
	h->stack_bytes = stack.bytes;
	h->left_out = 0;
	r->frame[0].sp = INSTR_NO_SP;
	h->last = &r->frame[FRAMES - 1];
	atomic_signal_fence(memory_order_release);
	h->top = r->frame;
}

/* A handler of the program may interrupt this and give the thread its room. */
void instr_frames_begin(struct thread *t, struct instr_thread *h)
{
	uint64_t all = ~0ull, before = 0;

	if (!table || !t || h->top)
		return;
	sys_call4(SYS_rt_sigprocmask, SIG_BLOCK, &all, &before, sizeof(all));
	if (!h->top)
		keep_frames(h);
	sys_call4(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL,
		  sizeof(before));
}

void instr_frames_end(struct thread *t)
{
	struct room *next;

	for (struct room *r = mine()->rooms; r; r = next) {
		struct instr_thread *h = user(r);

		next = r->next;
		if (!h) {
			give_away(r);
			continue;
		}
		h->top = NULL;
		atomic_signal_fence(memory_order_release);
		sys_call2(SYS_munmap, r, ROOM_BYTES);
	}
	mine()->rooms = NULL;
	mine()->lacks_room = false;
	if (instr_of(t)->path)
		sys_call2(SYS_munmap, instr_of(t)->path,
			  sizeof(*instr_of(t)->path));
	instr_of(t)->path = NULL;
}

/* The fork may have interrupted a hook. */
void instr_frames_forget(struct instr_thread *h)
{
	h->top = NULL; /* a room in use stays mapped */
}

/* Find the path. Returns true if all calls are known. */
static bool find(struct thread *t, uint64_t sp)
{
	struct instr_frames copy[INSTR_LIBRARIES_MAX];
	struct instr_path *p = instr_of(t)->path;
	bool left_out = false;
	uint32_t copies = 0;

	for (int i = 0; i < instr_libraries(); i++) {
		const struct instr_library *l = instr_library(i);
		const struct instr_thread *h = l ? l->thread() : NULL;

		if (!h || !h->top)
			continue;
		left_out |= h->left_out;
		copy[copies++] =
			(struct instr_frames){ base(h) + 1, h->top - base(h) };
	}
	p->stack.read = memread;
	p->stack.ctx = t;
	p->stack.bounds = stack_bounds_own();
	instr_path_find(p, copy, copies, sp);
	return !p->is_cut && !left_out && !mine()->lacks_room;
}

static uint32_t path_of(struct thread *t, uint64_t sp, uint64_t ip,
			bool *complete)
{
	const struct path_call access = { .ip = ip };
	struct instr_path *p = instr_of(t)->path;
	uint32_t node = 0, parent;

	if (!p)
		p = instr_of(t)->path = map(sizeof(*p));
	*complete = p && find(t, sp);
	if (!p)
		return 0;
	for (uint32_t i = 0; i <= p->calls; i++) {
		parent = node;
		node = path_table_put(table, parent,
				      i < p->calls ? &p->call[i] : &access,
				      maps_note);
		if (node == parent) { /* the table is full */
			*complete = false;
			return 0;
		}
	}
	return node;
}

void instr_frames_path(struct thread *t, uint64_t sp, uint64_t ip)
{
	bool complete;
	uint32_t path;

	if (!table)
		return;
	/* One access may both decide a use and be a sample. */
	if (mine()->at == t->clock_at && mine()->sp == sp && mine()->ip == ip)
		return;
	mine()->at = t->clock_at;
	mine()->sp = sp;
	mine()->ip = ip;
	path = path_of(t, sp, ip, &complete);
	if (!complete)
		atomic_fetch_add_explicit(&cut, 1, memory_order_relaxed);
	t->comm.path = path;
	for (int i = 0; i < INSTR_REUSE_ENGINES; i++)
		instr_of(t)->reuse[i].thread.path = path;
}

uint64_t instr_frames_lost(void)
{
	return atomic_load(&cut);
}
