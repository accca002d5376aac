/* SPDX-License-Identifier: MIT */
/*
 * help_stepper - compare interpreter and backward decoder with single steps
 *
 *   help_stepper [-n ACCESSES] [-w WINDOWS] [-k STEPS] [-s SEED] -- PROGRAM
 *
 * Stops PROGRAM at random moments, predicts its next accesses with the
 * interpreter (src/x86/interp), then single-steps it and compares every access
 * that it makes with the prediction: instruction, address, length, load or
 * store. The accesses made are found by a second decoder (true_accesses.h). An
 * access that was not predicted is a divergence too. After each step the
 * backward decoder (src/x86/decode/backdecode.h) is asked for the access just
 * made. After each window, STEPS more instructions are stepped for the backward
 * decoder alone. PROGRAM is started again until there are ACCESSES or WINDOWS.
 * The exit status is 1 after any divergence. With VERBOSE in the environment,
 * wrong answers of the backward decoder are printed.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/x86/decode/backdecode.h"
#include "src/x86/decode/accesses.h"
#include "src/x86/decode/decode.h"
#include "src/x86/interp/interp.h"
#include "src/base/rng.h"
#include "tests/oracle/tracee.h"
#include "tests/oracle/true_accesses.h"

enum {
	STEPS_MAX = 4000, /* in a window; each string iteration counts */
	WAIT_US_MAX = 2000,
	DETAILS_MAX = 8, /* divergences printed */
	BARREN_MAX = 20, /* runs in a row that end before the first stop */
	BLOCKERS = 256,
	BLOCKERS_SHOWN = 6,
	ENDS = INTERP_UNKNOWN_PATH + 1,
};

static const char *const end_name[ENDS] = {
	[INTERP_CLOSED] = "closed",
	[INTERP_FULL] = "full",
	[INTERP_REACHED] = "reached",
	[INTERP_SYSCALL] = "system call",
	[INTERP_UNDECODED] = "undecoded",
	[INTERP_UNREADABLE] = "unreadable",
	[INTERP_UNKNOWN_ADDRESS] = "unknown address",
	[INTERP_UNKNOWN_PATH] = "unknown path",
};

/* Answers of the backward decoder, compared with the accesses made. */
struct score {
	unsigned long asked, right, wrong, unknown, none;
};

static struct {
	unsigned long windows, accesses, divergences, interrupted, unfinished;
	unsigned long steps_lost;
	unsigned long unchecked; /* unknown to the second decoder */
	unsigned long decoder;   /* instructions it decodes differently */
	unsigned long ends[ENDS];
	struct score stalled, trapped;
	unsigned long untold; /* right except for the address, as promised */
} sum;

struct blocker {
	char name[48];
	unsigned long count;
};

static struct blocker blockers[BLOCKERS];

static struct tracee tracee;
static struct rng rng;
static struct interp *interp;

static void count_blocker(const char *name)
{
	for (int i = 0; i < BLOCKERS; i++) {
		if (!blockers[i].count)
			snprintf(blockers[i].name, sizeof(blockers[i].name),
				 "%s", name);
		if (!strcmp(blockers[i].name, name)) {
			blockers[i].count++;
			return;
		}
	}
}

/* The instruction that the tracee executes next. */
static size_t code_here(uint8_t code[INSN_BYTES_MAX])
{
	size_t n = INSN_BYTES_MAX;

	while (n && tracee.mem.read(&tracee, tracee.cpu.rip, code, n))
		n--;
	return n;
}

static bool same(const struct access *a, const struct access *b)
{
	int kind = ACCESS_LOAD | ACCESS_STORE;

	return a->addr == b->addr && a->ip == b->ip && a->len == b->len &&
	       (a->flags & kind) == (b->flags & kind);
}

static bool is_among(const struct access *a, const struct access *list, int n)
{
	for (int i = 0; i < n; i++) {
		if (same(a, &list[i]))
			return true;
	}
	return false;
}

static void diverged(const char *what, const struct access *expected,
		     const struct access *got, uint32_t number)
{
	uint8_t code[INSN_BYTES_MAX];
	char text[128];
	size_t n = code_here(code);

	if (sum.divergences++ >= DETAILS_MAX)
		return;
	instruction_text(tracee.cpu.rip, code, n, text, sizeof(text));
	printf("divergence: %s, access %u at 0x%jx: %s\n", what, number,
	       (uintmax_t)tracee.cpu.rip, text);
	if (expected)
		printf("  predicted ip 0x%jx address 0x%jx length %u flags "
		       "%u\n",
		       (uintmax_t)expected->ip, (uintmax_t)expected->addr,
		       expected->len, expected->flags);
	if (got)
		printf("  made      ip 0x%jx address 0x%jx length %u flags "
		       "%u\n",
		       (uintmax_t)got->ip, (uintmax_t)got->addr, got->len,
		       got->flags);
}

/*
 * Find the accesses that the tracee is about to make with both decoders, and
 * count a difference unless the second one does not know the instruction.
 */
static int accesses_here(struct access *out)
{
	struct access other[DECODE_ACCESSES_MAX];
	uint8_t code[INSN_BYTES_MAX];
	size_t bytes = code_here(code);
	struct insn insn;
	char text[128];
	int n, m;

	n = decode_bytes(code, bytes, tracee.cpu.rip, &insn);
	if (!n)
		n = decode_accesses(&insn, &tracee.cpu, out);
	for (int i = 0; i < n; i++)
		out[i].ip = tracee.cpu.rip;
	m = true_accesses(&tracee.cpu, code, bytes, other, DECODE_ACCESSES_MAX);
	if (n < 0 || m < 0) {
		sum.unchecked++;
		return n;
	}
	for (int i = 0; i < n && n == m; i++) {
		if (!is_among(&out[i], other, m))
			m = -1;
	}
	if (n != m && sum.decoder++ < DETAILS_MAX) {
		instruction_text(tracee.cpu.rip, code, bytes, text,
				 sizeof(text));
		printf("decoders differ: %s: %d accesses, address 0x%jx "
		       "length %u; other 0x%jx length %u\n",
		       text, n, n ? (uintmax_t)out[0].addr : 0,
		       n ? out[0].len : 0, (uintmax_t)other[0].addr,
		       other[0].len);
	}
	return n;
}

static void score(struct score *s, int answer, const struct access *a,
		  const struct access *truth, int n, const char *what,
		  uint64_t ip)
{
	static int shown;
	uint8_t code[INSN_BYTES_MAX];
	char text[128];

	s->asked++;
	if (answer == -EAGAIN) {
		s->unknown++;
	} else if (answer) {
		s->none++;
	} else if (is_among(a, truth, n)) {
		s->right++;
	} else {
		s->wrong++;
		if (!getenv("VERBOSE") || shown++ > 60)
			return;
		tracee.mem.read(&tracee, ip, code, sizeof(code));
		instruction_text(ip, code, sizeof(code), text, sizeof(text));
		printf("%s wrong: executed 0x%jx %s, now at 0x%jx, answered "
		       "ip 0x%jx address 0x%jx length %u\n",
		       what, (uintmax_t)ip, text, (uintmax_t)tracee.cpu.rip,
		       (uintmax_t)a->ip, (uintmax_t)a->addr, a->len);
	}
}

/* The instruction at @ip has just made the @n accesses in @truth. */
static void score_backward(struct access *truth, int n, uint64_t ip)
{
	const struct access *hit;
	struct access a;
	uint32_t len;
	uint64_t addr;
	bool stores_only;
	int answer, explicit = 0;

	for (int i = 0; i < n; i++)
		explicit += !(truth[i].flags & ACCESS_IMPLICIT);
	answer = backdecode_stalled(&tracee.cpu, &tracee.mem, &a);
	if (explicit || !answer)
		score(&sum.stalled, answer, &a, truth, n, "stalled", ip);
	if (!n)
		return;
	hit = &truth[rng_below(&rng, (uint64_t)n)];
	len = 1u << rng_below(&rng, 4);
	addr = (hit->addr + rng_below(&rng, hit->len)) & -(uint64_t)len;
	stores_only = hit->flags & ACCESS_STORE && rng_below(&rng, 2);
	answer = backdecode_trapped(&tracee.cpu, &tracee.mem, addr, len,
				    stores_only, &a);
	/* The address of a return is lost; that of its call is promised. */
	if (!answer && truth[0].flags == (ACCESS_LOAD | ACCESS_IMPLICIT) &&
	    truth[0].addr == a.addr && a.flags == truth[0].flags)
		a.ip = truth[0].ip;
	/* So may be that of a load that overwrote it. */
	if (!answer && !is_among(&a, truth, n) && n == 1 && a.ip == ip &&
	    a.addr == addr && a.len == len) {
		a.addr = truth[0].addr;
		a.len = truth[0].len;
		sum.untold++;
	}
	score(&sum.trapped, answer, &a, truth, n, "trapped", ip);
}

/*
 * Step until @n accesses were made and compared, then, unless @end_ip is 0, on
 * to @end_ip, where the interpreter ended. Returns 0, or tracee_step's error.
 */
static int follow(const struct access *expected, uint32_t n, uint64_t end_ip)
{
	struct access made[DECODE_ACCESSES_MAX];
	uint32_t i = 0;
	int m, err;

	for (int step = 0; step < STEPS_MAX; step++) {
		uint64_t ip = tracee.cpu.rip;

		if (i >= n && (!end_ip || ip == end_ip))
			return 0;
		m = accesses_here(made);
		if (m < 0)
			return 0;
		if (i >= n && m) {
			diverged("not predicted", NULL, &made[0], i);
			return 0;
		}
		for (int j = 0; j < m && i < n; j++, i++) {
			if (!same(&made[j], &expected[i])) {
				diverged("differs", &expected[i], &made[j], i);
				return 0;
			}
			sum.accesses++;
		}
		err = tracee_step(&tracee);
		if (err)
			return err;
		score_backward(made, m, ip);
	}
	sum.unfinished++;
	return 0;
}

static int window(void)
{
	static struct access expected[4 * WINDOW_ACCESSES_MAX];
	uint8_t code[INSN_BYTES_MAX];
	enum interp_end end;
	uint64_t end_ip = 0;
	uint32_t n;
	int err;

	err = tracee_interrupt(&tracee,
			       20 + (unsigned)rng_below(&rng, WAIT_US_MAX));
	if (err || tracee.in_syscall)
		return err;
	interp_begin(interp, &tracee.cpu, &tracee.mem);
	end = interp_run(interp, 0);
	n = interp_count(interp);
	for (uint32_t i = 0; i < n; i++)
		expected[i] = *interp_access(interp, i);
	sum.windows++;
	sum.ends[end]++;
	if (end != INTERP_FULL)
		end_ip = interp_ip(interp);
	if (end == INTERP_UNKNOWN_ADDRESS || end == INTERP_UNKNOWN_PATH ||
	    end == INTERP_UNDECODED) {
		size_t bytes = 0;

		while (bytes < sizeof(code) &&
		       !tracee.mem.read(&tracee, end_ip + bytes, code + bytes,
					1))
			bytes++;
		count_blocker(instruction_name(code, bytes));
	}
	err = follow(expected, n, end_ip);
	if (err == -EINTR) {
		sum.interrupted++;
		return 0;
	}
	return err;
}

/* Step on without a prediction, to test the backward decoder. */
static int walk(unsigned long steps)
{
	struct access made[DECODE_ACCESSES_MAX];
	int err = 0;

	while (!err && !tracee.in_syscall && steps--) {
		uint64_t ip = tracee.cpu.rip;
		int m = accesses_here(made);

		err = tracee_step(&tracee);
		if (!err && m >= 0)
			score_backward(made, m, ip);
	}
	return err == -EINTR ? 0 : err;
}

static void print_score(const char *name, const struct score *s)
{
	double all = s->asked ? (double)s->asked : 1;

	printf("%s: asked %lu, right %.1f %%, unknown %.1f %%, none %.1f %%, "
	       "wrong %lu of %lu answers\n",
	       name, s->asked, 100 * (double)s->right / all,
	       100 * (double)s->unknown / all, 100 * (double)s->none / all,
	       s->wrong, s->right + s->wrong);
}

static int by_count(const void *a, const void *b)
{
	unsigned long x = ((const struct blocker *)a)->count;
	unsigned long y = ((const struct blocker *)b)->count;

	return x < y ? 1 : x > y ? -1 : 0;
}

static void print_sum(void)
{
	printf("windows:");
	for (int i = 0; i < ENDS; i++) {
		if (sum.ends[i])
			printf(" %s %lu", end_name[i], sum.ends[i]);
	}
	printf("; cut by a signal %lu, unfinished %lu, steps lost after a "
	       "cpuid %lu\n",
	       sum.interrupted, sum.unfinished, sum.steps_lost);
	qsort(blockers, BLOCKERS, sizeof(blockers[0]), by_count);
	printf("blocked at:");
	for (int i = 0; i < BLOCKERS_SHOWN && blockers[i].count; i++)
		printf(" %s %lu", blockers[i].name, blockers[i].count);
	printf("\n");
	print_score("stalled", &sum.stalled);
	print_score("trapped", &sum.trapped);
	printf("trapped, address not told: %lu\n", sum.untold);
	printf("unchecked instructions: %lu\n", sum.unchecked);
	printf("total windows %lu accesses %lu divergences %lu decoders %lu\n",
	       sum.windows, sum.accesses, sum.divergences, sum.decoder);
}

int main(int argc, char **argv)
{
	unsigned long accesses = 10000, windows = 1000000, seed = 1, before;
	unsigned long steps = 0, barren = 0;
	int opt, err;

	while ((opt = getopt(argc, argv, "+n:w:s:k:")) != -1) {
		unsigned long v = optarg ? strtoul(optarg, NULL, 0) : 0;

		if (opt == 'n')
			accesses = v;
		else if (opt == 'w')
			windows = v;
		else if (opt == 's')
			seed = v;
		else if (opt == 'k')
			steps = v;
		else
			return 2;
	}
	if (optind >= argc) {
		fprintf(stderr, "usage: help_stepper [-n ACCESSES] "
				"[-w WINDOWS] [-k STEPS] [-s SEED] "
				"-- PROGRAM ARGS\n");
		return 2;
	}
	rng_seed(&rng, seed, 0);
	interp = aligned_alloc(64, (interp_bytes + 63) & ~63u);
	if (!interp)
		return 2;
	memset(interp, 0, interp_bytes);
	setvbuf(stdout, NULL, _IOLBF, 0);
	do {
		before = sum.windows;
		err = tracee_start(&tracee, argv + optind, false);
		if (err) {
			fprintf(stderr, "help_stepper: cannot trace %s: %s\n",
				argv[optind], strerror(-err));
			return 2;
		}
		while (!err && sum.accesses < accesses &&
		       sum.windows < windows) {
			err = window();
			if (!err)
				err = walk(steps);
		}
		tracee_release(&tracee);
		sum.steps_lost += tracee.steps_lost;
		barren = sum.windows > before ? 0 : barren + 1;
	} while (sum.accesses < accesses && sum.windows < windows &&
		 barren < BARREN_MAX);
	print_sum();
	return sum.divergences || sum.decoder;
}
