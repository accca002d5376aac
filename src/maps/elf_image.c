/* SPDX-License-Identifier: MIT */
/*
 * elf_image - what an ELF file says of itself, read in small pieces
 */
#include <elf.h>
#include <errno.h>
#include <string.h>

#include "elf_image.h"
#include "src/base/rawcall.h"

#include "src/base/signal_safe.h"

enum {
	SEGMENTS_MAX = 64,
	NOTES_MAX_BYTES = 4096, /* of one segment of notes */
	NOTE_NAME_MAX_BYTES = 256,
	HEAD_BYTES = 1024,
};

/*
 * An image whose first bytes are read at once: they hold the headers of the
 * segments and, as linkers lay files out, the build-id.
 */
struct headed {
	const struct elf_image *elf;
	uint64_t have; /* bytes of the head, 0 where they cannot be read */
	uint8_t head[HEAD_BYTES];
};

int elf_image_pread(void *ctx, uint64_t at, void *buf, size_t n)
{
	const int *fd = ctx;
	long got = rawcall4(SYS_pread64, *fd, buf, n, at);

	if (got < 0)
		return (int)got;
	return (size_t)got == n ? 0 : -ENODATA;
}

static void read_head(struct headed *h, const struct elf_image *elf)
{
	h->elf = elf;
	h->have = elf->bytes < HEAD_BYTES ? elf->bytes : HEAD_BYTES;
	if (elf->read(elf->ctx, 0, h->head, h->have))
		h->have = 0;
}

static bool read_part(const struct headed *h, uint64_t at, void *buf, size_t n)
{
	const struct elf_image *elf = h->elf;

	if (n <= h->have && at <= h->have - n) {
		memcpy(buf, h->head + at, n);
		return true;
	}
	return n <= elf->bytes && at <= elf->bytes - n &&
	       !elf->read(elf->ctx, at, buf, n);
}

/* How many segments the file has, and where their headers are; 0: not ours. */
static unsigned segments(const struct headed *h, uint64_t *at)
{
	Elf64_Ehdr eh;

	if (!read_part(h, 0, &eh, sizeof(eh)) ||
	    memcmp(eh.e_ident, ELFMAG, SELFMAG) ||
	    eh.e_ident[EI_CLASS] != ELFCLASS64 ||
	    eh.e_phentsize != sizeof(Elf64_Phdr) || eh.e_phnum > SEGMENTS_MAX)
		return 0;
	*at = eh.e_phoff;
	return eh.e_phnum;
}

static bool segment(const struct headed *h, uint64_t headers, unsigned i,
		    Elf64_Phdr *ph)
{
	return headers <= UINT64_MAX - i * sizeof(*ph) &&
	       read_part(h, headers + i * sizeof(*ph), ph, sizeof(*ph));
}

static uint32_t note_align(uint32_t n)
{
	return (n + 3) & ~3u;
}

/* The build-id among the notes in [@at, @end). */
static uint8_t find_note(const struct headed *h, uint64_t at, uint64_t end,
			 uint8_t *id)
{
	Elf64_Nhdr nh;
	uint64_t desc;
	char name[4];

	while (end - at >= sizeof(nh)) {
		if (!read_part(h, at, &nh, sizeof(nh)) ||
		    nh.n_namesz > NOTE_NAME_MAX_BYTES ||
		    nh.n_descsz > NOTES_MAX_BYTES)
			return 0;
		desc = at + sizeof(nh) + note_align(nh.n_namesz);
		if (desc > end || nh.n_descsz > end - desc)
			return 0;
		if (nh.n_type == NT_GNU_BUILD_ID &&
		    nh.n_namesz == sizeof(name) && nh.n_descsz &&
		    nh.n_descsz <= BUILD_ID_MAX_BYTES &&
		    read_part(h, at + sizeof(nh), name, sizeof(name)) &&
		    !memcmp(name, "GNU", sizeof(name)) &&
		    read_part(h, desc, id, nh.n_descsz))
			return (uint8_t)nh.n_descsz;
		at = desc + note_align(nh.n_descsz);
		if (at > end)
			return 0;
	}
	return 0;
}

uint8_t elf_image_build_id(const struct elf_image *elf, uint8_t *id)
{
	uint64_t headers, bytes;
	struct headed h;
	Elf64_Phdr ph;
	uint8_t found;
	unsigned n;

	read_head(&h, elf);
	n = segments(&h, &headers);
	for (unsigned i = 0; i < n && segment(&h, headers, i, &ph); i++) {
		if (ph.p_type != PT_NOTE || ph.p_offset > elf->bytes)
			continue;
		bytes = ph.p_filesz < NOTES_MAX_BYTES ? ph.p_filesz
						      : NOTES_MAX_BYTES;
		if (bytes > elf->bytes - ph.p_offset)
			bytes = elf->bytes - ph.p_offset;
		found = find_note(&h, ph.p_offset, ph.p_offset + bytes, id);
		if (found)
			return found;
	}
	return 0;
}

bool elf_image_has_code(const struct elf_image *elf, uint64_t from, uint64_t to)
{
	uint64_t headers;
	struct headed h;
	Elf64_Phdr ph;
	unsigned n;

	read_head(&h, elf);
	n = segments(&h, &headers);
	for (unsigned i = 0; i < n && segment(&h, headers, i, &ph); i++)
		if (ph.p_type == PT_LOAD && ph.p_flags & PF_X &&
		    ph.p_offset < to &&
		    (from < ph.p_offset || from - ph.p_offset < ph.p_filesz))
			return true;
	return false;
}
