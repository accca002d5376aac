/* SPDX-License-Identifier: MIT */
/*
 * pmu_study - the study of precise event sampling: its benchmarks in turn
 */
#include <stdlib.h>

#include "pmu_study_internal.h"
#include "analysis/base/util.h"

enum {
	RUNS = 5, /* as in the thesis */
	RUNS_SHORT = 2,
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
		pmu_study_cost(&p);
}
