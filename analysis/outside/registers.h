/* SPDX-License-Identifier: MIT */
/*
 * registers - debug registers of watched threads, leased from a pool
 *
 * A thread that arms gets a set of perf events, one for each register, and a
 * small ring for their hits. Sets are few: one that nobody has armed for 20 ms
 * goes to the thread that needs it. Moving a register to another address is one
 * system call and does not stop the thread.
 *
 * Each register fires once. The kernel may fire it again before it is switched
 * off, at an address of before, so a hit says where it was.
 */
#ifndef COMDET_ANALYSIS_OUTSIDE_REGISTERS_H
#define COMDET_ANALYSIS_OUTSIDE_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "rings.h"
#include "src/engine/comm.h"

enum {
	REGISTERS_SETS = 64,
};

/* What a thread holds. */
struct lease {
	struct outside_ring ring; /* first: a record's ring is its lease */
	struct lease **holder;    /* the thread's pointer to this; NULL: free */
	int registers;
	int fd[COMM_REGISTERS_MAX];
	uint64_t id[COMM_REGISTERS_MAX];
	bool on[COMM_REGISTERS_MAX];
	bool stacks;      /* its hits have the stack */
	uint64_t used_at; /* ns */
};

struct registers {
	struct rings *rings;
	int poll; /* epoll descriptor */
	int wanted;
	bool stacks; /* hits are to have the stack */
	struct lease lease[REGISTERS_SETS];
};

void registers_init(struct registers *r, struct rings *rings, int poll,
		    int wanted);

/* How many of @wanted registers thread @tid has free, or -errno. */
int registers_free(pid_t tid, int wanted);

/*
 * Arm @n ranges for thread @tid, which keeps its lease in *@holder; @owner goes
 * into the ring. @now is CLOCK_MONOTONIC ns. Returns how many are armed, the
 * first ranges first; 0 or -errno: -EBUSY if all sets are in use.
 */
int registers_arm(struct registers *r, struct lease **holder, pid_t tid,
		  void *owner, const struct watch_range *range, int n,
		  uint64_t now);

void registers_disarm(struct lease *l);

/* Which register the event @id is, -1: none. It has fired and is off. */
int registers_hit(struct lease *l, uint64_t id);

/* Give the lease in *@holder back. Nothing happens if there is none. */
void registers_end(struct registers *r, struct lease **holder);
void registers_release(struct registers *r);

#endif
