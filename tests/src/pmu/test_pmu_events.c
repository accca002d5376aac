/* SPDX-License-Identifier: MIT */
/*
 * test_pmu_events - the tables of load and store events
 *
 * Oracles: a list written by hand from cited sources (pmu_event_list.h), and
 * libpfm4, which is asked for each event by the name that our table has.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <perfmon/pfmlib_perf_event.h>

#include "pmu_event_list.h"
#include "tests/run_suite.h"

static const struct pmu_core_events *events_of(const struct listed *l)
{
	const struct pmu_model *m =
		pmu_model_find(l->vendor, l->family, l->model);

	ck_assert_msg(m != NULL, "family %#x model %#x is not known", l->family,
		      l->model);
	return pmu_core_events(m->core[l->kind]);
}

START_TEST(the_table_has_what_the_list_has)
{
	const struct listed *l = &listed[_i];
	const struct pmu_core_events *e = events_of(l);

	ck_assert_uint_eq(e->loads.config, l->loads);
	ck_assert_uint_eq(e->stores.config, l->stores);
	ck_assert_uint_eq(e->slow_loads.config, l->slow_loads);
	ck_assert_uint_eq(e->slow_stores.config, l->slow_stores);
	ck_assert(e->needs_aux == l->aux);
	ck_assert(pmu_core_is_usable(e) == (l->source == LISTED_PEBS));
	ck_assert(!e->why_not[0] == (l->source != LISTED_NONE));
}
END_TEST

/* libpfm4's config of @code on PMU @pmu; slow loads need a threshold. */
static uint64_t encode(const char *pmu, const struct pmu_code *code, bool slow,
		       uint64_t *config1)
{
	struct perf_event_attr attr;
	pfm_perf_encode_arg_t arg = { .attr = &attr, .size = sizeof(arg) };
	char name[128], *dot;
	int err;

	memset(&attr, 0, sizeof(attr));
	snprintf(name, sizeof(name), "%s::%s%s", pmu, code->name,
		 slow ? ":ldlat=3" : "");
	dot = strchr(name, '.');
	ck_assert_ptr_nonnull(dot);
	*dot = ':';
	err = pfm_get_os_event_encoding(name, PFM_PLM3, PFM_OS_PERF_EVENT,
					&arg);
	ck_assert_msg(err == PFM_SUCCESS, "%s: %s", name, pfm_strerror(err));
	*config1 = attr.config1;
	return attr.config;
}

START_TEST(libpfm4_encodes_our_names_as_the_list_says)
{
	const struct listed *l = &listed[_i];
	const struct pmu_core_events *e = events_of(l);
	uint64_t threshold;

	if (!l->pfm)
		return;
	if (l->loads)
		ck_assert_uint_eq(encode(l->pfm, &e->loads, false, &threshold),
				  l->loads);
	if (l->stores)
		ck_assert_uint_eq(encode(l->pfm, &e->stores, false, &threshold),
				  l->stores);
	if (l->slow_loads) {
		ck_assert_uint_eq(
			encode(l->pfm, &e->slow_loads, true, &threshold),
			l->slow_loads);
		ck_assert_uint_eq(threshold, 3);
	}
	if (l->slow_stores)
		ck_assert_uint_eq(
			encode(l->pfm, &e->slow_stores, false, &threshold),
			l->slow_stores);
}
END_TEST

static bool is_listed(const char *pfm)
{
	for (int i = 0; i < LISTED; i++)
		if (listed[i].pfm && !strcmp(listed[i].pfm, pfm))
			return true;
	for (int i = 0; not_a_processor[i]; i++)
		if (!strcmp(not_a_processor[i], pfm))
			return true;
	return false;
}

START_TEST(every_processor_of_libpfm4_is_in_the_list)
{
	int pmu, seen = 0;

	pfm_for_all_pmus(pmu)
	{
		pfm_pmu_info_t info = { .size = sizeof(info) };

		if (pfm_get_pmu_info(pmu, &info) != PFM_SUCCESS ||
		    info.type != PFM_PMU_TYPE_CORE)
			continue;
		seen++;
		ck_assert_msg(is_listed(info.name), "%s (%s) is missing",
			      info.name, info.desc);
	}
	ck_assert_int_ge(seen, 40);
}
END_TEST

/* Each kind of cores is vouched for by at least one row of the list. */
START_TEST(no_kind_of_cores_is_without_a_row)
{
	for (int core = 1; core < PMU_CORES; core++) {
		bool found = false;

		for (int i = 0; i < LISTED && !found; i++)
			found = events_of(&listed[i]) == pmu_core_events(core);
		ck_assert_msg(found, "%s", pmu_core_events(core)->name);
	}
}
END_TEST

START_TEST(models_do_not_overlap)
{
	for (int v = PMU_VENDOR_INTEL; v <= PMU_VENDOR_AMD; v++) {
		const struct pmu_model *a, *b;

		for (int i = 0; (a = pmu_model_at(v, i)); i++) {
			ck_assert_uint_le(a->first_model, a->last_model);
			ck_assert_uint_ne(a->core[0], PMU_CORE_NONE);
			for (int j = 0; j < i && (b = pmu_model_at(v, j)); j++)
				ck_assert_msg(a->family != b->family ||
						      a->last_model <
							      b->first_model ||
						      b->last_model <
							      a->first_model,
					      "%s and %s", a->name, b->name);
		}
	}
}
END_TEST

START_TEST(what_is_not_in_the_table_is_not_known)
{
	ck_assert_ptr_null(pmu_model_find(PMU_VENDOR_INTEL, 6, 0xfe));
	ck_assert_ptr_null(pmu_model_find(PMU_VENDOR_INTEL, 18, 2));
	ck_assert_ptr_null(pmu_model_find(PMU_VENDOR_INTEL, 19, 2));
	ck_assert_ptr_null(pmu_model_find(PMU_VENDOR_AMD, 0x30, 0));
	ck_assert_ptr_null(pmu_model_find(PMU_VENDOR_OTHER, 6, 0x55));
	ck_assert(!pmu_core_is_usable(pmu_core_events(PMU_CORE_NONE)));
}
END_TEST

/* As arch/x86/include/asm/intel-family.h and kernel/cpu/amd.c of Linux say. */
START_TEST(new_processors_have_their_names)
{
	static const struct {
		enum pmu_vendor vendor;
		uint32_t family, model;
		const char *name;
	} all[] = {
		{ PMU_VENDOR_INTEL, 6, 0xd7, "Bartlett Lake" },
		{ PMU_VENDOR_INTEL, 6, 0xd5, "Wildcat Lake" },
		{ PMU_VENDOR_INTEL, 18, 0x01, "Nova Lake" },
		{ PMU_VENDOR_INTEL, 18, 0x03, "Nova Lake L" },
		{ PMU_VENDOR_INTEL, 19, 0x01, "Diamond Rapids" },
		{ PMU_VENDOR_AMD, 0x1a, 0x02, "Zen 5" },
		{ PMU_VENDOR_AMD, 0x1a, 0x44, "Zen 5" },
		{ PMU_VENDOR_AMD, 0x1a, 0x50, "Zen 6" },
		{ PMU_VENDOR_AMD, 0x1a, 0x70, "Zen 5" },
		{ PMU_VENDOR_AMD, 0x1a, 0x80, "Zen 6" },
		{ PMU_VENDOR_AMD, 0x1a, 0x90, "Zen 6" },
		{ PMU_VENDOR_AMD, 0x1a, 0xc0, "Zen 6" },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		const struct pmu_model *m = pmu_model_find(
			all[i].vendor, all[i].family, all[i].model);

		ck_assert_ptr_nonnull(m);
		ck_assert_str_eq(m->name, all[i].name);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("pmu_events");
	TCase *tc = tcase_create("pmu_events");

	/* Events of processors that are not the one at hand. */
	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
	if (pfm_initialize() != PFM_SUCCESS) {
		puts("libpfm4 cannot be initialized");
		return 1;
	}
	tcase_add_loop_test(tc, the_table_has_what_the_list_has, 0, LISTED);
	tcase_add_loop_test(tc, libpfm4_encodes_our_names_as_the_list_says, 0,
			    LISTED);
	tcase_add_test(tc, every_processor_of_libpfm4_is_in_the_list);
	tcase_add_test(tc, no_kind_of_cores_is_without_a_row);
	tcase_add_test(tc, models_do_not_overlap);
	tcase_add_test(tc, what_is_not_in_the_table_is_not_known);
	tcase_add_test(tc, new_processors_have_their_names);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
