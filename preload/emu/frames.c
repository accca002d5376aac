/* SPDX-License-Identifier: MIT */
/*
 * frames - the calls that led to an access of the program (record -g)
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "frames.h"
#include "maps.h"
#include "src/base/zero_pages.h"
#include "src/store/path_table.h"
#include "src/x86/decode/cpu_state.h"
#include "src/x86/decode/decode.h"

enum {
	NODES = 1 << 16,
	FRAMES_MAX = 16384, /* kept for a thread */
	PATH_MAX_CALLS = 128,
	/* Functions with more on the stack are rarer than other stacks. */
	GAP_MAX = 1 << 20,
};

struct frame {
	uint64_t sp; /* where the return address is */
	uint64_t ip; /* in the call, one byte before its return address */
};

struct emu_frames {
	uint32_t n;
	bool unsure; /* the stack pointer was loaded */
	bool cut;    /* calls may be missing */
	struct frame frame[FRAMES_MAX];
};

static struct path_table *table; /* NULL: not asked for */

static void let_go(struct vcpu *v)
{
	if (v->frames)
		munmap(v->frames, sizeof(*v->frames));
	v->frames = NULL;
}

int emu_frames_init(unsigned int index)
{
	void *mem;

	if (table) /* a forked child's copy */
		munmap(table, path_table_size(NODES));
	table = NULL;
	for (unsigned int i = 0; emu.vcpu && i < EMU_VCPUS_MAX; i++)
		if (i != index)
			let_go(&emu.vcpu[i]);
	if (!emu.config.paths)
		return 0;
	mem = zero_pages(path_table_size(NODES));
	if (!mem)
		return -ENOMEM;
	table = path_table_init(mem, &emu.store, NODES);
	return 0;
}

void emu_frames_start(struct vcpu *v)
{
	if (table && !v->frames)
		v->frames = zero_pages(sizeof(*v->frames));
}

void emu_frames_end(struct vcpu *v)
{
	let_go(v);
	call_table_release(&v->calls);
}

static struct emu_frames *frames_of(unsigned int index)
{
	return index < EMU_VCPUS_MAX ? emu.vcpu[index].frames : NULL;
}

/* End the calls at @sp and below. */
static void end_calls(struct emu_frames *f, uint64_t sp)
{
	bool any = f->n;

	while (f->n && f->frame[f->n - 1].sp <= sp)
		f->n--;
	if (!f->unsure)
		return;
	if (f->n && f->frame[f->n - 1].sp - sp > GAP_MAX)
		f->n = 0; /* another stack */
	if (any && !f->n)
		f->cut = true;
	f->unsure = false;
}

static void on_call(unsigned int index, qemu_plugin_meminfo_t info, uint64_t sp,
		    void *next)
{
	struct emu_frames *f = frames_of(index);

	/* A call through memory loads its target first. */
	if (!f || !qemu_plugin_mem_is_store(info))
		return;
	/* A call ends others if the kernel has changed the stack. */
	if (!f->unsure && f->n && f->frame[f->n - 1].sp <= sp)
		f->cut = true;
	end_calls(f, sp);
	if (f->n == FRAMES_MAX) {
		f->n = FRAMES_MAX / 2;
		f->cut = true;
		memmove(f->frame, f->frame + f->n, f->n * sizeof(f->frame[0]));
	}
	f->frame[f->n++] = (struct frame){ sp, (uintptr_t)next - 1 };
}

static void on_return(unsigned int index, qemu_plugin_meminfo_t info,
		      uint64_t sp, void *data)
{
	struct emu_frames *f = frames_of(index);

	if (f)
		end_calls(f, sp);
}

static void on_stack_loaded(unsigned int index, void *data)
{
	struct emu_frames *f = frames_of(index);

	if (f)
		f->unsure = true;
}

/* Other instructions change the stack pointer by some bytes. */
static bool loads_stack_pointer(const struct insn *i)
{
	const struct operand *to = &i->op[0];

	return i->operands == 2 && i->op[1].kind != OPERAND_IMM &&
	       to->kind == OPERAND_GPR && to->reg == GPR_RSP &&
	       to->rw == ACCESS_STORE && i->mem[0].kind != MEM_ADDRESS;
}

void emu_frames_translate(struct qemu_plugin_insn *insn, uint64_t ip)
{
	void *next = (void *)(uintptr_t)(ip + qemu_plugin_insn_size(insn));
	struct insn i;

	if (!table || decode_bytes(qemu_plugin_insn_data(insn),
				   qemu_plugin_insn_size(insn), ip, &i))
		return;
	/* QEMU 7.2 mistakes loads for stores where one kind is asked for. */
	if (i.flow == FLOW_CALL)
		qemu_plugin_register_vcpu_mem_cb(insn, on_call,
						 QEMU_PLUGIN_CB_NO_REGS,
						 QEMU_PLUGIN_MEM_RW, next);
	else if (i.flow == FLOW_RET)
		qemu_plugin_register_vcpu_mem_cb(insn, on_return,
						 QEMU_PLUGIN_CB_NO_REGS,
						 QEMU_PLUGIN_MEM_RW, NULL);
	else if (loads_stack_pointer(&i))
		qemu_plugin_register_vcpu_insn_exec_cb(
			insn, on_stack_loaded, QEMU_PLUGIN_CB_NO_REGS, NULL);
}

/* The path of the calls, the outermost first, and the access at @ip. */
static uint32_t path_of(const struct emu_frames *f, uint64_t ip)
{
	uint32_t n = f->unsure ? 0 : f->n, node = 0;
	uint32_t i = n > PATH_MAX_CALLS ? n - PATH_MAX_CALLS : 0;

	while (i < n) {
		struct path_call call = { .ip = f->frame[i++].ip };

		/* A function that calls itself at one place is one call. */
		for (; i < n && f->frame[i].ip == call.ip; i++)
			call.recurs = true;
		node = path_table_put(table, node, &call, emu_maps_note);
	}
	return path_table_put(table, node, &(struct path_call){ .ip = ip },
			      emu_maps_note);
}

void emu_frames_path(struct vcpu *v, uint64_t ip)
{
	const struct emu_frames *f = v->frames;

	if (!f)
		return;
	if (f->unsure || f->cut || f->n > PATH_MAX_CALLS)
		store_add(&v->record->loss[LOSS_NO_PATH], 1);
	v->comm.path = v->transfer.path = path_of(f, ip);
}
