/* SPDX-License-Identifier: MIT */
/*
 * new - stand before C++'s operators new and delete
 */
#ifndef COMDET_PRELOAD_HEAP_NEW_H
#define COMDET_PRELOAD_HEAP_NEW_H

/* The objects that are loaded now are those of all callers. Context: set-up. */
void new_begin(void);

/* A library was unloaded: look its operators up again. */
void new_forget(void);

#endif
