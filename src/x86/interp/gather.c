/* SPDX-License-Identifier: MIT */
/*
 * gather - gathers and scatters
 *
 * The run loop has already found their accesses, one for each selected
 * element in order, so mask and index are known. Both clear the mask at the
 * end.
 */
#include <string.h>

#include "gather.h"
#include "load_store.h"
#include "vector.h"

#include "src/base/signal_safe.h"

static uint64_t selected(struct interp *in, const struct insn *insn)
{
	int from = decode_mask_operand(insn);

	if (from < 0)
		return *mask_value(in, insn->write_mask);
	return decode_vector_mask(insn, vec_lanes(in, insn->op[from].reg));
}

static void clear_mask(struct interp *in, const struct insn *insn)
{
	int from = decode_mask_operand(insn);
	unsigned reg;

	if (from < 0) {
		*mask_value(in, insn->write_mask) = 0;
		in->mask_taint[insn->write_mask] = 0;
		return;
	}
	reg = insn->op[from].reg;
	memset(vec_lanes(in, reg), 0, LANES * LANE_BYTES);
	memset(in->vec_taint[reg], 0, sizeof(in->vec_taint[reg]));
}

enum step step_gather(struct interp *in, const struct insn *insn)
{
	unsigned size = insn->element_bytes, n = insn->mask_elements;
	unsigned reg = insn->op[0].reg, bytes = n * size;
	uint64_t select = selected(in, insn);
	const struct access *a = &in->access[in->count];
	struct insn unmasked = *insn;
	struct vec v;

	memcpy(v.lane, vec_lanes(in, reg), sizeof(v.lane));
	memcpy(v.taint, in->vec_taint[reg], sizeof(v.taint));
	for (unsigned i = 0; i < n; i++)
		if (select >> i & 1)
			v.taint[i * size / LANE_BYTES] |=
				load_bytes(in, insn, (a++)->addr,
					   v.bytes + i * size, size, false);
	if (bytes < LANE_BYTES)
		memset(v.bytes + bytes, 0, LANE_BYTES - bytes);
	clear_mask(in, insn);
	unmasked.write_mask = 0; /* the mask has been applied */
	return vec_write(in, &unmasked, 0, &v,
			 bytes < LANE_BYTES ? LANE_BYTES : bytes);
}

enum step step_scatter(struct interp *in, const struct insn *insn)
{
	unsigned size = insn->element_bytes;
	uint64_t select = selected(in, insn);
	const struct access *a = &in->access[in->count];
	struct vec v;

	vec_read(in, insn, 1, &v);
	for (unsigned i = 0; i < insn->mask_elements; i++)
		if (select >> i & 1 &&
		    !store_bytes(in, (a++)->addr, v.bytes + i * size, size,
				 v.taint[i * size / LANE_BYTES]))
			return STEP_FULL;
	clear_mask(in, insn);
	return STEP_NEXT;
}
