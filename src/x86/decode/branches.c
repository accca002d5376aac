/* SPDX-License-Identifier: MIT */
/*
 * branches - is there a branch to an address nearby?
 */
#include <string.h>

#include "branches.h"
#include "decode.h"
#include "src/base/signal_safe.h"

enum {
	SHORT_BRANCH = 130,  /* reach of a branch of two bytes */
	LEFT_TO_CALLER = 64, /* bytes before the address, of short ones */
	LONGEST = 6,         /* bytes of a branch */
	SCAN_BYTES = MEMORY_READ_MAX,
	LANES = 16,
};

typedef uint8_t lanes __attribute__((vector_size(LANES)));

static bool is_short(uint8_t opcode)
{
	return (opcode & 0xf0) == 0x70 || (opcode & 0xfc) == 0xe0 ||
	       opcode == 0xeb;
}

static bool may_lead_back(const uint8_t *bytes, uint32_t n)
{
	for (uint32_t i = 0; i + 2 <= n; i++)
		if (bytes[i + 1] + i + 2 == 256 && is_short(bytes[i]))
			return true;
	return false;
}

bool branches_may_lead_to_end(const uint8_t *bytes, uint32_t n)
{
	for (uint32_t i = 0; i + 2 <= n; i++)
		if (bytes[i + 1] == n - (i + 2) && is_short(bytes[i]))
			return true;
	return false;
}

bool branches_back(const struct memory *mem, uint64_t ip)
{
	uint8_t bytes[SHORT_BRANCH];
	struct insn scratch;
	const struct insn *insn;
	uint64_t p = ip;
	int err;

	if (memory_is_direct(mem, ip, sizeof(bytes))) {
		memory_copy_direct(bytes, ip, sizeof(bytes));
		if (!may_lead_back(bytes, sizeof(bytes)))
			return false;
	}
	while (p - ip < SHORT_BRANCH) {
		insn = decode_at(mem, p, &scratch, &err);
		if (!insn)
			return false;
		if ((insn->flow == FLOW_COND || insn->flow == FLOW_JUMP) &&
		    insn->imm == ip)
			return true;
		p += insn->len;
	}
	return false;
}

/* Read code, one page at a time. What cannot be read becomes zero. */
static void read_pages(const struct memory *mem, uint64_t p, uint8_t *to,
		       uint32_t n)
{
	uint32_t first = (uint32_t)(-p & 4095);

	if (!first || first > n)
		first = n;
	if (mem->read(mem->ctx, p, to, first))
		memset(to, 0, first);
	if (first < n && mem->read(mem->ctx, p + first, to + first, n - first))
		memset(to + first, 0, n - first);
}

/* The @n bytes @b lie at @p, @back bytes before the address. */
static bool short_leads_to(const uint8_t *b, uint32_t n, uint64_t back)
{
	uint64_t i = back > SHORT_BRANCH ? back - SHORT_BRANCH : 0;

	for (i += 1; i < n && i + LEFT_TO_CALLER <= back; i++)
		if (i + 1 + b[i] == back && is_short(b[i - 1]) && b[i] < 0x80)
			return true;
	return false;
}

/* @want: what the four bytes at @b + @i are, plus @i, in a branch. */
static bool long_at(const uint8_t *b, uint32_t i, uint64_t want)
{
	int32_t distance;

	memcpy(&distance, b + i, sizeof(distance));
	return (uint64_t)(int64_t)distance + i == want &&
	       (b[i - 1] == 0xe9 ||
		(i > 1 && b[i - 2] == 0x0f && (b[i - 1] & 0xf0) == 0x80));
}

/* In which of LANES bytes from @i on may four of them begin? */
static bool may_match(const uint8_t *b, uint32_t i, uint64_t want)
{
	static const lanes steps = { 0, 1, 2,  3,  4,  5,  6,  7,
				     8, 9, 10, 11, 12, 13, 14, 15 };
	uint64_t half[2];
	lanes v;

	memcpy(&v, b + i, sizeof(v));
	v = (lanes)(v + steps == (uint8_t)(want - i));
	memcpy(half, &v, sizeof(half));
	return half[0] | half[1];
}

/*
 * Do the bytes from @p hold a branch to @ip, at any offset? A long one hardly
 * matches by chance; a short one does so once in a thousand bytes.
 */
static bool leads_to(const struct memory *mem, uint64_t ip, uint64_t p)
{
	uint8_t b[SCAN_BYTES];
	uint64_t end = p + SCAN_BYTES, want;
	uint32_t n, i;

	if (mem->direct_is_all && p < mem->direct_low)
		p = mem->direct_low;
	if (mem->direct_is_all && end > mem->direct_high)
		end = mem->direct_high;
	if (p >= end)
		return false;
	n = (uint32_t)(end - p);
	if (memory_is_direct(mem, p, n))
		memory_copy_direct(b, p, n);
	else
		read_pages(mem, p, b, n);
	if (ip - p <= SCAN_BYTES && short_leads_to(b, n, ip - p))
		return true;
	want = ip - p - sizeof(int32_t);
	for (i = 1; i + LANES + sizeof(int32_t) <= n; i += LANES) {
		if (!may_match(b, i, want))
			continue;
		for (uint32_t k = i; k < i + LANES; k++)
			if (long_at(b, k, want))
				return true;
	}
	for (; i + sizeof(int32_t) <= n; i++)
		if (long_at(b, i, want))
			return true;
	return false;
}

bool branches_in_ring(const struct memory *mem, uint64_t ip, uint32_t ring)
{
	uint64_t step = SCAN_BYTES - LONGEST;
	uint64_t near = (uint64_t)ring * BRANCHES_RING;

	for (uint64_t d = near; d < near + BRANCHES_RING; d += step) {
		if (leads_to(mem, ip, ip + d) ||
		    leads_to(mem, ip, ip - d - SCAN_BYTES))
			return true;
	}
	return false;
}
