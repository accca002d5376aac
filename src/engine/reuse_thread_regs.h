/* SPDX-License-Identifier: MIT */
/*
 * reuse_thread_regs - reuse times of one thread, watched by its own debug
 * registers
 *
 * An engine of reuse.h for each thread, private, by address, with a slot for
 * each register that the thread has. What is sampled by hardware is past by
 * the time it is known, so the use is the thread's next access to the same
 * place (use_next).
 *
 * Registers are the thread's own: what other threads store is not seen, and
 * nothing is invalidated. A register watches 1, 2, 4 or 8 bytes; of an access
 * that is wider or not aligned it is the largest such part, one of them by
 * chance.
 *
 * Only its thread touches it. Context: handler of the thread, except where it
 * says other; does not allocate.
 */
#ifndef COMDET_ENGINE_REUSE_THREAD_REGS_H
#define COMDET_ENGINE_REUSE_THREAD_REGS_H

#include "comm.h"
#include "reuse.h"

enum {
	REUSE_THREAD_REGS_OTHERS = 16
};

/* The largest aligned part of @len bytes at @addr; of several one by chance. */
struct watch_range reuse_thread_regs_part(uint64_t addr, uint32_t len,
					  struct rng *rng);

struct reuse_thread_regs_sink {
	void (*decided)(void *ctx, const struct reuse_event *v);
	/*
	 * Uses, by weight: no register could be armed, or another thread has
	 * taken them meanwhile.
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
	uint64_t failed; /* uses that the sink was told of so */
	bool broken;     /* registers are not what they should be */
	bool dropping;   /* what is decided is lost */
	uint32_t armed;
	uint32_t slot[COMM_REGISTERS_MAX]; /* by register */
	/* By slot; len 0: nothing. */
	struct watch_range range[COMM_REGISTERS_MAX];
	uint32_t generation[COMM_REGISTERS_MAX];
	/* The instruction that will make the use, 0: any; others to come. */
	uint64_t maker[COMM_REGISTERS_MAX];
	uint32_t others[COMM_REGISTERS_MAX];
	uint64_t chosen; /* the instruction that is being sampled, or 0 */
};

/* Bytes of memory that it needs for @registers, 1 to 4. Context: any. */
size_t reuse_thread_regs_size(uint32_t registers);

/*
 * For thread @id, in @mem: reuse_thread_regs_size() bytes, all zero, aligned
 * to 64.
 * @ctx is handed to @watch and @sink.
 */
void reuse_thread_regs_init(struct reuse_thread_regs *r, void *mem,
			    uint32_t registers, uint32_t id,
			    const struct comm_watch *watch,
			    const struct reuse_thread_regs_sink *sink,
			    void *ctx, uint64_t seed);

/* A sample of @a, when the thread had made @count accesses. */
void reuse_thread_regs_sample(struct reuse_thread_regs *r,
			      const struct access *a, uint64_t count);

/*
 * A sample of @a, which the thread is about to make: the use is the next access
 * that its instruction makes to the place. Others that come before are not, or
 * what precedes the most likely moments of sampling would be taken for what was
 * chosen; after REUSE_THREAD_REGS_OTHERS of them the thread seems to have gone
 * another way, and any is.
 */
void reuse_thread_regs_sample_ahead(struct reuse_thread_regs *r,
				    const struct access *a, uint64_t count);

/*
 * Register @reg trapped when the thread had made @count accesses. @a is the
 * access; NULL: it is not known, and taken for a load of what is watched.
 */
void reuse_thread_regs_trap(struct reuse_thread_regs *r, int reg,
			    const struct access *a, uint64_t count);

/*
 * Register @reg trapped, and the access was not the program's, or nobody knows
 * when it was: the use is lost.
 */
void reuse_thread_regs_spoil(struct reuse_thread_regs *r, int reg);

/* What register @reg watches; NULL: nothing. */
const struct watch_range *reuse_thread_regs_range(
	const struct reuse_thread_regs *r, int reg);

/* The registers were taken away. */
void reuse_thread_regs_broken(struct reuse_thread_regs *r);

/*
 * The thread will access nothing more: what is watched dangles. Context: the
 * thread, or any when the thread is in no call.
 */
void reuse_thread_regs_end(struct reuse_thread_regs *r, uint64_t count);

#endif
