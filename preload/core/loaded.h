/* SPDX-License-Identifier: MIT */
/*
 * loaded - ask the loaded libraries for a symbol
 *
 * dlsym allocates a message in the program's heap if there is no such symbol,
 * and the program's next dlerror returns it. Here nothing is allocated.
 */
#ifndef COMDET_PRELOAD_CORE_LOADED_H
#define COMDET_PRELOAD_CORE_LOADED_H

/*
 * The address of the first variable or function @name, of any version, that the
 * program or a library exports, or a library loaded after this one; NULL if
 * there is none. Context: set-up.
 */
const void *loaded_symbol(const char *name);
const void *loaded_symbol_after_us(const char *name);

#endif
