/* SPDX-License-Identifier: MIT */
/*
 * load_store - memory as the interpreted program sees it
 */
#ifndef COMDET_X86_INTERP_LOAD_STORE_H
#define COMDET_X86_INTERP_LOAD_STORE_H

#include "state.h"

/*
 * Load @n (at most 64) bytes as the program would see them there. What is not
 * in the store buffer is read if @now, or if this instruction's loads are
 * known to be demanded; else it is left unread. Returns the taint; *@to is
 * written in any case.
 */
uint64_t load_bytes(struct interp *in, const struct insn *insn, uint64_t addr,
		    void *to, unsigned n, bool now);
struct value load(struct interp *in, const struct insn *insn, uint64_t addr,
		  unsigned n);
/* A load whose value a branch needs. */
struct value load_now(struct interp *in, const struct insn *insn, uint64_t addr,
		      unsigned n);
/* False if the buffer is full. @n over 64 only with TAINT_UNKNOWN. */
bool store_bytes(struct interp *in, uint64_t addr, const void *from, unsigned n,
		 uint64_t taint);
bool store(struct interp *in, uint64_t addr, unsigned n, struct value v);
bool stored_to(const struct interp *in, uint64_t addr, unsigned n);
void memory_begin(struct interp *in);

#endif
