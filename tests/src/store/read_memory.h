/* SPDX-License-Identifier: MIT */
/*
 * read_memory - the records of the section memory of a file in the sandbox
 */
#ifndef COMDET_TESTS_SRC_STORE_READ_MEMORY_H
#define COMDET_TESTS_SRC_STORE_READ_MEMORY_H

#include "tests/sandbox.h"
#include "src/store/cdp_read.h"

/* Call @take for each; all must be valid. */
static inline void read_memory(const char *file,
			       int (*take)(void *ctx, const void *record))
{
	struct cdp_reader r;
	uint64_t bad = 0;

	ck_assert_int_eq(cdp_open(&r, sandbox_fd, file), 0);
	ck_assert_int_eq(cdp_each(&r, CDP_MEMORY, take, NULL, &bad), 0);
	ck_assert_uint_eq(bad, 0);
	cdp_close(&r);
}

#endif
