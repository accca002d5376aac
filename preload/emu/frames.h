/* SPDX-License-Identifier: MIT */
/*
 * frames - the calls that led to an access of the program (record -g)
 *
 * QEMU's plugins cannot read registers, but they see the address at which a
 * call stores its return address, and from which a return loads it. So each
 * thread keeps the calls that have not returned, by these addresses: a call or
 * a return ends all calls that lie below it on the stack.
 *
 * Only an instruction that loads the stack pointer (longjmp, a change of
 * stacks) ends calls unseen. Paths are not known from there to the thread's
 * next call or return. A thread that changes to another stack, or runs a signal
 * handler on one, loses the calls that it had there, and all its paths from
 * then on count as ones that may lack calls.
 *
 * A handler on the thread's own stack appears to be called by whoever called
 * the function that the signal interrupted.
 *
 * Without config.paths these functions do nothing.
 */
#ifndef COMDET_PRELOAD_EMU_FRAMES_H
#define COMDET_PRELOAD_EMU_FRAMES_H

#include "qemu_plugin_abi.h"
#include "state.h"

/*
 * Begin anew in the process whose only thread is number @index. In a forked
 * child it keeps its calls. Returns 0 or -ENOMEM. Context: set-up.
 */
int emu_frames_init(unsigned int index);

/*
 * Follow the calls of @insn, at @ip. Call it after the callbacks for accesses
 * of @insn are registered. Context: translation.
 */
void emu_frames_translate(struct qemu_plugin_insn *insn, uint64_t ip);

/* The thread begins, and ends. */
void emu_frames_start(struct vcpu *v);
void emu_frames_end(struct vcpu *v);

/*
 * The access that @v hands to the engines next is that at @ip: find its path.
 */
void emu_frames_path(struct vcpu *v, uint64_t ip);

#endif
