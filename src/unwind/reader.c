/* SPDX-License-Identifier: MIT */
/*
 * reader - small pieces of memory, fetched in larger ones
 */
#include <errno.h>
#include <string.h>

#include "reader.h"
#include "dwarf.h"
#include "src/base/loaded.h"

#include "src/base/signal_safe.h"

enum {
	PAGE_BYTES = 4096,
	LEB_BITS_MAX = 64,
	FETCH_LEAST = 16,
};

void reader_begin(struct reader *r, const struct unwind_memory *mem,
		  uint32_t size)
{
	r->mem = mem;
	r->at = 0;
	r->have = 0;
	r->size = size;
	r->direct_low = 0;
	r->direct_high = 0;
}

void reader_direct(struct reader *r, const struct loaded_ranges *safe,
		   uint64_t addr)
{
	struct loaded_range direct = loaded_range_of(safe, addr);

	r->direct_low = direct.low;
	r->direct_high = direct.high;
}

static int fetch(struct reader *r, uint64_t addr)
{
	uint64_t to_end = PAGE_BYTES - addr % PAGE_BYTES;
	uint32_t n = to_end < r->size ? (uint32_t)to_end : r->size;

	r->have = 0;
	while (r->mem->read(r->mem->ctx, addr, r->bytes, n)) {
		if (n <= FETCH_LEAST)
			return -EFAULT;
		n = FETCH_LEAST; /* what follows may not be readable */
	}
	r->at = addr;
	r->have = n;
	return 0;
}

int reader_copy(struct reader *r, uint64_t addr, void *out, size_t n)
{
	uint8_t *to = out;

	if (addr >= r->direct_low && addr < r->direct_high &&
	    r->direct_high - addr >= n) {
		memcpy(out, (const void *)(uintptr_t)addr, n);
		return 0;
	}
	while (n) {
		uint64_t from = addr - r->at;
		size_t part;

		if (addr < r->at || from >= r->have) {
			if (fetch(r, addr))
				return -EFAULT;
			from = 0;
		}
		part = r->have - from < n ? r->have - from : n;
		memcpy(to, r->bytes + from, part);
		to += part;
		addr += part;
		n -= part;
	}
	return 0;
}

struct walk walk_from(struct reader *r, uint64_t at, uint64_t bytes)
{
	struct walk w = { .reader = r, .at = at, .end = at + bytes };

	w.spent = w.end < at;
	return w;
}

static uint64_t spend(struct walk *w)
{
	w->spent = true;
	return 0;
}

uint64_t walk_fixed(struct walk *w, unsigned bytes)
{
	uint64_t v = 0;

	if (w->spent || w->at > w->end || w->end - w->at < bytes ||
	    reader_copy(w->reader, w->at, &v, bytes))
		return spend(w);
	w->at += bytes;
	return v;
}

static uint64_t leb(struct walk *w, unsigned *bits, bool *negative)
{
	uint64_t v = 0;
	uint8_t byte;

	*bits = 0;
	do {
		if (*bits >= LEB_BITS_MAX)
			return spend(w);
		byte = (uint8_t)walk_fixed(w, 1);
		v |= (uint64_t)(byte & 0x7f) << *bits;
		*bits += 7;
	} while (byte & 0x80);
	*negative = byte & 0x40;
	return v;
}

uint64_t walk_uleb(struct walk *w)
{
	unsigned bits;
	bool negative;

	return leb(w, &bits, &negative);
}

int64_t walk_sleb(struct walk *w)
{
	unsigned bits;
	bool negative;
	uint64_t v = leb(w, &bits, &negative);

	if (!w->spent && negative && bits < LEB_BITS_MAX)
		v |= ~UINT64_C(0) << bits;
	return (int64_t)v;
}

void walk_skip(struct walk *w, uint64_t bytes)
{
	if (w->spent || w->at > w->end || w->end - w->at < bytes)
		spend(w);
	else
		w->at += bytes;
}

uint64_t walk_pointer(struct walk *w, uint8_t encoding, bool value)
{
	uint64_t at = w->at, v;

	switch (encoding & DW_EH_PE_FORM) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		v = walk_fixed(w, 8);
		break;
	case DW_EH_PE_uleb128:
		v = walk_uleb(w);
		break;
	case DW_EH_PE_sleb128:
		v = (uint64_t)walk_sleb(w);
		break;
	case DW_EH_PE_udata2:
		v = walk_fixed(w, 2);
		break;
	case DW_EH_PE_sdata2:
		v = (uint64_t)(int16_t)walk_fixed(w, 2);
		break;
	case DW_EH_PE_udata4:
		v = walk_fixed(w, 4);
		break;
	case DW_EH_PE_sdata4:
		v = (uint64_t)(int32_t)walk_fixed(w, 4);
		break;
	default:
		return spend(w);
	}
	if (!value)
		return 0;
	if (encoding & DW_EH_PE_indirect)
		return spend(w);
	if ((encoding & DW_EH_PE_BASE) == DW_EH_PE_pcrel)
		return v + at;
	return (encoding & DW_EH_PE_BASE) == 0 ? v : spend(w);
}
