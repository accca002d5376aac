/* SPDX-License-Identifier: MIT */
/*
 * tables - the memory that a profile begins with: board, threads, mappings
 */
#include <errno.h>
#include <sys/mman.h>

#include "tables.h"
#include "preload/core/maps.h"
#include "preload/core/runtime.h"
#include "preload/sources/callers.h"
#include "preload/sources/heap_blocks.h"
#include "preload/sources/look.h"
#include "preload/sources/regions.h"
#include "preload/sources/slices.h"
#include "preload/sources/sample.h"
#include "preload/sources/visit.h"
#include "preload/threads/threads.h"
#include "src/base/signal_safe.h"

static int init_comm(void)
{
	uint32_t slots = runtime.config.board_slots;
	struct comm *c = &runtime.comm;
	void *mem = mmap(NULL, board_size(slots), PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (mem == MAP_FAILED)
		return -ENOMEM;
	if (c->board)
		munmap(c->board, board_size(slots));
	c->line_bytes = 64;
	c->chunk_bytes = 8;
	c->board = board_init(mem, slots, c->line_bytes);
	c->sink = &sample_sink;
	visit_init();
	look_init();
	/*
	 * While a debug register is armed some programs run a quarter slower
	 * in a virtual machine (docs/overhead.md), whatever it watches.
	 */
	c->arm_one_in = 8;
	return 0;
}

int tables_init(void)
{
	int r = init_comm();

	regions_init();
	slices_init();
	if (!r)
		r = threads_init();
	if (!r)
		r = callers_init();
	if (!r)
		r = maps_init();
	if (!r)
		r = heap_blocks_init();
	return r;
}
