/* SPDX-License-Identifier: MIT */
/*
 * choose - from a clock interrupt to one access
 *
 * Interrupts are not spread evenly: they favour the instruction after a slow
 * one. The choice is unbiased nevertheless if it is uniform over a path that
 * ends where it began, because each access of a loop's iteration then has the
 * same chance, wherever the interrupt came. So windows are closed if possible:
 *
 *  - interp_run ends a window at the starting instruction.
 *  - If a path is blocked at an instruction that it has passed before, the
 *    window is the part since the first visit of that instruction.
 *  - If a path is blocked elsewhere, a breakpoint continues it, provided that
 *    there is nothing else to choose from or the thread has saved up the
 *    credit. So blocked loops are seen completely now and then.
 *
 * In the remaining cases the choice is from a path that was cut.
 *
 * A length is used after CONFIRMATIONS equal measurements. If the path depends
 * on data, the length varies, and drawing the index from one that was measured
 * would favour accesses near the starting instruction. Then it is drawn from
 * the longest window that is possible, and drawn again if the window proves to
 * be shorter: of n accesses, each is taken with probability
 * 1/max + (1 - n/max) / n = 1/n, as if the window had been completed first.
 * That would be wrong for a window whose beginning is not used because its path
 * is blocked later. So it is done only by threads whose last UNBLOCKED windows
 * were not blocked, and only windows that are complete teach a length.
 */
#include <stdatomic.h>

#include "choose.h"
#include "src/x86/decode/backdecode.h"
#include "src/base/signal_safe.h"

enum {
	LENGTHS = 4096,
	CONFIRMATIONS = 3,
	CONFIRMED_MAX = 255,
	MEASURE = 8, /* one in so many windows is measured to its end */
	UNBLOCKED = 32,
	BREAKPOINT_CREDIT = 2, /* samples that earn one breakpoint */
	CREDIT_MAX = 4 * BREAKPOINT_CREDIT,
};

/* The access before the next arrival, or any of some that come soon. */
static const struct interp_limits stand_in_window = {
	.accesses_min = 1,
	.instructions_min = 1,
	.accesses_max = 16,
	.instructions_max = 50,
};

/*
 * Length of the complete window from an instruction. Bits [63:16]: address of
 * the instruction, [15:8]: accesses, [7:0]: how many times in a row. Any thread
 * may read and write an entry at any time. An entry is one atomic word; if
 * another address or thread overwrites it, the length is measured again.
 */
static _Atomic uint64_t lengths[LENGTHS];

static _Atomic uint64_t *length_entry(uint64_t ip)
{
	return &lengths[(ip * 0x9E3779B97F4A7C15ull >> 40) % LENGTHS];
}

static uint32_t length_recall(uint64_t ip)
{
	uint64_t word =
		atomic_load_explicit(length_entry(ip), memory_order_relaxed);

	if (word >> 16 != (ip & 0xffffffffffff) || (word & 255) < CONFIRMATIONS)
		return 0;
	return word >> 8 & 255;
}

static void length_learn(uint64_t ip, uint32_t length)
{
	_Atomic uint64_t *entry = length_entry(ip);
	uint64_t word = atomic_load_explicit(entry, memory_order_relaxed);
	uint64_t fresh = ip << 16 | (length & 255) << 8;

	if ((word ^ fresh) >> 8 == 0)
		fresh |= (word & 255) < CONFIRMED_MAX ? (word & 255) + 1
						      : CONFIRMED_MAX;
	atomic_store_explicit(entry, fresh, memory_order_relaxed);
}

static void take(const struct choose *c, uint32_t i, struct choice *out)
{
	out->what = CHOSEN;
	out->access = *interp_access(c->interp, i);
	out->number = i + 1;
	/* A stand-in for a stalled access does not count as uniform. */
	out->kind = c->wanted_stalled ? SAMPLE_STALLED : SAMPLE_UNIFORM;
}

/* Take any access from number @first on, with equal chances. */
static void take_any(struct choose *c, uint32_t first, enum loss_cause cause,
		     struct choice *out)
{
	uint32_t n = interp_count(c->interp);

	if (first >= n)
		first = 0;
	if (n) {
		take(c, first + (uint32_t)rng_below(c->rng, n - first), out);
		return;
	}
	out->what = CHOSEN_NOTHING;
	out->cause = cause;
}

static bool take_breakpoint(struct choose *c, bool empty, struct choice *out)
{
	uint64_t ip = interp_ip(c->interp);

	if (!c->breakpoints || c->breakpoints_used >= CHOOSE_BREAKPOINTS_MAX ||
	    (!empty && (c->wanted_stalled || c->credit < BREAKPOINT_CREDIT)))
		return false;
	if (ip == c->start && !c->breakpoints_used)
		return false; /* the thread is already there */
	c->credit -=
		c->credit < BREAKPOINT_CREDIT ? c->credit : BREAKPOINT_CREDIT;
	c->breakpoints_used++;
	c->waiting = true;
	out->what = CHOSEN_BREAKPOINT;
	out->breakpoint_ip = ip;
	return true;
}

static void complete(struct choose *c, enum interp_end end, struct choice *out)
{
	uint32_t n = interp_count(c->interp);

	if (!c->breakpoints_used && !c->stop_at && !c->drawn &&
	    !c->wanted_stalled && n)
		length_learn(c->start, n);
	if (c->unblocked < UNBLOCKED)
		c->unblocked++;
	if (c->wanted_stalled && end == INTERP_CLOSED && n)
		take(c, n - 1, out); /* in the loop, the last access before the
					interrupted instruction */
	else if (c->drawn && c->drawn <= n)
		take(c, c->drawn - 1, out);
	else
		take_any(c, 0, LOSS_NO_ACCESS, out);
}

static void blocked(struct choose *c, enum loss_cause cause, struct choice *out)
{
	uint32_t n = interp_count(c->interp), first = 0;
	bool visited = interp_first_visit(c->interp, &first);

	c->unblocked = 0;
	if (visited && first < n)
		take_any(c, first, cause, out);
	else if (!take_breakpoint(c, !n, out))
		take_any(c, 0, cause, out);
}

static void go_on(struct choose *c, struct choice *out)
{
	enum interp_end end = interp_run(c->interp, c->stop_at);

	switch (end) {
	case INTERP_REACHED:
		take(c, (c->stop_at ? c->stop_at : c->drawn) - 1, out);
		break;
	case INTERP_CLOSED:
	case INTERP_FULL:
		complete(c, end, out);
		break;
	case INTERP_SYSCALL:
		take_any(c, 0, LOSS_NO_ACCESS, out);
		break;
	case INTERP_UNDECODED:
		take_any(c, 0, LOSS_UNDECODED, out);
		break;
	case INTERP_UNREADABLE:
		take_any(c, 0, LOSS_UNREADABLE, out);
		break;
	case INTERP_UNKNOWN_ADDRESS:
		blocked(c, LOSS_UNKNOWN_ADDRESS, out);
		break;
	case INTERP_UNKNOWN_PATH:
		blocked(c, LOSS_UNKNOWN_PATH, out);
		break;
	}
}

/* Draw the access of a uniform sample, if it can be drawn beforehand. */
static void draw(struct choose *c)
{
	uint32_t length = length_recall(c->start);

	if (!rng_below(c->rng, MEASURE))
		return;
	if (length)
		c->stop_at = 1 + (uint32_t)rng_below(c->rng, length);
	else if (c->unblocked == UNBLOCKED)
		c->drawn = 1 + (uint32_t)rng_below(c->rng, WINDOW_ACCESSES_MAX);
}

void choose_start(struct choose *c, const struct cpu_state *cpu,
		  const struct memory *mem, struct choice *out)
{
	*out = (struct choice){ 0 };
	c->waiting = false;
	c->breakpoints_used = 0;
	c->start = cpu->rip;
	c->stop_at = c->drawn = 0;
	if (c->credit < CREDIT_MAX)
		c->credit++;
	c->wanted_stalled = rng_below(c->rng, 100) < c->stalled_percent;
	if (c->wanted_stalled) {
		if (!backdecode_stalled(cpu, mem, &out->access)) {
			out->what = CHOSEN;
			out->kind = SAMPLE_STALLED;
			return;
		}
		out->stalled_unknown = true;
	} else {
		draw(c);
	}
	interp_begin(c->interp, cpu, mem);
	if (c->drawn)
		interp_stop_open(c->interp, c->drawn);
	if (c->wanted_stalled)
		interp_limit(c->interp, &stand_in_window);
	go_on(c, out);
}

void choose_resume(struct choose *c, const struct cpu_state *cpu,
		   const struct memory *mem, struct choice *out)
{
	*out = (struct choice){ .stalled_unknown = c->wanted_stalled };
	c->waiting = false;
	c->drawn = 0;
	interp_resume(c->interp, cpu, mem);
	go_on(c, out);
}

void choose_abandon(struct choose *c, struct choice *out)
{
	*out = (struct choice){ .stalled_unknown = c->wanted_stalled };
	c->waiting = false;
	take_any(c, 0, LOSS_BREAKPOINT_MISSED, out);
	out->number = 0; /* the thread has gone on since */
	out->gone = true;
}
