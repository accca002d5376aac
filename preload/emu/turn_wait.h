/* SPDX-License-Identifier: MIT */
/*
 * turn_wait - threads wait for their turns, and watch who has the turn
 */
#ifndef COMDET_PRELOAD_EMU_TURN_WAIT_H
#define COMDET_PRELOAD_EMU_TURN_WAIT_H

#include <stdbool.h>

#include "state.h"

/*
 * Wait for a turn. Returns false if the thread has none but drains. Context:
 * the thread itself.
 */
bool emu_turn_wait(struct vcpu *v);

#endif
