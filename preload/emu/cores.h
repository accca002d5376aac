/* SPDX-License-Identifier: MIT */
/*
 * cores - the cores of the emulated machine, and which threads are on them
 */
#ifndef COMDET_PRELOAD_EMU_CORES_H
#define COMDET_PRELOAD_EMU_CORES_H

#include <stddef.h>

struct vcpu;

/*
 * Read config.topology. Returns 0, or -EINVAL with one line in @error. Context:
 * install.
 */
int emu_cores_read_topology(char *error, size_t size);

/* Put the cores in the order in which threads get them. Context: set-up. */
void emu_cores_init(void);

/* Choose the core of a thread, and with it its shared cache. */
void emu_cores_put(struct vcpu *v);

#endif
