/* SPDX-License-Identifier: MIT */
/*
 * auto - which source takes the place of auto
 */
#ifndef COMDET_ANALYSIS_RECORD_AUTO_H
#define COMDET_ANALYSIS_RECORD_AUTO_H

/*
 * Where the source is auto and the clock cannot tick, choose emu if QEMU is
 * there, and say so. Call after record_check_source().
 */
void record_choose_source(void);

#endif
