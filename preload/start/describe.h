/* SPDX-License-Identifier: MIT */
/*
 * describe - what the file says about the process and the measurement
 *
 * Context: set-up and end, never in a handler.
 */
#ifndef COMDET_PRELOAD_START_DESCRIBE_H
#define COMDET_PRELOAD_START_DESCRIBE_H

#include <stddef.h>

#include "src/store/cdp.h"

/* Make EXE.PID.START.cdp; unusual characters of EXE become "_". */
void describe_file_name(char *name, size_t size);
void describe_process(struct cdp_header *h);
/* @why says why no better way was taken; it may be empty. */
void describe_measurement(struct cdp_header *h, const char *why);
void describe_end(struct cdp_header *h, enum cdp_state state);

#endif
