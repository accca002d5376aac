/* SPDX-License-Identifier: MIT */
/*
 * test_pmu_doctor - what doctor says on machines with a PMU
 *
 * The machine and its kernel are those of tests/fake/fake_kernel.h; a seccomp
 * filter denies the clock and the debug registers.
 */
#include <errno.h>
#include <string.h>

#include "analysis/doctor/pmu_probe.h"
#include "tests/fake/fake_kernel.h"
#include "tests/run_verb.h"
#include "tests/run_suite.h"

static struct fake_kernel *k;

static json_t *doctor(void)
{
	struct verb v = VERB(cmd_doctor, "doctor", "--json");
	json_t *j = json_loads(v.out, JSON_REJECT_DUPLICATES, NULL);

	ck_assert_msg(j != NULL, "%s", v.out);
	ck_assert_str_eq(v.err, "");
	verb_free(&v);
	return j;
}

static json_t *named(json_t *list, const char *name)
{
	json_t *o;
	size_t i;

	json_array_foreach(list, i, o)
	{
		if (!strcmp(text_at(o, "name"), name))
			return o;
	}
	ck_abort_msg("no %s", name);
	return NULL;
}

static void boot(enum fake_model model)
{
	if (k)
		fake_kernel_free(k);
	k = fake_kernel_new(model);
	pmu_probe_kernel = &k->calls;
}

static void shut_down(void)
{
	if (k)
		fake_kernel_free(k);
	k = NULL;
	sandbox_teardown();
}

/* Obstacles to a source, each with advice of its own. */
static const struct denial {
	const char *what;
	enum fake_model model;
	int error; /* error of every perf_event_open */
	const char *advice;
} denials[] = {
	{ "paranoid", FAKE_SKYLAKE, 0, "kernel.perf_event_paranoid=2" },
	{ "seccomp", FAKE_SKYLAKE, EPERM, "container's profile" },
	{ "no driver", FAKE_SKYLAKE, ENODEV, "nolapic" },
	{ "descriptors", FAKE_SKYLAKE, 0, "ulimit -n" },
	{ "locked memory", FAKE_SKYLAKE, 0, "kernel.perf_event_mlock_kb" },
	{ "watchdog", FAKE_SKYLAKE, 0, "kernel.nmi_watchdog=0" },
	{ "firmware", FAKE_ZEN4, 0, "BIOS" },
};
enum {
	DENIALS = sizeof(denials) / sizeof(denials[0])
};

static void deny(const struct denial *d)
{
	boot(d->model);
	if (d->error)
		k->open_error = d->error;
	if (!strcmp(d->what, "paranoid"))
		k->paranoid = 4;
	else if (!strcmp(d->what, "seccomp"))
		k->seccomp = true;
	else if (!strcmp(d->what, "descriptors"))
		k->fds_max = 1;
	else if (!strcmp(d->what, "locked memory"))
		k->locked_pages_max = 1;
	else if (!strcmp(d->what, "watchdog"))
		k->starved = k->watchdog = true;
	else if (!strcmp(d->what, "firmware"))
		k->pmu[1].name = NULL;
}

/* The advice for the source that the processor has. */
static char *advice_of(const struct denial *d)
{
	json_t *j, *s;
	char *advice;

	deny(d);
	j = doctor();
	s = named(at(j, "sources"), d->model == FAKE_ZEN4 ? "ibs" : "pebs");
	ck_assert(json_is_false(at(s, "usable")));
	ck_assert_str_ne(text_at(s, "reason"), "");
	advice = strdup(text_at(s, "advice"));
	json_decref(j);
	return advice;
}

START_TEST(each_denial_has_its_own_advice)
{
	char *advice = advice_of(&denials[_i]);

	ck_assert_msg(strstr(advice, denials[_i].advice) != NULL, "%s: %s",
		      denials[_i].what, advice);
	for (int i = 0; i < DENIALS; i++)
		ck_assert_msg(i == _i || !strstr(advice, denials[i].advice),
			      "%s has the advice of %s: %s", denials[_i].what,
			      denials[i].what, advice);
	free(advice);
}
END_TEST

/* The clock and the registers are refused for the same reason. */
START_TEST(the_registers_are_told_of_paranoid_and_of_seccomp)
{
	json_t *j, *s;

	deny(&denials[_i]);
	deny_call(SYS_perf_event_open, _i ? EPERM : EACCES);
	j = doctor();
	ck_assert(json_is_false(at(j, "debug_registers.usable")));
	ck_assert_ptr_nonnull(strstr(text_at(j, "debug_registers.advice"),
				     denials[_i].advice));
	ck_assert_ptr_nonnull(strstr(
		text_at(named(at(j, "checks"), "sigtrap_clock"), "advice"),
		denials[_i].advice));
	ck_assert_int_eq(
		json_is_true(at(named(at(j, "checks"), "perf_event_paranoid"),
				"good")),
		_i != 0);
	s = named(at(j, "checks"), "seccomp");
	ck_assert_int_eq(json_is_true(at(s, "good")), _i == 0);
	ck_assert_int_eq(text_at(s, "advice")[0] != 0, _i != 0);
	json_decref(j);
}
END_TEST

START_TEST(a_machine_with_a_pmu_names_its_events)
{
	json_t *j, *s;

	boot(_i ? FAKE_ZEN4 : FAKE_SKYLAKE);
	j = doctor();
	s = named(at(j, "sources"), _i ? "ibs" : "pebs");
	ck_assert_msg(json_is_true(at(s, "usable")), "%s",
		      text_at(s, "reason"));
	ck_assert_ptr_nonnull(
		strstr(text_at(s, "reason"),
		       _i ? "ibs_op" : "MEM_INST_RETIRED.ALL_STORES"));
	ck_assert_str_eq(text_at(s, "advice"), "");
	/* The other source is for other processors. */
	s = named(at(j, "sources"), _i ? "pebs" : "ibs");
	ck_assert(json_is_false(at(s, "usable")));
	ck_assert_ptr_nonnull(strstr(text_at(s, "reason"), "processor"));
	json_decref(j);
}
END_TEST

static void check_names(json_t *list, const char *const *names,
			const char *verdict)
{
	size_t n = 0;

	for (; names[n]; n++) {
		json_t *o = json_array_get(list, n);

		ck_assert_str_eq(text_at(o, "name"), names[n]);
		ck_assert_uint_eq(json_object_size(o), 4);
		ck_assert(json_is_boolean(at(o, verdict)));
		ck_assert_str_ne(text_at(o, "reason"), "");
		ck_assert(json_is_true(at(o, verdict)) ||
			  text_at(o, "advice")[0]);
	}
	ck_assert_uint_eq(json_array_size(list), n);
}

/* Programs find the same names on every machine. */
START_TEST(json_has_everything_on_every_machine)
{
	static const char *const sources[] = { "clock", "pebs", "ibs",
					       "instr", "emu",  NULL };
	static const char *const checks[] = {
		"kernel",        "perf_event_paranoid",
		"seccomp",       "virtual_machine",
		"sigtrap_clock", "sigtrap_blocked",
		"posix_timer",   "process_vm_readv",
		"import",        NULL,
	};
	json_t *j, *r;

	boot(_i);
	j = doctor();
	check_names(at(j, "sources"), sources, "usable");
	check_names(at(j, "checks"), checks, "good");
	r = at(j, "debug_registers");
	ck_assert_uint_eq(json_object_size(r), 5);
	ck_assert(json_is_boolean(at(r, "usable")));
	ck_assert(json_is_boolean(at(r, "range_64")));
	ck_assert(json_is_integer(at(r, "count")));
	ck_assert_str_ne(text_at(r, "reason"), "");
	ck_assert_int_eq(
		strcmp(text_at(named(at(j, "checks"), "virtual_machine"),
			       "reason"),
		       "no") != 0,
		_i == FAKE_BARE);
	json_decref(j);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("pmu_doctor");
	TCase *t = tcase_create("pmu_doctor");

	tcase_add_checked_fixture(t, sandbox_setup, shut_down);
	tcase_set_timeout(t, 120);
	tcase_add_loop_test(t, each_denial_has_its_own_advice, 0, DENIALS);
	tcase_add_loop_test(
		t, the_registers_are_told_of_paranoid_and_of_seccomp, 0, 2);
	tcase_add_loop_test(t, a_machine_with_a_pmu_names_its_events, 0, 2);
	tcase_add_loop_test(t, json_has_everything_on_every_machine, 0,
			    FAKE_MODELS);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
