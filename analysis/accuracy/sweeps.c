/* SPDX-License-Identifier: MIT */
/*
 * sweeps - the thesis's other experiments: kinds, cells and settings
 *
 * False-Sharing, Read-Write and Point-to-Point, operations other than stores,
 * places of threads, sampling periods, sizes of the bulletin board, numbers of
 * debug registers, and lengths of turns.
 */
#include <math.h>
#include <string.h>

#include "sweeps.h"
#include "judge.h"
#include "plan.h"
#include "analysis/base/util.h"

#define FALSE_POINTS    0.02
#define FALSE_TRAPS     5600
#define CELLS_POINTS    0.03
#define CELLS_TRAPS     3300
#define READ_WRITE      0.07
#define SENSITIVITY     0.05
#define SENSITIVE_TRAPS 10000
#define APART_POINTS    0.05

enum {
	ARMING = 1000,
};

/*
 * A sweep over a fraction that a microbenchmark takes. Its length and period
 * are such that chance stays within about a third of the bound.
 */
struct sweep {
	const char *suite, *program, *option;
	double an_iteration; /* accesses */
	double accesses, accesses_short;
	uint64_t period;
};

/* A trial of @w at a fraction given in tenths. */
static struct accuracy_trial *plan_fraction(struct accuracy *all,
					    const struct sweep *w,
					    uint32_t threads, int tenths)
{
	double fraction = tenths / 10.0;
	char *options = xasprintf("--%s %.1f", w->option, fraction);
	struct accuracy_trial *t =
		accuracy_plan(all, w->suite, w->program, threads,
			      all->short_form ? w->accesses_short : w->accesses,
			      w->an_iteration, options);

	t->parameter = fraction;
	t->label = xasprintf("%s %.1f", w->option, fraction);
	t->period = all->short_form ? ACCURACY_SHORT_PERIOD : w->period;
	t->arming = ARMING;
	return t;
}

static bool left_out(const struct accuracy *all, int tenths)
{
	return all->short_form && tenths % 5;
}

static const struct sweep false_sharing = {
	"false-sharing",
	"false_sharing",
	"false",
	ACCURACY_FALSE_SHARING,
	30e6,
	16e6,
	1000,
};

/*
 * The false share equals the programmed one only if successive accesses are by
 * different threads: turns of one access, which take as long as any others.
 */
static const struct sweep false_sharing_finest = {
	"false-sharing",
	"false_sharing",
	"false",
	ACCURACY_FALSE_SHARING,
	10e6,
	0,
	333,
};

static void plan_false_sharing(struct accuracy *all)
{
	for (int tenths = 0; tenths <= 10; tenths++)
		if (!left_out(all, tenths))
			plan_fraction(all, &false_sharing, 8, tenths);
	for (int tenths = 0; !all->short_form && tenths <= 10; tenths++) {
		struct accuracy_trial *t =
			plan_fraction(all, &false_sharing, 8, tenths);

		t->chunks = true;
		t->label = xasprintf("%s, 8 bytes", t->label);
	}
	for (int tenths = 0; !all->short_form && tenths <= 10; tenths++) {
		struct accuracy_trial *t =
			plan_fraction(all, &false_sharing_finest, 8, tenths);

		t->slice = 1;
		t->label = xasprintf("%s, turns of 1", t->label);
	}
}

/*
 * Compare with the exact share. It is not the programmed one if a thread's turn
 * has several stores, since they move each of the two lines at most once.
 */
static void judge_false_sharing(struct accuracy *all, size_t first)
{
	for (size_t i = first; i < all->trials; i++) {
		const struct accuracy_trial *t = &all->trial[i];
		const struct accuracy_outcome *o = &t->outcome;

		accuracy_judge_false(all, t,
				     t->slice == 1 ? t->parameter
						   : (double)o->exact_false /
							     (double)o->exact,
				     FALSE_POINTS, FALSE_TRAPS);
	}
}

const struct accuracy_suite accuracy_false_sharing = {
	.name = "false-sharing",
	.title = "False-Sharing: the share of false transfers",
	.in_short = true,
	.plan = plan_false_sharing,
	.judge = judge_false_sharing,
};

static const struct sweep read_write = {
	"read-write", "read_write", "reads", ACCURACY_READ_WRITE,
	30e6,         4e6,          1000,
};

static void plan_read_write(struct accuracy *all)
{
	for (uint32_t threads = 2; threads <= 8; threads *= 2)
		for (int tenths = 0; tenths <= 10; tenths++)
			if (!all->short_form || (threads == 4 && tenths < 2))
				plan_fraction(all, &read_write, threads,
					      tenths);
}

static void judge_read_write(struct accuracy *all, size_t first)
{
	const struct accuracy_trial *zero = NULL;

	for (size_t i = first; i < all->trials; i++) {
		const struct accuracy_trial *t = &all->trial[i];

		if (t->parameter <= 0)
			zero = t;
		accuracy_judge_scaled(all, t, (double)zero->outcome.exact,
				      READ_WRITE);
	}
}

const struct accuracy_suite accuracy_read_write = {
	.name = "read-write",
	.title = "Read-Write: transfers, their error relative to the case "
		 "without reads",
	.in_short = true,
	.whole = true,
	.plan = plan_read_write,
	.judge = judge_read_write,
};

static const struct sweep point_to_point = {
	"point-to-point",
	"point_to_point",
	"sharing",
	ACCURACY_POINT_TO_POINT,
	60e6,
	8e6,
	500,
};

static void plan_point_to_point(struct accuracy *all)
{
	for (int tenths = 0; tenths <= 10; tenths++)
		if (!left_out(all, tenths))
			plan_fraction(all, &point_to_point, 4, tenths);
}

static void judge_point_to_point(struct accuracy *all, size_t first)
{
	for (size_t i = first; i < all->trials; i++)
		accuracy_judge_cells(all, &all->trial[i],
				     all->short_form ? NAN : CELLS_POINTS,
				     CELLS_TRAPS);
}

const struct accuracy_suite accuracy_point_to_point = {
	.name = "point-to-point",
	.title = "Point-to-Point: cells divided by the highest",
	.in_short = true,
	.plan = plan_point_to_point,
	.judge = judge_point_to_point,
};

static const struct sweep operation[] = {
	{ "operations", "write_volume", "op write --sharing",
	  ACCURACY_WRITE_VOLUME, 30e6, 0, 2000 },
	{ "operations", "write_volume", "op exchange --sharing",
	  ACCURACY_EXCHANGE, 30e6, 0, 2000 },
	{ "operations", "write_volume", "op add --sharing", ACCURACY_EXCHANGE,
	  30e6, 0, 2000 },
};

static void plan_operations(struct accuracy *all)
{
	for (int i = 0; i < 3; i++)
		for (uint32_t threads = 2; threads <= 8; threads *= 4)
			for (int tenths = 2; tenths <= 10; tenths += 4)
				plan_fraction(all, &operation[i], threads,
					      tenths);
}

static void judge_totals(struct accuracy *all, size_t first)
{
	for (size_t i = first; i < all->trials; i++)
		accuracy_judge_total(all, &all->trial[i], ACCURACY_WORST);
}

const struct accuracy_suite accuracy_operations = {
	.name = "operations",
	.title = "Write-Volume with stores, exchanges and additions",
	.plan = plan_operations,
	.judge = judge_totals,
};

static const struct sweep placement = {
	"placement", "write_volume", "sharing", ACCURACY_WRITE_VOLUME, 30e6,
	0,           2000,
};

static void plan_placement(struct accuracy *all)
{
	static const char *const places[] = { "compact", "scatter" };

	for (int i = 0; i < 2; i++)
		for (uint32_t threads = 4; threads <= 16; threads *= 4)
			for (int tenths = 2; tenths <= 10; tenths += 4) {
				struct accuracy_trial *t = plan_fraction(
					all, &placement, threads, tenths);

				t->topology = accuracy_sockets;
				t->place = places[i];
				t->label = xasprintf("%s, %s", places[i],
						     t->label);
			}
}

static void judge_placement(struct accuracy *all, size_t first)
{
	judge_totals(all, first);
	for (size_t i = first; i < all->trials; i++) {
		const struct accuracy_trial *t = &all->trial[i];

		accuracy_judge_value(all, t, "share between the sockets",
				     t->outcome.apart, t->outcome.exact_apart,
				     false, APART_POINTS);
	}
}

const struct accuracy_suite accuracy_placement = {
	.name = "placement",
	.title = "Write-Volume on two sockets of 16 cores",
	.plan = plan_placement,
	.judge = judge_placement,
};

static const struct sweep by_period = {
	"periods", "write_volume", "sharing", ACCURACY_WRITE_VOLUME, 100e6, 0,
	0,
};

static void plan_periods(struct accuracy *all)
{
	static const uint64_t periods[] = { 50000, 100000, 200000, 500000,
					    1000000 };

	for (size_t i = 0; i < sizeof(periods) / sizeof(*periods); i++)
		for (int tenths = 5; tenths <= 10; tenths += 5) {
			struct accuracy_trial *t =
				plan_fraction(all, &by_period, 16, tenths);

			t->period = periods[i];
			t->label =
				xasprintf("period %lu, %s",
					  (unsigned long)periods[i], t->label);
		}
}

/* With a few hundred samples, the interval is all that can be tested. */
static void judge_by_interval(struct accuracy *all, size_t first)
{
	for (size_t i = first; i < all->trials; i++)
		accuracy_judge_interval(all, &all->trial[i]);
}

const struct accuracy_suite accuracy_periods = {
	.name = "periods",
	.title = "Write-Volume by sampling period",
	.plan = plan_periods,
	.judge = judge_by_interval,
};

/*
 * How much a setting changes a total: relative to the exact number, since the
 * runs differ, and compared with the last trial of the sweep.
 */
static double level_of(const struct accuracy_trial *t)
{
	double total = strcmp(t->algorithm, "comdetective")
			       ? t->outcome.estimate
			       : t->outcome.volume;

	return total / (double)t->outcome.exact;
}

static void judge_sweep(struct accuracy *all, size_t first, size_t end)
{
	const struct accuracy_trial *last = &all->trial[end - 1];

	for (size_t i = first; i < end; i++) {
		const struct accuracy_trial *t = &all->trial[i];
		bool enough = t->outcome.traps >= SENSITIVE_TRAPS;

		accuracy_judge_value(all, t, "total by exact, against the last",
				     level_of(t),
				     last->failed ? NAN : level_of(last), true,
				     enough ? SENSITIVITY : NAN);
	}
}

/* A sweep ends where @parameter falls. */
static void judge_sensitivity(struct accuracy *all, size_t first)
{
	for (size_t i = first + 1; i <= all->trials; i++)
		if (i == all->trials ||
		    all->trial[i].parameter < all->trial[i - 1].parameter) {
			judge_sweep(all, first, i);
			first = i;
		}
}

/* A map needs a short period to get enough traps. */
#define MAP_PERIOD 100

static const struct sweep board = {
	"board", "write_volume", "sharing", ACCURACY_WRITE_VOLUME, 30e6,
	0,       MAP_PERIOD,
};

static void plan_board_sizes(struct accuracy *all)
{
	static const uint32_t sizes[] = { 5, 17, 31, 61, 127 };

	for (int tenths = 2; tenths <= 8; tenths += 3)
		for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
			struct accuracy_trial *t =
				plan_fraction(all, &board, 16, tenths);

			t->algorithm = "comdetective";
			t->board = sizes[i];
			t->parameter = sizes[i];
			t->label = xasprintf("map, board of %u, %s", sizes[i],
					     t->label);
		}
}

const struct accuracy_suite accuracy_board_sizes = {
	.name = "board",
	.title = "Write-Volume by the size of the bulletin board",
	.whole = true,
	.plan = plan_board_sizes,
	.judge = judge_sensitivity,
};

/* If less is shared, a longer run gets as many traps. */
static void plan_registers(struct accuracy *all, const char *algorithm,
			   int tenths)
{
	bool map = strcmp(algorithm, "chain");
	const struct sweep w = {
		"registers",
		"write_volume",
		"sharing",
		ACCURACY_WRITE_VOLUME,
		600e6 / tenths,
		0,
		map ? MAP_PERIOD : 500,
	};

	for (uint32_t n = 1; n <= ACCURACY_REGISTERS; n++) {
		struct accuracy_trial *t = plan_fraction(all, &w, 16, tenths);

		t->algorithm = algorithm;
		t->chunks = true;
		t->registers = n;
		t->parameter = n;
		t->label = xasprintf("%s, %u of 8 bytes, %s",
				     map ? "map" : algorithm, n, t->label);
	}
}

static void plan_register_counts(struct accuracy *all)
{
	for (int tenths = 2; tenths <= 8; tenths += 3) {
		plan_registers(all, "chain", tenths);
		plan_registers(all, "comdetective", tenths);
	}
}

const struct accuracy_suite accuracy_register_counts = {
	.name = "registers",
	.title = "Write-Volume by the number of debug registers",
	.whole = true,
	.plan = plan_register_counts,
	.judge = judge_sensitivity,
};

static const struct sweep by_slice = {
	"slices", "write_volume", "sharing", ACCURACY_WRITE_VOLUME, 30e6,
	0,        2000,
};

static void plan_slices(struct accuracy *all)
{
	static const uint64_t slices[] = { 10, 30, 100, 300, 1000, 10000 };

	for (size_t i = 0; i < sizeof(slices) / sizeof(*slices); i++)
		for (uint32_t threads = 2; threads <= 32; threads *= 4) {
			struct accuracy_trial *t =
				plan_fraction(all, &by_slice, threads, 5);

			t->slice = slices[i];
			t->label =
				xasprintf("slice %lu, %s",
					  (unsigned long)slices[i], t->label);
		}
}

static void judge_slices(struct accuracy *all, size_t first)
{
	for (size_t i = first; i < all->trials; i++) {
		const struct accuracy_trial *t = &all->trial[i];

		accuracy_judge_total(all, t, ACCURACY_WORST);
		accuracy_judge_value(all, t, "transfers per 1000 accesses",
				     1000 * t->outcome.estimate /
					     (double)t->outcome.accesses,
				     1000 * (double)t->outcome.exact /
					     (double)t->outcome.accesses,
				     true, NAN);
	}
}

const struct accuracy_suite accuracy_slices = {
	.name = "slices",
	.title = "Write-Volume by how fine the threads take turns",
	.plan = plan_slices,
	.judge = judge_slices,
};
