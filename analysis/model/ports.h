/* SPDX-License-Identifier: MIT */
/*
 * ports - which ports of a core are taken in which cycle
 *
 * Micro-operations reserve a port in the order of the program, so that of those
 * which could issue in a cycle the oldest do. One that may use several ports is
 * moved to another of them if that makes room for a later one.
 *
 * Reservations are kept for the cycles from the latest dispatch on. If they
 * reach further than PORTS_CYCLES_MAX cycles, the earlier ones are forgotten.
 */
#ifndef COMDET_ANALYSIS_MODEL_PORTS_H
#define COMDET_ANALYSIS_MODEL_PORTS_H

#include <stdint.h>

#include "machine.h"

enum {
	PORTS_CYCLES_MAX = 1 << 18
};

struct ports;

struct ports *ports_new(const struct machine *m);
void ports_free(struct ports *p); /* not NULL */

/*
 * Reserve a port for a micro-operation of @class that is dispatched in the
 * cycle @dispatch, in the first cycle from @t on in which one is free. Later
 * calls are not dispatched before. Returns that cycle; *@unit is how much of
 * the wait was for the divider.
 */
uint64_t ports_reserve(struct ports *p, enum uop_class class, uint64_t dispatch,
		       uint64_t t, uint64_t *unit);

#endif
