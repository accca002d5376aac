/* SPDX-License-Identifier: MIT */
/*
 * test_import_sums - the counts of an import: losses, events, sources, periods
 */
#include "import_fixture.h"
#include "analysis/import/tally.h"
#include "tests/run_suite.h"

START_TEST(what_is_left_out_is_counted_by_its_cause)
{
	const uint64_t lost[] = { 100, 7 }, samples[] = { 5 },
		       throttle[] = { 20, 200, 0 };
	struct gen_sample s = at(20, PID, 0x5000);
	const uint64_t *loss;

	two_events();
	store(s);
	s.misc = PERF_RECORD_MISC_KERNEL;
	store(s);
	s.misc = PERF_RECORD_MISC_HYPERVISOR;
	store(s);
	s.misc = PERF_RECORD_MISC_GUEST_USER;
	store(s);
	s.misc = PERF_RECORD_MISC_USER;
	s.addr = 0;
	store(s);
	s.addr = 0xffff800000000000; /* marked as user */
	store(s);
	s.addr = 0x5000;
	s.data_src = PERF_MEM_S(OP, LOAD) | PERF_MEM_S(OP, PFETCH);
	perf_file_sample(&f, 0, &s);
	s.id = 999; /* the id of no event */
	gen_sample(&f.data, &f.event[0].attr, &s);
	perf_file_words(&f, PERF_RECORD_LOST, lost, 2, 30);
	perf_file_words(&f, 13, samples, 1, 31); /* LOST_SAMPLES */
	perf_file_words(&f, PERF_RECORD_THROTTLE, throttle, 3, 32);
	import_all();
	loss = profile.process[0].header.loss;
	ck_assert_uint_eq(im.records, 8);
	ck_assert_uint_eq(im.samples, 1);
	ck_assert_uint_eq(loss[LOSS_IN_KERNEL], 3);
	ck_assert_uint_eq(loss[LOSS_IN_GUEST], 1);
	ck_assert_uint_eq(loss[LOSS_NO_ADDRESS], 1);
	ck_assert_uint_eq(loss[LOSS_NOT_MEMORY], 1);
	ck_assert_uint_eq(loss[LOSS_MALFORMED], 1);
	ck_assert_uint_eq(loss[LOSS_RING_FULL], 12);
	ck_assert_uint_eq(loss[LOSS_THROTTLED], 1);
}
END_TEST

static const struct cdp_memory_event *event(const char *name)
{
	const struct process *p = &profile.process[0];

	for (size_t i = 0; i < p->memories; i++)
		if (p->memory[i].kind == CDP_MEMORY_EVENT &&
		    !strcmp(p->memory[i].event.name, name))
			return &p->memory[i].event;
	ck_abort_msg("no event %s", name);
	return NULL;
}

START_TEST(events_say_how_they_were_sampled)
{
	struct gen_sample s = at(20, PID, 0x5000);

	two_events();
	f.event[0].attr.sample_type |= PERF_SAMPLE_READ;
	f.event[0].attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
				      PERF_FORMAT_TOTAL_TIME_RUNNING |
				      PERF_FORMAT_ID;
	f.event[1].attr.freq = 1;
	f.event[1].attr.sample_freq = 4000;
	s.read_enabled = 50;
	s.read_running = 20;
	load(s);
	s.read_enabled = 100;
	s.read_running = 40;
	s.period = 3000;
	load(s);
	s.misc = PERF_RECORD_MISC_KERNEL;
	load(s);
	s.misc = PERF_RECORD_MISC_USER;
	store(s);
	import_all();
	ck_assert_uint_eq(event("cpu/mem-loads/")->samples, 2);
	ck_assert_uint_eq(event("cpu/mem-loads/")->left_out, 1);
	ck_assert_uint_eq(event("cpu/mem-loads/")->periods, 4000);
	ck_assert_int_eq(event("cpu/mem-loads/")->interval, 1000);
	ck_assert_uint_eq(event("cpu/mem-loads/")->enabled, 100);
	ck_assert_uint_eq(event("cpu/mem-loads/")->running, 40);
	ck_assert_int_eq(event("cpu/mem-stores/")->interval, -4000);
	ck_assert_uint_eq(event("cpu/mem-stores/")->samples, 1);
	ck_assert_uint_eq(event("cpu/mem-stores/")->enabled, 0);
}
END_TEST

/* Compare every sum in the file with a walk over the samples. */
START_TEST(sums_by_site_and_line_are_those_of_the_samples)
{
	const struct process *p = &profile.process[0];
	uint64_t samples[2] = { 0 };

	twin_intel(&f, 30, true);
	import_all();
	p = &profile.process[0];
	for (size_t i = 0; i < p->memories; i++) {
		const struct cdp_memory *m = &p->memory[i];
		struct cdp_memory_tally t = { 0 };

		if (m->kind == CDP_MEMORY_EVENT)
			continue;
		for (size_t k = 0; k < im.samples; k++) {
			const struct import_sample *s = &im.sample[k];
			uint64_t where = m->kind == CDP_MEMORY_SITE
						 ? s->ip
						 : s->addr / 64 * 64;

			if (where != m->tally.address ||
			    (s->access & 3) != m->access ||
			    s->source != m->tally.source)
				continue;
			t.samples++;
			t.example += m->tally.example == s->addr;
			t.periods += s->period;
			t.periods_squared +=
				(double)s->period * (double)s->period;
			t.hitm += !!(s->flags & MEMORY_HITM);
			t.locked += !!(s->flags & MEMORY_LOCKED);
			t.tlb_miss += !!(s->flags & MEMORY_TLB_MISS);
			t.latencies += !!s->latency;
			t.latency_sum += s->latency;
			if (s->latency > t.latency_max)
				t.latency_max = s->latency;
		}
		ck_assert_uint_eq(m->tally.samples, t.samples);
		/* A line is represented by an address that was accessed. */
		ck_assert_uint_gt(t.example, 0);
		ck_assert_uint_eq(m->tally.periods, t.periods);
		ck_assert_double_eq_tol(m->tally.periods_squared,
					t.periods_squared, 1);
		ck_assert_uint_eq(m->tally.hitm, t.hitm);
		ck_assert_uint_eq(m->tally.locked, t.locked);
		ck_assert_uint_eq(m->tally.tlb_miss, t.tlb_miss);
		ck_assert_uint_eq(m->tally.latencies, t.latencies);
		ck_assert_uint_eq(m->tally.latency_sum, t.latency_sum);
		ck_assert_uint_eq(m->tally.latency_max, t.latency_max);
		samples[m->kind == CDP_MEMORY_LINE] += t.samples;
	}
	ck_assert_uint_eq(samples[0], im.samples);
	ck_assert_uint_eq(samples[1], im.samples);
}
END_TEST

START_TEST(what_has_no_record_of_its_own_is_in_the_sums)
{
	struct import_tally t = { 0 };
	uint64_t total = 0, rest = 0, kept = 0;

	for (uint64_t i = 0; i < 1000; i++) {
		/* Address i + 1 gets i / 100 + 1 samples. */
		struct import_sample s = { .period = 2,
					   .access = ACCESS_LOAD,
					   .source = i % 2 ? DATA_SOURCE_L1
							   : DATA_SOURCE_L2 };

		for (uint64_t k = 0; k <= i / 100; k++) {
			import_tally_add(&t, CDP_MEMORY_LINE, i + 1, &s);
			total++;
		}
	}
	import_tally_finish(&t, 100);
	for (size_t i = 0; i < t.entries; i++) {
		const struct cdp_memory_tally *x = &t.entry[i].record.tally;

		ck_assert_uint_eq(x->periods, 2 * x->samples);
		if (x->address) {
			ck_assert_uint_gt(x->address, 900); /* most samples */
			kept += x->samples;
		} else {
			rest += x->samples;
		}
	}
	ck_assert_uint_eq(kept, 1000);
	ck_assert_uint_eq(kept + rest, total);
	ck_assert_uint_eq(t.entries, 102);
	import_tally_release(&t);
}
END_TEST

/* The slot of an address in a table of @slots without a secret. */
static uint64_t public_slot(uint64_t address, uint64_t slots)
{
	uint64_t h = address ^ (uint64_t)ACCESS_LOAD << 60;

	h *= 0x9E3779B97F4A7C15ull;
	h ^= h >> 32;
	h *= 0xD1342543DE82EF95ull;
	return (h ^ h >> 29) & (slots - 1);
}

/*
 * A search walks along a run of full slots. At most half of the slots are full,
 * so a run of 200 does not happen by chance.
 */
START_TEST(addresses_that_were_chosen_to_meet_do_not)
{
	struct import_sample s = { .access = ACCESS_LOAD };
	struct import_tally t = { 0 };
	uint64_t slots = 4096, run = 0, longest = 0;

	for (uint64_t address = 0; t.entries < 1000; address++)
		if (!public_slot(address, slots))
			import_tally_add(&t, CDP_MEMORY_LINE, address, &s);
	ck_assert_uint_le(t.slots, slots);
	for (uint64_t i = 0; i < 2 * t.slots; i++) {
		run = t.slot[i % t.slots] ? run + 1 : 0;
		longest = run > longest ? run : longest;
	}
	ck_assert_uint_lt(longest, 200);
	import_tally_release(&t);
}
END_TEST

/* Weights are periods: a sample that stands for three counts three times. */
START_TEST(the_volume_of_a_detection_goes_by_its_period)
{
	struct gen_sample s;
	uint64_t volume = 0;

	two_events();
	for (uint64_t i = 0; i < 100; i++) {
		s = at(1000 + 100 * i, PID, 0x5000);
		store(s);
		s = at(1050 + 100 * i, PID + 1, 0x5000);
		s.period = 3000;
		load(s);
	}
	import_all();
	for (size_t i = 0; i < profile.pairs; i++) {
		/* The first thread stores, the second detects it. */
		ck_assert_uint_eq(profile.pair[i].detector_flags, ACCESS_LOAD);
		volume += profile.pair[i].periods_q8;
	}
	ck_assert_uint_gt(detections, 30);
	/* The mean period is 2000. */
	ck_assert_uint_eq(volume, detections * 256 * 3 / 2);
}
END_TEST

START_TEST(samples_without_a_time_stay_as_they_are_in_the_file)
{
	perf_file_event(&f, "mem-loads",
			PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_ADDR);
	for (uint64_t i = 0; i < 10; i++) {
		struct gen_sample s = at(0, PID, 0x5000 + i);

		gen_sample(&f.data, &f.event[0].attr, &s);
	}
	import_all();
	ck_assert_uint_eq(im.untimed, 10);
	for (uint32_t i = 0; i < 10; i++)
		ck_assert_uint_eq(im.sample[im.by_process[i]].addr, 0x5000 + i);
	ck_assert_ptr_nonnull(
		strstr(profile.process[0].header.note, "without a time"));
}
END_TEST

START_TEST(a_recording_without_memory_samples_says_what_to_record)
{
	perf_file_event(&f, "cycles", PERF_SAMPLE_IP | PERF_SAMPLE_TID)
		->attr.config = 0;
	for (uint64_t i = 0; i < 3; i++) {
		struct gen_sample s = at(0, PID, 0);

		gen_sample(&f.data, &f.event[0].attr, &s);
	}
	ck_assert_int_eq(collect(), -EBADMSG);
	ck_assert_ptr_nonnull(strstr(im.error, "perf mem record"));
}
END_TEST

START_TEST(an_index_finds_what_was_put_and_forgets)
{
	static uint32_t mirror[512];
	struct import_index x = { 0 };
	struct rng r;

	rng_seed(&r, 3, 0);
	memset(mirror, 0xff, sizeof(mirror));
	for (int n = 0; n < 20000; n++) {
		uint64_t key = rng_below(&r, 512);
		uint32_t value = rng_below(&r, 3) ? (uint32_t)n : IMPORT_NONE;

		import_index_set(&x, key << 32 | key, value);
		mirror[key] = value;
		key = rng_below(&r, 512);
		ck_assert_uint_eq(import_index_find(&x, key << 32 | key),
				  mirror[key]);
	}
	ck_assert_uint_le(x.slots, 4096);
	import_index_release(&x);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("import_sums");
	TCase *tc = tcase_create("import_sums");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, what_is_left_out_is_counted_by_its_cause);
	tcase_add_test(tc, events_say_how_they_were_sampled);
	tcase_add_test(tc, sums_by_site_and_line_are_those_of_the_samples);
	tcase_add_test(tc, what_has_no_record_of_its_own_is_in_the_sums);
	tcase_add_test(tc, addresses_that_were_chosen_to_meet_do_not);
	tcase_add_test(tc, the_volume_of_a_detection_goes_by_its_period);
	tcase_add_test(tc, samples_without_a_time_stay_as_they_are_in_the_file);
	tcase_add_test(tc,
		       a_recording_without_memory_samples_says_what_to_record);
	tcase_add_test(tc, an_index_finds_what_was_put_and_forgets);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
