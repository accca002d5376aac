/* SPDX-License-Identifier: MIT */
/*
 * source_table - the sources of the library that the tests build
 */
#include <stddef.h>

#include "fake_source.h"
#include "preload/start/source_table.h"

const struct source_ops *const source_table[] = {
	&fake_source,
	NULL,
};
