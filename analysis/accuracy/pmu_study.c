/* SPDX-License-Identifier: MIT */
/*
 * pmu_study - the study of precise event sampling: what it runs, and where
 */
#include <stdlib.h>

#include "pmu_study.h"
#include "analysis/base/util.h"

enum {
	RUNS = 5, /* as in the thesis */
	RUNS_SHORT = 2,
};

static void say_missing(const struct precise *p)
{
	for (int c = PRECISE_FIRST; c < PRECISE_COLUMNS; c++) {
		const struct precise_source *s = &p->source[c];

		if (!s->wanted || s->opens)
			continue;
		printf("No column %s: ", precise_names[c]);
		print_wrapped(stdout, safe_text(s->reason), 16, 5);
		if (s->advice[0]) {
			printf("  -> ");
			print_wrapped(stdout, safe_text(s->advice), 5, 5);
		}
	}
	putchar('\n');
}

void precise_all(struct accuracy *all, const char *list)
{
	struct precise p = {
		.all = all,
		.runs = all->short_form ? RUNS_SHORT : RUNS,
	};
	bool any = false;

	precise_look(&p, list);
	for (int c = PRECISE_FIRST; c < PRECISE_COLUMNS; c++)
		any |= p.source[c].wanted && p.source[c].opens;
	if (!all->json)
		say_missing(&p);
	if (!any)
		die("none of the sources %s opens here; see reusetrack doctor",
		    list ? safe_text(list) : "of samples");
	precise_load_ratio(&p);
	precise_locked_load(&p);
	precise_bias(&p);
	precise_multi_event(&p);
	precise_exec_mode(&p);
	if (!all->short_form)
		precise_cost(&p);
}
