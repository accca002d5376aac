/* SPDX-License-Identifier: MIT */
/*
 * access - what runs after each access of the program
 */
#ifndef COMDET_PRELOAD_EMU_ACCESS_H
#define COMDET_PRELOAD_EMU_ACCESS_H

#include "qemu_plugin_abi.h"

/*
 * The callback for the measurements that emu.config asks for. Context: install.
 */
qemu_plugin_mem_cb emu_access_callback(void);

/*
 * The same for instructions of which emu_parts_of says that their access is
 * made in parts. Call emu_access_callback first.
 */
qemu_plugin_mem_cb emu_access_part_callback(void);

#endif
