/* SPDX-License-Identifier: MIT */
/*
 * demangle - names of C++ and Rust functions as their programmers wrote them
 *
 * libiberty, the library of GCC and binutils, knows the schemes; it limits its
 * recursion, so a hostile name does no harm.
 */
#include <libiberty/demangle.h>

#include "demangle.h"
#include "analysis/base/util.h"

char *demangle(const char *name)
{
	/* Rust's legacy scheme is C++'s with a hash at the end. */
	char *s = rust_demangle(name, DMGL_NO_OPTS);

	if (!s)
		s = cplus_demangle_v3(name, DMGL_PARAMS | DMGL_ANSI);
	return s ? s : xstrdup(name);
}
