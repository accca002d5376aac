/* SPDX-License-Identifier: MIT */
/*
 * interp - the run loop and the rules of a window
 *
 * Each instruction is decoded, its accesses are computed from the current
 * registers, and its handler changes registers and the store buffer. Its
 * accesses count only if all of that succeeds. If an address or a branch needs
 * loads that were left unread, the state is reset to the beginning of the
 * window, or to its last resumption, and the same path is interpreted again
 * with those loads read. The number of such passes is limited.
 */
#include <errno.h>
#include <string.h>

#include "interp.h"
#include "convert.h"
#include "load_store.h"
#include "state.h"
#include "table.h"
#include "vector.h"

#include "src/base/signal_safe.h"

enum {
	PASSES_LAZY_MAX = 6,
	MXCSR_MASKS = 0x1f80
};

const uint32_t interp_bytes = sizeof(struct interp);

static const struct interp_limits whole_window = {
	.accesses_min = WINDOW_ACCESSES_MIN,
	.instructions_min = WINDOW_INSTRUCTIONS_MIN,
	.accesses_max = WINDOW_ACCESSES_MAX,
	.instructions_max = WINDOW_INSTRUCTIONS_MAX,
};

_Static_assert(WINDOW_ACCESSES_MAX + DECODE_ACCESSES_MAX <= UINT8_MAX,
	       "visited_count holds an access count");

/* Reset the state to the beginning of the pass. */
static void rewind_window(struct interp *in)
{
	in->cpu = in->base;
	memset(in->gpr_taint, 0, sizeof(in->gpr_taint));
	in->carry_taint = in->status_taint = in->direction_taint = 0;
	in->undefined = 0;
	in->stores = 0;
	in->store_filter = 0;
	in->count = in->base_count;
	in->instructions = in->base_instructions;
	in->closed_count = in->base_closed_count;
	in->closed_instructions = in->base_closed_instructions;
	vec_begin(in);
}

void interp_begin(struct interp *in, const struct cpu_state *cpu,
		  const struct memory *mem)
{
	in->base = *cpu;
	in->mem = mem;
	in->start_ip = cpu->rip;
	in->limits = whole_window;
	in->stop_open = 0;
	in->demanded = 0;
	memset(in->class_key, 0, sizeof(in->class_key));
	memset(in->trail, 0, sizeof(in->trail));
	in->base_count = in->base_instructions = 0;
	in->base_closed_count = in->base_closed_instructions = 0;
	memory_begin(in);
	rewind_window(in);
}

void interp_resume(struct interp *in, const struct cpu_state *cpu,
		   const struct memory *mem)
{
	in->base = *cpu;
	in->mem = mem;
	in->stop_open = 0;
	in->base_count = in->count;
	in->base_instructions = in->instructions;
	in->base_closed_count = in->closed_count;
	in->base_closed_instructions = in->closed_instructions;
	memory_begin(in);
	rewind_window(in);
}

void interp_limit(struct interp *in, const struct interp_limits *limits)
{
	in->limits = *limits;
}

void interp_stop_open(struct interp *in, uint32_t count)
{
	in->stop_open = count;
}

uint32_t interp_count(const struct interp *in)
{
	return in->count;
}

const struct access *interp_access(const struct interp *in, uint32_t i)
{
	return &in->access[i];
}

uint64_t interp_ip(const struct interp *in)
{
	return in->cpu.rip;
}

uint32_t interp_instructions(const struct interp *in)
{
	return in->instructions;
}

bool interp_first_visit(const struct interp *in, uint32_t *count)
{
	for (uint32_t i = 0; i < in->instructions; i++) {
		if (in->visited_ip[i] == in->cpu.rip) {
			*count = in->visited_count[i];
			return true;
		}
	}
	return false;
}

static enum step masked_accesses(struct interp *in, const struct insn *insn,
				 const struct mem_operand *m, uint64_t address)
{
	int from = decode_mask_operand(insn);
	unsigned lanes = insn->mask_elements * insn->element_bytes;
	uint64_t select, taint = 0;
	const void *index = NULL;
	unsigned reg;

	if (from < 0) {
		select = *mask_value(in, insn->write_mask);
		taint = in->mask_taint[insn->write_mask];
	} else {
		reg = insn->op[from].reg;
		if (insn->op[from].kind != OPERAND_VEC)
			return STEP_UNKNOWN_ADDRESS;
		select = decode_vector_mask(insn, vec_lanes(in, reg));
		for (unsigned i = 0; i * LANE_BYTES < lanes; i++)
			taint |= in->vec_taint[reg][i];
	}
	if (m->kind == MEM_VSIB) {
		lanes = insn->mask_elements * insn->index_bytes;
		index = vec_lanes(in, m->index);
		for (unsigned i = 0; i * LANE_BYTES < lanes; i++)
			taint |= in->vec_taint[m->index][i];
	}
	if (taint)
		return need(in, taint, STEP_UNKNOWN_ADDRESS);
	in->pending += decode_elements(insn, m, address, select, index,
				       &in->access[in->pending]);
	return STEP_NEXT;
}

/* A repeated string instruction with count zero makes no access. */
static bool touches_memory(const struct interp *in, const struct insn *insn)
{
	uint64_t rcx = in->cpu.gpr[GPR_RCX];

	if (!(insn->flags & (INSN_REP | INSN_REPNE)))
		return true;
	return !(insn->flags & INSN_STRING) ||
	       (insn->flags & INSN_ADDRESS32 ? (uint32_t)rcx : rcx);
}

/* Put the accesses of @insn behind the counted ones, up to in->pending. */
static enum step find_accesses(struct interp *in, const struct insn *insn)
{
	uint64_t taint = 0;
	enum step s;

	in->pending = in->count;
	for (int i = 0; i < insn->mems; i++)
		if (insn->mem[i].rw) {
			for (uint32_t r = insn->gpr_address; r; r &= r - 1)
				taint |= in->gpr_taint[__builtin_ctz(r)];
			break;
		}
	if (taint)
		return need(in, taint, STEP_UNKNOWN_ADDRESS);
	if (!touches_memory(in, insn))
		return STEP_NEXT;
	for (int i = 0; i < insn->mems; i++) {
		const struct mem_operand *m = &insn->mem[i];

		if (m->kind == MEM_OPAQUE)
			return STEP_UNDECODED;
		if (!m->rw)
			continue;
		if (decode_address(insn, m, &in->cpu, &in->address[i]))
			return STEP_UNKNOWN_ADDRESS;
		if (m->kind == MEM_MASKED || m->kind == MEM_VSIB) {
			s = masked_accesses(in, insn, m, in->address[i]);
			if (s != STEP_NEXT)
				return s;
			continue;
		}
		decode_operand(insn, m, in->address[i],
			       &in->access[in->pending++]);
	}
	return STEP_NEXT;
}

static const struct insn *fetch_insn(struct interp *in, uint64_t ip, int *error)
{
	uint32_t place = ip / 2 % MEMO_INSNS;
	struct insn *memo = &in->memo[place];
	const struct insn *insn;
	uint64_t *trail;

	if (in->memo_known >> place & 1 && memo->ip == ip)
		return memo;
	in->memo_known &= ~(1u << place);
	insn = decode_at(&in->code_mem, ip, memo, error);
	if (!insn)
		return NULL;
	in->memo_known |= 1u << place;
	trail = &in->trail[in->trail_at++ % DECODE_AHEAD];
	if (*trail)
		decode_learn_ahead(*trail, ip);
	*trail = ip;
	return insn;
}

static enum step one_step(struct interp *in)
{
	const struct insn *insn;
	uint64_t ip = in->cpu.rip;
	int error = 0;
	enum step s;

	insn = fetch_insn(in, ip, &error);
	if (!insn)
		return error == -EFAULT ? STEP_UNREADABLE : STEP_UNDECODED;
	if (stored_to(in, ip, insn->len))
		return STEP_UNDECODED; /* code that the window itself writes */
	if (insn->flow == FLOW_SYSTEM)
		return STEP_SYSTEM;
	s = find_accesses(in, insn);
	if (s != STEP_NEXT)
		return s;
	if (in->pending > WINDOW_ACCESSES_MAX)
		return STEP_FULL;
	in->next_ip = ip + insn->len;
	if (insn->flags & INSN_X87)
		s = step_x87(in, insn);
	else
		s = interp_handler(insn)(in, insn);
	if (s != STEP_NEXT)
		return s;
	in->visited_ip[in->instructions] = ip;
	in->visited_count[in->instructions] = in->count;
	in->instructions++;
	in->count = in->pending;
	in->cpu.rip = in->next_ip;
	return STEP_NEXT;
}

static bool is_enough(const struct interp *in)
{
	return in->count && (in->count >= in->limits.accesses_min ||
			     in->instructions >= in->limits.instructions_min);
}

static enum step run_pass(struct interp *in, uint32_t stop_at)
{
	enum step s;

	for (;;) {
		if (stop_at && in->count >= stop_at)
			return STEP_NEXT;
		if (in->stop_open && in->count >= in->stop_open &&
		    !in->closed_count)
			return STEP_REACHED;
		if (in->instructions >= in->limits.instructions_max ||
		    in->count >= in->limits.accesses_max)
			return STEP_FULL;
		s = one_step(in);
		if (s != STEP_NEXT)
			return s;
		if (in->cpu.rip != in->start_ip)
			continue;
		in->closed_count = in->count;
		in->closed_instructions = in->instructions;
		if (!stop_at && is_enough(in))
			return STEP_NEXT;
	}
}

/* At a limit, cut a complete window at the loop's last closure. */
static enum interp_end full(struct interp *in, uint32_t stop_at)
{
	if (!stop_at && in->closed_count) {
		in->count = in->closed_count;
		in->instructions = in->closed_instructions;
	}
	return INTERP_FULL;
}

static void load_mxcsr(uint32_t mxcsr)
{
	__asm__ volatile("ldmxcsr %0" : : "m"(mxcsr) : "memory");
}

enum interp_end interp_run(struct interp *in, uint32_t stop_at)
{
	uint32_t mxcsr;
	enum step s;

	__asm__ volatile("stmxcsr %0" : "=m"(mxcsr));
	for (int pass = 0;; pass++) {
		load_mxcsr(in->fp_exact ? in->mxcsr : mxcsr | MXCSR_MASKS);
		s = run_pass(in, stop_at);
		if (s != STEP_RESTART)
			break;
		if (pass >= PASSES_LAZY_MAX)
			in->demanded = ALL_CLASSES;
		rewind_window(in);
	}
	load_mxcsr(mxcsr);
	switch (s) {
	case STEP_REACHED:
		return INTERP_REACHED;
	case STEP_NEXT:
		return stop_at ? INTERP_REACHED : INTERP_CLOSED;
	case STEP_FULL:
		return full(in, stop_at);
	case STEP_SYSTEM:
		return INTERP_SYSCALL;
	case STEP_UNREADABLE:
		return INTERP_UNREADABLE;
	case STEP_UNKNOWN_ADDRESS:
		return INTERP_UNKNOWN_ADDRESS;
	case STEP_UNKNOWN_PATH:
		return INTERP_UNKNOWN_PATH;
	default:
		return INTERP_UNDECODED;
	}
}

/* The instruction of the window that makes access @i. */
static uint32_t instruction_of(const struct interp *in, uint32_t i)
{
	uint32_t k = in->instructions;

	while (k && in->visited_count[k - 1] > i)
		k--;
	return k - 1;
}

/* Interpret up to replay_to, in one pass. */
static bool replay(struct interp *in)
{
	enum step s = STEP_NEXT;
	uint32_t mxcsr;

	__asm__ volatile("stmxcsr %0" : "=m"(mxcsr));
	load_mxcsr(in->fp_exact ? in->mxcsr : mxcsr | MXCSR_MASKS);
	rewind_window(in);
	while (s == STEP_NEXT && in->instructions < in->replay_to)
		s = one_step(in);
	load_mxcsr(mxcsr);
	return s == STEP_NEXT && in->cpu.rip == in->replay_ip;
}

bool interp_replay(struct interp *in, uint32_t i)
{
	in->replay_to = 0;
	in->replay_ip = 0; /* no instruction is there */
	in->replay_reads_all = false;
	if (i >= in->count)
		return false;
	in->replay_ip = in->access[i].ip;
	in->replay_to = instruction_of(in, i);
	return in->replay_to >= in->base_instructions && replay(in);
}

bool interp_replay_all(struct interp *in)
{
	in->replay_reads_all = true;
	in->demanded = ALL_CLASSES;
	return in->replay_to >= in->base_instructions && replay(in);
}

uint32_t interp_registers(const struct interp *in, uint64_t gpr[16])
{
	uint32_t known = 0;

	for (unsigned i = 0; i < 16; i++) {
		gpr[i] = in->cpu.gpr[i];
		known |= (uint32_t)!in->gpr_taint[i] << i;
	}
	return known;
}

int interp_read(void *ctx, uint64_t addr, void *buf, size_t n)
{
	struct interp *in = ctx;
	int err = memory_read_data(in->mem, addr, buf, n);

	if (!err && !overlay_stores(in, addr, buf, n) && !in->replay_reads_all)
		return -EFAULT;
	return err;
}
