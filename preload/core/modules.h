/* SPDX-License-Identifier: MIT */
/*
 * modules - the objects of this process whose stack frames can be told
 *
 * From glibc 2.35 on the loader tells them by a function that takes no lock.
 * Before, they are those that the maps listed when they were read last
 * (maps.h); a library that was loaded since is not known.
 */
#ifndef COMDET_PRELOAD_CORE_MODULES_H
#define COMDET_PRELOAD_CORE_MODULES_H

#include "src/unwind/module.h"
#include "src/store/cdp.h"

/*
 * Ask @function, the loader's _dl_find_object; NULL: it has none. Context:
 * set-up, before maps_init().
 */
void modules_use(const void *function);

/*
 * The maps are read again: @m is the next mapping, NULL: that was the last one.
 * Context: any, one thread at a time.
 */
void modules_take(const struct cdp_map *m);

/* A value for unwind_space.find. Context: any, handler included. */
bool modules_find(void *ctx, uint64_t pc, struct unwind_module *out);

#endif
