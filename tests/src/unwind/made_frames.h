/* SPDX-License-Identifier: MIT */
/*
 * made_frames - an .eh_frame_hdr and an .eh_frame made by hand
 *
 * They lie in a small memory of their own at MADE_BASE; reads beyond it fail.
 */
#ifndef TESTS_SRC_UNWIND_MADE_FRAMES_H
#define TESTS_SRC_UNWIND_MADE_FRAMES_H

#include <errno.h>
#include <string.h>

#include "src/unwind/cfi.h"

enum {
	MADE_BYTES = 16384,
	MADE_CODE = 0x100000, /* of function 0, from the base on */
	MADE_FUNCTION_BYTES = 64,
};
#define MADE_BASE UINT64_C(0x7f0000000000)

struct made {
	uint8_t byte[MADE_BYTES];
	size_t used;
	uint64_t reads;
	struct unwind_memory memory;
	struct unwind_module module;
	struct reader reader;
};

static int made_read(void *ctx, uint64_t addr, void *buf, size_t n)
{
	struct made *m = ctx;

	m->reads++;
	if (addr < MADE_BASE || n > MADE_BYTES ||
	    addr - MADE_BASE > MADE_BYTES - n)
		return -EFAULT;
	memcpy(buf, m->byte + (addr - MADE_BASE), n);
	return 0;
}

static inline void made_put(struct made *m, const void *from, size_t n)
{
	memcpy(m->byte + m->used, from, n);
	m->used += n;
}

static inline void made_u8(struct made *m, uint8_t v)
{
	made_put(m, &v, 1);
}

static inline void made_u32(struct made *m, uint32_t v)
{
	made_put(m, &v, 4);
}

/* Fill the length at @at, so that the entry ends here. */
static inline void made_end(struct made *m, size_t at)
{
	uint32_t n;

	while ((m->used - at) % 8 != 4)
		made_u8(m, 0); /* DW_CFA_nop */
	n = (uint32_t)(m->used - at - 4);
	memcpy(m->byte + at, &n, 4);
}

static inline uint64_t made_code(unsigned function)
{
	return MADE_BASE + MADE_CODE + 2 * function * MADE_FUNCTION_BYTES;
}

/*
 * @functions with the same @program of call frame instructions behind a CIE as
 * gcc writes it; between them is code that nothing describes.
 */
static inline void made_frames(struct made *m, unsigned functions,
			       const void *program, size_t bytes,
			       const char *augmentation)
{
	static const uint8_t cie[] = { 1,    0x78, 16,   1,    0x1b,
				       0x0c, 0x07, 0x08, 0x90, 1 };
	size_t table, common, at;

	memset(m, 0, sizeof(*m));
	made_put(m, "\1\x1b\3\x3b", 4);
	made_u32(m, 0);
	made_u32(m, functions);
	table = m->used;
	m->used += 8 * functions;
	common = m->used;
	made_u32(m, 0);
	made_u32(m, 0);
	made_u8(m, 1);
	made_put(m, augmentation, strlen(augmentation) + 1);
	made_put(m, cie, sizeof(cie));
	made_end(m, common);
	for (unsigned i = 0; i < functions; i++) {
		uint32_t code = MADE_CODE + 2 * i * MADE_FUNCTION_BYTES;

		at = m->used;
		made_u32(m, 0);
		made_u32(m, (uint32_t)(at + 4 - common));
		made_u32(m, code - (uint32_t)(at + 8));
		made_u32(m, MADE_FUNCTION_BYTES);
		made_u8(m, 0);
		made_put(m, program, bytes);
		made_end(m, at);
		memcpy(m->byte + table + 8 * i, &code, 4);
		memcpy(m->byte + table + 8 * i + 4, &(uint32_t){ at }, 4);
	}
	m->memory = (struct unwind_memory){ made_read, m };
	m->module = (struct unwind_module){ .low = MADE_BASE,
					    .high = MADE_BASE + (1 << 24),
					    .index = MADE_BASE };
	reader_begin(&m->reader, &m->memory, 256);
}

#endif
