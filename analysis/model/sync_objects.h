/* SPDX-License-Identifier: MIT */
/*
 * sync_objects - what threads wait for each other by, found by address
 *
 * An address may be used as objects of several classes: each is an object of
 * its own.
 */
#ifndef COMDET_ANALYSIS_MODEL_SYNC_OBJECTS_H
#define COMDET_ANALYSIS_MODEL_SYNC_OBJECTS_H

#include <stddef.h>
#include <stdint.h>

enum sync_class {
	SYNC_CLASS_LOCK,
	SYNC_CLASS_BARRIER,
	SYNC_CLASS_COND,
	SYNC_CLASS_SEM,
};

/* Of a lock that a thread lent to another one. */
struct sync_loan {
	uint32_t lender;
	uint32_t depth; /* how often the lender locked it */
};

struct sync_object {
	uint64_t address;
	enum sync_class class;
	uint32_t owner;         /* of a lock: a thread, or SYNC_NOWHERE */
	uint32_t depth;         /* how often the owner locked it */
	struct sync_loan *loan; /* the latest, to the owner, is the last */
	size_t loans, loans_room;
	uint64_t count; /* readers, arrivals, kept signals, or the value */
	double free_at; /* the latest release or arrival */
	uint32_t first, last; /* threads that wait, in the order of coming */
	struct sync_object *next;
};

struct sync_objects {
	struct sync_object **bucket;
	size_t buckets, n;
};

/* Find or make it; a new one is all zeros, and nobody owns it or waits. */
struct sync_object *sync_objects_get(struct sync_objects *o,
				     enum sync_class class, uint64_t address);
void sync_objects_release(struct sync_objects *o);

#endif
