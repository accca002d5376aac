/* SPDX-License-Identifier: MIT */
/*
 * maps - which files the program has mapped where
 */
#ifndef COMDET_PRELOAD_EMU_MAPS_H
#define COMDET_PRELOAD_EMU_MAPS_H

#include <stdint.h>

/* Before the program is loaded: what is mapped now belongs to QEMU. */
void emu_maps_note_host(void);

/* When the process's first thread has begun to run. */
void emu_maps_init(void);

/* Make sure that code at @ip is described. Returns the maps' generation. */
uint64_t emu_maps_note(uint64_t ip);

/* Read the maps for the last time. */
void emu_maps_finish(void);

#endif
