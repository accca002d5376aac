/* SPDX-License-Identifier: MIT */
/*
 * describe - what the file says about the process and the measurement
 */
#ifndef COMDET_PRELOAD_EMU_DESCRIBE_H
#define COMDET_PRELOAD_EMU_DESCRIBE_H

#include <stdbool.h>
#include <stddef.h>

#include "src/store/cdp.h"

/* The name of this process's file. */
void emu_describe_file_name(char *name, size_t size);

/* Fill in the header, before and after the set-up of what is measured. */
void emu_describe_process(struct cdp_header *h);
void emu_describe_measurement(struct cdp_header *h);

/* The program's arguments, which follow those of QEMU. */
void emu_describe_command_line(char *to, size_t size);

/* True if this option of QEMU is followed by a value. */
bool emu_describe_takes_value(const char *option);

#endif
