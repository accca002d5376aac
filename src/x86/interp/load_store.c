/* SPDX-License-Identifier: MIT */
/*
 * load_store - memory as the interpreted program sees it
 *
 * Stores go to a buffer, and memory itself stays unchanged. A load takes the
 * latest value from the buffer, and bytes that are not there from memory. A
 * load from memory may be left unread; if its value is needed later, another
 * pass reads it. Memory is read by aligned blocks, each once a window.
 */
#include <string.h>

#include <stdatomic.h>

#include "load_store.h"

#include "src/base/signal_safe.h"

/*
 * Hashes of the instructions whose loads were demanded before. Only a hint: a
 * wrong bit costs a read, a missing one another pass. Shared by all threads,
 * never cleared.
 */
enum {
	HINT_WORDS = 512,
	HINT_BITS = HINT_WORDS * 64
};

static _Atomic uint64_t demanded_before[HINT_WORDS];

static uint64_t hash(uint64_t ip)
{
	return ip * 0x9e3779b97f4a7c15u;
}

static bool hinted(uint64_t ip)
{
	uint32_t bit = hash(ip) >> 49;

	return atomic_load_explicit(&demanded_before[bit / 64],
				    memory_order_relaxed) >>
		       (bit % 64) &
	       1;
}

_Static_assert(HINT_BITS == 1 << (64 - 49), "hinted takes the top bits");

static void hint(uint64_t ip)
{
	uint32_t bit = hash(ip) >> 49;

	atomic_fetch_or_explicit(&demanded_before[bit / 64], 1ull << (bit % 64),
				 memory_order_relaxed);
}

/*
 * The class of the loads of @ip. Each instruction of a window has one of its
 * own while there are any: if two shared one, and the loads of one were
 * demanded, those of the other would be read too, and hinted at for good.
 */
static unsigned load_class(struct interp *in, uint64_t ip)
{
	uint16_t key = hash(ip) >> 32 | 1;
	unsigned first = (hash(ip) >> 48) % LOAD_CLASSES, class = first;

	while (in->class_key[class] != key) {
		if (!in->class_key[class]) {
			in->class_key[class] = key;
			break;
		}
		class = class + 1 < LOAD_CLASSES ? class + 1 : 0;
		if (class == first)
			break;
	}
	return class;
}

static uint64_t line_bit(uint64_t addr)
{
	return 1ull << (hash(addr / LINE_BYTES) >> 58);
}

/*
 * Read @n bytes that are in one aligned block of @size bytes. @tag and @bytes
 * hold the block that was read last in its place.
 */
static int read_in_block(const struct memory *mem, uint64_t *tag,
			 uint8_t *bytes, unsigned size, uint64_t addr, void *to,
			 unsigned n)
{
	uint64_t base = addr & -(uint64_t)size;
	int err;

	if (*tag != base + 1) {
		if (!mem->read)
			return -1;
		*tag = 0;
		err = mem->read(mem->ctx, base, bytes, size);
		if (err)
			return err;
		*tag = base + 1;
	}
	memcpy(to, bytes + addr % size, n);
	return 0;
}

/* The place of the block with @tag, or one for it. */
static uint32_t place_of(struct blocks *b, uint64_t tag)
{
	uint32_t i;

	for (i = 0; i < b->used; i++)
		if (b->tag[i] == tag)
			return i;
	if (b->used < DATA_BLOCKS) {
		b->tag[b->used] = 0;
		return b->used++;
	}
	return b->next++ % DATA_BLOCKS;
}

static int read_data(struct interp *in, uint64_t addr, void *to, unsigned n)
{
	unsigned first = MEMORY_READ_MAX - addr % MEMORY_READ_MAX;
	uint32_t place;
	int err;

	if (memory_is_direct_data(in->mem, addr, n)) {
		memory_copy_direct(to, addr, n);
		return 0;
	}
	if (n <= first) {
		place = place_of(&in->data,
				 (addr & -(uint64_t)MEMORY_READ_MAX) + 1);
		return read_in_block(in->mem, &in->data.tag[place],
				     in->data.bytes[place], MEMORY_READ_MAX,
				     addr, to, n);
	}
	err = read_data(in, addr, to, first);
	if (err)
		return err;
	return read_data(in, addr + first, (uint8_t *)to + first, n - first);
}

/* struct memory.read for the decoder. */
static int read_code(void *ctx, uint64_t addr, void *buf, size_t n)
{
	struct interp *in = ctx;
	struct line *l = &in->code_line[addr / LINE_BYTES % CODE_LINES];
	unsigned first = LINE_BYTES - addr % LINE_BYTES;
	int err;

	if (memory_is_direct(in->mem, addr, n)) {
		memory_copy_direct(buf, addr, n);
		return 0;
	}
	if (n <= first)
		return read_in_block(in->mem, &l->tag, l->bytes, LINE_BYTES,
				     addr, buf, n);
	err = read_code(ctx, addr, buf, first);
	if (err)
		return err;
	return read_code(ctx, addr + first, (uint8_t *)buf + first, n - first);
}

void memory_begin(struct interp *in)
{
	in->code_mem = *in->mem;
	in->code_mem.read = read_code;
	in->code_mem.ctx = in;
	in->data.used = in->data.next = 0;
	for (int i = 0; i < CODE_LINES; i++)
		in->code_line[i].tag = 0;
	in->memo_known = 0;
}

bool stored_to(const struct interp *in, uint64_t addr, unsigned n)
{
	if (!(in->store_filter & (line_bit(addr) | line_bit(addr + n - 1))))
		return false;
	for (uint32_t i = 0; i < in->stores; i++)
		if (in->store[i].addr < addr + n &&
		    addr < in->store[i].addr + in->store[i].len)
			return true;
	return false;
}

/* Copy the bytes that @s stored in [@addr, @addr + @n) to @to. */
static uint64_t overlay(const struct store *s, uint64_t addr, uint8_t *to,
			unsigned n)
{
	uint64_t low = s->addr > addr ? s->addr : addr;
	uint64_t high =
		s->addr + s->len < addr + n ? s->addr + s->len : addr + n;

	if (s->len <= STORE_BYTES)
		memcpy(to + (low - addr), s->bytes + (low - s->addr),
		       high - low);
	return s->taint;
}

static bool overlaps(const struct store *s, uint64_t addr, unsigned n)
{
	return s->addr < addr + n && addr < s->addr + s->len;
}

/*
 * Return the latest store to any of [@addr, @addr + @n) if it holds all of
 * these bytes, else NULL. *@any: there is such a store.
 */
static const struct store *covering_store(const struct interp *in,
					  uint64_t addr, unsigned n, bool *any)
{
	*any = false;
	for (uint32_t i = in->stores; i-- > 0;) {
		const struct store *s = &in->store[i];

		if (!overlaps(s, addr, n))
			continue;
		*any = true;
		return s->addr <= addr && addr + n <= s->addr + s->len ? s
								       : NULL;
	}
	return NULL;
}

bool overlay_stores(const struct interp *in, uint64_t addr, void *to, size_t n)
{
	uint8_t *bytes = to;
	bool known = true;

	for (uint32_t i = 0; i < in->stores; i++) {
		const struct store *s = &in->store[i];
		uint64_t low = s->addr > addr ? s->addr : addr;
		uint64_t high = s->addr + s->len < addr + n ? s->addr + s->len
							    : addr + n;

		if (low >= high)
			continue;
		if (s->taint || s->len > STORE_BYTES) {
			memset(bytes + (low - addr), 0, high - low);
			known = false;
		} else {
			memcpy(bytes + (low - addr), s->bytes + (low - s->addr),
			       high - low);
		}
	}
	return known;
}

static uint64_t fetch(struct interp *in, uint64_t ip, uint64_t addr, void *to,
		      unsigned n, bool now)
{
	if (!now && !hinted(ip)) {
		unsigned class = load_class(in, ip);

		if (!(in->demanded >> class & 1)) {
			memset(to, 0, n);
			return 1ull << class;
		}
		if (in->demanded != ALL_CLASSES)
			hint(ip);
	}
	if (read_data(in, addr, to, n)) {
		memset(to, 0, n);
		return TAINT_UNKNOWN;
	}
	return 0;
}

uint64_t load_bytes(struct interp *in, const struct insn *insn, uint64_t addr,
		    void *to, unsigned n, bool now)
{
	const struct store *s;
	uint64_t taint;
	bool any;

	if (!(in->store_filter & (line_bit(addr) | line_bit(addr + n - 1))))
		return fetch(in, insn->ip, addr, to, n, now);
	s = covering_store(in, addr, n, &any);
	if (s) {
		memset(to, 0, n);
		taint = overlay(s, addr, to, n);
	} else {
		taint = fetch(in, insn->ip, addr, to, n, now);
		for (uint32_t i = 0; any && i < in->stores; i++)
			if (overlaps(&in->store[i], addr, n))
				taint |= overlay(&in->store[i], addr, to, n);
	}
	if (now && taint && !(taint & TAINT_UNKNOWN))
		in->demanded |= taint;
	return taint;
}

struct value load(struct interp *in, const struct insn *insn, uint64_t addr,
		  unsigned n)
{
	struct value v = { 0, 0 };

	v.taint = load_bytes(in, insn, addr, &v.v, n, false);
	return v;
}

struct value load_now(struct interp *in, const struct insn *insn, uint64_t addr,
		      unsigned n)
{
	struct value v = { 0, 0 };

	v.taint = load_bytes(in, insn, addr, &v.v, n, true);
	return v;
}

bool store_bytes(struct interp *in, uint64_t addr, const void *from, unsigned n,
		 uint64_t taint)
{
	const uint8_t *b = from;
	struct store *s;
	unsigned part;

	in->store_filter |= line_bit(addr) | line_bit(addr + n - 1);
	if (n > LINE_BYTES) {
		if (in->stores == STORES_MAX)
			return false;
		for (uint64_t a = addr; a < addr + n; a += LINE_BYTES)
			in->store_filter |= line_bit(a);
		in->store[in->stores++] = (struct store){ .addr = addr,
							  .len = n,
							  .taint = taint };
		return true;
	}
	for (unsigned at = 0; at < n; at += part) {
		part = n - at < STORE_BYTES ? n - at : STORE_BYTES;
		if (in->stores == STORES_MAX)
			return false;
		s = &in->store[in->stores++];
		s->addr = addr + at;
		s->len = part;
		s->taint = taint;
		if (b)
			memcpy(s->bytes, b + at, part);
		else
			memset(s->bytes, 0, STORE_BYTES);
	}
	return true;
}

bool store(struct interp *in, uint64_t addr, unsigned n, struct value v)
{
	struct store *s;

	if (in->stores == STORES_MAX)
		return false;
	in->store_filter |= line_bit(addr) | line_bit(addr + n - 1);
	s = &in->store[in->stores++];
	s->addr = addr;
	s->len = n;
	s->taint = v.taint;
	memcpy(s->bytes, &v.v, sizeof(v.v));
	return true;
}
