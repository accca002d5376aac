/* SPDX-License-Identifier: MIT */
/*
 * space - the mappings of a watched process, and the keys of its memory
 *
 * /proc/PID/maps is read at the beginning, and again when something was not
 * found, but at most ten times a second and for at most a fiftieth of the time:
 * reading it takes longer than everything else that the watcher does. In
 * between, the kernel's records of new mappings keep the list right; it sends
 * none of unmapped memory.
 */
#ifndef COMDET_ANALYSIS_OUTSIDE_SPACE_H
#define COMDET_ANALYSIS_OUTSIDE_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "keys.h"
#include "record.h"
#include "src/maps/map_table.h"

struct space_range {
	uint64_t start, end, offset;
	uint32_t backing; /* of shared memory, else KEY_NONE */
	uint32_t prot;    /* PROT_* */
	bool file;        /* private, but of a file */
};

struct space {
	pid_t pid;
	uint32_t number; /* no two address spaces have the same */
	struct keys *keys;
	struct space_range *range; /* by address, none overlaps */
	size_t ranges, room;
	struct map_table table; /* what was written of it */
	struct map_range *memory;
	uint64_t code_changes; /* mappings of code may differ from before */
	uint64_t next_read;    /* ns, CLOCK_MONOTONIC */
	uint64_t ipc_namespace;
};

/* Where the mappings that are new to a file go. */
struct space_sink {
	void (*mapping)(void *ctx, const struct cdp_map *m);
	void *ctx;
};

void space_init(struct space *s, pid_t pid, uint32_t number, struct keys *keys);
void space_release(struct space *s);

/*
 * Read the list, now. Returns 0; or -errno, and then the list stays as it was:
 * of a process that has ended the kernel tells nothing.
 */
int space_read(struct space *s, const struct space_sink *sink);

/* The same if it is time again. @now is CLOCK_MONOTONIC ns. */
void space_reread(struct space *s, uint64_t now, const struct space_sink *sink);

/* Take in a PERF_RECORD_MMAP2. */
void space_map(struct space *s, const struct outside_record *r);

/* The mapping that holds @addr, or NULL. */
const struct space_range *space_at(const struct space *s, uint64_t addr);

/* The key of @addr in the mapping @r, which holds it. */
uint64_t space_key(const struct space *s, const struct space_range *r,
		   uint64_t addr);

/* Where this process has the place @key, 0 if it has not. */
uint64_t space_address(const struct space *s, uint64_t key);

#endif
