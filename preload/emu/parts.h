/* SPDX-License-Identifier: MIT */
/*
 * parts - instructions whose access QEMU makes in several parts
 *
 * QEMU 7.2 makes accesses of 16 bytes and more, and those of x87 with 10, in
 * parts of at most 8 bytes, in ascending order, and calls us after each. For
 * caches they are one access. So the translated instruction tells how many
 * bytes it accesses. Its first part then stands for the whole access, and the
 * others are only counted.
 */
#ifndef COMDET_PRELOAD_EMU_PARTS_H
#define COMDET_PRELOAD_EMU_PARTS_H

#include "qemu_plugin_abi.h"
#include "state.h"

enum {
	EMU_PARTS_SHIFT =
		56, /* of the bytes, above the instruction's address */
};
#define EMU_PARTS_ADDRESS ((UINT64_C(1) << EMU_PARTS_SHIFT) - 1)

/*
 * What to hand to the callback of @insn, at @ip: @ip, and above it the bytes of
 * its access if that is made in parts. Context: translation.
 */
uint64_t emu_parts_of(const struct qemu_plugin_insn *insn, uint64_t ip);

/*
 * Thread @v makes part @a of an access of @bytes bytes. Returns true if it is
 * the first part: then v->parts.whole is the access.
 */
static inline bool emu_parts_begin(struct vcpu *v, const struct access *a,
				   uint32_t bytes)
{
	struct emu_parts *p = &v->parts;
	bool goes_on = p->whole.ip == a->ip && p->whole.flags == a->flags &&
		       a->addr >= p->next && a->addr < p->end;

	if (!goes_on) {
		p->whole = *a;
		p->whole.len = bytes;
		p->end = a->addr + bytes;
	}
	p->next = a->addr + a->len;
	return !goes_on;
}

/* True while the thread is within an access, before its last part. */
static inline bool emu_parts_inside(const struct vcpu *v)
{
	return v->parts.next < v->parts.end;
}

#endif
