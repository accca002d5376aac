/* SPDX-License-Identifier: MIT */
/*
 * pmu_study_read - read what a benchmark says of itself, and the log of its
 * samples
 */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "pmu_study_internal.h"
#include "analysis/base/util.h"
#include "src/store/sample_log.h"

#define KERNEL (UINT64_C(1) << 63) /* the lowest address of the kernel */

static const char *text_of(const json_t *o, const char *name)
{
	const char *s = json_string_value(json_object_get(o, name));

	return s ? s : "";
}

static uint64_t address(const char *s)
{
	return strtoull(s, NULL, 16);
}

static void read_site(struct pmu_study_site *s, const json_t *o)
{
	const json_t *words = json_object_get(o, "words");

	snprintf(s->name, sizeof(s->name), "%s", text_of(o, "name"));
	snprintf(s->event, sizeof(s->event), "%s", text_of(o, "event"));
	s->low = address(text_of(o, "low"));
	s->high = address(text_of(o, "high"));
	s->bytes = json_integer_value(json_object_get(o, "bytes"));
	s->count = json_integer_value(json_object_get(o, "count"));
	for (s->words = 0;
	     s->words < json_array_size(words) && s->words < PMU_STUDY_WORDS;
	     s->words++)
		s->word[s->words] = address(
			json_string_value(json_array_get(words, s->words))
				?: "");
}

void pmu_study_read_answer(struct pmu_study_run *r, const char *path)
{
	json_error_t error;
	json_t *o = json_load_file(path, 0, &error);
	const json_t *sites = json_object_get(o, "sites");

	r->sites = json_array_size(sites);
	if (!r->sites || r->sites > PMU_STUDY_SITES) {
		r->failed = xasprintf("its answer cannot be read: %s",
				      o ? "no sites" : error.text);
		json_decref(o);
		return;
	}
	for (size_t i = 0; i < r->sites; i++)
		read_site(&r->site[i], json_array_get(sites, i));
	r->seconds = json_number_value(json_object_get(o, "seconds"));
	r->cpu_seconds = json_number_value(json_object_get(o, "cpu_seconds"));
	r->peak_kb = json_integer_value(json_object_get(o, "peak_kb"));
	r->locked_in_kernel =
		json_integer_value(json_object_get(o, "locked_in_kernel"));
	json_decref(o);
}

static bool is_of(const struct pmu_study_site *s,
		  const struct sample_log_record *a)
{
	if (s->low)
		return a->ip >= s->low && a->ip < s->high;
	for (size_t i = 0; i < s->words; i++)
		if (a->addr - s->word[i] < s->bytes)
			return true;
	return false;
}

/*
 * PEBS counts a locked addition as a load and as a store and samples it as
 * either, but it is one execution.
 */
static bool is_half(const struct pmu_study_site *s,
		    const struct sample_log_record *a)
{
	return !strcmp(s->event, "locked") && !(a->flags & ACCESS_STORE);
}

static void take(struct pmu_study_run *r, const struct sample_log_record *a)
{
	if (a->kind >= SAMPLE_KINDS)
		return;
	r->kernel += a->ip >= KERNEL;
	for (size_t i = 0; i < r->sites; i++) {
		if (!is_of(&r->site[i], a))
			continue;
		if (!is_half(&r->site[i], a))
			r->site[i].samples[a->kind]++;
		return;
	}
	r->elsewhere[a->kind]++;
}

void pmu_study_read_log(struct pmu_study_run *r, const char *path)
{
	struct sample_log_record a;
	FILE *f = fopen(path, "re");
	size_t n = 0;

	if (!f) {
		r->failed = xasprintf("no log of samples: %s", strerror(errno));
		return;
	}
	while (fread(&a, sizeof(a), 1, f) == 1 && a.len) {
		take(r, &a);
		n++;
	}
	fclose(f);
	if (n == SAMPLE_LOG_RECORDS)
		r->failed = xstrdup("more samples than the log has room for");
}
