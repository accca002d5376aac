/* SPDX-License-Identifier: MIT */
/*
 * load_store - memory as the interpreted program sees it
 */
#ifndef COMDET_X86_INTERP_LOAD_STORE_H
#define COMDET_X86_INTERP_LOAD_STORE_H

#include "state.h"

/*
 * Load @n (at most 64) bytes at @addr as the program will see them. Bytes that
 * are not in the store buffer are read from memory if @now, or if loads of
 * this instruction are known to be demanded; else they are left unread.
 * Returns the taint; *@to is always written.
 */
uint64_t load_bytes(struct interp *in, const struct insn *insn, uint64_t addr,
		    void *to, unsigned n, bool now);
struct value load(struct interp *in, const struct insn *insn, uint64_t addr,
		  unsigned n);
/* A load whose value a branch needs, so that it is read in this pass. */
struct value load_now(struct interp *in, const struct insn *insn, uint64_t addr,
		      unsigned n);
/* False if the buffer is full. @n may exceed 64 only with TAINT_UNKNOWN. */
bool store_bytes(struct interp *in, uint64_t addr, const void *from, unsigned n,
		 uint64_t taint);
bool store(struct interp *in, uint64_t addr, unsigned n, struct value v);
/*
 * Put what the window has stored in [@addr, @addr + @n) over the bytes @to;
 * what is not known becomes zero, and false is returned.
 */
bool overlay_stores(const struct interp *in, uint64_t addr, void *to, size_t n);
bool stored_to(const struct interp *in, uint64_t addr, unsigned n);
void memory_begin(struct interp *in);

#endif
