/* SPDX-License-Identifier: MIT */
/*
 * local - memory of the calling thread, without thread-local storage
 */
#include "local.h"
#include "src/base/signal_safe.h"

enum {
	BLOCK_BYTES = 0x2c0, /* tcbhead_t and what pads it */
};

char *local_instead;
static char nobodys[LOCAL_BYTES];

/*
 * glibc tells debuggers where the first member after the control block lies, as
 * three numbers: bits, elements, offset. The block is as we know it if it has
 * the size that we know, and nothing has been written to our part of it.
 */
bool local_works(const uint32_t *list)
{
	const char *room = local_get(0);
	bool works = list && list[2] == BLOCK_BYTES;

	for (int i = 0; works && i < LOCAL_BYTES; i++)
		works = !room[i];
	if (!works)
		local_instead = nobodys;
	return works;
}
