/* SPDX-License-Identifier: MIT */
/*
 * microhttpd - libmicrohttpd, loaded when it is needed
 */
#include <dlfcn.h>

#include "microhttpd.h"
#include "analysis/base/util.h"

const struct microhttpd *microhttpd(void)
{
	static struct microhttpd table;
	static void *library;

	if (library)
		return &table;
	library = dlopen("libmicrohttpd.so.12", RTLD_NOW | RTLD_LOCAL);
	if (!library)
		die("serving HTTP needs libmicrohttpd.so.12; install the "
		    "package libmicrohttpd12");
#define LOAD(name)                                                             \
	*(void **)&table.name = dlsym(library, "MHD_" #name);                  \
	if (!table.name)                                                       \
		die("libmicrohttpd.so.12 has no MHD_" #name                    \
		    "; install a newer package libmicrohttpd12");
	MICROHTTPD_FUNCTIONS(LOAD)
#undef LOAD
	return &table;
}
