/* SPDX-License-Identifier: MIT */
/*
 * test_predict - predictions from profiles made by hand
 */
#include <math.h>

#include "analysis/locality/latency.h"
#include "tests/fake/fake_profile.h"
#include "tests/run_verb.h"
#include "src/store/reuse_tally.h"
#include "tests/run_suite.h"

enum {
	PERIOD = 100,
	LINE = 64,
	SWEPT = 1000, /* lines of a thread's array */
	SOON = 10,    /* accesses */
	DRAM_NS = 90,
	TRANSFER_NS = 40
};

static struct fake fake;
static struct reuse_tally tally;

static void begin(uint32_t modes)
{
	fake_begin_emu(&fake, modes, PERIOD);
	memset(&tally, 0, sizeof(tally));
	tally.writer.section = CDP_REUSE;
}

static void end(void)
{
	reuse_tally_release(&tally);
	fake_end(&fake);
}

struct uses {
	enum reuse_scope scope;
	uint32_t thread;
	enum reuse_outcome outcome;
	uint64_t time;
	enum reuse_pairing pairing;
	bool spatial;
	int n;
};

static void add(struct uses u)
{
	struct reuse_event v = {
		.outcome = u.outcome,
		.use = { .ip = 0x1000, .flags = ACCESS_STORE },
		.end = { .ip = 0x1001, .flags = ACCESS_LOAD },
		.use_place = { .thread = u.thread },
		.time = u.time,
		.weight = 1,
		.pairing = u.pairing,
		.temporal = !u.spatial,
	};

	while (u.n-- > 0)
		ck_assert_int_eq(reuse_tally_add(&fake.store, &tally, u.scope,
						 REUSE_LINE, &v, 1),
				 0);
}

/*
 * Thread @thread sweeps over SWEPT lines: another word each time if @spatial.
 */
static void sweep(uint32_t thread, int n, bool spatial)
{
	add((struct uses){ REUSE_PRIVATE, thread, REUSE_REUSED, SWEPT,
			   REUSE_RAR, spatial, n });
}

static void shared(uint64_t time, enum reuse_pairing pairing, bool spatial,
		   int n)
{
	add((struct uses){ REUSE_SHARED, 0, REUSE_REUSED, time, pairing,
			   spatial, n });
}

static char machine[128]; /* path of a file of latencies */

static void write_machine(const char *text)
{
	ssize_t length = (ssize_t)strlen(text);
	int fd;

	snprintf(machine, sizeof(machine), "%s/machine", sandbox);
	fd = open(machine, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, text, length), length);
	close(fd);
}

/* Predict with a shared cache of @llc lines and private ones of 100. */
static json_t *predict(int llc)
{
	json_error_t error;
	char text[256];
	struct verb v;
	json_t *j;

	snprintf(text, sizeof(text),
		 "# of a machine\n\ndram_ns %d\ntransfer_ns %d # a line\n"
		 "llc_bytes %d\n  private_bytes %d\n",
		 DRAM_NS, TRANSFER_NS, llc * LINE, 100 * LINE);
	write_machine(text);
	v = VERB(cmd_predict, "predict", "--adjacent-line-prefetch", "--json",
		 "--latencies", machine, fake.dir);
	ck_assert_msg(v.status == 0, "status %d: %s", v.status, v.err);
	j = json_loads(v.out, JSON_REJECT_DUPLICATES, &error);
	ck_assert_msg(j != NULL, "%s in line %d", error.text, error.line);
	ck_assert_int_eq(int_at(j, "schema"), 1);
	verb_free(&v);
	return j;
}

static double number(json_t *j, const char *name)
{
	char path[64];
	json_t *value;

	snprintf(path, sizeof(path), "adjacent_line_prefetch.%s", name);
	value = at(j, path);
	ck_assert_msg(json_is_number(value), "%s", path);
	return json_number_value(value);
}

static void assert_verdict(json_t *j, const char *verdict)
{
	ck_assert_str_eq(text_at(j, "adjacent_line_prefetch.verdict"), verdict);
}

START_TEST(gain_is_dram_latency_less_transfers)
{
	double dram = 500 * PERIOD, sharing = 200 * PERIOD;
	json_t *j;

	begin(CDP_MODE_REUSE | CDP_MODE_SHARED);
	fake_thread(&fake, "one");
	sweep(0, 500, true);
	sweep(0, 300, false);
	shared(SOON, REUSE_RAW, true, 150);
	shared(SOON, REUSE_WAW, true, 50);
	end();
	j = predict(SWEPT - 100);
	ck_assert_double_eq_tol(number(j, "dram_reuses.estimate"), dram, 1e-6);
	ck_assert_double_eq_tol(number(j, "sharing_reuses.estimate"), sharing,
				1e-6);
	ck_assert_double_eq_tol(number(j, "gain_ns.estimate"),
				dram * DRAM_NS - sharing * TRANSFER_NS, 1e-3);
	ck_assert_double_eq_tol(number(j, "accesses"), 800 * PERIOD, 1e-6);
	assert_verdict(j, "gain");
	json_decref(j);
	j = predict(SWEPT + 100);
	ck_assert_double_eq(number(j, "dram_reuses.estimate"), 0);
	ck_assert_double_eq_tol(number(j, "gain_ns.estimate"),
				-sharing * TRANSFER_NS, 1e-3);
	assert_verdict(j, "loss");
	json_decref(j);
}
END_TEST

/* Together, two sweeps fill 1500 lines, which neither fills alone. */
START_TEST(threads_fill_the_shared_cache_together)
{
	json_t *j;

	begin(CDP_MODE_REUSE | CDP_MODE_SHARED);
	fake_thread(&fake, "one");
	fake_thread(&fake, "two");
	sweep(0, 500, true);
	shared(SOON, REUSE_RAR, false, 10);
	end();
	j = predict(SWEPT * 3 / 2);
	ck_assert_double_eq(number(j, "dram_reuses.estimate"), 0);
	json_decref(j);

	begin(CDP_MODE_REUSE | CDP_MODE_SHARED);
	fake_thread(&fake, "one");
	fake_thread(&fake, "two");
	sweep(0, 500, true);
	sweep(1, 500, true);
	shared(SOON, REUSE_RAR, false, 10);
	end();
	j = predict(SWEPT * 3 / 2);
	ck_assert_double_eq_tol(number(j, "dram_reuses.estimate"),
				1000 * PERIOD, 1e-6);
	json_decref(j);
}
END_TEST

/* Loads after loads, the same bytes, and lines that left the private caches. */
START_TEST(other_reuses_between_cores_are_no_false_sharing)
{
	json_t *j;

	begin(CDP_MODE_REUSE | CDP_MODE_SHARED);
	fake_thread(&fake, "one");
	sweep(0, 100, false);
	shared(SOON, REUSE_RAR, true, 100);
	shared(SOON, REUSE_WAR, true, 100);
	shared(SOON, REUSE_RAW, false, 100);
	shared(SWEPT, REUSE_RAW, true, 100);
	end();
	j = predict(SWEPT * 3 / 2);
	ck_assert_double_eq(number(j, "sharing_reuses.estimate"), 0);
	assert_verdict(j, "nothing");
	json_decref(j);
}
END_TEST

START_TEST(nearly_even_costs_leave_it_open)
{
	json_t *j;

	begin(CDP_MODE_REUSE | CDP_MODE_SHARED);
	fake_thread(&fake, "one");
	sweep(0, 40, true);
	shared(SOON, REUSE_RAW, true, 100);
	end();
	j = predict(SWEPT / 2);
	assert_verdict(j, "open");
	ck_assert_double_lt(number(j, "gain_ns.low"), 0);
	ck_assert_double_gt(number(j, "gain_ns.high"), 0);
	/* The limits of 40 uses are 28.58 and 54.47 (Garwood). */
	ck_assert_double_eq_tol(number(j, "dram_reuses.low"), 28.577 * PERIOD,
				0.01 * PERIOD);
	ck_assert_double_eq_tol(number(j, "dram_reuses.high"), 54.469 * PERIOD,
				0.01 * PERIOD);
	json_decref(j);
}
END_TEST

static const struct {
	const char *file, *said;
} wrong[] = {
	{ "dram_ns 90\n", "no line 'transfer_ns" },
	{ "transfer_ns 90\n", "no line 'dram_ns" },
	{ "", "no line 'dram_ns" },
	{ "dram_ns 90\ntransfer_ns\n", "line 2" },
	{ "dram_ns -1\n", "line 1" },
	{ "dram_ns 1e9\n", "line 1" },
	{ "dram_ns nan\n", "line 1" },
	{ "dram_ns 1 2\n", "line 1" },
	{ "\n#\nspeed 3\n", "line 3" },
};

START_TEST(wrong_latencies_are_named)
{
	struct verb v;

	begin(CDP_MODE_REUSE | CDP_MODE_SHARED);
	fake_thread(&fake, "one");
	sweep(0, 10, true);
	shared(SOON, REUSE_RAW, true, 10);
	end();
	write_machine(wrong[_i].file);
	v = VERB(cmd_predict, "predict", "--adjacent-line-prefetch",
		 "--latencies", machine, fake.dir);
	ck_assert_int_eq(v.status, 1);
	ASSERT_SAYS(v.err, wrong[_i].said);
	ck_assert_str_eq(v.out, "");
	verb_free(&v);
}
END_TEST

START_TEST(what_the_recording_lacks_is_said)
{
	struct verb v;

	begin(CDP_MODE_REUSE);
	fake_thread(&fake, "one");
	sweep(0, 10, true);
	end();
	v = VERB(cmd_predict, "predict", "--adjacent-line-prefetch", fake.dir);
	ck_assert_int_eq(v.status, 1);
	ASSERT_SAYS(v.err, "record with -m reuse,shared");
	verb_free(&v);
	v = VERB(cmd_predict, "predict", fake.dir);
	ck_assert_int_eq(v.status, 1);
	ASSERT_SAYS(v.err, "--adjacent-line-prefetch");
	verb_free(&v);
}
END_TEST

START_TEST(text_says_what_follows)
{
	struct verb v;

	begin(CDP_MODE_REUSE | CDP_MODE_SHARED);
	fake_thread(&fake, "one");
	sweep(0, 500, true);
	shared(SOON, REUSE_RAW, true, 10);
	end();
	json_decref(predict(SWEPT / 2));
	v = VERB(cmd_predict, "predict", "--adjacent-line-prefetch",
		 "--latencies", machine, fake.dir);
	ck_assert_int_eq(v.status, 0);
	ASSERT_SAYS(v.out, "likely a gain");
	ASSERT_SAYS(v.out, "R_dram 50,000 (95 %: 45,");
	ASSERT_SAYS(v.out, "L_fs 40.0 ns");
	ASSERT_SAYS(v.out, "latencies as given");
	verb_free(&v);
}
END_TEST

/* Five groups agree to a hundredth; one was measured in another state. */
START_TEST(limits_of_a_latency_hold_all_groups)
{
	enum {
		EACH = 101
	};
	double ns[LATENCY_GROUPS * EACH];
	struct latency l;

	for (int i = 0; i < LATENCY_GROUPS * EACH; i++)
		ns[i] = (i / EACH == 3 ? 25 : 134) + i * 37 % EACH * 0.01;
	/* An interruption changes neither the median nor its limits. */
	ns[5] = ns[4 * EACH] = 1e6;
	l = latency_median(ns, EACH);
	ck_assert_double_eq_tol(l.ns, 134.4, 0.1);
	ck_assert_double_eq_tol(l.by.low, 25.5, 0.02);
	ck_assert_double_eq_tol(l.by.high, 134.5, 0.02);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("predict");
	TCase *t = tcase_create("predict");

	tcase_set_timeout(t, 120);
	tcase_add_checked_fixture(t, sandbox_setup, sandbox_teardown);
	tcase_add_test(t, gain_is_dram_latency_less_transfers);
	tcase_add_test(t, threads_fill_the_shared_cache_together);
	tcase_add_test(t, other_reuses_between_cores_are_no_false_sharing);
	tcase_add_test(t, nearly_even_costs_leave_it_open);
	tcase_add_loop_test(t, wrong_latencies_are_named, 0,
			    sizeof(wrong) / sizeof(wrong[0]));
	tcase_add_test(t, what_the_recording_lacks_is_said);
	tcase_add_test(t, text_says_what_follows);
	tcase_add_test(t, limits_of_a_latency_hold_all_groups);
	suite_add_tcase(s, t);
	return run_suite(s);
}
