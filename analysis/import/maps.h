/* SPDX-License-Identifier: MIT */
/*
 * maps - the maps of an imported process
 */
#ifndef COMDET_ANALYSIS_IMPORT_MAPS_H
#define COMDET_ANALYSIS_IMPORT_MAPS_H

#include "import.h"
#include "src/store/store.h"

/*
 * Write the maps that the samples of @s need into @store. Returns 0 or -ENOSPC.
 */
int import_maps_write(struct import *im, const struct import_process *s,
		      struct store *store);

/* The program's file, found among its maps by name; else the name. */
const char *import_program(const struct import *im,
			   const struct import_process *s);

#endif
