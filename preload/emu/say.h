/* SPDX-License-Identifier: MIT */
/*
 * say - one line to the user
 */
#ifndef COMDET_PRELOAD_EMU_SAY_H
#define COMDET_PRELOAD_EMU_SAY_H

/* Print "comdet: " and the formatted line on stderr. */
void emu_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
