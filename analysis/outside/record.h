/* SPDX-License-Identifier: MIT */
/*
 * record - what the kernel tells about watched threads, decoded
 *
 * All events of the watcher have the same sample_type, so each record has its
 * fields in the same places, whichever event it is of:
 *
 *	sample	IDENTIFIER, IP, TID, TIME, ADDR, CPU, REGS_USER, and
 *		STACK_USER if it was asked for
 *	others	their own fields, then TID, TIME, CPU, IDENTIFIER
 *
 * Nothing in a record is trusted: names are the target's, and lengths are
 * checked. Pure; no system call.
 */
#ifndef COMDET_ANALYSIS_OUTSIDE_RECORD_H
#define COMDET_ANALYSIS_OUTSIDE_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/perf_event.h>

#include "src/base/loss.h"
#include "src/pmu/memory.h"
#include "src/x86/decode/cpu_state.h"

/* For perf_event_attr.sample_type and sample_regs_user. */
#define OUTSIDE_SAMPLE_TYPE                                                    \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |           \
	 PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_CPU |               \
	 PERF_SAMPLE_REGS_USER)
/* ax bx cx dx si di bp sp ip flags, r8 to r15 */
#define OUTSIDE_REGS UINT64_C(0xff03ff)

enum {
	OUTSIDE_PATH_BYTES = 256,
	OUTSIDE_NAME_BYTES = 16
};

struct outside_record {
	uint32_t type; /* PERF_RECORD_* */
	uint64_t time; /* CLOCK_MONOTONIC ns; 0: the record has none */
	uint64_t id;   /* of the event */
	/*
	 * The thread that it is about: of PERF_RECORD_FORK the new one, of
	 * PERF_RECORD_EXIT the one that ended.
	 */
	uint32_t pid, tid;
	uint32_t cpu;
	uint32_t parent_pid, parent_tid; /* fork */
	uint64_t addr;                   /* sample */
	bool has_regs;         /* sample: the thread was in 64-bit user mode */
	struct cpu_state regs; /* sample; vectors and bases are unknown */
	/*
	 * sample: the bytes from the stack pointer on, as they were; in the
	 * record that was decoded.
	 */
	const uint8_t *stack;
	uint32_t stack_bytes; /* 0: none */
	/* sample of pebs or ibs; set is 0 in those of the clock */
	struct {
		uint32_t set;         /* of events */
		bool is_user;         /* in the program's own code */
		bool is_access;       /* else lost says why not */
		enum loss_cause lost; /* LOSS_* */
		uint64_t ip;
		struct perf_memory memory;
	} hardware;
	uint64_t lost;                 /* lost */
	bool exec;                     /* comm: a program was executed */
	char name[OUTSIDE_NAME_BYTES]; /* comm */
	struct {
		uint64_t start, end, offset, inode;
		uint32_t dev_major, dev_minor, prot;
		bool shared;
		char path[OUTSIDE_PATH_BYTES]; /* cut */
	} map;                                 /* mmap2 */
};

/*
 * Decode the record behind @h, of h->size bytes, into @r. Returns 0; -EMSGSIZE
 * if a field reaches beyond it; -ENOTSUP for a type that the watcher has no
 * use for, with type and, where it fits, time set.
 */
int outside_record_decode(const struct perf_event_header *h,
			  struct outside_record *r);

#endif
