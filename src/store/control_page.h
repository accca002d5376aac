/* SPDX-License-Identifier: MIT */
/*
 * control_page - whether `record --control` lets processes take samples
 *
 * A file in the output directory, which record writes and all processes of the
 * run map and read. It is there only while record runs with --control. If
 * record is killed, they go on as the page says.
 */
#ifndef COMDET_STORE_CONTROL_PAGE_H
#define COMDET_STORE_CONTROL_PAGE_H

#include <stdatomic.h>
#include <stdint.h>

#include "outdir.h"

#define CONTROL_PAGE_FILE "run" OUTDIR_CONTROL

enum {
	CONTROL_PAGE_BYTES = 4096
};

struct control_page {
	_Atomic uint32_t paused; /* relaxed: nothing else is passed */
};

#endif
