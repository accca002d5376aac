/* SPDX-License-Identifier: MIT */
/*
 * test_cpu_state - where the kernel puts registers in a signal frame
 */
#include <check.h>
#include <signal.h>
#include <stdlib.h>
#include <ucontext.h>

#include "src/x86/decode/cpu_state.h"
#include "tests/run_suite.h"

enum {
	RED_ZONE = 128,
	ALIGNMENT = 64, /* of the floating-point state */
};

static struct cpu_state seen;

static void handle(int sig, siginfo_t *info, void *context)
{
	const ucontext_t *uc = context;

	seen.gpr[GPR_RSP] = uc->uc_mcontext.gregs[REG_RSP];
	cpu_state_vectors(&seen, uc->uc_mcontext.fpregs);
	seen.rip = cpu_state_frame_end(&seen);
}

static void take_signal(int flags)
{
	struct sigaction sa = { .sa_sigaction = handle,
				.sa_flags = SA_SIGINFO | flags };

	ck_assert_int_eq(sigaction(SIGUSR1, &sa, NULL), 0);
	raise(SIGUSR1);
}

START_TEST(a_frame_ends_at_the_red_zone_of_the_stack)
{
	uint64_t below;

	take_signal(0);
	below = seen.gpr[GPR_RSP] - RED_ZONE - seen.rip;
	ck_assert_uint_lt(below, ALIGNMENT);
}
END_TEST

START_TEST(a_frame_on_another_stack_is_not_near)
{
	stack_t other = { .ss_size = 1 << 16, .ss_sp = malloc(1 << 16) };
	uint64_t low = (uint64_t)other.ss_sp, end;

	ck_assert_int_eq(sigaltstack(&other, NULL), 0);
	take_signal(SA_ONSTACK);
	end = seen.rip;
	ck_assert(end > low && end <= low + other.ss_size);
	other.ss_flags = SS_DISABLE;
	ck_assert_int_eq(sigaltstack(&other, NULL), 0);
	free(other.ss_sp);
}
END_TEST

START_TEST(without_a_state_no_end_is_known)
{
	static const uint8_t no_magic[512];
	struct cpu_state cpu = { 0 };

	ck_assert_uint_eq(cpu_state_frame_end(&cpu), 0);
	cpu_state_vectors(&cpu, no_magic);
	ck_assert_uint_eq(cpu_state_frame_end(&cpu), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("cpu_state");
	TCase *t = tcase_create("cpu_state");

	tcase_add_test(t, a_frame_ends_at_the_red_zone_of_the_stack);
	tcase_add_test(t, a_frame_on_another_stack_is_not_near);
	tcase_add_test(t, without_a_state_no_end_is_known);
	suite_add_tcase(s, t);
	return run_suite(s);
}
