/* SPDX-License-Identifier: MIT */
/*
 * trace_file - the .trace file of this process, chunk by chunk
 *
 * Chunks are compressed and written under a lock, each with one system call, so
 * a killed process leaves whole chunks. After an error nothing more is written.
 */
#ifndef COMDET_PRELOAD_EMU_TRACE_FILE_H
#define COMDET_PRELOAD_EMU_TRACE_FILE_H

#include <stdint.h>

/*
 * Create it beside the .cdp file, or open emu.config.pipe. Returns 0 or -errno.
 * Context: set-up.
 */
int emu_trace_file_open(void);

/* Each writes a chunk. Context: any callback. */
void emu_trace_file_blocks(const unsigned char *data, uint32_t bytes);
void emu_trace_file_thread(uint32_t thread, const unsigned char *data,
			   uint32_t bytes, uint64_t instructions);

/* The thread has ended, with so many instructions in the trace. */
void emu_trace_file_ended(uint32_t thread, uint64_t instructions);

/* Write the last chunk, and close the file. */
void emu_trace_file_finish(void);

/* In a forked child. */
void emu_trace_file_forget(void);

#endif
