/* SPDX-License-Identifier: MIT */
/*
 * test_perf_data - recordings in every form
 */
#include "perf_data_fixture.h"
#include "analysis/import/perf_data_internal.h"
#include "tests/run_suite.h"

/* The expected records: all except those that perf itself writes. */
static void kernel_records(const struct perf_file *f, struct gen *to)
{
	for (size_t at = 0; at < f->data.used;) {
		struct perf_event_header h;

		memcpy(&h, f->data.bytes + at, sizeof(h));
		if (h.type < 64)
			gen_bytes(to, f->data.bytes + at, h.size);
		at += h.size;
	}
}

/* 0: file, 1: stream, 2 to 5: compressed in pieces of growing size. */
START_TEST(every_form_hands_out_the_same_records)
{
	static const size_t piece[] = { 0, 0, 1, 7, 100, 60000 };
	struct gen out = { 0 }, wanted = { 0 }, got = { 0 };
	struct perf_file f = { 0 };
	struct perf_data d;

	small(&f);
	kernel_records(&f, &wanted);
	if (piece[_i])
		perf_file_compress(&f, piece[_i]);
	if (_i % 2)
		perf_file_write_stream(&f, &out);
	else
		perf_file_write(&f, &out);
	ck_assert_int_eq(read_all(&d, put(&out, out.used), &got), 0);
	ck_assert_uint_eq(got.used, wanted.used);
	ck_assert_mem_eq(got.bytes, wanted.bytes, wanted.used);

	ck_assert_uint_eq(d.events, 2);
	for (int i = 0; i < 2; i++)
		perf_data_name_kind(&d, &d.event[i]);
	ck_assert_str_eq(d.event[0].name, "cpu/mem-loads/");
	ck_assert_int_eq(d.event[0].kind, PERF_KIND_LOADS);
	ck_assert_int_eq(d.event[1].kind, PERF_KIND_STORES);
	ck_assert_uint_eq(d.event[1].attr.config, 0x2cd);
	ck_assert_str_eq(d.host, "host");
	ck_assert_str_eq(d.kernel, "6.1");
	ck_assert_str_eq(d.perf, "6.2");
	ck_assert_str_eq(d.cpu, "a processor");
	ck_assert_str_eq(d.command, "perf mem record");
	ck_assert_uint_eq(d.cpus, 2);
	ck_assert_uint_eq(d.ibs_cpu.family, 25);
	ck_assert_uint_eq(d.ibs_cpu.model, 17);
	ck_assert_uint_eq(d.build_ids, 1);
	ck_assert_str_eq(d.build_id[0].file, "/bin/small");
	ck_assert_uint_eq(d.build_id[0].id[2], 3);
	ck_assert(d.build_id[0].user);
	perf_data_close(&d);
	gen_release(&out);
	gen_release(&got);
	gen_release(&wanted);
	perf_file_release(&f);
}
END_TEST

START_TEST(records_belong_to_the_event_of_their_id)
{
	struct perf_file f = { 0 };
	struct gen out = { 0 };
	struct perf_data d;
	const void *record;
	size_t bytes, n[2] = { 0 };
	int fd;

	small(&f);
	perf_file_write(&f, &out);
	fd = put(&out, out.used);
	ck_assert_int_eq(perf_data_open(&d, fd), 0);
	while (perf_data_next(&d, &record, &bytes) > 0) {
		const struct perf_data_event *e;
		struct perf_event_header h;
		struct perf_data_id *id;

		memcpy(&h, record, sizeof(h));
		e = perf_data_event(&d, record, bytes, &id);
		ck_assert_ptr_nonnull(e);
		ck_assert_ptr_nonnull(id);
		if (h.type == PERF_RECORD_SAMPLE)
			n[e - d.event]++;
	}
	ck_assert_uint_eq(n[0], 10);
	ck_assert_uint_eq(n[1], 10);
	/* A sample whose id no event has belongs to no event. */
	f.data.used = 0;
	f.event[0].id[0] = 999;
	perf_file_comm(&f, 1, 2, "small", false, 1);
	ck_assert_ptr_null(
		perf_data_event(&d, f.data.bytes, f.data.used, NULL));
	perf_data_close(&d);
	close(fd);
	gen_release(&out);
	perf_file_release(&f);
}
END_TEST

/* Older and newer kernels have shorter and longer attributes than ours. */
START_TEST(attributes_have_the_size_that_the_header_says)
{
	static const size_t size[] = { 64, 112, 136, 200 };
	struct perf_event_attr attr = { .size = size[_i],
					.sample_type = TYPE,
					.config = 0x1cd,
					.type = PERF_TYPE_RAW };
	char padded[256] = { 0 };
	struct gen out = { 0 };
	struct perf_data d;
	int fd;

	memcpy(padded, &attr, sizeof(attr));
	gen_bytes(&out, "PERFILE2", 8);
	gen_u64(&out, 104);
	gen_u64(&out, size[_i] + 16);
	gen_u64(&out, 104); /* attributes */
	gen_u64(&out, size[_i] + 16);
	gen_u64(&out, 104 + size[_i] + 16); /* data: one record */
	gen_u64(&out, 8);
	for (int i = 0; i < 6; i++)
		gen_u64(&out, 0);
	gen_bytes(&out, padded, size[_i]);
	gen_u64(&out, 0);
	gen_u64(&out, 0);
	gen_end(&out, gen_begin(&out, 68, 0));
	fd = put(&out, out.used);
	ck_assert_int_eq(perf_data_open(&d, fd), 0);
	ck_assert_uint_eq(d.events, 1);
	ck_assert_uint_eq(d.event[0].attr.sample_type, TYPE);
	ck_assert_uint_eq(d.event[0].attr.config, 0x1cd);
	perf_data_close(&d);
	close(fd);
	gen_release(&out);
}
END_TEST

static void refused(const struct gen *g, const char *words)
{
	char error[256];

	ck_assert_int_eq(read_bytes(g, g->used, error), -EBADMSG);
	if (!strstr(error, words))
		ck_abort_msg("says '%s', not '%s'", error, words);
	ck_assert_ptr_null(strchr(error, '\n'));
}

static void stream_header(struct gen *g)
{
	g->used = 0;
	gen_bytes(g, "PERFILE2", 8);
	gen_u64(g, 16);
}

START_TEST(what_cannot_be_read_is_refused_with_its_reason)
{
	struct perf_file f = { 0 };
	struct gen g = { 0 };
	size_t at;

	gen_bytes(&g, "2ELIFREP", 8);
	gen_u64(&g, 0);
	refused(&g, "big-endian");
	g.used = 0;
	gen_bytes(&g, "PERFFILE", 8);
	gen_u64(&g, 0);
	refused(&g, "2012");
	g.used = 0;
	refused(&g, "not a perf.data file");
	gen_u64(&g, 0);
	gen_u64(&g, 0);
	refused(&g, "not a perf.data file");

	f.arch = "aarch64";
	perf_file_event(&f, "x", TYPE);
	perf_file_comm(&f, 1, 1, "x", false, 1);
	perf_file_write(&f, &g);
	refused(&g, "aarch64");
	f.arch = NULL;
	perf_file_event(&f, "y", TYPE & ~(uint64_t)PERF_SAMPLE_ID);
	perf_file_write(&f, &g);
	refused(&g, "which one they belong to");
	f.event[1].attr.sample_type =
		TYPE & ~(uint64_t)PERF_SAMPLE_ADDR; /* id moved */
	perf_file_write(&f, &g);
	refused(&g, "which one they belong to");
	f.events = 1;
	f.data.used = 0;
	perf_file_write(&f, &g);
	refused(&g, "did not finish");
	perf_file_release(&f);

	stream_header(&g);
	gen_u64(&g, 1); /* a record of size 0 */
	refused(&g, "damaged");
	stream_header(&g);
	at = gen_begin(&g, 71, 0); /* AUXTRACE larger than what is left */
	gen_u64(&g, 1000);
	gen_end(&g, at);
	refused(&g, "within a record");
	stream_header(&g);
	at = gen_begin(&g, 81, 0);
	gen_u64(&g, 12345);
	gen_end(&g, at);
	refused(&g, "compress");
	gen_release(&g);
}
END_TEST

START_TEST(compressed_records_do_not_nest)
{
	struct perf_file f = { 0 };
	struct gen g = { 0 };

	perf_file_event(&f, "x", TYPE);
	perf_file_comm(&f, 1, 1, "x", false, 1);
	perf_file_compress(&f, 1000);
	perf_file_compress(&f, 1000);
	perf_file_write_stream(&f, &g);
	refused(&g, "twice");
	gen_release(&g);
	perf_file_release(&f);
}
END_TEST

/* Data recorded by other tools is skipped, however long it is. */
START_TEST(payload_of_traces_is_passed_over)
{
	struct gen g = { 0 }, all = { 0 };
	struct perf_data d;
	size_t at;

	stream_header(&g);
	at = gen_begin(&g, 71, 0);
	gen_u64(&g, 3000000);
	gen_end(&g, at);
	for (int i = 0; i < 3000000 / 8; i++)
		gen_u64(&g, 0x0008000000000001);
	at = gen_begin(&g, 66, 0);
	gen_u32(&g, 13);
	gen_u32(&g, 0);
	gen_end(&g, at);
	gen_u64(&g, 1);
	gen_u64(&g, 1);
	at = gen_begin(&g, PERF_RECORD_COMM, 0);
	gen_u64(&g, 1);
	gen_end(&g, at);
	gen_end(&g, gen_begin(&g, 200, 0));
	ck_assert_int_eq(read_all(&d, put(&g, g.used), &all), 0);
	ck_assert_uint_eq(all.used, 16);
	ck_assert_uint_eq(d.unknown, 1);
	perf_data_close(&d);
	gen_release(&g);
	gen_release(&all);
}
END_TEST

START_TEST(kinds_follow_from_names_and_codes)
{
	static const struct {
		const char *name;
		uint32_t type;
		uint64_t config;
		enum perf_kind kind;
	} events[] = {
		{ "cpu/mem-loads,ldlat=30/P", 4, 0x1cd, PERF_KIND_LOADS },
		{ "cpu_core/mem-stores/P", 4, 0x2cd, PERF_KIND_STORES },
		{ "MEM_TRANS_RETIRED.LOAD_LATENCY:ldlat=64", 4, 0x1cd,
		  PERF_KIND_LOADS },
		{ "mem_inst_retired.all_stores:pp", 4, 0, PERF_KIND_STORES },
		{ "mem_inst_retired.all_loads:pp", 4, 0, PERF_KIND_LOADS },
		{ "mem_load_l3_hit_retired.xsnp_hitm", 4, 0, PERF_KIND_LOADS },
		{ "r82d0:pp", 4, 0x82d0, PERF_KIND_STORES },
		{ "r81d0:pp", 4, 0x81d0, PERF_KIND_LOADS },
		{ "r12d0:pp", 4, 0x12d0, PERF_KIND_STORES },
		{ "r4d1:pp", 4, 0x4d1, PERF_KIND_LOADS },
		{ "r3c", 4, 0x3c, PERF_KIND_UNKNOWN },
		{ "ibs_op/cnt_ctl=1/", 9, 0x80000, PERF_KIND_IBS_OP },
		{ "cycles", 0, 0, PERF_KIND_UNKNOWN },
		{ "mem:0x1000/8:w", 5, 0, PERF_KIND_STORES },
		{ "mem:0x1000/8:rw", 5, 0, PERF_KIND_UNKNOWN },
	};
	struct perf_file f = { 0 };
	struct gen out = { 0 }, all = { 0 };
	struct perf_file_event *e = perf_file_event(&f, events[_i].name, TYPE);
	struct perf_data d;

	e->attr.type = events[_i].type;
	e->attr.config = events[_i].config;
	if (e->attr.type == PERF_TYPE_BREAKPOINT)
		e->attr.bp_type = strstr(events[_i].name, ":rw") ? 3 : 2;
	perf_file_comm(&f, 1, 1, "x", false, 1);
	perf_file_write(&f, &out);
	ck_assert_int_eq(read_all(&d, put(&out, out.used), &all), 0);
	perf_data_name_kind(&d, &d.event[0]);
	ck_assert_int_eq(d.event[0].kind, events[_i].kind);
	perf_data_close(&d);
	gen_release(&out);
	gen_release(&all);
	perf_file_release(&f);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("perf_data");
	TCase *tc = tcase_create("perf_data");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, every_form_hands_out_the_same_records, 0, 6);
	tcase_add_test(tc, records_belong_to_the_event_of_their_id);
	tcase_add_loop_test(tc, attributes_have_the_size_that_the_header_says,
			    0, 4);
	tcase_add_test(tc, what_cannot_be_read_is_refused_with_its_reason);
	tcase_add_test(tc, compressed_records_do_not_nest);
	tcase_add_test(tc, payload_of_traces_is_passed_over);
	tcase_add_loop_test(tc, kinds_follow_from_names_and_codes, 0, 15);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
