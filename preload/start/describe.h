/* SPDX-License-Identifier: MIT */
/*
 * describe - what the file says about the process and the measurement
 *
 * Context: set-up and end; those of describe_child.c also in our handler.
 */
#ifndef COMDET_PRELOAD_START_DESCRIBE_H
#define COMDET_PRELOAD_START_DESCRIBE_H

#include <stddef.h>

#include "src/store/cdp.h"

void describe_process(struct cdp_header *h);
/* @why says why no better way was taken; it may be empty. */
void describe_measurement(struct cdp_header *h, const char *why);
/* The command line as it is now. */
void describe_command(struct cdp_header *h);
void describe_note(struct cdp_header *h, const char *note);
/*
 * The profile of a forked child, which uses what its parent found out and
 * remembered: the machine, the source, the registers.
 */
void describe_remember(const struct cdp_header *h);
void describe_child(struct cdp_header *h);
void describe_end(struct cdp_header *h, enum cdp_state state);

#endif
