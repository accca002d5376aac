/* SPDX-License-Identifier: MIT */
/*
 * trace_flush - write out what a thread has put into its buffer
 */
#include "trace_blocks.h"
#include "trace_file.h"
#include "trace_thread.h"

void emu_trace_flush(struct trace_thread *t)
{
	uint32_t bytes = (uint32_t)(t->at - t->buffer);

	emu_trace_blocks_flush();
	if (bytes)
		emu_trace_file_thread(t->id, t->buffer, bytes, t->in_chunk);
	t->at = t->buffer;
	t->in_all += t->in_chunk;
	t->in_chunk = 0;
}
