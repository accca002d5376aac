/* SPDX-License-Identifier: MIT */
/*
 * test_format - the documented offsets are those of the structures
 */
#include <check.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "src/store/cdp.h"
#include "tests/run_suite.h"

/* docs/format.md, from the directory of the test or the one it runs in. */
static const char *format_page(void)
{
	/* build/tests/DIR/DIR/test_X, build/san-X/tests/... */
	static const char *const above[] = { "../../../../",
					     "../../../../../" };
	static char text[64 * 1024];
	char name[4200] = { 0 };
	ssize_t len = readlink("/proc/self/exe", name, 4096);
	int fd = open("docs/format.md", O_RDONLY);

	ck_assert_int_gt(len, 0);
	len = strrchr(name, '/') + 1 - name;
	for (int i = 0; fd < 0 && i < 2; i++) {
		snprintf(name + len, sizeof(name) - len, "%sdocs/format.md",
			 above[i]);
		fd = open(name, O_RDONLY);
	}
	ck_assert_int_ge(fd, 0);
	len = read(fd, text, sizeof(text) - 1);
	ck_assert_int_gt(len, 0);
	close(fd);
	return text;
}

START_TEST(the_format_page_has_every_field_where_it_is)
{
	static const struct {
		const char *heading, *field;
		size_t offset, bytes;
	} rows[] = {
#define ROW(heading, type, field)                                              \
	{ heading, #field, offsetof(struct type, field),                       \
	  sizeof(((struct type *)0)->field) }
#define H(field) ROW("### Header", cdp_header, field)
#define G(field) ROW("### Page", cdp_page, field)
#define T(field) ROW("### Thread", cdp_thread, field)
#define P(field) ROW("### Pair", cdp_pair, field)
#define C(field) ROW("### Core", cdp_core, field)
#define M(field) ROW("### Map", cdp_map, field)
#define X(field) ROW("### Transfer", cdp_transfer, field)
#define Y(field) ROW("### Memory", cdp_memory, field)
#define U(field) ROW("### Reuse", cdp_reuse, field)
#define N(field) ROW("### Path", cdp_path, field)
		H(magic),
		H(version),
		H(header_bytes),
		H(page_bytes),
		H(sections),
		H(section),
		H(pages),
		H(bytes),
		H(state),
		H(pid),
		H(parent_pid),
		H(line_bytes),
		H(process_start),
		H(start_real),
		H(start_mono),
		H(last_mono),
		H(cpu_ns),
		H(run_id),
		H(boot_id),
		H(host),
		H(kernel),
		H(cpu),
		H(source),
		H(source_reason),
		H(delivery),
		H(algorithm),
		H(period_unit),
		H(period),
		H(modes),
		H(registers),
		H(registers_reason),
		H(board_slots),
		H(cores),
		H(expiry),
		H(watch_expiry),
		H(loss),
		H(not_followed),
		H(exe),
		H(command),
		H(note),
		H(slice),
		H(turns_shared),
		H(turns_by_time),
		H(unordered),
		H(end_how),
		H(end_value),
		H(number),
		H(samples_exact),
		H(samples_verified),
		H(samples_racy),
		H(rank),
		H(ranks),
		H(slow_period),
		H(kernel_ns),
		T(id),
		T(tid),
		T(state),
		T(count),
		T(name),
		T(start_routine),
		T(start_mono),
		T(end_mono),
		T(cpu_ns),
		T(interrupts),
		T(samples),
		T(loads),
		T(stores),
		T(traps),
		T(exec_traps),
		T(arms),
		T(detections),
		T(loss),
		T(handler_ns),
		T(counted_loads),
		T(counted_stores),
		T(counted_load_bytes),
		T(counted_store_bytes),
		T(counted_scaled),
		T(reuse_resolution),
		T(squares),
		T(samples_skipped),
		T(clock_interrupts),
		T(looks),
		T(look_accesses),
		P(publisher_thread),
		P(detector_thread),
		P(publisher_addr),
		P(detector_addr),
		P(publisher_ip),
		P(detector_ip),
		P(publisher_len),
		P(detector_len),
		P(publisher_flags),
		P(detector_flags),
		P(sharing),
		P(by),
		P(line),
		P(count),
		P(periods_q8),
		P(first_mono),
		P(last_mono),
		P(map_generation),
		P(avoidable),
		P(unavoidable),
		P(publisher_process),
		C(publisher_core),
		C(detector_core),
		C(count),
		C(traps),
		C(periods_q8),
		M(start),
		M(end),
		M(file_offset),
		M(generation),
		M(inode),
		M(dev_major),
		M(dev_minor),
		M(prot),
		M(flags),
		M(path),
		M(build_id),
		M(build_id_bytes),
		M(ipc_namespace),
		X(kind),
		X(a),
		X(b),
		X(value),
		Y(kind),
		Y(access),
		Y(event.name),
		Y(event.samples),
		Y(event.left_out),
		Y(event.periods),
		Y(event.interval),
		Y(event.enabled),
		Y(event.running),
		Y(event.lost),
		Y(event.throttled),
		Y(event.config),
		Y(tally.address),
		Y(tally.map_generation),
		Y(tally.source),
		Y(tally.samples),
		Y(tally.periods),
		Y(tally.periods_squared),
		Y(tally.hitm),
		Y(tally.locked),
		Y(tally.tlb_miss),
		Y(tally.latencies),
		Y(tally.latency_sum),
		Y(tally.latency_max),
		Y(tally.example),
		Y(block.start),
		Y(block.bytes),
		Y(block.caller),
		Y(block.map_generation),
		Y(block.flags),
		Y(block.path),
		Y(calls.publisher_thread),
		Y(calls.detector_thread),
		Y(calls.publisher_path),
		Y(calls.detector_path),
		Y(calls.line),
		Y(calls.sharing),
		Y(calls.count),
		Y(calls.avoidable),
		Y(calls.unavoidable),
		Y(region.name),
		Y(region.samples),
		Y(region.samples_skipped),
		Y(region.detections),
		Y(region.avoidable),
		Y(region.unavoidable),
		Y(slices.publisher_thread),
		Y(slices.detector_thread),
		Y(slices.publisher_process),
		Y(slices.shift),
		Y(slices.first),
		Y(slices.count),
		U(kind),
		U(scope),
		U(granularity),
		U(outcome),
		U(pairing),
		U(spatial),
		U(domain),
		U(thread),
		U(bin),
		U(use_ip),
		U(end_ip),
		U(weight),
		U(squares),
		U(offset),
		U(offset_squares),
		U(count),
		U(map_generation),
		N(node),
		N(parent),
		N(ip),
		N(map_generation),
		N(flags),
		G(section),
		G(committed),
		G(reserved),
	};
	const char *page = format_page();

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *at = strstr(page, rows[i].heading), *end, *found;
		char row[128];

		ck_assert_ptr_nonnull(at);
		end = strstr(at, "\n#");
		snprintf(row, sizeof(row), "\n| %zu | %zu | `%s` |",
			 rows[i].offset, rows[i].bytes, rows[i].field);
		found = strstr(at, row);
		if (!found || (end && found > end))
			ck_abort_msg("%s lacks%s", rows[i].heading, row);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("format");
	TCase *tc = tcase_create("format");

	tcase_add_test(tc, the_format_page_has_every_field_where_it_is);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
