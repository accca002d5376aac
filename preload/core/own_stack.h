/* SPDX-License-Identifier: MIT */
/*
 * own_stack - run a function on another stack than the program's
 */
#ifndef COMDET_PRELOAD_CORE_OWN_STACK_H
#define COMDET_PRELOAD_CORE_OWN_STACK_H

/*
 * Call @fn(@arg) with the stack pointer at @top, a multiple of 16. Any context.
 */
void own_stack_call(char *top, void (*fn)(void *), void *arg);

#endif
