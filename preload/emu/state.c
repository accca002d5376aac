/* SPDX-License-Identifier: MIT */
/*
 * state - the one struct emu
 */
#include "state.h"

struct emu emu;
