/* SPDX-License-Identifier: MIT */
/*
 * events - the events that record asks the preload for, as codes
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "events.h"
#include "analysis/base/util.h"
#include "analysis/doctor/pmu_probe.h"
#include "analysis/events/named_events.h"

#define TWIN "COMDET_EVENT"

static void set_twin(const struct pmu_asked *asked)
{
	char text[PMU_ASKED_TEXT_BYTES];

	pmu_asked_write(asked, text, sizeof(text));
	if (setenv(TWIN, text, 1))
		die("cannot set %s: %s", TWIN, strerror(errno));
}

/* Take one of the list: a code, or a name to look up. */
static void take(const char *name, const char *item, struct pmu_asked *asked)
{
	struct pmu_asked one;
	char why[400];

	if (!*item || pmu_asked_read(&one, item)) {
		if (named_event_find(item, asked, why, sizeof(why)))
			die("%s %s: %s", name, safe_text(item), why);
		return;
	}
	for (int i = 0; i < PMU_ASKED_KINDS; i++) {
		if (!one.event[i].config)
			continue;
		if (asked->event[i].config)
			die("%s: one event of loads and one of stores at most",
			    name);
		asked->event[i] = one.event[i];
	}
}

void record_resolve_events(const char *name)
{
	char *list = xstrdup(getenv(TWIN)), *rest = list, *item;
	struct pmu_asked asked = { 0 };

	while ((item = strsep(&rest, ",")))
		take(name, item, &asked);
	set_twin(&asked);
	free(list);
}

void record_events_for_unknown(void)
{
	const char *given = getenv(TWIN);
	struct pmu_asked asked;

	if ((!given || !*given) && pmu_probe_asked(&asked))
		set_twin(&asked);
}
