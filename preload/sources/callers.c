/* SPDX-License-Identifier: MIT */
/*
 * callers - the calls that led to the accesses of detections (record -g)
 */
#include <errno.h>
#include <sys/mman.h>

#include "callers.h"
#include "program_memory.h"
#include "preload/core/maps.h"
#include "preload/core/modules.h"
#include "preload/threads/stack_bounds.h"
#include "src/callers/access_path.h"
#include "src/store/call_table.h"
#include "src/unwind/last_walk.h"
#include "src/unwind/row_cache.h"
#include "src/base/signal_safe.h"

enum {
	NODES = 1 << 16,
	ROWS = 4096,
	FUNCTION_MAX = 1 << 24, /* bytes */
	/* Registers that calls preserve, a bit each. */
	KEPT = 1 << GPR_RBX | 1 << GPR_RSP | 1 << GPR_RBP | 0xf000,
};

static struct path_table *table; /* NULL: not asked for */
static uint32_t tables;          /* made so far: each has its own numbers */
static struct row_cache *rows;

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
	stack_bounds_look();
	rows = row_cache_init(cache, ROWS);
	tables++;
	table = path_table_init(nodes, &runtime.store, NODES);
	return 0;
}

static int read_stack(void *ctx, uint64_t addr, void *buf, size_t n)
{
	return memory_read_data(ctx, addr, buf, n);
}

/*
 * Finds paths of @t, which is at @cpu; *@m becomes its memory, which is read as
 * it is.
 */
static struct path_finder finder_of(struct thread *t,
				    const struct cpu_state *cpu,
				    struct memory *m)
{
	*m = program_memory_at(t, cpu);
	last_walk_use(t->walk, tables);
	return (struct path_finder){
		.space = { .memory = { read_stack, m },
			   .find = modules_find,
			   .rows = rows,
			   .lasting = &runtime.tables,
			   .last = t->walk },
		.table = table,
		.map_generation = maps_note,
	};
}

static void count_early(struct thread *t, const struct path_finder *f)
{
	if (f->ends_early)
		count_loss(t, LOSS_NO_PATH);
}

void callers_of_choice(struct thread *t, const struct choice *c)
{
	struct path_finder f;
	struct memory m;

	if (!table)
		return;
	f = finder_of(t, t->cpu, &m);
	t->comm.path = path_of_choice(&f, &t->choose, t->cpu, c);
	count_early(t, &f);
}

void callers_of_trap(struct thread *t, const struct access *a)
{
	struct path_finder f;
	struct memory m;

	if (!table)
		return;
	f = finder_of(t, t->cpu, &m);
	t->comm.path = a ? path_behind(&f, t->cpu, a) : 0;
	count_early(t, &f);
}

/*
 * The sample of a hardware event is of an instruction some way back. Where its
 * function has not returned since, it is one of the frames.
 */
void callers_of_sample(struct thread *t, const struct cpu_state *cpu,
		       const struct access *a)
{
	struct unwind_frame frame[PATH_FRAMES_MAX];
	struct unwind_registers regs;
	struct path_finder f;
	struct memory m;
	unsigned n, i = 0;
	uint64_t start, its;
	bool known;

	if (!table)
		return;
	f = finder_of(t, cpu, &m);
	regs = path_registers(cpu->gpr, UINT16_MAX, cpu->rip);
	n = path_walk(&f, &regs, frame);
	count_early(t, &f);
	for (known = unwind_function(&f.space, a->ip, &start); known && i < n;
	     i++)
		if (frame[i].ip >= start &&
		    frame[i].ip - start < FUNCTION_MAX &&
		    unwind_function(&f.space, frame[i].ip, &its) &&
		    its == start)
			break;
	if (!known || i == n) {
		count_loss(t, LOSS_NO_PATH);
		t->comm.path = path_alone(&f, a->ip);
		return;
	}
	frame[i].ip = a->ip;
	t->comm.path = path_number(&f, frame, i, n);
}

void callers_of_hook(struct thread *t, const struct cpu_state *cpu, uint64_t ip)
{
	struct unwind_frame frame[PATH_FRAMES_MAX];
	struct unwind_registers regs;
	struct path_finder f;
	struct memory m;
	unsigned n, i = 0;

	if (!table)
		return;
	f = finder_of(t, cpu, &m);
	regs = path_registers(cpu->gpr, KEPT, cpu->rip);
	n = path_walk(&f, &regs, frame);
	count_early(t, &f);
	while (i < n && frame[i].ip != ip)
		i++;
	t->comm.path =
		i < n ? path_number(&f, frame, i, n) : path_alone(&f, ip);
}

uint32_t callers_of_block(const uint64_t *address, unsigned n)
{
	const struct path_finder f = { .table = table,
				       .map_generation = maps_note };
	struct unwind_frame frame[PATH_FRAMES_MAX];

	if (!table || n > PATH_FRAMES_MAX)
		return 0;
	for (unsigned i = 0; i < n; i++)
		frame[i].ip = address[i] - 1;
	return path_number(&f, frame, 0, n);
}

void callers_detected(struct thread *t, const struct detection *d)
{
	if ((d->publisher_path || d->detector_path) &&
	    call_table_add(&runtime.store, &t->calls, d))
		count_loss(t, LOSS_NO_PATH);
}
