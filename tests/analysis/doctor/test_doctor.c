/* SPDX-License-Identifier: MIT */
/*
 * test_doctor - what doctor says if the kernel refuses system calls
 *
 * The refusals are real, by seccomp filters.
 */
#include <signal.h>

#include "analysis/doctor/doctor.h"
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
	ck_assert_uint_gt(strlen(text_at(j, "attach.reason")), 0);
	ck_assert(json_is_true(at(j, "attach.usable")) ||
		  strlen(text_at(j, "attach.advice")) > 0);
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

START_TEST(attach_is_tried_and_its_refusal_names_the_call)
{
	static const int calls[] = { SYS_perf_event_open,
				     SYS_process_vm_readv };
	static const char *const names[] = { "perf_event_open",
					     "process_vm_readv" };
	int status;
	json_t *j;

	deny_call(calls[_i], EPERM);
	j = doctor(&status);
	ck_assert(json_is_false(at(j, "attach.usable")));
	ck_assert_ptr_nonnull(strstr(text_at(j, "attach.reason"), names[_i]));
	ck_assert_ptr_nonnull(strstr(text_at(j, "attach.advice"), names[_i]));
	json_decref(j);
}
END_TEST

/* What the trial found, with which rights, and what doctor makes of it. */
static const struct attach_case {
	struct probe found;
	struct attach_rights rights;
	const char *reason, *advice; /* part of it; "": there is none */
} attach_cases[] = {
	{ { .count = 4 },
	  { -1, true },
	  "others too, with the source clock",
	  "" },
	{ { .count = 4 },
	  { 0, false },
	  "others need root (CAP_SYS_PTRACE), with the source",
	  "" },
	{ { .count = 0 }, { -1, true }, "no debug register", "end gdb" },
	{ { PROBE_REFUSED, EPERM, 0, true },
	  { 1, false },
	  "ptrace_scope is 1: the kernel lets no ordinary program",
	  "ptrace_scope=0" },
	{ { PROBE_REFUSED, EPERM, 0, true },
	  { 2, false },
	  "ptrace_scope is 2: the kernel lets only root",
	  "ptrace_scope=0" },
	{ { PROBE_REFUSED, EPERM, 0, true },
	  { 3, true },
	  "ptrace_scope is 3: the kernel lets no program",
	  "boot with" },
	/* It is not Yama's doing. */
	{ { PROBE_REFUSED, EPERM, 0, true },
	  { 1, true },
	  "process_vm_readv",
	  "security module" },
	{ { PROBE_REFUSED, ENOSYS, 0, true },
	  { 1, false },
	  "not implemented",
	  "process_vm_readv" },
	{ { PROBE_REFUSED, EACCES, 0, false },
	  { 0, false },
	  "perf_event_paranoid is 3",
	  "perf_event_paranoid=2" },
	{ { PROBE_REFUSED, EINVAL, 0, false },
	  { 0, false },
	  "EINVAL",
	  "Linux 5.13" },
	{ { PROBE_SILENT, 0, 0, false }, { 0, false }, "no sample", "again" },
	{ { PROBE_KILLED, SIGSYS, 0, false },
	  { 0, false },
	  "signal 31",
	  "process_vm_readv" },
};

START_TEST(each_way_to_be_kept_from_attaching_has_its_advice)
{
	const struct attach_case *c = &attach_cases[_i];
	struct diagnosis d = { .around.paranoid = 3,
			       .vm_read.end = PROBE_WORKS,
			       .registers.advice = "end gdb" };

	doctor_attach(&d, &c->found, &c->rights);
	ck_assert(d.attach.good == (c->found.end == PROBE_WORKS));
	ck_assert_msg(strcasestr(d.attach.reason, c->reason) != NULL, "%s",
		      d.attach.reason);
	ck_assert_msg(*c->advice ? strstr(d.attach.advice, c->advice) != NULL
				 : !d.attach.advice[0],
		      "%s", d.attach.advice);
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
	tcase_add_loop_test(t, attach_is_tried_and_its_refusal_names_the_call,
			    0, 2);
	tcase_add_loop_test(t,
			    each_way_to_be_kept_from_attaching_has_its_advice,
			    0, sizeof(attach_cases) / sizeof(attach_cases[0]));
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
