/* SPDX-License-Identifier: MIT */
/*
 * ribench - threads reuse their data at known distances
 *
 * RIBench of M. A. Sasongko's thesis (2022), section 6.5.1. Each thread goes
 * through five phases, `outer` times over. Phase i repeats R_i times
 *
 *	store to each of the inv bytes of an array that all threads share
 *	sweep an array of S_i bytes of its own, loads and stores in turn
 *
 * so that a byte of its own is used again after S_i + inv accesses, and one of
 * the shared bytes is overwritten by another thread first. --case names the
 * parameters of the thesis (tables 6.5, 6.6 and 6.7).
 *
 * Running freely, a thread may come back to the shared array before another
 * one has been there. So the threads take turns at it, in a fixed order: each
 * waits for its turn on a futex, sweeps, and wakes the next one. Then every
 * sweep but the very last is followed by another thread's.
 *
 * --histogram prints the reuse times that follow from that, in accesses, and
 * those of table 6.4. The table differs in two ways. It leaves out that the
 * first sweep of a phase reuses the data of the phase's last sweep, one turn of
 * the outer loop ago. And it counts the first of all sweeps as reuses.
 */
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "common.h"

enum {
	PHASES = 5,
	TIMES_MAX = 2 * PHASES + 1,
	SHARED_MAX = 1 << 24,
	SHORT_BIN = 1100, /* end of the first bin; each next is twice as long */
	LONG_BIN = 110000,
};

struct parameters {
	const char *name;
	long repeats[PHASES]; /* a, b, c, d, e */
	long bytes[PHASES];   /* a1, b1, c1, d1, e1 */
	long inv;
};

/* clang-format off */
#define INCREASING_SHORT   { 20, 20, 20, 20, 20 }
#define INCREASING_LONG    { 10, 10, 10, 10, 10 }
#define DECREASING_SHORT   { 200, 60, 15, 4, 2 }
#define DECREASING_LONG    { 100, 30, 12, 5, 2 }
#define BELL               { 50, 40, 40, 10, 3 }
#define MULTI              { 100, 30, 24, 8, 7 }
#define SHORT_1            { 1000, 2000, 4000, 8000, 16000 }
#define SHORT_2            { 500, 1500, 3500, 7500, 15500 }
#define SHORT_3            { 0, 1000, 3000, 7000, 15000 }
#define LONG_1             { 100000, 200000, 400000, 800000, 1600000 }
#define LONG_2             { 50000, 150000, 350000, 750000, 1550000 }
#define LONG_3             { 0, 100000, 300000, 700000, 1500000 }

static const struct parameters cases[] = {
	/* table 6.5 */
	{ "short-increasing", INCREASING_SHORT, SHORT_1, 0 },
	{ "short-decreasing", DECREASING_SHORT, SHORT_1, 0 },
	{ "short-bell", BELL, SHORT_1, 0 },
	{ "short-multi", MULTI, SHORT_1, 0 },
	{ "long-increasing", INCREASING_LONG, LONG_1, 0 },
	{ "long-decreasing", DECREASING_LONG, LONG_1, 0 },
	{ "long-bell", BELL, LONG_1, 0 },
	{ "long-multi", MULTI, LONG_1, 0 },
	/* table 6.6 */
	{ "short-bell-1", BELL, SHORT_1, 0 },
	{ "short-bell-2", BELL, SHORT_2, 1000 },
	{ "short-bell-3", BELL, SHORT_3, 2000 },
	{ "long-bell-1", BELL, LONG_1, 0 },
	{ "long-bell-2", BELL, LONG_2, 100000 },
	{ "long-bell-3", BELL, LONG_3, 200000 },
	/* table 6.7; the long cases repeat as the short ones do */
	{ "short-decreasing-1", DECREASING_SHORT, SHORT_1, 0 },
	{ "short-decreasing-2", DECREASING_SHORT, SHORT_2, 1000 },
	{ "short-decreasing-3", DECREASING_SHORT, SHORT_3, 2000 },
	{ "long-decreasing-1", DECREASING_SHORT, LONG_1, 0 },
	{ "long-decreasing-2", DECREASING_SHORT, LONG_2, 100000 },
	{ "long-decreasing-3", DECREASING_SHORT, LONG_3, 200000 },
};
/* clang-format on */

enum {
	CASES = sizeof(cases) / sizeof(cases[0])
};

static const char *case_name = "short-bell";
static const char *repeats_list, *bytes_list;
static long outer = 10, inv = -1;
static bool histogram, no_run, freely, list_cases;
static struct parameters p;

static volatile char shared[SHARED_MAX] __attribute__((aligned(APART_BYTES)));
/* How many sweeps of the shared array have begun; a futex. */
static _Atomic uint32_t turn __attribute__((aligned(APART_BYTES)));

static const struct option_row rows[] = {
	{ "case", OPT_STRING, &case_name, "the thesis's parameters by name" },
	{ "cases", OPT_FLAG, &list_cases, "list the names, and end" },
	{ "outer", OPT_LONG, &outer, "turns of the outer loop" },
	{ "repeats", OPT_STRING, &repeats_list, "a,b,c,d,e instead" },
	{ "bytes", OPT_STRING, &bytes_list, "a1,b1,c1,d1,e1 instead" },
	{ "inv", OPT_LONG, &inv, "bytes of the shared array instead" },
	{ "freely", OPT_FLAG, &freely,
	  "no turns at the shared array: what is invalidated is not known" },
	{ "threads", OPT_LONG, &opt.threads, "number of threads" },
	{ "pin", OPT_STRING, &opt.pin,
	  "threads to CPUs: none, compact or scatter over sockets" },
	{ "histogram", OPT_FLAG, &histogram,
	  "print the true and the published histogram as one line of JSON" },
	{ "no-run", OPT_FLAG, &no_run, "print only" },
	{ 0 }
};

/*
 * The futex without the C library, whose call would add some tens of accesses
 * to the stack per sweep.
 */
static inline long futex(_Atomic uint32_t *word, int what, uint32_t value)
{
	register long timeout __asm__("r10") = 0;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(SYS_futex), "D"(word), "S"(what), "d"(value),
			   "r"(timeout)
			 : "rcx", "r11", "memory");
	return ret;
}

static void wait_for_turn(uint32_t mine)
{
	uint32_t now;

	while ((now = turn) != mine)
		futex(&turn, FUTEX_WAIT_PRIVATE, now);
}

static void pass_turn(uint32_t mine)
{
	turn = mine + 1;
	futex(&turn, FUTEX_WAKE_PRIVATE, THREADS_MAX);
}

__attribute__((noinline)) static void sweep_shared(long n)
{
	for (long k = 0; k < n; k++)
		shared[k] = 1;
}

__attribute__((noinline)) static void sweep_own(volatile char *own, long n)
{
	for (long k = 0; k < n; k += 2) {
		(void)own[k];
		own[k + 1] = 1;
	}
}

static void body(struct worker *w)
{
	volatile char *own[PHASES];
	uint32_t mine = (uint32_t)w->id;
	size_t bytes = 0;
	char *mem;

	for (int i = 0; i < PHASES; i++)
		bytes += (size_t)p.bytes[i] + APART_BYTES;
	mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mem == MAP_FAILED) {
		perror("ribench: mmap");
		exit(1);
	}
	for (int i = 0; i < PHASES; i++) {
		own[i] = mem;
		mem += (p.bytes[i] + APART_BYTES) / APART_BYTES * APART_BYTES;
	}
	for (long o = 0; o < outer; o++)
		for (int i = 0; i < PHASES; i++)
			for (long r = 0; r < p.repeats[i]; r++) {
				if (p.inv && !freely)
					wait_for_turn(mine);
				sweep_shared(p.inv);
				if (p.inv && !freely)
					pass_turn(mine);
				mine += (uint32_t)opt.threads;
				sweep_own(own[i], p.bytes[i]);
			}
}

static void parse_list(const char *name, const char *text, long *to)
{
	for (int i = 0; i < PHASES; i++) {
		char *end;

		to[i] = strtol(text, &end, 10);
		if (end == text || *end != (i < PHASES - 1 ? ',' : '\0') ||
		    to[i] < 0 || to[i] > 1 << 30)
			usage_error("--%s wants five numbers, not '%s'", name,
				    text);
		text = end + 1;
	}
}

static void choose_parameters(void)
{
	for (int i = 0; i < CASES && !p.name; i++)
		if (!strcmp(case_name, cases[i].name))
			p = cases[i];
	if (!p.name)
		usage_error("there is no case '%s'; see --cases", case_name);
	if (repeats_list)
		parse_list("repeats", repeats_list, p.repeats);
	if (bytes_list)
		parse_list("bytes", bytes_list, p.bytes);
	if (inv >= 0)
		p.inv = inv;
	if (p.inv > SHARED_MAX)
		usage_error("--inv must be 0 to %d", SHARED_MAX);
	if (outer < 1)
		usage_error("--outer must be 1 or more");
	for (int i = 0; i < PHASES; i++)
		if (p.bytes[i] % 2)
			usage_error("--bytes must be even numbers");
}

/* This many uses are reused after this many accesses. */
struct reuse {
	long time, uses;
};

struct expected_reuse {
	struct reuse row[TIMES_MAX];
	int rows;
	long invalidated;
};

static void expect(struct expected_reuse *e, long time, long uses)
{
	int i;

	if (uses <= 0)
		return;
	for (i = 0; i < e->rows && e->row[i].time != time; i++)
		;
	e->rows += i == e->rows;
	e->row[i].time = time;
	e->row[i].uses += uses;
}

static void expect_truth(struct expected_reuse *e)
{
	long sweeps = 0, length = 0; /* of one iteration of the outer loop */
	int last = 0;

	for (int i = 0; i < PHASES; i++) {
		sweeps += p.repeats[i];
		length += p.repeats[i] * (p.bytes[i] + p.inv);
		last = p.repeats[i] ? i : last;
	}
	for (int i = 0; i < PHASES; i++) {
		long time = p.bytes[i] + p.inv, r = p.repeats[i];
		long uses = opt.threads * p.bytes[i];

		if (!r)
			continue;
		expect(e, time, uses * (r - 1) * outer);
		expect(e, length - (r - 1) * time, uses * (outer - 1));
		/*
		 * A thread that is alone comes back to the shared array itself.
		 */
		if (opt.threads == 1)
			expect(e, time, p.inv * (r * outer - (i == last)));
	}
	if (opt.threads > 1)
		e->invalidated = p.inv * (opt.threads * sweeps * outer - 1);
}

/* Table 6.4. */
static void expect_published(struct expected_reuse *e)
{
	for (int i = 0; i < PHASES; i++) {
		long turns = opt.threads * outer * p.repeats[i];

		expect(e, p.bytes[i] + p.inv, turns * p.bytes[i]);
		e->invalidated += turns * p.inv;
	}
}

static void print_histogram(const char *name, const struct expected_reuse *e)
{
	printf(", \"%s\": {\"reuses\": [", name);
	for (int i = 0; i < e->rows; i++)
		printf("%s{\"time\": %ld, \"uses\": %ld}", i ? ", " : "",
		       e->row[i].time, e->row[i].uses);
	printf("], \"invalidated\": %ld}", e->invalidated);
}

static long first_bin(void)
{
	for (int i = 0; i < PHASES; i++)
		if (p.repeats[i] && p.bytes[i] + p.inv > 2 * 16 * SHORT_BIN)
			return LONG_BIN;
	return SHORT_BIN;
}

static void print_json(void)
{
	struct expected_reuse truth = { 0 }, published = { 0 };

	expect_truth(&truth);
	expect_published(&published);
	printf("{\"benchmark\": \"ribench\", \"case\": \"%s\", "
	       "\"threads\": %ld, \"outer\": %ld, \"unit\": \"accesses\", "
	       "\"granularity\": \"address\", \"first_bin\": %ld",
	       case_name, opt.threads, outer, first_bin());
	if (!freely)
		print_histogram("true", &truth);
	print_histogram("published", &published);
	printf("}\n");
}

int main(int argc, char **argv)
{
	parse_options(argc, argv,
		      "Threads reuse their data at known distances.", rows);
	for (int i = 0; list_cases && i < CASES; i++)
		puts(cases[i].name);
	if (list_cases)
		return 0;
	opt.iterations = 1;
	check_common(1);
	choose_parameters();
	if (!no_run)
		run_workers(body);
	if (histogram)
		print_json();
	return 0;
}
