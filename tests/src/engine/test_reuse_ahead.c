/* SPDX-License-Identifier: MIT */
/*
 * test_reuse_ahead - uses that are chosen before the thread makes them
 *
 * A thread sweeps over words, loads each and then stores to it. As on a
 * processor that waits for memory, interrupts always come before the same
 * instruction. Every second use of a word is reused at once, the other after a
 * sweep; the samples must show the same.
 */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/engine/reuse_thread_regs.h"
#include "tests/run_suite.h"

enum {
	WORDS = 500,
	STEP_NS = 10,  /* from access to access */
	EVERY = 12345, /* accesses from sample to sample */
	STEPS = 40 * 1000 * 1000,
	REGISTERS = 3,
	LOAD_IP = 0x1000,
	STORE_IP = 0x1004,
	OTHER_IP = 0x2000,
};

#define BASE 0x7f0000000000ull

static struct reuse_thread_regs own;
static void *mem;
static struct watch_range range[REGISTERS];
static int armed;
static uint64_t samples, lost_weight;
static struct {
	uint64_t n, weight, squares, last;
} soon, late, dangling;

static int arm(void *ctx, const struct watch_range *ranges, int n)
{
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
	bool at_once = v->time <= 2 * STEP_NS;

	if (v->outcome == REUSE_DANGLING) {
		dangling.weight += v->weight;
		return;
	}
	ck_assert_int_eq(v->outcome, REUSE_REUSED);
	if (at_once) {
		soon.n++;
		soon.weight += v->weight;
		soon.squares += v->weight * v->weight;
		soon.last = v->time;
	} else {
		late.n++;
		late.weight += v->weight;
		late.squares += v->weight * v->weight;
		late.last = v->time;
	}
}

static void lost(void *ctx, uint64_t weight)
{
	lost_weight += weight;
}

static void setup(void)
{
	static const struct comm_watch watch = { arm, disarm };
	static const struct reuse_thread_regs_sink sink = { decided, lost };
	size_t bytes = reuse_thread_regs_size(REGISTERS);

	ck_assert_int_eq(posix_memalign(&mem, 64, bytes), 0);
	memset(mem, 0, bytes);
	memset(&soon, 0, sizeof(soon));
	memset(&late, 0, sizeof(late));
	memset(&dangling, 0, sizeof(dangling));
	samples = lost_weight = 0;
	armed = 0;
	reuse_thread_regs_init(&own, mem, REGISTERS, 0, &watch, &sink, NULL,
			       11);
}

static void teardown(void)
{
	free(mem);
}

/* Access number @i of the program. */
static struct access access_at(uint64_t i)
{
	return (struct access){
		.addr = BASE + 8 * (i / 2 % WORDS),
		.ip = i % 2 ? STORE_IP : LOAD_IP,
		.len = 8,
		.flags = i % 2 ? ACCESS_STORE : ACCESS_LOAD,
	};
}

static void trap(const struct access *a, uint64_t now)
{
	for (int i = 0; i < armed; i++)
		if (a->addr < range[i].addr + range[i].len &&
		    range[i].addr < a->addr + a->len) {
			reuse_thread_regs_trap(&own, i, a, now);
			return;
		}
}

static void run(bool ahead)
{
	struct rng rng;

	rng_seed(&rng, 3, 4);
	for (uint64_t i = 0; i < STEPS; i++) {
		struct access a = access_at(i);

		/* Before a load; what comes is it or the store after it. */
		if (i % (2 * EVERY) == 0) {
			struct access chosen =
				access_at(i + rng_below(&rng, 2));

			samples++;
			if (ahead)
				reuse_thread_regs_sample_ahead(&own, &chosen,
							       i * STEP_NS);
			else
				reuse_thread_regs_sample(&own, &chosen,
							 i * STEP_NS);
		}
		trap(&a, i * STEP_NS);
	}
	reuse_thread_regs_end(&own, (uint64_t)STEPS * STEP_NS);
}

START_TEST(half_of_the_uses_are_reused_at_once_wherever_interrupts_come)
{
	double all, share, sigma;

	run(true);
	all = soon.weight + late.weight;
	share = soon.weight / all;
	sigma = sqrt(soon.squares + late.squares) / 2 / all;
	ck_assert_uint_gt(soon.n, 300);
	ck_assert_uint_gt(late.n, 300);
	ck_assert_double_lt(fabs(share - .5), 4 * sigma);
	ck_assert_uint_eq(soon.last, STEP_NS);
	ck_assert_uint_eq(late.last, (2 * WORDS - 1) * STEP_NS);
}
END_TEST

/* Without the rule all uses would seem to be reused at once. */
START_TEST(the_next_access_to_the_place_is_not_what_was_chosen)
{
	run(false);
	ck_assert_uint_gt(soon.n, 600);
	ck_assert_uint_eq(late.n, 0);
}
END_TEST

START_TEST(every_sample_ends_up_as_a_weight)
{
	run(true);
	ck_assert_uint_eq(soon.weight + late.weight + dangling.weight +
				  lost_weight + reuse_stats(own.engine).failed,
			  samples);
}
END_TEST

START_TEST(a_thread_that_goes_another_way_is_followed_all_the_same)
{
	struct access chosen = access_at(0), other = chosen;
	uint64_t now = 1000;

	other.ip = OTHER_IP;
	reuse_thread_regs_sample_ahead(&own, &chosen, now);
	ck_assert_int_eq(armed, 1);
	for (int i = 0; i < REUSE_THREAD_REGS_OTHERS; i++)
		trap(&other, now += 5);
	trap(&other, now += 5); /* this is the use */
	ck_assert_uint_eq(soon.n + late.n, 0);
	trap(&other, now + 7);
	ck_assert_uint_eq(soon.n, 1);
	ck_assert_uint_eq(soon.last, 7);
	ck_assert_int_eq(armed, 0);
}
END_TEST

START_TEST(an_access_that_is_not_known_may_be_the_use)
{
	struct access chosen = access_at(0);

	reuse_thread_regs_sample_ahead(&own, &chosen, 10);
	reuse_thread_regs_trap(&own, 0, NULL, 20);
	chosen.ip = OTHER_IP;
	reuse_thread_regs_trap(&own, 0, &chosen, 29);
	ck_assert_uint_eq(soon.n, 1);
	ck_assert_uint_eq(soon.last, 9);
}
END_TEST

/* Who came before it there is not what it waits for. */
START_TEST(a_place_waits_for_the_instruction_that_was_sampled_last)
{
	struct access store = access_at(1), load = access_at(0);

	for (int i = 0; i < REGISTERS; i++) {
		reuse_thread_regs_sample_ahead(&own, &store, 10);
		trap(&store, 20);
		trap(&store, 25);
	}
	ck_assert_uint_eq(soon.n, REGISTERS);
	reuse_thread_regs_sample(&own, &store, 30);
	trap(&load, 40);
	trap(&load, 44);
	ck_assert_uint_eq(soon.n, REGISTERS + 1);
	ck_assert_uint_eq(soon.last, 4);
}
END_TEST

/* Whether the use had begun or not; what else is watched stays. */
START_TEST(a_spoiled_trap_loses_its_use_and_no_other)
{
	struct access kept = access_at(0), held = access_at(2),
		      begun = access_at(4);

	reuse_thread_regs_sample(&own, &kept, 10);
	reuse_thread_regs_sample(&own, &held, 10);
	reuse_thread_regs_sample(&own, &begun, 10);
	trap(&kept, 20);
	trap(&begun, 21);
	ck_assert_int_eq(armed, 3);
	for (int i = 0; i < armed; i++)
		if (range[i].addr == held.addr) {
			reuse_thread_regs_spoil(&own, i);
			break;
		}
	ck_assert_uint_eq(lost_weight, 1);
	ck_assert_int_eq(armed, 2);
	for (int i = 0; i < armed; i++)
		if (range[i].addr == begun.addr) {
			reuse_thread_regs_spoil(&own, i);
			break;
		}
	ck_assert_uint_eq(lost_weight, 2);
	ck_assert_int_eq(armed, 1);
	reuse_thread_regs_spoil(&own, 1);
	ck_assert_uint_eq(lost_weight, 2);
	trap(&kept, 33);
	ck_assert_uint_eq(soon.n, 1);
	ck_assert_uint_eq(soon.last, 13);
	ck_assert_int_eq(armed, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("reuse_ahead");
	TCase *t = tcase_create("reuse_ahead");

	tcase_set_timeout(t, 120);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(
		t,
		half_of_the_uses_are_reused_at_once_wherever_interrupts_come);
	tcase_add_test(t, the_next_access_to_the_place_is_not_what_was_chosen);
	tcase_add_test(t, every_sample_ends_up_as_a_weight);
	tcase_add_test(t,
		       a_thread_that_goes_another_way_is_followed_all_the_same);
	tcase_add_test(t, an_access_that_is_not_known_may_be_the_use);
	tcase_add_test(t,
		       a_place_waits_for_the_instruction_that_was_sampled_last);
	tcase_add_test(t, a_spoiled_trap_loses_its_use_and_no_other);
	suite_add_tcase(s, t);
	return run_suite(s);
}
