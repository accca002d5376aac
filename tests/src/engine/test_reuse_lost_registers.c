/* SPDX-License-Identifier: MIT */
/*
 * test_reuse_lost_registers - a use that was not watched all the time is lost
 *
 * Other threads may take the registers of a thread, and there may be none to
 * have when it wants to arm. Accesses that it makes meanwhile are not seen, so
 * the uses that it watched before have no known time.
 */
#include <check.h>
#include <errno.h>
#include <string.h>

#include "src/engine/reuse_thread_regs.h"
#include "tests/run_suite.h"

enum {
	REGISTERS = 3,
};

#define WORD(i) (0x7f0000000000ull + 8 * (i))

static struct reuse_thread_regs own;
static char mem[1 << 16] __attribute__((aligned(64)));
static struct watch_range range[REGISTERS];
static int armed;
static bool none_free; /* to arm fails */
static uint64_t reused, lost_weight;

static int arm(void *ctx, const struct watch_range *ranges, int n)
{
	armed = 0;
	if (none_free)
		return -EBUSY;
	memcpy(range, ranges, n * sizeof(*ranges));
	armed = n;
	return n;
}

static void disarm(void *ctx)
{
	armed = 0;
}

static void decided(void *ctx, const struct reuse_event *v)
{
	reused += v->outcome == REUSE_REUSED;
}

static void lost(void *ctx, uint64_t weight)
{
	lost_weight += weight;
}

static void setup(void)
{
	static const struct reuse_thread_regs_sink sink = { decided, lost };
	static const struct comm_watch watch = { arm, disarm };

	reused = lost_weight = 0;
	none_free = false;
	armed = 0;
	ck_assert_uint_le(reuse_thread_regs_size(REGISTERS), sizeof(mem));
	memset(mem, 0, sizeof(mem));
	reuse_thread_regs_init(&own, mem, REGISTERS, 0, &watch, &sink, NULL,
			       11);
}

static void sample(int word, uint64_t now)
{
	struct access a = {
		.addr = WORD(word), .ip = 0x1000, .len = 8, .flags = ACCESS_LOAD
	};

	reuse_thread_regs_sample(&own, &a, now);
}

/* The thread loads the word; a register that watches it traps. */
static void load(int word, uint64_t now)
{
	struct access a = {
		.addr = WORD(word), .ip = 0x1000, .len = 8, .flags = ACCESS_LOAD
	};

	for (int i = 0; i < armed; i++)
		if (range[i].addr == a.addr) {
			reuse_thread_regs_trap(&own, i, &a, now);
			return;
		}
}

START_TEST(a_use_that_is_watched_throughout_has_its_time)
{
	sample(0, 100);
	load(0, 200);
	load(0, 300);
	ck_assert_uint_eq(reused, 1);
	ck_assert_uint_eq(lost_weight, 0);
}
END_TEST

START_TEST(a_use_is_lost_if_its_registers_were_taken)
{
	sample(0, 100);
	load(0, 200);
	armed = 0; /* another thread takes them */
	load(0, 300);
	reuse_thread_regs_broken(&own); /* this one notices */
	sample(1, 400);
	load(0, 500);
	ck_assert_uint_eq(reused, 0);
	ck_assert_uint_eq(lost_weight, 1);
}
END_TEST

START_TEST(a_use_is_lost_if_none_were_free_when_it_wanted_to_arm)
{
	sample(0, 100);
	load(0, 200);
	none_free = true;
	sample(1, 250);
	load(0, 300);
	none_free = false;
	reuse_thread_regs_broken(&own);
	sample(2, 400);
	load(0, 500);
	ck_assert_uint_eq(reused, 0);
	ck_assert_uint_ge(lost_weight, 2);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("reuse_lost_registers");
	TCase *t = tcase_create("reuse_lost_registers");

	tcase_add_checked_fixture(t, setup, NULL);
	tcase_add_test(t, a_use_that_is_watched_throughout_has_its_time);
	tcase_add_test(t, a_use_is_lost_if_its_registers_were_taken);
	tcase_add_test(t,
		       a_use_is_lost_if_none_were_free_when_it_wanted_to_arm);
	suite_add_tcase(s, t);
	return run_suite(s);
}
