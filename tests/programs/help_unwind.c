/* SPDX-License-Identifier: MIT */
/*
 * help_unwind - compare our unwinder with libunwind's
 *
 *   help_unwind [-n SAMPLES] [-k STEPS] [-s SEED] -- PROGRAM
 *
 * Stops PROGRAM at random moments, and then after each of STEPS single
 * instructions, which meet prologues, epilogues and jumps to libraries. At each
 * stop both unwinders walk its stack: ours by src/unwind, through the kernel,
 * libunwind by ptrace. Every frame has to agree, in its instruction and its
 * stack pointer, and ours has to reach the start of the thread. Frames behind
 * code that no .eh_frame describes (libgmp's assembler) are guesses of both,
 * and are not compared; there are few. In such code itself (what gcc runs
 * before and after main) both may end. PROGRAM is started again until there are
 * SAMPLES stops. Prints what was compared; the exit status is 1 after any
 * difference.
 */
#include <errno.h>
#include <fcntl.h>
#include <libunwind-ptrace.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/rng.h"
#include "src/maps/map_lines.h"
#include "src/unwind/last_walk.h"
#include "src/unwind/module_table.h"
#include "src/unwind/row_cache.h"
#include "src/unwind/unwind.h"
#include "tests/oracle/tracee.h"

enum {
	FRAMES_MAX = 512,
	WAIT_US_MAX = 3000,
	DETAILS_MAX = 5,
	BARREN_MAX = 20,
	ROWS = 4096,
};

struct path {
	unsigned n;
	enum unwind_end end;
	struct unwind_frame frame[FRAMES_MAX];
};

static struct tracee tracee;
static struct module_table modules;
static struct unwind_space space;
static struct last_walk last;
static struct path ours, theirs;
static unsigned long compared, different, unfinished, guessed, frames;
static struct {
	uint64_t start, end;
} vdso;
static unsigned long in_vdso;

static void read_modules(void)
{
	static char path[64], buffer[4096];
	static struct map_lines lines;
	static struct cdp_map m;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)tracee.pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	module_table_begin(&modules);
	map_lines_begin(&lines, fd, buffer, sizeof(buffer));
	while (map_lines_next(&lines, &m)) {
		if (!strcmp(m.path, "[vdso]")) {
			vdso.start = m.start;
			vdso.end = m.end;
		}
		if (!m.file_offset && m.path[0])
			module_table_take(&modules, &space.memory, m.start);
	}
	module_table_end(&modules);
	close(fd);
}

/* From the order of instruction encoding to DWARF's. */
static void take_ours(void)
{
	static const uint8_t number[16] = { 0, 2, 1, 3, 7, 6, 4, 5 };
	struct unwind_registers regs = { .known = 0 };

	for (unsigned i = 0; i < 16; i++)
		register_set(&regs, i < 8 ? number[i] : i, tracee.cpu.gpr[i]);
	register_set(&regs, FRAME_PC, tracee.cpu.rip);
	ours.n =
		unwind_frames(&space, &regs, ours.frame, FRAMES_MAX, &ours.end);
}

static void take_theirs(unw_addr_space_t as, void *upt)
{
	unw_cursor_t c;
	bool interrupted = true;
	int more = 1;

	theirs.n = 0;
	if (unw_init_remote(&c, as, upt))
		return;
	while (more > 0 && theirs.n < FRAMES_MAX) {
		struct unwind_frame *f = &theirs.frame[theirs.n++];
		unw_word_t ip = 0, sp = 0;

		unw_get_reg(&c, UNW_REG_IP, &ip);
		unw_get_reg(&c, UNW_REG_SP, &sp);
		if (!ip) {
			theirs.n--;
			break;
		}
		/* It says so of the frame that a signal interrupted. */
		interrupted |= unw_is_signal_frame(&c) > 0;
		f->ip = ip - !interrupted;
		f->sp = sp;
		interrupted = false;
		more = unw_step(&c);
	}
	theirs.end = more ? UNWIND_UNREADABLE : UNWIND_START;
}

static void print_path(const char *whose, const struct path *p)
{
	printf("  %s, %u frames, end %d:\n", whose, p->n, (int)p->end);
	for (unsigned i = 0; i < p->n && i < 40; i++)
		printf("    %#lx sp %#lx%s\n", p->frame[i].ip, p->frame[i].sp,
		       p->frame[i].guessed ? " guessed" : "");
}

/* How many frames from the innermost on are no guess. */
static unsigned certain(void)
{
	unsigned n = 0;

	while (n < ours.n && !ours.frame[n].guessed)
		n++;
	return n;
}

/* libunwind finds no rules for the vDSO, which is no file, and guesses. */
static bool begins_in_vdso(void)
{
	return ours.n && ours.frame[0].ip - vdso.start < vdso.end - vdso.start;
}

static bool agree(void)
{
	unsigned n = certain();

	if (begins_in_vdso())
		return true;
	if (n == ours.n ? n != theirs.n : n > theirs.n)
		return false;
	for (unsigned i = 0; i < n; i++)
		if (ours.frame[i].ip != theirs.frame[i].ip ||
		    ours.frame[i].sp != theirs.frame[i].sp)
			return false;
	return true;
}

/* Both end in code without rules. */
static bool no_rule(void)
{
	return ours.end == UNWIND_NO_RULE && certain() == ours.n && agree();
}

static void compare(unw_addr_space_t as)
{
	void *upt = _UPT_create(tracee.pid);
	struct unwind_module here;
	bool ends;

	take_ours();
	/* A library was loaded meanwhile, and perhaps guessed through. */
	if (ours.end == UNWIND_NO_CODE ||
	    !module_table_find(&modules, tracee.cpu.rip, &here)) {
		read_modules();
		take_ours();
	}
	take_theirs(as, upt);
	_UPT_destroy(upt);
	compared++;
	frames += ours.n;
	in_vdso += begins_in_vdso();
	ends = ours.end == UNWIND_START || no_rule();
	unfinished += !ends;
	guessed += certain() < ours.n || no_rule();
	if (agree() && ends)
		return;
	different += !agree();
	if (different + unfinished > DETAILS_MAX)
		return;
	print_path("ours", &ours);
	print_path("libunwind", &theirs);
}

int main(int argc, char **argv)
{
	unw_addr_space_t as = unw_create_addr_space(&_UPT_accessors, 0);
	unsigned long wanted = 1000, steps = 20, barren = 0, had;
	struct rng rng;
	int opt;

	rng_seed(&rng, 1, 0);
	while ((opt = getopt(argc, argv, "+n:k:s:")) != -1) {
		if (opt == 'n')
			wanted = strtoul(optarg, NULL, 10);
		else if (opt == 'k')
			steps = strtoul(optarg, NULL, 10);
		else if (opt == 's')
			rng_seed(&rng, strtoul(optarg, NULL, 10), 0);
		else
			return 2;
	}
	if (optind == argc)
		return 2;
	space.rows = row_cache_init(calloc(1, row_cache_size(ROWS) + 64), ROWS);
	while (compared < wanted && barren < BARREN_MAX) {
		had = compared;
		if (tracee_start(&tracee, argv + optind, false))
			return 2;
		space.memory =
			(struct unwind_memory){ tracee.mem.read, &tracee };
		space.find = module_table_find;
		last = (struct last_walk){ .now = 0 };
		space.last = &last;
		space.find_ctx = &modules;
		unw_flush_cache(as, 0, 0);
		read_modules();
		while (compared < wanted &&
		       !tracee_interrupt(&tracee, (unsigned)rng_below(
							  &rng, WAIT_US_MAX))) {
			compare(as);
			for (unsigned long k = 0;
			     k < steps && compared < wanted &&
			     !tracee.in_syscall && !tracee_step(&tracee);
			     k++)
				compare(as);
		}
		tracee_release(&tracee);
		barren = compared == had ? barren + 1 : 0;
	}
	printf("%lu stops, %.1f frames each, %lu differ from libunwind, "
	       "%lu do not reach the start, %lu lead through code without "
	       "rules, %lu not compared in the vDSO\n",
	       compared, (double)frames / (double)(compared ? compared : 1),
	       different, unfinished, guessed, in_vdso);
	return different || unfinished || 2 * guessed > compared ||
	       compared < wanted;
}
