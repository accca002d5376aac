/* SPDX-License-Identifier: MIT */
/*
 * test_forecast - forecasts of instructions and misses, worked out by hand
 */
#include <string.h>

#include "analysis/model/forecast.h"
#include "tests/run_suite.h"

static struct machine machine;
static struct trace_insn insn[8];
static uint32_t insns;

static void begin(void)
{
	char error[MACHINE_ERROR_BYTES];

	ck_assert(!machine_read(&machine, "golden-c3", error));
	memset(insn, 0, sizeof(insn));
	insns = 0;
}

static void add(const char *code, size_t bytes)
{
	uop_decode((const unsigned char *)code, bytes, &insn[insns++].decoded);
}

static uint32_t chain(void)
{
	return forecast_chain(&machine, insn, insns);
}

START_TEST(instructions_that_need_each_other_add_up)
{
	uint32_t alu = machine.uop[UOP_ALU].latency;
	uint32_t mul = machine.uop[UOP_MUL64].latency;

	ck_assert_uint_ne(alu, mul);
	add("\x48\x01\xc0", 3);     /* add %rax,%rax */
	add("\x48\x0f\xaf\xc0", 4); /* imul %rax,%rax */
	add("\x48\x01\xc0", 3);
	ck_assert_uint_eq(chain(), 2 * alu + mul);
}
END_TEST

START_TEST(others_overlap)
{
	add("\x48\x01\xc0", 3);     /* add %rax,%rax */
	add("\x48\x0f\xaf\xdb", 4); /* imul %rbx,%rbx */
	add("\x48\x0f\xaf\xc9", 4); /* imul %rcx,%rcx */
	ck_assert_uint_eq(chain(), machine.uop[UOP_MUL64].latency);
}
END_TEST

START_TEST(a_load_that_hits_is_in_its_chain)
{
	add("\x48\x8b\x00", 3); /* mov (%rax),%rax */
	add("\x48\x8b\x00", 3);
	add("\x48\x89\x03", 3); /* mov %rax,(%rbx) */
	ck_assert_uint_eq(chain(), 2 * (machine.l1d.latency +
					machine.uop[UOP_LOAD].latency) +
					   machine.uop[UOP_STORE].latency);
}
END_TEST

START_TEST(a_zero_waits_for_nothing_if_the_machine_knows_it)
{
	uint32_t mul = machine.uop[UOP_MUL64].latency;
	uint32_t alu = machine.uop[UOP_ALU].latency;

	add("\x48\x0f\xaf\xc0", 4); /* imul %rax,%rax */
	add("\x31\xc0", 2);         /* xor %eax,%eax */
	add("\x48\x0f\xaf\xc0", 4);
	machine.zero_idioms = true;
	ck_assert_uint_eq(chain(), mul);
	machine.zero_idioms = false;
	ck_assert_uint_eq(chain(), 2 * mul + alu);
}
END_TEST

/* Of misses in one ROB the longest counts. */
START_TEST(misses_in_one_rob_overlap)
{
	struct forecast f = { .at = 1000 };

	forecast_load(&f, 0, 128, 30);
	forecast_load(&f, 5, 128, 100);
	forecast_load(&f, 127, 128, 100);
	ck_assert_uint_eq(forecast_take(&f), 100);
	forecast_load(&f, 128, 128, 100);
	ck_assert_uint_eq(forecast_take(&f), 100);
	ck_assert_uint_eq(forecast_take(&f), 0);
	f.at += 200;
	forecast_load(&f, 0, 128, 0); /* a hit begins nothing */
	forecast_load(&f, 60, 128, 7);
	forecast_load(&f, 150, 128, 9);
	ck_assert_uint_eq(forecast_take(&f), 9);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("forecast");
	TCase *t = tcase_create("forecast");

	tcase_add_checked_fixture(t, begin, NULL);
	tcase_add_test(t, instructions_that_need_each_other_add_up);
	tcase_add_test(t, others_overlap);
	tcase_add_test(t, a_load_that_hits_is_in_its_chain);
	tcase_add_test(t, a_zero_waits_for_nothing_if_the_machine_knows_it);
	tcase_add_test(t, misses_in_one_rob_overlap);
	suite_add_tcase(s, t);
	return run_suite(s);
}
