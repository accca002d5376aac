/* SPDX-License-Identifier: MIT */
/*
 * pmu_study_modes - Multi-Event and Exec-Mode
 *
 * They sample several events at once, and show whether samples of the kernel
 * are kept apart.
 */
#include <math.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "pmu_study_internal.h"
#include "analysis/base/util.h"

void pmu_study_multi_event(struct pmu_study *p)
{
	/* Every source's counters count a locked addition as a store. */
	static const struct {
		const char *label, *events;
		bool subset; /* one counter counts more than this */
	} cases[] = {
		{ "load", "load ret", false },
		{ "store", "call locked", false },
		{ "branch", "", false },
		{ "taken branch", "", false },
		{ "return", "ret", true },
		{ "locked load", "locked", true },
	};
	struct pmu_study_table *t = pmu_study_table_new(
		p,
		"Multi-Event: samples taken, of 100 expected, all events in "
		"one run (figure 4.7);\n  for the clock, its uniform samples",
		"event");
	double interval = p->all->short_form ? 1e3 : 10e3;
	struct pmu_study_row *row =
		pmu_study_row_new(p, "multi_event", "", interval, 20000, 5, 0);

	pmu_study_row_run_profiled(p, row);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		pmu_study_put_counts(p, t, "Multi-Event", cases[i].label, row,
				     cases[i].events, cases[i].subset);
		pmu_study_table_label(t, cases[i].label);
	}
	pmu_study_table_end(t);
	pmu_study_row_free(row);
}

static double in_kernel(const struct pmu_study_run *r, const void *unused)
{
	return (double)r->kernel;
}

static void say_half(const struct pmu_study *p, const struct pmu_study_row *row)
{
	struct utsname u;
	char *headers;

	if (p->all->json)
		return;
	for (int c = PMU_STUDY_FIRST; c < PMU_STUDY_COLUMNS; c++)
		if (row->point[c].runs && row->point[c].run[0].locked_in_kernel)
			return;
	if (uname(&u))
		return;
	headers = xasprintf("/lib/modules/%s/build", u.release);
	printf("  The half in user space alone: there is no "
	       "/dev/reusetrack_exec_mode.\n  %s\n\n",
	       access(headers, F_OK)
		       ? "The headers of the running kernel are not installed."
		       : "make exec-mode-module builds the kernel module.");
	free(headers);
}

static void put_in_kernel(struct pmu_study *p, struct pmu_study_table *t,
			  const struct pmu_study_row *row)
{
	for (int c = PMU_STUDY_FIRST; c < PMU_STUDY_COLUMNS; c++) {
		struct pmu_study_mean m =
			pmu_study_mean(&row->point[c], in_kernel, NULL);

		if (!m.n)
			continue;
		pmu_study_table_put(t, "in the kernel", c, "%.2f", m.mean);
		pmu_study_judge(p, c, xstrdup("Exec-Mode"),
				"samples in the kernel", m, 0, true, 0);
	}
}

void pmu_study_exec_mode(struct pmu_study *p)
{
	static const char title[] =
		"Exec-Mode: samples at instructions of the kernel, 0 expected, "
		"and\n  samples at the load in user space, 100 expected";
	struct pmu_study_table *t = pmu_study_table_new(p, title, "samples");
	struct pmu_study_row *row =
		pmu_study_row_new(p, "exec_mode", "", 1e3, 1000, 1, 0);

	pmu_study_row_run_profiled(p, row);
	put_in_kernel(p, t, row);
	pmu_study_put_counts(p, t, "Exec-Mode", "in user space", row, NULL,
			     false);
	pmu_study_table_end(t);
	say_half(p, row);
	pmu_study_row_free(row);
}
