/* SPDX-License-Identifier: MIT */
/*
 * test_perf_sample - records of every layout against the fields put into them
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fake/perf_gen.h"
#include "src/pmu/sample.h"
#include "src/base/rng.h"
#include "tests/run_suite.h"

static struct rng rng;

static uint64_t draw(uint64_t n)
{
	return rng_below(&rng, n);
}

static const char raw_bytes[256] = "what a PMU has to say of itself";

/* An event that asks for anything, and a sample of it. */
static void draw_layout(struct perf_event_attr *attr, struct gen_sample *s)
{
	memset(attr, 0, sizeof(*attr));
	memset(s, 0, sizeof(*s));
	attr->sample_type = draw(PERF_SAMPLE_MAX);
	/* The kernel allows one of the two. */
	if (attr->sample_type & PERF_SAMPLE_WEIGHT)
		attr->sample_type &= ~(uint64_t)PERF_SAMPLE_WEIGHT_STRUCT;
	attr->read_format = draw(32);
	attr->branch_sample_type = draw(1 << 20);
	attr->sample_regs_user = draw(1 << 24);
	attr->sample_regs_intr = draw(1 << 24);
	attr->sample_id_all = draw(2);
	s->misc = draw(8);
	s->pid = draw(1 << 30);
	s->tid = draw(1 << 30);
	s->cpu = draw(4096);
	s->id = rng_next(&rng);
	s->stream_id = rng_next(&rng);
	s->ip = rng_next(&rng);
	s->time = rng_next(&rng);
	s->addr = rng_next(&rng);
	s->phys_addr = rng_next(&rng);
	s->period = rng_next(&rng);
	s->data_src = rng_next(&rng);
	s->weight = rng_next(&rng);
	s->weight2 = draw(1 << 16);
	s->weight3 = draw(1 << 16);
	s->read_value = rng_next(&rng);
	s->read_enabled = rng_next(&rng);
	s->read_running = rng_next(&rng);
	s->raw = raw_bytes;
	s->raw_bytes = draw(sizeof(raw_bytes));
	s->callchain = draw(20);
	s->branches = draw(20);
	s->stack = draw(20);
	s->aux = draw(20);
	s->group = 1 + draw(5);
	s->user_abi = draw(3);
	s->intr_abi = draw(3);
}

#define SAME(bit, field)                                                       \
	do {                                                                   \
		if (attr->sample_type & (bit))                                 \
			ck_assert_uint_eq(got->field, s->field);               \
	} while (0)

static void check_common(const struct perf_event_attr *attr,
			 const struct gen_sample *s,
			 const struct perf_sample *got)
{
	SAME(PERF_SAMPLE_TID, pid);
	SAME(PERF_SAMPLE_TID, tid);
	SAME(PERF_SAMPLE_TIME, time);
	SAME(PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER, id);
	SAME(PERF_SAMPLE_STREAM_ID, stream_id);
	SAME(PERF_SAMPLE_CPU, cpu);
}

static void check_sample(const struct perf_event_attr *attr,
			 const struct gen_sample *s,
			 const struct perf_sample *got)
{
	uint64_t type = attr->sample_type;

	ck_assert_uint_eq(got->has, type);
	ck_assert_uint_eq(got->misc, s->misc);
	check_common(attr, s, got);
	SAME(PERF_SAMPLE_IP, ip);
	SAME(PERF_SAMPLE_ADDR, addr);
	SAME(PERF_SAMPLE_PERIOD, period);
	SAME(PERF_SAMPLE_DATA_SRC, data_src);
	SAME(PERF_SAMPLE_PHYS_ADDR, phys_addr);
	SAME(PERF_SAMPLE_READ, read_value);
	if (attr->read_format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		SAME(PERF_SAMPLE_READ, read_enabled);
	if (attr->read_format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		SAME(PERF_SAMPLE_READ, read_running);
	SAME(PERF_SAMPLE_WEIGHT, weight);
	SAME(PERF_SAMPLE_WEIGHT_STRUCT, weight2);
	SAME(PERF_SAMPLE_WEIGHT_STRUCT, weight3);
	if (type & PERF_SAMPLE_WEIGHT_STRUCT)
		ck_assert_uint_eq(got->weight, (uint32_t)s->weight);
	if (type & PERF_SAMPLE_RAW) {
		ck_assert_uint_ge(got->raw_bytes, s->raw_bytes);
		ck_assert_uint_lt(got->raw_bytes, s->raw_bytes + 8);
		ck_assert_mem_eq(got->raw, s->raw, s->raw_bytes);
	}
}

START_TEST(every_layout_is_decoded)
{
	for (int n = 0; n < 20000; n++) {
		struct perf_event_attr attr;
		struct gen_sample s;
		struct perf_sample got;
		struct gen g = { 0 };
		uint64_t id;
		char *copy;
		int err;

		draw_layout(&attr, &s);
		if (n < 25) /* each field alone */
			attr.sample_type = 1ull << n;
		gen_sample(&g, &attr, &s);
		copy = gen_copy(&g, g.used);
		ck_assert_int_eq(perf_sample_decode(&attr, copy, g.used, &got),
				 0);
		check_sample(&attr, &s, &got);
		err = perf_sample_event(&attr, copy, g.used, &id);
		if (attr.sample_type &
		    (PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER)) {
			ck_assert_int_eq(err, 0);
			ck_assert_uint_eq(id, s.id);
		} else {
			ck_assert_int_eq(err, -ENODATA);
		}
		free(copy);
		gen_release(&g);
	}
}
END_TEST

START_TEST(a_record_that_is_cut_anywhere_is_refused)
{
	for (int n = 0; n < 200; n++) {
		struct perf_event_attr attr;
		struct gen_sample s;
		struct perf_sample got;
		struct gen g = { 0 };

		draw_layout(&attr, &s);
		gen_sample(&g, &attr, &s);
		for (size_t cut = 0; cut < g.used; cut++) {
			char *copy = gen_copy(&g, cut);
			uint16_t size = cut;

			ck_assert_int_eq(
				perf_sample_decode(&attr, copy, cut, &got),
				-EMSGSIZE);
			/* The header may say so itself. */
			if (cut >= 8) {
				memcpy(copy + 6, &size, 2);
				ck_assert_int_eq(perf_sample_decode(&attr, copy,
								    cut, &got),
						 -EMSGSIZE);
				ck_assert_uint_eq(got.has, 0);
			}
			free(copy);
		}
		gen_release(&g);
	}
}
END_TEST

/* Sizes inside of the record are as wrong as its own. */
START_TEST(noise_in_a_record_never_leads_out_of_it)
{
	int refused = 0;

	for (int n = 0; n < 20000; n++) {
		struct perf_event_attr attr;
		struct gen_sample s;
		struct perf_sample got;
		struct gen g = { 0 };
		char *copy;

		draw_layout(&attr, &s);
		gen_sample(&g, &attr, &s);
		for (int k = 0; k < 3 && g.used > 8; k++) {
			uint64_t noise =
				draw(2) ? rng_next(&rng) : ~0ull >> draw(64);
			size_t at = 8 + draw((g.used - 8) / 8) * 8;

			if (at + 8 <= g.used)
				gen_put_u64(&g, at, noise);
		}
		copy = gen_copy(&g, g.used);
		if (perf_sample_decode(&attr, copy, g.used, &got)) {
			refused++;
		} else if (got.raw_bytes) {
			const char *raw = got.raw;

			ck_assert(raw >= copy &&
				  raw + got.raw_bytes <= copy + g.used);
		}
		perf_sample_decode_id(&attr, copy, g.used, &got, NULL);
		free(copy);
		gen_release(&g);
	}
	ck_assert_int_gt(refused, 1000);
}
END_TEST

START_TEST(the_end_of_other_records_is_decoded)
{
	for (int n = 0; n < 5000; n++) {
		struct perf_event_attr attr;
		struct gen_sample s;
		struct perf_sample got;
		struct gen g = { 0 };
		size_t at, body, id_bytes;
		uint64_t id = 0;
		char *copy;
		int err;

		draw_layout(&attr, &s);
		at = gen_begin(&g, PERF_RECORD_COMM, s.misc);
		gen_u32(&g, 1);
		gen_u32(&g, 2);
		gen_string(&g, "a name");
		body = g.used;
		gen_id(&g, &attr, &s);
		gen_end(&g, at);
		copy = gen_copy(&g, g.used);
		ck_assert_int_eq(perf_sample_decode_id(&attr, copy, g.used,
						       &got, &id_bytes),
				 0);
		ck_assert_uint_eq(id_bytes, g.used - body);
		if (attr.sample_id_all)
			check_common(&attr, &s, &got);
		else
			ck_assert_uint_eq(got.has, 0);
		err = perf_sample_event(&attr, copy, g.used, &id);
		if (!err)
			ck_assert_uint_eq(id, s.id);
		else
			ck_assert(!attr.sample_id_all ||
				  !(attr.sample_type &
				    (PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER)));
		free(copy);
		gen_release(&g);
	}
}
END_TEST

START_TEST(what_is_not_known_is_refused)
{
	struct perf_event_attr attr = { .sample_type = PERF_SAMPLE_MAX };
	struct gen_sample s = { 0 };
	struct perf_sample got;
	struct gen g = { 0 };
	size_t at;

	gen_sample(&g, &attr, &s);
	ck_assert_int_eq(perf_sample_decode(&attr, g.bytes, g.used, &got),
			 -EOPNOTSUPP);
	attr.sample_type = PERF_SAMPLE_READ;
	attr.read_format = 1 << 5;
	ck_assert_int_eq(perf_sample_decode(&attr, g.bytes, g.used, &got),
			 -EOPNOTSUPP);
	g.used = 0;
	at = gen_begin(&g, PERF_RECORD_COMM, 0);
	gen_end(&g, at);
	attr.sample_type = 0;
	ck_assert_int_eq(perf_sample_decode(&attr, g.bytes, g.used, &got),
			 -EINVAL);
	gen_release(&g);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("perf_sample");
	TCase *tc = tcase_create("perf_sample");

	rng_seed(&rng, 5, 0);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, every_layout_is_decoded);
	tcase_add_test(tc, a_record_that_is_cut_anywhere_is_refused);
	tcase_add_test(tc, noise_in_a_record_never_leads_out_of_it);
	tcase_add_test(tc, the_end_of_other_records_is_decoded);
	tcase_add_test(tc, what_is_not_known_is_refused);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
