/* SPDX-License-Identifier: MIT */
/*
 * frame_index - an .eh_frame_hdr for a program whose linker wrote none
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frame_index.h"
#include "analysis/base/util.h"
#include "src/unwind/cfi.h"
#include "src/unwind/dwarf.h"

enum {
	HEADERS_MAX = 4096,
	ENTRIES_MAX = 1 << 20,  /* also those that are not understood */
	SECTION_MAX = 64 << 20, /* bytes */
	FETCH = 256,
	PAGE = 4096,
	EXTENDED_LENGTH = 0xfffffff0u,
};

static const char name[] = ".eh_frame";

struct function {
	uint64_t code, end, fde;
};

struct functions {
	struct function *one;
	size_t n, room;
};

static bool read_at(int fd, uint64_t at, void *to, size_t n)
{
	return at <= INT64_MAX && pread(fd, to, n, (off_t)at) == (ssize_t)n;
}

/* What is to be added to the file's addresses. */
static bool find_bias(int fd, const Elf64_Ehdr *e, uint64_t low, uint64_t *bias)
{
	Elf64_Phdr p;

	for (unsigned i = 0; i < e->e_phnum && i < HEADERS_MAX; i++) {
		if (!read_at(fd, e->e_phoff + i * sizeof(p), &p, sizeof(p)))
			return false;
		if (p.p_type != PT_LOAD)
			continue;
		*bias = low - (p.p_vaddr & -(uint64_t)PAGE);
		return true;
	}
	return false;
}

static bool find_section(int fd, const Elf64_Ehdr *e, Elf64_Shdr *out)
{
	char text[sizeof(name)];
	Elf64_Shdr names;

	if (!read_at(fd, e->e_shoff + e->e_shstrndx * sizeof(names), &names,
		     sizeof(names)))
		return false;
	for (unsigned i = 0; i < e->e_shnum && i < HEADERS_MAX; i++)
		if (read_at(fd, e->e_shoff + i * sizeof(*out), out,
			    sizeof(*out)) &&
		    out->sh_flags & SHF_ALLOC &&
		    read_at(fd, names.sh_offset + out->sh_name, text,
			    sizeof(text)) &&
		    !memcmp(text, name, sizeof(name)))
			return true;
	return false;
}

/* Take in the entries of [@w->at, @w->end). */
static void take_entries(struct walk *w, struct functions *f)
{
	for (int i = 0; i < ENTRIES_MAX && !w->spent && w->at < w->end; i++) {
		struct function one = { .fde = w->at };
		uint64_t length = walk_fixed(w, 4), next = w->at + length;

		if (length >= EXTENDED_LENGTH || next > w->end)
			return;
		/* Ends of input files have no length, CIEs 0 as their id. */
		if (length && walk_fixed(w, 4) &&
		    !cfi_function(w->reader, one.fde, &one.code, &one.end)) {
			f->one = grow(f->one, f->n, &f->room, sizeof(*f->one));
			f->one[f->n++] = one;
		}
		w->at = next;
	}
}

/* Of those that begin at one address a search finds the longest. */
static int compare(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	return x->code != y->code ? order_u64(x->code, y->code)
				  : order_u64(x->end, y->end);
}

static void put(uint8_t **to, uint64_t v)
{
	uint32_t half = (uint32_t)v;

	memcpy(*to, &half, sizeof(half));
	*to += sizeof(half);
}

static bool reaches(int64_t distance)
{
	return distance == (int32_t)distance;
}

/* As src/unwind/cfi.c reads it. */
static void write_index(struct frame_index *x, const struct functions *f)
{
	const uint8_t head[4] = { 1, DW_EH_PE_udata4, DW_EH_PE_udata4,
				  DW_EH_PE_datarel | DW_EH_PE_sdata4 };
	uint8_t *to, *count;
	uint32_t n = 0;

	x->n = sizeof(head) + 8 + 8 * f->n;
	/* Whole pages, as a reader fetches what follows too. */
	x->n = (x->n + PAGE - 1) / PAGE * PAGE;
	x->at = x->low - x->n;
	x->bytes = to = xcalloc(1, x->n);
	memcpy(to, head, sizeof(head));
	to += sizeof(head);
	put(&to, 0);
	count = to;
	put(&to, 0);
	for (size_t i = 0; i < f->n; i++) {
		uint64_t code = f->one[i].code - x->at;
		uint64_t fde = f->one[i].fde - x->at;

		if (!reaches((int64_t)code) || !reaches((int64_t)fde))
			continue;
		put(&to, code);
		put(&to, fde);
		n++;
	}
	put(&count, n);
}

bool frame_index_make(struct frame_index *x, int fd, uint64_t low,
		      const struct unwind_memory *memory)
{
	struct functions f = { NULL, 0, 0 };
	struct reader reader;
	struct walk w;
	Elf64_Ehdr e, mapped;
	Elf64_Shdr s;
	uint64_t bias;

	if (!read_at(fd, 0, &e, sizeof(e)) ||
	    memory->read(memory->ctx, low, &mapped, sizeof(mapped)) ||
	    memcmp(&e, &mapped, sizeof(e)) ||
	    memcmp(e.e_ident, ELFMAG, SELFMAG) ||
	    e.e_ident[EI_CLASS] != ELFCLASS64 || e.e_shentsize != sizeof(s) ||
	    e.e_phentsize != sizeof(Elf64_Phdr) ||
	    !find_bias(fd, &e, low, &bias) || !find_section(fd, &e, &s) ||
	    s.sh_size > SECTION_MAX)
		return false;
	reader_begin(&reader, memory, FETCH);
	w = walk_from(&reader, bias + s.sh_addr, s.sh_size);
	take_entries(&w, &f);
	if (f.n) {
		qsort(f.one, f.n, sizeof(*f.one), compare);
		x->low = low;
		write_index(x, &f);
	}
	free(f.one);
	return x->bytes;
}

void frame_index_release(struct frame_index *x)
{
	free(x->bytes);
	*x = (struct frame_index){ 0 };
}
