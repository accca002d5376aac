/* SPDX-License-Identifier: MIT */
/*
 * pmu_study_cost - cost and error by the interval, as in the thesis's table 5.2
 */
#include <stdlib.h>

#include "pmu_study.h"
#include "analysis/base/util.h"

enum {
	ITERATIONS = 500 * 1000 * 1000,
};

void precise_cost(struct precise *p)
{
	static const double intervals[] = { 100e3, 500e3, 1000e3, 2000e3 };
	struct precise_table *time = precise_table_new(
		p,
		"Load-Ratio 1/20 by interval: CPU time of the loop, by that "
		"without a profiler\n  (form of table 5.2)",
		"interval");
	struct precise_table *memory = precise_table_new(
		p, "The same: peak resident memory", "interval");
	struct precise_table *error = precise_table_new(
		p, "The same: samples of 100 expected", "interval");

	p->source[PRECISE_QEMU].wanted = p->source[PRECISE_EMU].wanted;
	for (size_t i = 0; i < sizeof(intervals) / sizeof(*intervals); i++) {
		const char *label = count_text((uint64_t)intervals[i]);
		struct precise_row *row = precise_row_new(
			p, "load_ratio", "--ratio 20", intervals[i],
			ITERATIONS / intervals[i], 1, intervals[i]);

		for (int c = 0; c < PRECISE_COLUMNS; c++)
			if (row->model[c].iterations)
				row->model[c].iterations = ITERATIONS;
		precise_row_run(p, row);
		precise_put_counts(p, error, "Load-Ratio 1/20, cost", label,
				   row, NULL, false);
		precise_put_time(time, label, row);
		precise_put_memory(memory, label, row);
		precise_row_free(row);
	}
	p->source[PRECISE_QEMU].wanted = false;
	precise_table_end(time);
	precise_table_end(memory);
	precise_table_end(error);
}
