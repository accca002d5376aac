/* SPDX-License-Identifier: MIT */
/*
 * help_bias - how far chosen accesses are from a known mix
 *
 *   help_bias [-n SAMPLES] [-p STALLED_PERCENT] [-s SEED] -- MIX LOOP
 *
 * Stops a loop of microbench/mix at random moments (a ptrace stop comes at the
 * same instructions as an interrupt), lets src/x86/choose.h choose one access
 * from each stop, and steps to its breakpoints. Prints the total variation
 * distance between the mix of the uniform accesses and the mix that the loop
 * has by construction. Loads and stores of a region count separately.
 *
 * Now and then a loop reads the clock. A stop in the vDSO, where nothing may be
 * left to choose, says nothing about the loop and is not lost.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/x86/choose.h"
#include "tests/oracle/tracee.h"

enum {
	REGIONS_MAX = 16,
	WAIT_US_MIN = 20,
	WAIT_US_MAX = 220,
	BREAKPOINT_STEPS_MAX = 20000,
};

struct region {
	char name[32];
	unsigned long start, length;
	double share, store_share;
	unsigned long loads, stores;
	int same_as; /* index of the region that it is a part of, or its own */
};

static struct region regions[REGIONS_MAX];
static int region_count;
static unsigned long elsewhere;
static struct {
	unsigned long start, end;
} vdso;

static struct tracee tracee;
static struct rng rng;

static int find_region(const char *name)
{
	for (int i = 0; i < region_count; i++) {
		if (!strcmp(regions[i].name, name))
			return i;
	}
	return region_count;
}

/* Read the regions that the loop prints before it runs. */
static int read_regions(int fd)
{
	FILE *f = fdopen(dup(fd), "r");
	char line[256];

	while (f && fgets(line, sizeof(line), f)) {
		struct region *r = &regions[region_count];
		int n = sscanf(line, "region %31s %lx %lu %lf %lf", r->name,
			       &r->start, &r->length, &r->share,
			       &r->store_share);

		if (n != 5)
			n = sscanf(line, "also %31s %lx %lu", r->name,
				   &r->start, &r->length);
		if (n >= 3 && region_count < REGIONS_MAX - 1) {
			r->same_as = find_region(r->name);
			region_count++;
		}
		if (!strcmp(line, "run\n")) {
			fclose(f);
			return 0;
		}
	}
	return -EPROTO;
}

static void count(const struct access *a)
{
	for (int i = 0; i < region_count; i++) {
		struct region *r = &regions[i];

		if (a->addr - r->start >= r->length)
			continue;
		r = &regions[r->same_as];
		if (a->flags & ACCESS_STORE)
			r->stores++;
		else
			r->loads++;
		return;
	}
	elsewhere++;
}

/* Total variation distance over the loads and the stores of each region. */
static double distance(void)
{
	double total = (double)elsewhere, sum;

	for (int i = 0; i < region_count; i++)
		total += (double)(regions[i].loads + regions[i].stores);
	sum = total > 0 ? (double)elsewhere / total : 1;
	for (int i = 0; i < region_count && total > 0; i++) {
		const struct region *r = &regions[i];

		sum += fabs((double)r->loads / total -
			    r->share * (1 - r->store_share));
		sum += fabs((double)r->stores / total -
			    r->share * r->store_share);
	}
	return sum / 2;
}

/* Find the code of the vDSO in the maps of the process. */
static int find_vdso(pid_t pid)
{
	char path[64], line[512];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	f = fopen(path, "r");
	if (!f)
		return -errno;
	while (fgets(line, sizeof(line), f))
		if (strstr(line, "[vdso]") &&
		    sscanf(line, "%lx-%lx", &vdso.start, &vdso.end) == 2)
			break;
	fclose(f);
	return 0;
}

/* Steps to @ip. Returns 0, -ETIME if it is not reached, or an error. */
static int run_to(uint64_t ip)
{
	for (int i = 0; i < BREAKPOINT_STEPS_MAX; i++) {
		int err = tracee_step(&tracee);

		if (err && err != -EINTR)
			return err;
		if (tracee.cpu.rip == ip)
			return 0;
	}
	return -ETIME;
}

int main(int argc, char **argv)
{
	unsigned long samples = 3000, seed = 1, traps = 0, lost = 0, wanted = 0;
	unsigned long uniform = 0, stalled = 0, stand_in = 0, missed = 0;
	unsigned long clock = 0;
	bool in_clock;
	struct choose c = { .rng = &rng, .breakpoints = true };
	struct choice out;
	int opt, err;

	while ((opt = getopt(argc, argv, "+n:p:s:")) != -1) {
		unsigned long v = optarg ? strtoul(optarg, NULL, 0) : 0;

		if (opt == 'n')
			samples = v;
		else if (opt == 'p')
			c.stalled_percent = (uint32_t)v;
		else if (opt == 's')
			seed = v;
		else
			return 2;
	}
	if (optind + 2 > argc)
		return 2;
	rng_seed(&rng, seed, 0);
	c.interp = aligned_alloc(64, (interp_bytes + 63) & ~63u);
	if (!c.interp)
		return 2;
	memset(c.interp, 0, interp_bytes);
	char *command[] = { argv[optind], argv[optind + 1],
			    (char *)"--cpu-seconds", (char *)"600", NULL };
	err = tracee_start(&tracee, command, true);
	if (!err)
		err = tracee_run(&tracee);
	if (!err)
		err = read_regions(tracee.out_fd);
	if (!err)
		err = find_vdso(tracee.pid);
	while (!err && uniform + stalled + lost < samples) {
		err = tracee_interrupt(
			&tracee,
			WAIT_US_MIN + (unsigned)rng_below(
					      &rng, WAIT_US_MAX - WAIT_US_MIN));
		if (err || tracee.in_syscall)
			continue;
		wanted++;
		in_clock = tracee.cpu.rip - vdso.start < vdso.end - vdso.start;
		choose_start(&c, &tracee.cpu, &tracee.mem, &out);
		while (out.what == CHOSEN_BREAKPOINT) {
			traps++;
			err = run_to(out.breakpoint_ip);
			if (!err) {
				choose_resume(&c, &tracee.cpu, &tracee.mem,
					      &out);
				continue;
			}
			missed++;
			choose_abandon(&c, &out);
		}
		if (out.what != CHOSEN) {
			*(in_clock ? &clock : &lost) += 1;
		} else if (out.kind == SAMPLE_UNIFORM) {
			uniform++;
			count(&out.access);
		} else {
			stalled++;
			stand_in += out.stalled_unknown;
		}
	}
	tracee_release(&tracee);
	if (err) {
		fprintf(stderr, "help_bias: %s, wait status %#x\n",
			strerror(-err), tracee.status);
		return 2;
	}
	for (int i = 0; i < region_count; i++) {
		const struct region *r = &regions[i];

		if (r->same_as == i)
			printf("region %s expected %.2f %% (stores %.0f %%) "
			       "loads %lu stores %lu\n",
			       r->name, 100 * r->share, 100 * r->store_share,
			       r->loads, r->stores);
	}
	printf("%s distance %.2f %% uniform %lu elsewhere %lu stalled %lu "
	       "stand-in %lu traps/sample %.3f missed %lu clock %lu lost %lu\n",
	       argv[optind + 1], 100 * distance(), uniform, elsewhere, stalled,
	       stand_in, wanted ? (double)traps / (double)wanted : 0, missed,
	       clock, lost);
	return 0;
}
