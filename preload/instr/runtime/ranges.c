/* SPDX-License-Identifier: MIT */
/*
 * ranges - memcpy and the like, called by instrumented code
 *
 * clang 15 and later call __tsan_memcpy; gcc and earlier clangs call memcpy
 * itself. In the archive these names are hidden: code that is linked with it is
 * counted, while the C library and other libraries keep their own functions.
 * The shared library cannot do that and leaves them alone.
 *
 * The C library's checking functions do the copying, because they have other
 * names.
 */
#include <stddef.h>

#include "hooks.h"

void *__memcpy_chk(void *to, const void *from, size_t bytes, size_t room);
void *__memmove_chk(void *to, const void *from, size_t bytes, size_t room);
void *__memset_chk(void *to, int value, size_t bytes, size_t room);

#define COPY(kind, name, function)                                             \
	void *name(void *to, const void *from, size_t bytes);                  \
	IN_HOOKS kind void *name(void *to, const void *from, size_t bytes)     \
	{                                                                      \
		instr_range(from, bytes, INSTR_LOAD_RANGE);                    \
		instr_range(to, bytes, INSTR_STORE_RANGE);                     \
		return function(to, from, bytes, SIZE_MAX);                    \
	}

#define FILL(kind, name)                                                       \
	void *name(void *to, int value, size_t bytes);                         \
	IN_HOOKS kind void *name(void *to, int value, size_t bytes)            \
	{                                                                      \
		instr_range(to, bytes, INSTR_STORE_RANGE);                     \
		return __memset_chk(to, value, bytes, SIZE_MAX);               \
	}

COPY(EXPORT, __tsan_memcpy, __memcpy_chk)
COPY(EXPORT, __tsan_memmove, __memmove_chk)
FILL(EXPORT, __tsan_memset)

#ifdef INSTR_ARCHIVE
COPY(HIDDEN, memcpy, __memcpy_chk)
COPY(HIDDEN, memmove, __memmove_chk)
FILL(HIDDEN, memset)
#endif
