/* SPDX-License-Identifier: MIT */
/*
 * test_outside_hardware - PEBS and IBS of watched threads, on simulated
 * machines
 *
 * The fake kernel (tests/fake/fake_kernel.h) has the threads; their memory and
 * code are our own. Thread i runs on processor i. Threads 0 and 1 store to
 * words of one line; thread 2 loads and stores on another line.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/outside/follow.h"
#include "analysis/outside/hardware.h"
#include "analysis/outside/now.h"
#include "analysis/profile/profile.h"
#include "tests/fake/fake_kernel.h"
#include "tests/run_suite.h"
#include "tests/sandbox.h"

enum {
	PERIOD = 1000,
	CPUS = 4,
	THREADS = 3,
	ROUNDS = 400,
	OPS = 500, /* of a thread in a round, each */
};

/* The instructions that the threads are said to execute. */
extern const char code_store[], code_load[];
__asm__(".text\n"
	".globl code_store, code_load\n"
	"code_store: movq %rax, (%rdi)\n"
	"code_load: movq (%rdi), %rax\n"
	"ret\n");

static uint64_t words[16] __attribute__((aligned(64)));

static const struct {
	enum fake_model model;
	enum pmu_source source;
	const char *release;
} machines[] = {
	{ FAKE_SKYLAKE, PMU_PEBS, "6.15.0" },
	{ FAKE_SANDY_BRIDGE, PMU_PEBS, "6.15.0" }, /* events take turns */
	{ FAKE_SAPPHIRE_RAPIDS, PMU_PEBS, "6.15.0" },
	{ FAKE_ALDER_LAKE, PMU_PEBS, "6.15.0" }, /* two kinds of cores */
	{ FAKE_ZEN4, PMU_IBS, "6.15.0" },
	{ FAKE_ZEN2, PMU_IBS, "6.8.0" }, /* the kernel is sampled too */
};

static struct fake_kernel *k;
static struct pmu_plan plan;
static struct follow follow;
static uint64_t tried; /* samples of the plan's own trial */

/* So that the directory can be read as a profile. */
static void setup(void)
{
	static const char text[] = "comdet 1 test\n";
	int fd;

	sandbox_setup();
	fd = openat(sandbox_fd, ".comdet", O_WRONLY | O_CREAT, 0600);
	ck_assert_int_eq(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
	close(fd);
}

static void boot(enum fake_model model, enum pmu_source source,
		 const char *release)
{
	const struct pmu_wish wish = { .period = PERIOD };
	struct task_process *p;
	char *why;

	k = fake_kernel_new(model);
	fake_kernel_boot(k, release);
	k->paranoid = 1;
	k->process = getpid();
	k->now = outside_now(); /* its time runs more slowly than ours */
	why = hardware_plan(&plan, &k->calls, source, &wish);
	ck_assert_msg(!why, "%s", why);
	tried = k->samples;
	memset(&follow, 0, sizeof(follow));
	follow.run = (struct outside_run){ .dirfd = sandbox_fd,
					   .run_id = "test",
					   .plan = &plan,
					   .registers_reason = "",
					   .comm = &follow.sampler.comm };
	registers_init(&follow.registers, &follow.rings, -1, 0);
	sampler_init(&follow.sampler, &follow.tasks, &follow.registers,
		     HARDWARE_GAP_NS, 0, 1);
	ck_assert_int_eq(hardware_init(&follow.hardware, &k->calls, &plan,
				       &follow.rings, -1, CPUS, HEIRS_THREADS,
				       false, 1),
			 0);
	p = follow_add_process(&follow, getpid());
	for (int i = 0; i < THREADS; i++) {
		ck_assert_int_eq(hardware_attach(&follow.hardware,
						 k->process + i,
						 (uint32_t)i + 1),
				 0);
		follow_add_thread(&follow, p, k->process + i, "t")
			->clock.hardware = (uint32_t)i + 1;
	}
}

static void stop(void)
{
	while (follow.tasks.process)
		follow_end_process(&follow, follow.tasks.process, CDP_STOPPED,
				   outside_now(), "");
	hardware_release(&follow.hardware);
	ck_assert_int_eq(k->open_fds, 0);
	ck_assert_int_eq(k->locked_pages, 0);
	rings_release(&follow.rings);
	sampler_release(&follow.sampler);
	tasks_release(&follow.tasks);
	fake_kernel_free(k);
}

static void run(int thread, bool load, const void *addr, int ops)
{
	const struct fake_op op = {
		.access = { .addr = (uintptr_t)addr,
			    .ip = (uintptr_t)(load ? code_load : code_store),
			    .len = 8,
			    .flags = load ? ACCESS_LOAD : ACCESS_STORE },
		.latency = 50,
	};

	fake_kernel_run_thread(k, thread,
			       k->model == FAKE_ALDER_LAKE && thread & 1);
	for (int i = 0; i < ops; i++)
		fake_run(k, &op);
}

static void work(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		run(0, false, &words[0], OPS);
		run(1, false, &words[1], OPS);
		run(2, false, &words[8], OPS);
		run(2, true, &words[9], OPS);
		follow_drain(&follow);
	}
}

static struct cdp_thread *row(int thread)
{
	struct task_thread *t =
		tasks_thread(&follow.tasks, k->process + thread);

	ck_assert_ptr_nonnull(t);
	ck_assert_ptr_nonnull(t->row);
	return t->row;
}

static uint64_t taken(int thread)
{
	return row(thread)->samples[SAMPLE_UNIFORM];
}

static uint64_t lost(int thread, enum loss_cause cause)
{
	return row(thread)->loss[cause];
}

/*
 * The interval of an event is within a quarter of the period, up to the next
 * prime number; IBS makes each up to 127 ops shorter.
 */
static void near(uint64_t samples, int ops)
{
	ck_assert_uint_ge(samples, (uint64_t)ops * 3 / 4 / PERIOD);
	ck_assert_uint_le(samples, (uint64_t)ops * 3 / 2 / PERIOD);
}

START_TEST(false_sharing_is_found_between_the_two_that_share)
{
	struct profile p;

	boot(machines[_i].model, machines[_i].source, machines[_i].release);
	work();
	if (machines[_i].model != FAKE_SANDY_BRIDGE) {
		near(taken(0), ROUNDS * OPS);
		near(taken(1), ROUNDS * OPS);
		near(taken(2), 2 * ROUNDS * OPS);
		near(row(2)->loads, ROUNDS * OPS);
		near(row(2)->stores, ROUNDS * OPS);
	}
	ck_assert_uint_eq(row(0)->loads + row(1)->loads, 0);
	for (int i = 0; i < THREADS; i++)
		for (int cause = 0; cause < LOSS_COUNT; cause++)
			ck_assert_msg(!lost(i, cause), "cause %d", cause);
	ck_assert_uint_eq(
		follow.tasks.process->file.store.header->samples_exact,
		taken(0) + taken(1) + taken(2));
	ck_assert_uint_gt(row(0)->detections, 5);
	ck_assert_uint_gt(row(1)->detections, 5);
	ck_assert_uint_eq(row(2)->detections, 0);
	stop();
	ck_assert_int_eq(profile_load(&p, sandbox), 0);
	ck_assert_str_eq(p.process[0].header.source,
			 machines[_i].source == PMU_PEBS ? "pebs" : "ibs");
	ck_assert_uint_gt(p.pairs, 0);
	for (size_t i = 0; i < p.pairs; i++)
		ck_assert_int_eq(p.pair[i].sharing, SHARING_FALSE);
	profile_release(&p);
}
END_TEST

START_TEST(intervals_are_primes_near_the_period_and_all_samples_count)
{
	uint64_t sum = 0, n = 0;

	boot(FAKE_SKYLAKE, PMU_PEBS, "6.15.0");
	work();
	for (int i = 0; i < k->events; i++) {
		uint64_t p = k->event[i].attr.sample_period;

		if (!k->event[i].users || !fake_is_sampling(&k->event[i]))
			continue;
		for (uint64_t j = 2; j < p; j++)
			ck_assert_uint_ne(p % j, 0);
		sum += p;
		n++;
	}
	ck_assert_uint_ge(n, 2 * CPUS * THREADS);
	ck_assert_uint_ge(sum / n, PERIOD * 9 / 10);
	ck_assert_uint_le(sum / n, PERIOD * 11 / 10);
	ck_assert_uint_eq(taken(0) + taken(1) + taken(2), k->samples - tried);
	stop();
}
END_TEST

START_TEST(true_sharing_is_told_from_false)
{
	struct profile p;

	boot(machines[_i].model, machines[_i].source, machines[_i].release);
	for (int i = 0; i < ROUNDS; i++) {
		run(0, false, &words[0], OPS);
		run(1, false, &words[0], OPS);
		follow_drain(&follow);
	}
	ck_assert_uint_gt(row(0)->detections + row(1)->detections, 5);
	stop();
	ck_assert_int_eq(profile_load(&p, sandbox), 0);
	for (size_t i = 0; i < p.pairs; i++)
		ck_assert_int_eq(p.pair[i].sharing, SHARING_TRUE);
	profile_release(&p);
}
END_TEST

START_TEST(a_thread_that_is_made_later_is_sampled)
{
	boot(machines[_i].model, machines[_i].source, machines[_i].release);
	fake_kernel_run_thread(k, 0, false);
	fake_kernel_clone(k, 3);
	for (int i = 0; i < ROUNDS; i++) {
		run(3, false, &words[1], OPS);
		run(0, false, &words[0], OPS);
		follow_drain(&follow);
	}
	if (machines[_i].model != FAKE_SANDY_BRIDGE)
		near(taken(3), ROUNDS * OPS);
	ck_assert_uint_gt(row(3)->detections + row(0)->detections, 5);
	stop();
}
END_TEST

/* A thread that was listed although it had inherited its events has two sets.
 */
START_TEST(two_sets_of_events_count_once)
{
	boot(FAKE_SKYLAKE, PMU_PEBS, "6.15.0");
	ck_assert_int_eq(
		hardware_attach(&follow.hardware, k->process, THREADS + 1), 0);
	work();
	near(taken(0), ROUNDS * OPS);
	stop();
}
END_TEST

START_TEST(a_set_that_is_closed_leaves_the_others)
{
	int before, with_one;

	boot(FAKE_SKYLAKE, PMU_PEBS, "6.15.0");
	before = k->open_fds;
	ck_assert_int_eq(hardware_attach(&follow.hardware, k->process + 8, 8),
			 0);
	with_one = k->open_fds;
	ck_assert_int_eq(hardware_attach(&follow.hardware, k->process + 9, 9),
			 0);
	hardware_close(&follow.hardware, 8);
	ck_assert_int_eq(k->open_fds, with_one);
	hardware_close(&follow.hardware, 9);
	ck_assert_int_eq(k->open_fds, before);
	work();
	near(taken(0), ROUNDS * OPS);
	stop();
}
END_TEST

START_TEST(samples_that_name_no_instruction_are_lost)
{
	boot(machines[_i].model, machines[_i].source, machines[_i].release);
	k->inexact = 2;
	work();
	ck_assert_uint_gt(lost(0, LOSS_INEXACT_IP), 0);
	if (machines[_i].model != FAKE_SANDY_BRIDGE)
		near(taken(0) + lost(0, LOSS_INEXACT_IP), ROUNDS * OPS);
	ck_assert_uint_gt(row(0)->detections, 0);
	stop();
}
END_TEST

START_TEST(samples_without_an_address_are_lost)
{
	boot(machines[_i].model, machines[_i].source, machines[_i].release);
	run(0, false, NULL, ROUNDS * OPS / 10);
	follow_drain(&follow);
	ck_assert_uint_gt(lost(0, LOSS_NO_ADDRESS), 0);
	ck_assert_uint_eq(taken(0), 0);
	stop();
}
END_TEST

static uint64_t lost_by_all(enum loss_cause cause)
{
	return follow.tasks.process->file.store.header->loss[cause];
}

START_TEST(what_the_ring_has_no_room_for_is_counted)
{
	uint64_t kept;

	boot(machines[_i].model, machines[_i].source, machines[_i].release);
	run(0, false, &words[0], 10000);
	follow_drain(&follow); /* begins its file */
	run(0, false, &words[0], 15000 * PERIOD);
	ck_assert_uint_gt(k->lost, 0);
	follow_drain(&follow);
	kept = taken(0);
	run(0, false, &words[0], 10 * PERIOD);
	follow_drain(&follow);
	ck_assert_uint_gt(taken(0), kept); /* it goes on */
	ck_assert_uint_eq(lost_by_all(LOSS_RING_FULL), k->lost);
	stop();
}
END_TEST

START_TEST(throttling_is_counted_and_over_at_last)
{
	boot(machines[_i].model, machines[_i].source, machines[_i].release);
	run(0, false, &words[0], 10000);
	follow_drain(&follow);
	k->throttle = 20;
	k->throttled_for = 5000;
	work();
	ck_assert_uint_gt(k->throttles, 0);
	ck_assert_uint_eq(lost_by_all(LOSS_THROTTLED), k->throttles);
	ck_assert_uint_gt(row(0)->detections, 0);
	stop();
}
END_TEST

START_TEST(a_budget_that_is_used_up_takes_no_samples)
{
	boot(FAKE_SKYLAKE, PMU_PEBS, "6.15.0");
	follow.resting = true;
	work();
	ck_assert_uint_eq(taken(0), 0);
	near(lost(0, LOSS_WATCHER_BUDGET), ROUNDS * OPS);
	stop();
}
END_TEST

START_TEST(events_begin_with_the_exec_and_are_inherited_as_asked)
{
	boot(FAKE_SKYLAKE, PMU_PEBS, "6.15.0");
	follow.hardware.on_exec = true;
	follow.hardware.heirs = HEIRS_PROCESSES;
	ck_assert_int_eq(
		hardware_attach(&follow.hardware, k->process + 9, THREADS + 1),
		0);
	for (int i = 0; i < k->events; i++) {
		const struct fake_event *e = &k->event[i];
		bool leads = e->leader == i;

		if (!e->users || !fake_is_sampling(e))
			continue;
		ck_assert(e->attr.inherit);
		ck_assert_int_eq(e->attr.inherit_thread, e->thread != 9);
		ck_assert_int_eq(e->attr.enable_on_exec,
				 e->thread == 9 && leads);
		ck_assert_int_eq(e->attr.disabled, e->thread == 9 && leads);
	}
	stop();
}
END_TEST

START_TEST(a_failure_leaves_no_event_open)
{
	int before;

	boot(machines[_i].model, machines[_i].source, machines[_i].release);
	before = k->open_fds;
	for (int room = 0; room < 4; room++) {
		k->fds_max = before + room;
		ck_assert_int_eq(hardware_attach(&follow.hardware,
						 k->process + 9, THREADS + 1),
				 -EMFILE);
		ck_assert_int_eq(k->open_fds, before);
	}
	k->fds_max = 0;
	ck_assert_int_eq(hardware_attach(&follow.hardware, -1, THREADS + 1),
			 -ESRCH);
	ck_assert_int_eq(k->open_fds, before);
	stop();
}
END_TEST

static const struct {
	enum fake_model model;
	enum pmu_source source;
	int max_precise, paranoid;
	const char *release, *cause, *cure;
} refusals[] = {
	{ FAKE_BARE, PMU_PEBS, 3, 1, "6.15.0", "source pebs does not work",
	  "" },
	{ FAKE_SKYLAKE, PMU_IBS, 3, 1, "6.15.0", "no AMD", "clock" },
	{ FAKE_ZEN4, PMU_PEBS, 3, 1, "6.15.0", "no Intel", "clock" },
	{ FAKE_SKYLAKE, PMU_PEBS, 0, 1, "6.15.0", "exact instruction", "" },
	{ FAKE_SKYLAKE, PMU_PEBS, 3, 3, "6.15.0", "perf_event_paranoid", "" },
	{ FAKE_ZEN2, PMU_IBS, 3, 1, "6.1.0", "not to a thread", "use Linux" },
};

START_TEST(a_machine_that_lacks_it_is_one_line_with_cause_and_cure)
{
	const struct pmu_wish wish = { .period = PERIOD };
	char *why;

	k = fake_kernel_new(refusals[_i].model);
	fake_kernel_boot(k, refusals[_i].release);
	k->paranoid = refusals[_i].paranoid;
	if (!refusals[_i].max_precise)
		k->pmu[0].max_precise = 0;
	why = hardware_plan(&plan, &k->calls, refusals[_i].source, &wish);
	ck_assert_ptr_nonnull(why);
	ck_assert_ptr_null(strchr(why, '\n'));
	ck_assert_msg(strstr(why, refusals[_i].cause), "%s", why);
	ck_assert_msg(strstr(why, refusals[_i].cure), "%s", why);
	ck_assert_uint_gt(strlen(strrchr(why, ';')), 5);
	free(why);
	ck_assert_int_eq(k->open_fds, 0);
	fake_kernel_free(k);
}
END_TEST

int main(void)
{
	const int n = sizeof(machines) / sizeof(machines[0]);
	Suite *s = suite_create("outside_hardware");
	TCase *c = tcase_create("hardware");

	tcase_add_checked_fixture(c, setup, sandbox_teardown);
	tcase_set_timeout(c, 120);
	tcase_add_loop_test(
		c, false_sharing_is_found_between_the_two_that_share, 0, n);
	tcase_add_test(
		c, intervals_are_primes_near_the_period_and_all_samples_count);
	tcase_add_loop_test(c, true_sharing_is_told_from_false, 0, n);
	tcase_add_loop_test(c, a_thread_that_is_made_later_is_sampled, 0, n);
	tcase_add_test(c, two_sets_of_events_count_once);
	tcase_add_test(c, a_set_that_is_closed_leaves_the_others);
	tcase_add_loop_test(c, samples_that_name_no_instruction_are_lost, 0, n);
	tcase_add_loop_test(c, samples_without_an_address_are_lost, 0, n);
	tcase_add_loop_test(c, what_the_ring_has_no_room_for_is_counted, 0, n);
	tcase_add_loop_test(c, throttling_is_counted_and_over_at_last, 0, n);
	tcase_add_test(c, a_budget_that_is_used_up_takes_no_samples);
	tcase_add_test(c,
		       events_begin_with_the_exec_and_are_inherited_as_asked);
	tcase_add_loop_test(c, a_failure_leaves_no_event_open, 0, n);
	tcase_add_loop_test(
		c, a_machine_that_lacks_it_is_one_line_with_cause_and_cure, 0,
		sizeof(refusals) / sizeof(refusals[0]));
	suite_add_tcase(s, c);
	return run_suite(s);
}
