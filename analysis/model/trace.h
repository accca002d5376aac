/* SPDX-License-Identifier: MIT */
/*
 * trace - what the threads of a program executed, read from a .trace file
 */
#ifndef COMDET_ANALYSIS_MODEL_TRACE_H
#define COMDET_ANALYSIS_MODEL_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace_chunks.h"
#include "uop.h"

struct trace_block {
	uint64_t ip, end; /* addresses of its first byte and after its last */
	uint64_t last;    /* address of its last instruction */
	uint32_t insns;
	uint32_t first; /* its first instruction in struct trace */
	uint32_t uops, loads, stores; /* micro-operations of each kind */
	bool branch; /* its last instruction is a conditional branch */
	bool plain;  /* no other one is, and all have classes of their own */
	bool jump;   /* its last instruction is a jump that is always taken */
};

struct trace_insn {
	uint64_t ip;
	uint32_t bytes;
	uint8_t flags; /* enum uop_flag, of all its micro-operations */
	struct uop_insn decoded;
};

struct trace_thread {
	uint32_t id;
	size_t *chunk; /* numbers of its chunks */
	size_t chunks, room;
	uint64_t instructions; /* by the headers of its chunks */
};

#define TRACE_CUT_SHORT                                                        \
	"the trace was cut short: the program was killed, still runs, or "     \
	"the disk was full"

struct trace {
	char *path; /* of the file */
	struct trace_chunks file;
	struct trace_block *block;
	size_t blocks, blocks_room;
	struct trace_insn *insn;
	size_t insns, insns_room;
	struct trace_thread *thread; /* by id */
	size_t threads, threads_room;
	bool complete;       /* the file has its last chunk */
	const char *warning; /* about a trace that is not complete, or NULL */
	/*
	 * It is being recorded: trace_live.h. Then there is no file, and what
	 * is known of threads and blocks trace_live.c alone says.
	 */
	struct trace_live *live; /* or NULL */
};

struct trace_access {
	uint64_t addr;
	uint32_t index; /* of the instruction in its block */
	bool store;
};

struct trace_event {
	enum trace_event_kind kind;
	bool outside; /* the region of interest: it takes no time */
	uint64_t object, argument;
};

/* So much was executed, and then a line was used. */
struct trace_use {
	/* TRACE_BLOCK: of instructions; TRACE_EVENT: no use of a line */
	enum trace_token kind;
	uint64_t line, insns, passed; /* @passed: accesses */
};

/*
 * A block that a thread executes, and the events behind it. Of a part that was
 * traced quickly: what was executed since the step before, or an event.
 */
struct trace_step {
	const struct trace_block *block; /* NULL: events alone */
	uint64_t next_ip; /* of the block behind it; 0: the last */
	struct trace_access *access;
	size_t accesses, access_room;
	struct trace_event *event;
	size_t events, event_room;
	bool quick;
	struct trace_use use;
};

struct trace_stream {
	const struct trace *trace;
	const struct trace_thread *thread;
	size_t chunk; /* the next to read */
	const unsigned char *at, *end;
	uint32_t number;      /* of the latest block */
	bool pending;         /* the token of the next block is read */
	bool takes_quick;     /* the reader knows quick steps; else errors */
	uint32_t *next;       /* by block */
	uint64_t *last;       /* by instruction: loads, stores */
	size_t blocks, insns; /* that those have */
	uint64_t offset;      /* of the chunk in the file */
	struct trace_step step;
	unsigned char content[TRACE_CHUNK_BYTES];
	char error[TRACE_ERROR_BYTES];
};

/*
 * Read the file, or the only .trace file of the directory, @path. Returns 0, or
 * -EINVAL with one line for the user in @error.
 */
int trace_open(struct trace *t, const char *path,
	       char error[TRACE_ERROR_BYTES]);
void trace_close(struct trace *t);

/* How many threads have instructions; the others have events alone. */
size_t trace_working(const struct trace *t);

/* How many instructions all threads have, by the headers of their chunks. */
uint64_t trace_instructions(const struct trace *t);

/*
 * Add the blocks of a chunk's content. Returns false if it is damaged. For
 * trace_live.c.
 */
bool trace_add_blocks(struct trace *t, const unsigned char *content,
		      size_t bytes);

/* In trace_stream.c. */
struct trace_stream *trace_stream_open(const struct trace *t, size_t thread);
void trace_stream_close(struct trace_stream *s);

/*
 * Read the next step into s->step. Returns 1, 0 at the end, or -EINVAL with a
 * line in s->error.
 */
int trace_stream_next(struct trace_stream *s);

/*
 * The same of a step behind that one, if it only has a use: put it into @use,
 * which the next such step goes on from, and return true. False if the next
 * step is another one, an error, or in the next chunk.
 */
bool trace_stream_use(struct trace_stream *s, struct trace_use *use);

#endif
