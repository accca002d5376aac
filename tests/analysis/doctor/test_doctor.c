/* SPDX-License-Identifier: MIT */
/*
 * test_doctor - what doctor says if the kernel refuses system calls
 *
 * The refusals are real, by seccomp filters.
 */
#include <signal.h>

#include "analysis/doctor/probe.h"
#include "tests/run_verb.h"
#include "tests/run_suite.h"

static json_t *doctor(int *status)
{
	struct verb v = VERB(cmd_doctor, "doctor", "--json");
	json_t *j = json_loads(v.out, JSON_REJECT_DUPLICATES, NULL);

	ck_assert_msg(j != NULL, "%s", v.out);
	ck_assert_str_eq(v.err, "");
	*status = v.status;
	verb_free(&v);
	return j;
}

static json_t *source(json_t *j, const char *name)
{
	json_t *s;
	size_t i;

	json_array_foreach(at(j, "sources"), i,
			   s) if (!strcmp(text_at(s, "name"), name)) return s;
	ck_abort_msg("no source %s", name);
	return NULL;
}

START_TEST(the_status_follows_what_can_be_used)
{
	int status;
	json_t *j = doctor(&status), *s;
	bool usable = false;
	size_t i;

	json_array_foreach(at(j, "sources"), i, s)
	{
		usable |= json_is_true(at(s, "usable"));
		ck_assert_uint_gt(strlen(text_at(s, "reason")), 0);
		/* A source that cannot be used comes with advice. */
		ck_assert(json_is_true(at(s, "usable")) ||
			  strlen(text_at(s, "advice")) > 0);
	}
	ck_assert_int_eq(status, usable ? 0 : 1);
	ck_assert_int_eq(int_at(j, "schema"), 1);
	ck_assert(json_is_false(at(source(j, "pebs"), "usable")));
	ck_assert(json_is_false(at(source(j, "emu"), "usable")));
	ck_assert_int_le(int_at(j, "debug_registers.count"), 8);
	json_decref(j);
}
END_TEST

START_TEST(a_seccomp_filter_is_named_and_timers_are_left)
{
	int status;
	json_t *j;

	deny_call(SYS_perf_event_open, EPERM);
	j = doctor(&status);
	ck_assert_int_eq(status, 0);
	ck_assert(json_is_true(at(source(j, "clock"), "usable")));
	ck_assert_ptr_nonnull(
		strstr(text_at(source(j, "clock"), "reason"), "POSIX timers"));
	ck_assert_ptr_nonnull(
		strstr(text_at(j, "debug_registers.advice"), "seccomp"));
	ck_assert(json_is_false(at(j, "debug_registers.usable")));
	ck_assert_int_eq(int_at(j, "debug_registers.count"), 0);
	json_decref(j);
}
END_TEST

START_TEST(each_refusal_has_its_advice)
{
	static const struct {
		int error;
		const char *advice;
	} cases[] = {
		{ EINVAL, "Linux 5.19" },    { ENOSPC, "debugger" },
		{ EMFILE, "ulimit -n" },     { EBUSY, "other profiler" },
		{ ENOENT, "HW_BREAKPOINT" },
	};
	int status;
	json_t *j;

	deny_call(SYS_perf_event_open, cases[_i].error);
	j = doctor(&status);
	ck_assert_ptr_nonnull(
		strstr(text_at(j, "debug_registers.advice"), cases[_i].advice));
	json_decref(j);
}
END_TEST

START_TEST(a_probe_that_is_killed_kills_nobody_else)
{
	struct sock_filter code[] = {
		DENY_LOAD(nr),
		DENY_UNLESS(SYS_process_vm_readv, 1),
		DENY_RETURN(SECCOMP_RET_KILL_PROCESS),
		DENY_RETURN(SECCOMP_RET_ALLOW),
	};
	struct probe p;

	deny_filter(code, sizeof(code) / sizeof(code[0]));
	probe_vm_read(&p);
	ck_assert_int_eq(p.end, PROBE_KILLED);
	ck_assert_int_eq(p.error, SIGSYS);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("doctor");
	TCase *t = tcase_create("doctor");

	tcase_add_checked_fixture(t, sandbox_setup, sandbox_teardown);
	tcase_set_timeout(t, 120);
	tcase_add_test(t, the_status_follows_what_can_be_used);
	tcase_add_test(t, a_seccomp_filter_is_named_and_timers_are_left);
	tcase_add_loop_test(t, each_refusal_has_its_advice, 0, 5);
	tcase_add_test(t, a_probe_that_is_killed_kills_nobody_else);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
