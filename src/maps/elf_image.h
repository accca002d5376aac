/* SPDX-License-Identifier: MIT */
/*
 * elf_image - what an ELF file says of itself, read in small pieces
 *
 * The file may lie on disk or in memory; the caller's function reads it. No
 * offset or length in it is trusted, and little stack is used.
 *
 * Context: any, handler included, as far as the caller's function allows.
 */
#ifndef COMDET_MAPS_ELF_IMAGE_H
#define COMDET_MAPS_ELF_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	BUILD_ID_MAX_BYTES = 20
};

struct elf_image {
	/* Copy @n bytes at offset @at; 0, or an error if not all are there. */
	int (*read)(void *ctx, uint64_t at, void *buf, size_t n);
	void *ctx;
	uint64_t bytes; /* its size; nothing beyond is read */
};

/*
 * Read @n bytes of the open file whose descriptor @ctx points to. A value for
 * the member read of an elf_image.
 */
int elf_image_pread(void *ctx, uint64_t at, void *buf, size_t n);

/*
 * The GNU build-id of a 64-bit ELF file, up to BUILD_ID_MAX_BYTES of it in
 * @id. Returns how many, 0 if there is none.
 */
uint8_t elf_image_build_id(const struct elf_image *elf, uint8_t *id);

/* True if a segment that is to be executed has bytes in [@from, @to). */
bool elf_image_has_code(const struct elf_image *elf, uint64_t from,
			uint64_t to);

#endif
