/* SPDX-License-Identifier: MIT */
/*
 * test_zero_idioms - operations on one register that set it to 0
 */
#include "simulated_loops.h"

#define XOR_EDX   INSN("\x31\xd2")
#define PXOR_XMM0 INSN("\x66\x0f\xef\xc0")
#define IMUL_RDX  INSN("\x48\x0f\xaf\xd2") /* imul %rdx,%rdx */

/* As the reference has it, or as processors do. */
START_TEST(a_zero_idiom_waits_for_its_register_or_for_nothing)
{
	struct loop multiply = { .insn = { IMUL_RDX, XOR_EDX } };
	struct loop add = { .insn = { ADDSD("\xc0"), PXOR_XMM0 } };
	struct loop divide = { .insn = { DIV_RCX, XOR_EDX } };

	set("uop.div64=20 on 0 busy 8");
	takes(&multiply, 3 + 1);
	takes(&add, 3 + 1);
	takes(&divide, 20 + 1);
	set("core.zero_idioms=true");
	takes(&multiply, 1); /* one has the port in a cycle */
	takes(&add, 1);
	takes(&divide, 20); /* a division needs rax of the one before */
	set("core.zero_idioms=false");
	takes(&multiply, 3 + 1);
}
END_TEST

START_TEST(a_zero_idiom_takes_a_place_in_the_rob_and_no_port)
{
	struct loop six = { .insn = { XOR_EDX, XOR_EDX, XOR_EDX, XOR_EDX,
				      XOR_EDX, XOR_EDX } };
	struct loop beside = { .insn = { ADD_1("\xc0"), ADD_1("\xc1"),
					 ADD_1("\xc3"), XOR_EDX } };

	takes(&six, 6); /* flags and register of the one before */
	takes(&beside, 4 / 3.0);
	set("core.zero_idioms=true");
	takes(&six, 6 / 4.0); /* core.width */
	takes(&beside, 1);
	set("core.width=8");
	takes(&six, 6 / 8.0);
	set("uop.alu=50 on 0 busy 50");
	takes(&six, 6 / 8.0);
	/* Two in the ROB, and each leaves two cycles after it came. */
	set("core.issue_queue=1");
	set("core.rob=2");
	takes(&six, 6);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("zero_idioms");
	TCase *t = tcase_create("zero_idioms");

	tcase_add_checked_fixture(t, begin, end);
	tcase_set_timeout(t, 300);
	tcase_add_test(t, a_zero_idiom_waits_for_its_register_or_for_nothing);
	tcase_add_test(t, a_zero_idiom_takes_a_place_in_the_rob_and_no_port);
	suite_add_tcase(s, t);
	return run_suite(s);
}
