/* SPDX-License-Identifier: MIT */
/*
 * reuse_thread_regs - reuse times of one thread, watched by its own debug
 * registers
 *
 * Each thread has an engine of reuse.h with private scope and by address, and a
 * slot for each of its registers. A sampled access is over by the time a
 * register is armed, so the use is the thread's next access to the same data
 * (use_next).
 *
 * A thread's registers do not see what other threads store, so nothing is
 * invalidated. A register watches 1, 2, 4 or 8 aligned bytes. Of an access that
 * is wider or not aligned it watches the largest such part, a random one if
 * there are several.
 *
 * Only its thread touches it. Context: handler of the thread, unless a function
 * says otherwise. Does not allocate.
 */
#ifndef COMDET_ENGINE_REUSE_THREAD_REGS_H
#define COMDET_ENGINE_REUSE_THREAD_REGS_H

#include "comm.h"
#include "reuse.h"

enum {
	REUSE_THREAD_REGS_OTHERS = 16
};

/* The largest aligned part of @len bytes at @addr, a random one of several. */
struct watch_range reuse_thread_regs_part(uint64_t addr, uint32_t len,
					  struct rng *rng);

struct reuse_thread_regs_sink {
	void (*decided)(void *ctx, const struct reuse_event *v);
	/*
	 * Uses of this weight were lost: no register could be armed, or the
	 * registers were taken away.
	 */
	void (*lost)(void *ctx, uint64_t weight);
};

struct reuse_thread_regs {
	struct reuse *engine;
	struct reuse_thread thread;
	const struct comm_watch *watch;
	const struct reuse_thread_regs_sink *sink;
	void *ctx; /* of both */
	uint64_t now;
	uint64_t failed; /* uses already reported to sink->lost */
	bool broken;     /* registers are not armed as the slots want */
	bool dropping;   /* uses decided now are lost */
	uint32_t armed;
	uint32_t slot[COMM_REGISTERS_MAX]; /* by register */
	/* By slot; len 0: nothing. */
	struct watch_range range[COMM_REGISTERS_MAX];
	uint32_t generation[COMM_REGISTERS_MAX];
	/*
	 * By slot: the instruction that will make the use, 0: any; and how many
	 * accesses by other instructions may come before that.
	 */
	uint64_t maker[COMM_REGISTERS_MAX];
	uint32_t others[COMM_REGISTERS_MAX];
	uint64_t chosen; /* the instruction that is being sampled, or 0 */
};

/* Bytes of memory needed for @registers, 1 to 4. Context: any. */
size_t reuse_thread_regs_size(uint32_t registers);

/*
 * Prepare @r for thread @id. @mem has reuse_thread_regs_size() bytes, all zero,
 * aligned to 64. @ctx is handed to @watch and @sink.
 */
void reuse_thread_regs_init(struct reuse_thread_regs *r, void *mem,
			    uint32_t registers, uint32_t id,
			    const struct comm_watch *watch,
			    const struct reuse_thread_regs_sink *sink,
			    void *ctx, uint64_t seed);

/* The thread sampled @a, when it had made @count accesses. */
void reuse_thread_regs_sample(struct reuse_thread_regs *r,
			      const struct access *a, uint64_t count);

/*
 * The thread sampled @a, which it is about to make. The use is the next access
 * to the data by the same instruction. Accesses by other instructions before it
 * are skipped; otherwise instructions just before those that are sampled most
 * often would take their place. After REUSE_THREAD_REGS_OTHERS of them the
 * thread has probably taken another branch, and the next access is the use.
 */
void reuse_thread_regs_sample_ahead(struct reuse_thread_regs *r,
				    const struct access *a, uint64_t count);

/*
 * Register @reg trapped by access @a when the thread had made @count accesses.
 * An unknown access (NULL) is taken for a load of the watched bytes.
 */
void reuse_thread_regs_trap(struct reuse_thread_regs *r, int reg,
			    const struct access *a, uint64_t count);

/*
 * Register @reg trapped, but the access is not one of the program, or its time
 * is not known: the use is lost.
 */
void reuse_thread_regs_spoil(struct reuse_thread_regs *r, int reg);

/* The bytes that register @reg watches; NULL if it watches none. */
const struct watch_range *reuse_thread_regs_range(
	const struct reuse_thread_regs *r, int reg);

/* The registers were taken away. */
void reuse_thread_regs_broken(struct reuse_thread_regs *r);

/*
 * The thread makes no further access: the uses that it watches dangle. Context:
 * the thread, or any while the thread is in no call.
 */
void reuse_thread_regs_end(struct reuse_thread_regs *r, uint64_t count);

#endif
