/* SPDX-License-Identifier: MIT */
/*
 * test_reuse_phases - phases of different lengths in the records of a stream
 */
#include <check.h>
#include <string.h>

#include "analysis/locality/reuse_cells.h"
#include "analysis/locality/reuse_phases.h"
#include "src/store/reuse_tally.h"
#include "tests/run_suite.h"

enum {
	PERIOD = 100,
	BITS = 16,
	PHASES = 8,
	ROWS_MAX = 2000,
	SHORT = 10,
	LONG = 30000, /* a reuse time, half of a phase */
};

static struct process process;
static struct reuse_row row[ROWS_MAX];
static struct profile profile;

static void put(uint32_t bits, uint64_t start, enum reuse_outcome outcome,
		uint64_t time, uint64_t uses)
{
	uint64_t above = time ? time - reuse_bin_low(reuse_bin_of(time)) : 0;

	ck_assert_uint_lt(profile.reuses, ROWS_MAX);
	row[profile.reuses++].record = (struct cdp_reuse){
		.kind = CDP_REUSE_BIN,
		.granularity = REUSE_LINE,
		.outcome = outcome,
		.bin = time ? reuse_bin_of(time) : 0,
		.use_ip = reuse_phase(bits, start),
		.weight = (double)uses,
		.squares = (double)uses,
		.offset = (double)(uses * above),
		.count = uses,
	};
}

/* Phases that are alike: of ten uses, nine are reused soon. */
static void begin(void)
{
	memset(row, 0, sizeof(row));
	process.header.period = PERIOD;
	strcpy(process.header.period_unit, "accesses");
	process.header.line_bytes = 64;
	profile = (struct profile){ .process = &process,
				    .processes = 1,
				    .reuse = row };
	for (uint64_t i = 0; i < PHASES; i++) {
		put(BITS, i << BITS, REUSE_REUSED, SHORT, 900);
		put(BITS, i << BITS, REUSE_REUSED, LONG, 100);
	}
}

/* The distance of the long reuses. */
static double long_distance(void)
{
	struct reuse_cells cells;
	struct reuse_cell *c;
	double distance;

	reuse_cells_init(&cells, &profile);
	reuse_phases_bend(&cells);
	c = reuse_cells_find(&cells, 0, REUSE_SAMPLED, REUSE_PRIVATE,
			     REUSE_LINE, 0, -1);
	ck_assert_ptr_nonnull(c);
	ck_assert_ptr_nonnull(c->locality);
	distance = locality_distance(c->locality, LONG - 1);
	reuse_cells_release(&cells);
	return distance;
}

/*
 * A use that is decided late, or never, may say the length that phases have for
 * another writer. It is no phase of its own, in which all lines are new.
 */
START_TEST(uses_decided_late_make_no_phases)
{
	double before, after;

	begin();
	before = long_distance();
	ck_assert_double_eq_tol(before, 0.9 * SHORT + 0.1 * LONG, 60);
	for (uint64_t i = 0; i < PHASES; i++)
		for (uint64_t k = 0; k < 4; k += 3)
			put(BITS - 2, (4 * i + k) << (BITS - 2), REUSE_DANGLING,
			    0, 1);
	put(BITS + 1, 0, REUSE_DANGLING, 0, 1);
	put(BITS + 2, 4 << BITS, REUSE_DANGLING, 0, 2);
	after = long_distance();
	ck_assert_double_eq_tol(after / before, 1, 0.1);
}
END_TEST

/* Files may have any number of phases, of any length. */
START_TEST(any_phases_are_put_together)
{
	double before, after;

	begin();
	before = long_distance();
	profile.reuses = 0;
	for (uint64_t i = 0; i < ROWS_MAX / 2; i++) {
		uint32_t bits = BITS - 7 + (uint32_t)(i % 3);
		uint64_t start = i << (BITS - 7);

		put(bits, start, REUSE_REUSED, SHORT, 900);
		put(bits, start, REUSE_REUSED, LONG, 100);
	}
	after = long_distance();
	ck_assert_double_eq_tol(after / before, 1, 0.1);
	profile.reuses -= 10;
	put(62, 0, REUSE_REUSED, LONG, UINT64_C(1) << 20);
	ck_assert_double_gt(long_distance(), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("reuse_phases");
	TCase *t = tcase_create("reuse_phases");

	tcase_add_test(t, uses_decided_late_make_no_phases);
	tcase_add_test(t, any_phases_are_put_together);
	suite_add_tcase(s, t);
	return run_suite(s);
}
