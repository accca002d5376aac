/* SPDX-License-Identifier: MIT */
/*
 * callers - the calls that led to the accesses of detections (record -g)
 */
#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>

#include "callers.h"
#include "preload/core/maps.h"
#include "preload/core/memread.h"
#include "preload/core/modules.h"
#include "src/store/call_table.h"
#include "src/store/path_table.h"
#include "src/unwind/row_cache.h"
#include "src/unwind/unwind.h"
#include "src/base/signal_safe.h"

enum {
	NODES = 1 << 16,
	ROWS = 4096,
	FRAMES_MAX = 128,
	FUNCTION_MAX = 1 << 24, /* bytes */
	/* Registers that calls preserve, a bit each. */
	KEPT = 1 << GPR_RBX | 1 << GPR_RSP | 1 << GPR_RBP | 0xf000,
};

static struct path_table *table; /* NULL: not asked for */
static struct row_cache *rows;

/* DWARF's numbers of the first registers in the order of encoding. */
static const uint8_t dwarf_number[8] = { FRAME_RAX, FRAME_RCX, FRAME_RDX,
					 FRAME_RBX, FRAME_RSP, FRAME_RBP,
					 FRAME_RSI, FRAME_RDI };

static void *map(size_t bytes)
{
	void *mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return mem == MAP_FAILED ? NULL : mem;
}

int callers_init(void)
{
	void *nodes, *cache;

	if (table) { /* a forked child's copy */
		munmap(table, path_table_size(NODES));
		munmap(rows, row_cache_size(ROWS));
	}
	table = NULL;
	rows = NULL;
	if (!runtime.config.paths)
		return 0;
	nodes = map(path_table_size(NODES));
	cache = map(row_cache_size(ROWS));
	if (!nodes || !cache)
		return -ENOMEM;
	rows = row_cache_init(cache, ROWS);
	table = path_table_init(nodes, &runtime.store, NODES);
	return 0;
}

static struct unwind_registers registers_of(const uint64_t gpr[16],
					    uint32_t known, uint64_t rip)
{
	struct unwind_registers r = { .known = 0 };

	for (unsigned i = 0; i < 16; i++)
		if (known >> i & 1)
			register_set(&r, i < 8 ? dwarf_number[i] : i, gpr[i]);
	register_set(&r, FRAME_PC, rip);
	return r;
}

/* The number of the path of @n frames, innermost first. */
static uint32_t number_of(const struct unwind_frame *frame, unsigned n,
			  uint32_t outer)
{
	uint32_t node = outer;

	while (n) {
		struct path_call call = { .ip = frame[--n].ip };

		/* A function that calls itself at one place is one call. */
		for (; n && frame[n - 1].ip == call.ip; n--)
			call.recurs = true;
		node = path_table_put(table, node, &call, maps_note);
	}
	return node;
}

static struct unwind_space space_of(int (*read)(void *, uint64_t, void *,
						size_t),
				    void *ctx)
{
	return (struct unwind_space){
		.memory = { read, ctx },
		.find = modules_find,
		.find_ctx = NULL,
		.rows = rows,
	};
}

static unsigned walk(struct thread *t,
		     int (*read)(void *, uint64_t, void *, size_t), void *ctx,
		     struct unwind_registers *regs, struct unwind_frame *frame)
{
	const struct unwind_space space = space_of(read, ctx);
	enum unwind_end end;
	unsigned n = unwind_frames(&space, regs, frame, FRAMES_MAX, &end);

	if (end != UNWIND_START)
		count_loss(t, LOSS_NO_PATH);
	return n;
}

static uint32_t leaf(uint64_t ip)
{
	const struct path_call call = { .ip = ip };

	return path_table_put(table, 0, &call, maps_note);
}

/* The path of an access ahead: from what the interpreter knows there. */
static uint32_t path_ahead(struct thread *t, const struct choice *c)
{
	struct unwind_frame frame[FRAMES_MAX];
	struct interp *in = t->choose.interp;
	struct unwind_registers regs;
	uint64_t gpr[16];
	uint32_t known;

	if (c->gone || !interp_replay(in, c->number - 1)) {
		count_loss(t, LOSS_NO_PATH);
		return leaf(c->access.ip);
	}
	known = interp_registers(in, gpr);
	regs = registers_of(gpr, known, c->access.ip);
	return number_of(frame, walk(t, interp_read, in, &regs, frame), 0);
}

static bool ends_at(uint64_t ip, uint64_t next)
{
	return next - ip <= INSN_BYTES_MAX;
}

/* The path of an access that the thread has just made. */
static uint32_t path_behind(struct thread *t, const struct access *a)
{
	struct unwind_frame frame[FRAMES_MAX];
	const struct cpu_state *cpu = t->cpu;
	struct unwind_registers regs =
		registers_of(cpu->gpr, UINT16_MAX, cpu->rip);
	unsigned n = walk(t, memread, t, &regs, frame), first = 0;

	if (ends_at(a->ip, cpu->rip)) {
		frame[0].ip = a->ip;
	} else if (n > 1 && frame[1].ip - a->ip < INSN_BYTES_MAX) {
		frame[1].ip = a->ip; /* a call has led here */
		first = 1;
	} else if (a->flags & ACCESS_IMPLICIT && a->flags & ACCESS_LOAD) {
		frame[0].ip--; /* a return has */
		return path_table_put(table, number_of(frame, n, 0),
				      &(struct path_call){ .ip = a->ip },
				      maps_note);
	} else {
		frame[0].ip = a->ip; /* a jump has */
	}
	return number_of(frame + first, n - first, 0);
}

void callers_of_choice(struct thread *t, const struct choice *c)
{
	if (!table)
		return;
	t->comm.path = c->number || c->gone ? path_ahead(t, c)
					    : path_behind(t, &c->access);
}

void callers_of_trap(struct thread *t, const struct access *a)
{
	if (!table)
		return;
	t->comm.path = a ? path_behind(t, a) : 0;
}

/*
 * The sample of a hardware event is of an instruction some way back. Where its
 * function has not returned since, it is one of the frames.
 */
void callers_of_sample(struct thread *t, const struct cpu_state *cpu,
		       const struct access *a)
{
	const struct unwind_space space = space_of(memread, t);
	struct unwind_frame frame[FRAMES_MAX];
	struct unwind_registers regs;
	unsigned n, i = 0;
	uint64_t start, its;
	bool known;

	if (!table)
		return;
	regs = registers_of(cpu->gpr, UINT16_MAX, cpu->rip);
	n = walk(t, memread, t, &regs, frame);
	for (known = unwind_function(&space, a->ip, &start); known && i < n;
	     i++)
		if (frame[i].ip >= start &&
		    frame[i].ip - start < FUNCTION_MAX &&
		    unwind_function(&space, frame[i].ip, &its) && its == start)
			break;
	if (!known || i == n) {
		count_loss(t, LOSS_NO_PATH);
		t->comm.path = leaf(a->ip);
		return;
	}
	frame[i].ip = a->ip;
	t->comm.path = number_of(frame + i, n - i, 0);
}

void callers_of_hook(struct thread *t, const struct cpu_state *cpu, uint64_t ip)
{
	struct unwind_frame frame[FRAMES_MAX];
	struct unwind_registers regs;
	unsigned n, i = 0;

	if (!table)
		return;
	regs = registers_of(cpu->gpr, KEPT, cpu->rip);
	n = walk(t, memread, t, &regs, frame);
	while (i < n && frame[i].ip != ip)
		i++;
	t->comm.path = i < n ? number_of(frame + i, n - i, 0) : leaf(ip);
}

uint32_t callers_of_block(const uint64_t *address, unsigned n)
{
	struct unwind_frame frame[FRAMES_MAX];

	if (!table || n > FRAMES_MAX)
		return 0;
	for (unsigned i = 0; i < n; i++)
		frame[i].ip = address[i] - 1;
	return number_of(frame, n, 0);
}

void callers_detected(struct thread *t, const struct detection *d)
{
	if ((d->publisher_path || d->detector_path) &&
	    call_table_add(&runtime.store, &t->calls, d))
		count_loss(t, LOSS_NO_PATH);
}
