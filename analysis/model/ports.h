/* SPDX-License-Identifier: MIT */
/*
 * ports - which ports of a core are taken in which cycle
 *
 * Micro-operations reserve a port in the order of the program, so that of those
 * which could issue in a cycle the oldest do. One that may use several ports is
 * moved to another of them if that makes room for a later one.
 *
 * Reservations are kept for PORTS_CYCLES cycles; where cycles further apart
 * meet, the earlier reservations are forgotten.
 */
#ifndef COMDET_ANALYSIS_MODEL_PORTS_H
#define COMDET_ANALYSIS_MODEL_PORTS_H

#include <stdint.h>

#include "machine.h"

enum {
	PORTS_CYCLES = 1 << 15
};

struct ports_cycle {
	uint64_t after; /* the cycle + 1; 0: none */
	uint16_t taken;
	uint16_t owner[MACHINE_PORTS]; /* by port: what its owner may use */
};

struct ports {
	uint64_t divider; /* the cycle from which it is free */
	struct ports_cycle cycle[PORTS_CYCLES];
};

struct ports *ports_new(void);

/*
 * Reserve a port for a micro-operation as @u says, in the first cycle from @t
 * on in which one is free. Returns that cycle; *@unit is how much of the wait
 * was for the divider.
 */
uint64_t ports_reserve(struct ports *p, const struct machine_uop *u, uint64_t t,
		       uint64_t *unit);

#endif
