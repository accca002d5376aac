/* SPDX-License-Identifier: MIT */
/*
 * memory_bus - which lines memory transfers when
 *
 * Time is cut into slots of one transfer each. A transfer takes the first free
 * slot from its time on. So one that asks later, for an earlier time, finds the
 * gaps that others left.
 */
#ifndef COMDET_ANALYSIS_MODEL_MEMORY_BUS_H
#define COMDET_ANALYSIS_MODEL_MEMORY_BUS_H

#include <stdint.h>

enum {
	MEMORY_BUS_SLOTS = 1 << 16
};

struct memory_bus {
	double slot; /* cycles */
	uint64_t transfers;
	uint64_t mark;                    /* 1, and more with each restart */
	uint64_t taken[MEMORY_BUS_SLOTS]; /* number of the slot + mark */
};

struct memory_bus *memory_bus_new(double slot);

/* No slot is taken any more, and each has @slot cycles. */
void memory_bus_restart(struct memory_bus *b, double slot);

/* Take a slot from @t on; returns how long the transfer waits for it. */
uint64_t memory_bus_take(struct memory_bus *b, uint64_t t);

#endif
