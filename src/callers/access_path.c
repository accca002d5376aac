/* SPDX-License-Identifier: MIT */
/*
 * access_path - the calls that led to an access that choose.c has chosen
 */
#include "access_path.h"
#include "src/unwind/last_walk.h"
#include "src/x86/decode/insn.h"

#include "src/base/signal_safe.h"

/* DWARF's numbers of the first registers in the order of encoding. */
static const uint8_t dwarf_number[8] = { FRAME_RAX, FRAME_RCX, FRAME_RDX,
					 FRAME_RBX, FRAME_RSP, FRAME_RBP,
					 FRAME_RSI, FRAME_RDI };

struct unwind_registers path_registers(const uint64_t gpr[16], uint32_t known,
				       uint64_t rip)
{
	struct unwind_registers r = { .known = 0 };

	for (unsigned i = 0; i < 16; i++)
		if (known >> i & 1)
			register_set(&r, i < 8 ? dwarf_number[i] : i, gpr[i]);
	register_set(&r, FRAME_PC, rip);
	return r;
}

/* The number of the path that begins with frame @i, as far as it is kept. */
static uint32_t kept_number(const struct path_finder *f, unsigned i)
{
	const uint32_t *kept = last_walk_tag(f->space.last, i);

	return kept ? *kept : 0;
}

/*
 * The numbers of outer parts of a path are kept with the walk, each at the
 * innermost frame of a call.
 */
uint32_t path_number(const struct path_finder *f,
		     const struct unwind_frame *frame, unsigned skipped,
		     unsigned n)
{
	unsigned i = skipped + 1;
	uint32_t node = 0, *kept;

	while (i < n && (!kept_number(f, i) || frame[i - 1].ip == frame[i].ip))
		i++;
	if (i < n)
		node = kept_number(f, i);
	else
		i = n;
	while (i > skipped) {
		struct path_call call = { .ip = frame[--i].ip };

		/* A function that calls itself at one place is one call. */
		for (; i > skipped && frame[i - 1].ip == call.ip; i--)
			call.recurs = true;
		node = path_table_put(f->table, node, &call, f->map_generation);
		kept = last_walk_tag(f->space.last, i);
		if (kept && i > skipped)
			*kept = node;
	}
	return node;
}

unsigned path_walk(struct path_finder *f, struct unwind_registers *regs,
		   struct unwind_frame frame[PATH_FRAMES_MAX])
{
	enum unwind_end end;
	unsigned n;

	if (f->walking)
		*f->walking = true;
	n = unwind_frames(&f->space, regs, frame, PATH_FRAMES_MAX, &end);
	if (f->walking)
		*f->walking = false;
	f->ends_early = end != UNWIND_START;
	return n;
}

uint32_t path_alone(const struct path_finder *f, uint64_t ip)
{
	const struct path_call call = { .ip = ip };

	return path_table_put(f->table, 0, &call, f->map_generation);
}

/* The frames where the interpreter is. */
static unsigned walk_ahead(struct path_finder *f, struct interp *in,
			   uint64_t ip, struct unwind_frame *frame)
{
	struct path_finder ahead = *f;
	struct unwind_registers regs;
	uint64_t gpr[16];
	uint32_t known = interp_registers(in, gpr);
	unsigned n;

	regs = path_registers(gpr, known, ip);
	ahead.space.memory = (struct unwind_memory){ interp_read, in };
	n = path_walk(&ahead, &regs, frame);
	f->ends_early = ahead.ends_early;
	return n;
}

/*
 * The path of an access ahead: from what the interpreter knows there. Most
 * walks reach the start without what the window has not read.
 */
static uint32_t path_ahead(struct path_finder *f, struct interp *in,
			   const struct choice *c)
{
	struct unwind_frame frame[PATH_FRAMES_MAX];
	uint64_t ip = c->access.ip;
	unsigned n = 0;

	f->ends_early = true;
	if (c->gone)
		return path_alone(f, ip);
	if (interp_replay(in, c->number - 1))
		n = walk_ahead(f, in, ip, frame);
	if (f->ends_early && interp_replay_all(in))
		n = walk_ahead(f, in, ip, frame);
	return n ? path_number(f, frame, 0, n) : path_alone(f, ip);
}

static bool ends_at(uint64_t ip, uint64_t next)
{
	return next - ip <= INSN_BYTES_MAX;
}

uint32_t path_behind(struct path_finder *f, const struct cpu_state *cpu,
		     const struct access *a)
{
	struct unwind_frame frame[PATH_FRAMES_MAX];
	struct unwind_registers regs =
		path_registers(cpu->gpr, UINT16_MAX, cpu->rip);
	unsigned n = path_walk(f, &regs, frame), first = 0;

	if (ends_at(a->ip, cpu->rip)) {
		frame[0].ip = a->ip;
	} else if (n > 1 && frame[1].ip - a->ip < INSN_BYTES_MAX) {
		frame[1].ip = a->ip; /* a call has led here */
		first = 1;
	} else if (a->flags & ACCESS_IMPLICIT && a->flags & ACCESS_LOAD) {
		frame[0].ip--; /* a return has */
		return path_table_put(f->table, path_number(f, frame, 0, n),
				      &(struct path_call){ .ip = a->ip },
				      f->map_generation);
	} else {
		frame[0].ip = a->ip; /* a jump has */
	}
	return path_number(f, frame, first, n);
}

uint32_t path_of_choice(struct path_finder *f, struct choose *choose,
			const struct cpu_state *cpu, const struct choice *c)
{
	return c->number || c->gone ? path_ahead(f, choose->interp, c)
				    : path_behind(f, cpu, &c->access);
}
