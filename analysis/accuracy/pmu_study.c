/* SPDX-License-Identifier: MIT */
/*
 * pmu_study - the study of precise event sampling: what it runs, and where
 */
#include <stdlib.h>

#include "pmu_study_internal.h"
#include "analysis/base/util.h"

enum {
	RUNS = 5, /* as in the thesis */
	RUNS_SHORT = 2,
	COST_ITERATIONS = 500 * 1000 * 1000,
};

static void say_missing(const struct pmu_study *p)
{
	for (int c = PMU_STUDY_FIRST; c < PMU_STUDY_COLUMNS; c++) {
		const struct pmu_study_source *s = &p->source[c];

		if (!s->wanted || s->opens)
			continue;
		printf("No column %s: ", pmu_study_names[c]);
		print_wrapped(stdout, safe_text(s->reason), 16, 5);
		if (s->advice[0]) {
			printf("  -> ");
			print_wrapped(stdout, safe_text(s->advice), 5, 5);
		}
	}
	putchar('\n');
}

/* Cost and error by the interval, as in table 5.2 of the thesis. */
static void study_cost(struct pmu_study *p)
{
	static const double intervals[] = { 100e3, 500e3, 1000e3, 2000e3 };
	struct pmu_study_table *time = pmu_study_table_new(
		p,
		"Load-Ratio 1/20 by interval: CPU time of the loop, by that "
		"without a profiler\n  (form of table 5.2)",
		"interval");
	struct pmu_study_table *memory = pmu_study_table_new(
		p, "The same: peak resident memory", "interval");
	struct pmu_study_table *error = pmu_study_table_new(
		p, "The same: samples of 100 expected", "interval");

	p->source[PMU_STUDY_QEMU].wanted = p->source[PMU_STUDY_EMU].wanted;
	for (size_t i = 0; i < sizeof(intervals) / sizeof(*intervals); i++) {
		const char *label = count_text((uint64_t)intervals[i]);
		struct pmu_study_row *row = pmu_study_row_new(
			p, "load_ratio", "--ratio 20", intervals[i],
			COST_ITERATIONS / intervals[i], 1, intervals[i]);

		for (int c = 0; c < PMU_STUDY_COLUMNS; c++)
			if (row->model[c].iterations)
				row->model[c].iterations = COST_ITERATIONS;
		pmu_study_row_run(p, row);
		pmu_study_put_counts(p, error, "Load-Ratio 1/20, cost", label,
				     row, NULL, false);
		pmu_study_put_time(time, label, row);
		pmu_study_put_memory(memory, label, row);
		pmu_study_row_free(row);
	}
	p->source[PMU_STUDY_QEMU].wanted = false;
	pmu_study_table_end(time);
	pmu_study_table_end(memory);
	pmu_study_table_end(error);
}

void pmu_study_run_all(struct accuracy *all, const char *list)
{
	struct pmu_study p = {
		.all = all,
		.runs = all->short_form ? RUNS_SHORT : RUNS,
	};
	bool any = false;

	pmu_study_look(&p, list);
	for (int c = PMU_STUDY_FIRST; c < PMU_STUDY_COLUMNS; c++)
		any |= p.source[c].wanted && p.source[c].opens;
	if (!all->json)
		say_missing(&p);
	if (!any)
		die("none of the sources %s opens here; see reusetrack doctor",
		    list ? safe_text(list) : "of samples");
	pmu_study_load_ratio(&p);
	pmu_study_locked_load(&p);
	pmu_study_bias(&p);
	pmu_study_multi_event(&p);
	pmu_study_exec_mode(&p);
	if (!all->short_form)
		study_cost(&p);
}
