/* SPDX-License-Identifier: MIT */
/*
 * trace_blocks - the blocks of instructions of a trace, each written once
 *
 * QEMU translates a block again when its cache of translations was full. The
 * same instructions at the same address keep their number.
 */
#ifndef COMDET_PRELOAD_EMU_TRACE_BLOCKS_H
#define COMDET_PRELOAD_EMU_TRACE_BLOCKS_H

#include "trace.h"

struct trace_block {
	uint32_t number, insns;
	/* Lines of code: the first, the last, and quick_place of both. */
	uint64_t line, last;
	uint32_t place, last_place;
	bool border;    /* the region of interest may begin or end here */
	bool long_code; /* there are lines between these */
	uint32_t first; /* of its sites, over all blocks */
	uint32_t bytes; /* of its description */
	struct trace_block *other; /* with the same hash */
	uint64_t ip, hash;
	unsigned char *text; /* as it is written to the file */
	struct trace_site site[];
};

/*
 * The block of @tb, found or made; NULL if there are too many, which it says
 * once. Context: translation.
 */
struct trace_block *emu_trace_block(struct qemu_plugin_tb *tb);

/* Write blocks that the file does not have yet. Context: any callback. */
void emu_trace_blocks_flush(void);

/* In a forked child: none has been written. */
void emu_trace_blocks_forget(void);

#endif
