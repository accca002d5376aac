/* SPDX-License-Identifier: MIT */
/*
 * reuse_fixture - a profile with reuses made by hand
 */
#ifndef COMDET_TESTS_ANALYSIS_REPORT_REUSE_FIXTURE_H
#define COMDET_TESTS_ANALYSIS_REPORT_REUSE_FIXTURE_H

#include "tests/fake/fake_profile.h"
#include "tests/run_verb.h"
#include "src/store/reuse_tally.h"

enum {
	PERIOD = 100
};

static struct fake fake;
static struct reuse_tally tally;

static inline void begin(uint32_t modes)
{
	fake_begin_emu(&fake, modes, PERIOD);
	memset(&tally, 0, sizeof(tally));
	tally.writer.section = CDP_REUSE;
}

static inline json_t *end(void)
{
	json_t *j;

	reuse_tally_release(&tally);
	fake_end(&fake);
	j = report_of(fake.dir);
	return j;
}

/*
 * Add @n uses of @thread at ip 0x1000 + 2 * @site that end at the next ip, as
 * @pairing.
 */
static inline void uses_as(enum reuse_pairing pairing, enum reuse_scope scope,
			   enum reuse_granularity g, uint32_t thread,
			   enum reuse_outcome outcome, uint64_t time,
			   uint64_t site, int n)
{
	struct reuse_event v = {
		.outcome = outcome,
		.use = { .ip = 0x1000 + 2 * site, .flags = ACCESS_STORE },
		.end = { .ip = 0x1001 + 2 * site, .flags = ACCESS_LOAD },
		.use_place = { .thread = thread },
		.time = time,
		.weight = 1,
		.pairing = pairing,
		.temporal = site % 2 == 0,
	};

	if (outcome == REUSE_DANGLING)
		memset(&v.end, 0, sizeof(v.end));
	while (n-- > 0)
		ck_assert_int_eq(
			reuse_tally_add(&fake.store, &tally, scope, g, &v, 1),
			0);
}

static inline void uses(enum reuse_scope scope, enum reuse_granularity g,
			uint32_t thread, enum reuse_outcome outcome,
			uint64_t time, uint64_t site, int n)
{
	uses_as(REUSE_RAW, scope, g, thread, outcome, time, site, n);
}

static inline int times_in(const char *text, const char *words)
{
	int n = 0;

	for (; (text = strstr(text, words)); text++)
		n++;
	return n;
}

static inline double real_at(json_t *j, const char *path)
{
	ck_assert_msg(json_is_number(at(j, path)), "%s", path);
	return json_number_value(at(j, path));
}

/*
 * The stream of "reuse" with these values; @thread -1 means over all threads.
 */
static inline json_t *stream(json_t *report, const char *scope, const char *g,
			     int thread)
{
	json_t *s;
	size_t i;

	json_array_foreach(at(report, "reuse"), i, s)
	{
		json_t *of = json_object_get(s, "thread");

		if (!strcmp(text_at(s, "scope"), scope) &&
		    !strcmp(text_at(s, "granularity"), g) &&
		    (of ? json_integer_value(of) : -1) == thread)
			return s;
	}
	return NULL;
}

#endif
