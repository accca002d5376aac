/* SPDX-License-Identifier: MIT */
/*
 * caches - the caches of a machine, simulated beside the exact stacks
 *
 * Used with config.caches, by reuse_exact.
 */
#ifndef COMDET_PRELOAD_EMU_CACHES_H
#define COMDET_PRELOAD_EMU_CACHES_H

#include "src/base/access.h"
#include "src/exact/cache_sets.h"
#include "src/store/cdp.h"

struct vcpu;

/* Returns 0 or -errno. Context: set-up. */
int emu_caches_init(void);

/* The thread is about to begin. */
void emu_caches_start(struct vcpu *v);

/*
 * @taken is what reuse_exact_access returned. Does nothing where no caches are
 * simulated.
 */
void emu_caches_access(struct vcpu *v, const struct access *a,
		       unsigned int taken);

/*
 * Write the results of the thread whose row is @record; later accesses are not
 * counted. Returns the memory that it took from @v, or NULL if another caller
 * took that first. Only the thread itself may release the memory, because it
 * may be in a call that uses it.
 */
struct cache_sets_thread *emu_caches_end(struct vcpu *v,
					 const struct cdp_thread *record);

/* Unmap that memory; NULL does nothing. */
void emu_caches_release(struct cache_sets_thread *t);

#endif
