/* SPDX-License-Identifier: MIT */
/*
 * test_trace - traces made by hand, whole and damaged
 */
#include <errno.h>

#include "analysis/model/trace.h"
#include "tests/fake/fake_trace.h"
#include "tests/run_suite.h"
#include "tests/sandbox.h"

enum {
	STEPS = 5000,
	MANY_CHUNKS = 3, /* that a stream of so many steps needs */
};

static struct fake_trace fake;
static char path[128], error[TRACE_ERROR_BYTES];

static void begin(void)
{
	sandbox_setup();
	snprintf(path, sizeof(path), "%s/x.trace", sandbox);
	fake_trace_init(&fake);
}

static void end(void)
{
	fake_trace_release(&fake);
	sandbox_teardown();
}

static uint64_t address_of(uint64_t i)
{
	return i * i * UINT64_C(0x9e3779b97f4a7c15);
}

/* Two blocks: a load and a store, and a load alone. */
static void make_blocks(void)
{
	fake_trace_block(&fake, 0x1000);
	fake_trace_insn(&fake, "\x48\x8b\x07", 3); /* mov (%rdi),%rax */
	fake_trace_insn(&fake, "\x90", 1);
	fake_trace_insn(&fake, "\x48\x89\x07", 3); /* mov %rax,(%rdi) */
	fake_trace_block(&fake, 0x2000);
	fake_trace_insn(&fake, "\x48\x8b\x06", 3);
}

/* Thread @thread runs them in an order without a rule. */
static void run_blocks(int thread, int steps)
{
	for (int i = 0; i < steps; i++) {
		uint32_t block = address_of((uint64_t)i) >> 40 & 1;

		fake_trace_run(&fake, thread, block);
		fake_trace_access(&fake, thread, 0, false,
				  address_of((uint64_t)(i + thread)));
		if (!block)
			fake_trace_access(&fake, thread, 2, true,
					  address_of((uint64_t)-i));
	}
}

static void must_open(struct trace *t)
{
	ck_assert_msg(!trace_open(t, path, error), "%s", error);
}

/* Compare thread @thread of @t with what run_blocks made. */
static void compare(const struct trace *t, size_t thread)
{
	struct trace_stream *s = trace_stream_open(t, thread);

	for (int i = 0; i < STEPS; i++) {
		uint32_t block = address_of((uint64_t)i) >> 40 & 1;
		const struct trace_step *step = &s->step;

		ck_assert_msg(trace_stream_next(s) == 1, "%s", s->error);
		ck_assert_ptr_eq(step->block, &t->block[block]);
		ck_assert_uint_eq(step->accesses, block ? 1 : 2);
		ck_assert_uint_eq(step->access[0].addr,
				  address_of((uint64_t)i + thread));
		ck_assert(!step->access[0].store);
		if (!block) {
			ck_assert_uint_eq(step->access[1].addr,
					  address_of((uint64_t)-i));
			ck_assert_uint_eq(step->access[1].index, 2);
			ck_assert(step->access[1].store);
		}
		block = address_of((uint64_t)i + 1) >> 40 & 1;
		ck_assert_uint_eq(step->next_ip,
				  i + 1 == STEPS ? 0 : t->block[block].ip);
	}
	ck_assert_int_eq(trace_stream_next(s), 0);
	trace_stream_close(s);
}

START_TEST(threads_read_as_they_were_written)
{
	struct trace t;

	make_blocks();
	run_blocks(0, STEPS);
	run_blocks(1, STEPS);
	fake_trace_write(&fake, path);
	must_open(&t);
	ck_assert_uint_eq(t.blocks, 2);
	ck_assert_uint_eq(t.block[0].end, 0x1007);
	ck_assert_uint_eq(t.threads, 2);
	ck_assert_uint_ge(t.thread[0].chunks, MANY_CHUNKS);
	ck_assert_uint_eq(t.thread[0].instructions,
			  fake.thread[0]->instructions);
	ck_assert(t.complete);
	ck_assert_ptr_null(t.warning);
	compare(&t, 0);
	compare(&t, 1);
	trace_close(&t);
}
END_TEST

START_TEST(events_stand_behind_their_block)
{
	struct trace_stream *s;
	struct trace t;

	make_blocks();
	fake_trace_event(&fake, 0, TRACE_BARRIER, 7, 2);
	fake_trace_run(&fake, 0, 1);
	fake_trace_event(&fake, 0, TRACE_LOCK, 0x77, 0);
	fake_trace_event(&fake, 0, TRACE_UNLOCK, 0x77, 0);
	fake_trace_run(&fake, 0, 0);
	fake_trace_write(&fake, path);
	must_open(&t);
	s = trace_stream_open(&t, 0);
	ck_assert_int_eq(trace_stream_next(s), 1);
	ck_assert_ptr_null(s->step.block);
	ck_assert_uint_eq(s->step.events, 1);
	ck_assert_uint_eq(s->step.event[0].argument, 2);
	ck_assert_int_eq(trace_stream_next(s), 1);
	ck_assert_ptr_eq(s->step.block, &t.block[1]);
	ck_assert_uint_eq(s->step.next_ip, 0x1000);
	ck_assert_uint_eq(s->step.events, 2);
	ck_assert_int_eq(s->step.event[1].kind, TRACE_UNLOCK);
	ck_assert_int_eq(trace_stream_next(s), 1);
	ck_assert_uint_eq(s->step.events, 0);
	ck_assert_int_eq(trace_stream_next(s), 0);
	trace_stream_close(s);
	trace_close(&t);
}
END_TEST

START_TEST(a_directory_stands_for_its_only_trace)
{
	struct trace t;

	ck_assert_int_eq(trace_open(&t, sandbox, error), -EINVAL);
	ck_assert_ptr_nonnull(strstr(error, "holds no trace"));
	make_blocks();
	run_blocks(0, 1);
	fake_trace_write(&fake, path);
	ck_assert_int_eq(trace_open(&t, sandbox, error), 0);
	trace_close(&t);
	path[strlen(sandbox) + 1] = 'y';
	fake_trace_write(&fake, path);
	ck_assert_int_eq(trace_open(&t, sandbox, error), -EINVAL);
	ck_assert_ptr_nonnull(strstr(error, "2 traces"));
}
END_TEST

START_TEST(a_trace_that_was_cut_short_is_read_with_a_warning)
{
	struct trace t;

	make_blocks();
	run_blocks(0, STEPS);
	fake.cut_short = true;
	fake_trace_write(&fake, path);
	ck_assert_int_eq(truncate(path, 10000), 0);
	must_open(&t);
	ck_assert(!t.complete);
	ck_assert_ptr_nonnull(strstr(t.warning, "cut short"));
	ck_assert_uint_gt(t.file.cut, 0);
	trace_close(&t);
}
END_TEST

/* Read all that can be read, as simulate does. Returns the number of errors. */
static int read_all(void)
{
	struct trace t;
	int errors = 0;

	if (trace_open(&t, path, error)) {
		ck_assert_str_ne(error, "");
		return 1;
	}
	for (size_t i = 0; i < t.threads; i++) {
		struct trace_stream *s = trace_stream_open(&t, i);
		int r;

		while ((r = trace_stream_next(s)) > 0)
			;
		if (r < 0)
			ck_assert_ptr_nonnull(strstr(s->error, "offset"));
		errors += r < 0;
		trace_stream_close(s);
	}
	trace_close(&t);
	return errors;
}

/* True if byte @i of the file is in the content of a chunk. */
static bool is_content(const unsigned char *bytes, size_t n, size_t i)
{
	size_t at = sizeof(struct trace_header);
	struct trace_chunk c;

	while (at + sizeof(c) <= n) {
		memcpy(&c, bytes + at, sizeof(c));
		at += sizeof(c);
		if (i < at)
			return false;
		if (i < at + c.stored)
			return true;
		at += c.stored;
	}
	return false;
}

/*
 * A header has bytes that nothing depends on; a changed byte of a chunk's
 * content is always found, by its check sum.
 */
START_TEST(every_changed_byte_of_content_is_found)
{
	static unsigned char bytes[1 << 16];
	size_t n;
	FILE *f;

	make_blocks();
	run_blocks(0, 60);
	run_blocks(1, 60);
	fake_trace_write(&fake, path);
	f = fopen(path, "r+");
	n = fread(bytes, 1, sizeof(bytes), f);
	for (size_t i = 0; i < n; i++)
		for (int bit = 0; bit < 8; bit += 3) {
			unsigned char c = bytes[i] ^ (unsigned char)(1 << bit);
			int found;

			fseek(f, (long)i, SEEK_SET);
			fputc(c, f);
			fflush(f);
			found = read_all();
			if (is_content(bytes, n, i))
				ck_assert_int_gt(found, 0);
			fseek(f, (long)i, SEEK_SET);
			fputc(bytes[i], f);
			fflush(f);
		}
	fclose(f);
	ck_assert_int_eq(read_all(), 0);
}
END_TEST

/* Tokens that no writer makes, in a chunk whose check sum is right. */
static const struct {
	unsigned char bytes[12];
	size_t n;
	const char *words;
	bool blockless; /* in a trace that describes no block */
} bad[] = {
	{ { 0x41 }, 1, "an access before the first block", false },
	{ { 0x20 }, 1, "a block that the trace does not have", false },
	{ { 0x04 | 0 }, 1, "a block that the trace does not have", false },
	{ { 0x00 }, 1, "a block that the trace does not have", true },
	{ { 0x00, 0x0d, 0x00 }, 3, "behind the end of its block", false },
	{ { 0x00, 0x01 }, 2, "an access without an address", false },
	{ { 0x00, 0x80 }, 2, "a token is cut off", false },
	{ { 0x00, 0x03, 1, 1 }, 4, "an event of an unknown kind", false },
	{ { 0x00, 0xff, 0x01, 1, 1 }, 5, "an event of an unknown kind", false },
	{ { 0x00, 0x07, 1 }, 3, "an event without its object", false },
};

START_TEST(tokens_that_make_no_sense_are_refused)
{
	struct trace_stream *s;
	struct trace t;
	int r;

	if (!bad[_i].blockless)
		make_blocks();
	for (size_t i = 0; i < bad[_i].n; i++) {
		struct fake_stream *to = fake_trace_stream(&fake, 0);

		fake_trace_number(to, 0); /* makes room */
		to->bytes[to->n - 1] = bad[_i].bytes[i];
	}
	fake_trace_write(&fake, path);
	must_open(&t);
	s = trace_stream_open(&t, 0);
	while ((r = trace_stream_next(s)) > 0)
		;
	ck_assert_int_eq(r, -EINVAL);
	ck_assert_msg(strstr(s->error, bad[_i].words), "'%s' not in: %s",
		      bad[_i].words, s->error);
	trace_stream_close(s);
	trace_close(&t);
}
END_TEST

/* A use of a line in a quick part, which is so many lines further. */
static void use(enum trace_token token, int64_t further, uint64_t insns,
		uint64_t accesses)
{
	struct fake_stream *s = fake_trace_stream(&fake, 0);

	fake_trace_number(s, trace_zigzag(further) << TRACE_TOKEN_BITS | token);
	fake_trace_number(s, insns);
	fake_trace_number(s, accesses);
}

/* A block, a quick part with three uses and a lock, and a block. */
static void make_quick_part(void)
{
	make_blocks();
	fake_trace_run(&fake, 0, 0);
	fake_trace_event(&fake, 0, TRACE_QUICK, 0x2000, 0);
	use(TRACE_LOAD, 100, 7, 3);
	use(TRACE_STORE, -10, 2, 1);
	use(TRACE_BLOCK, 5, 0, 0);
	fake_trace_event(&fake, 0, TRACE_PASS, 4, 2);
	fake_trace_event(&fake, 0, TRACE_LOCK, 0x50, 0);
	fake_trace_event(&fake, 0, TRACE_WHOLE, 0x2000, 0);
	fake_trace_run(&fake, 0, 1);
	fake_trace_write(&fake, path);
}

/* The stream of that, for a reader that knows quick parts. */
static struct trace_stream *open_quick_part(struct trace *t)
{
	struct trace_stream *s;

	make_quick_part();
	must_open(t);
	s = trace_stream_open(t, 0);
	s->takes_quick = true;
	return s;
}

START_TEST(a_quick_part_tells_uses_of_lines_and_how_much_passed)
{
	static const struct {
		enum trace_token use;
		uint64_t line, insns, passed;
		size_t events;
	} wanted[] = {
		{ TRACE_LOAD, 100, 7, 3, 0 }, { TRACE_STORE, 90, 2, 1, 0 },
		{ TRACE_BLOCK, 95, 0, 0, 0 }, { TRACE_EVENT, 95, 4, 2, 0 },
		{ TRACE_EVENT, 95, 0, 0, 1 },
	};
	const struct trace_step *step;
	struct trace_stream *s;
	struct trace t;

	s = open_quick_part(&t);
	step = &s->step;
	ck_assert_int_eq(trace_stream_next(s), 1);
	ck_assert_ptr_eq(step->block, &t.block[0]);
	ck_assert_uint_eq(step->next_ip, 0x2000);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		ck_assert_int_eq(trace_stream_next(s), 1);
		ck_assert(step->quick && !step->block);
		ck_assert_int_eq(step->use.kind, wanted[i].use);
		ck_assert_uint_eq(step->use.line, wanted[i].line);
		ck_assert_uint_eq(step->use.insns, wanted[i].insns);
		ck_assert_uint_eq(step->use.passed, wanted[i].passed);
		ck_assert_uint_eq(step->events, wanted[i].events);
	}
	ck_assert_int_eq(trace_stream_next(s), 1);
	ck_assert_ptr_eq(step->block, &t.block[1]);
	ck_assert_uint_eq(step->use.insns, 0);
	ck_assert_int_eq(trace_stream_next(s), 0);
	trace_stream_close(s);
	trace_close(&t);
}
END_TEST

START_TEST(uses_read_on_their_own_are_those_of_steps)
{
	struct trace_use u = { .kind = TRACE_EVENT };
	struct trace_stream *s;
	struct trace t;

	s = open_quick_part(&t);
	ck_assert_int_eq(trace_stream_next(s), 1);
	ck_assert(trace_stream_use(s, &u)); /* the part has begun */
	ck_assert_int_eq(u.kind, TRACE_LOAD);
	ck_assert_uint_eq(u.line, 100);
	ck_assert_int_eq(trace_stream_next(s), 1);
	ck_assert_uint_eq(s->step.use.line, 90); /* it goes on from the other */
	ck_assert(trace_stream_use(s, &u));
	ck_assert_uint_eq(u.line, 95);
	ck_assert(trace_stream_use(s, &u)); /* the pass */
	ck_assert_uint_eq(u.insns, 4);
	ck_assert(!trace_stream_use(s, &u)); /* the lock is left */
	ck_assert_int_eq(trace_stream_next(s), 1);
	ck_assert_uint_eq(s->step.events, 1);
	trace_stream_close(s);
	trace_close(&t);
}
END_TEST

START_TEST(a_quick_part_is_refused_by_who_needs_all)
{
	struct trace_stream *s;
	struct trace t;

	make_quick_part();
	must_open(&t);
	s = trace_stream_open(&t, 0);
	ck_assert_int_eq(trace_stream_next(s), -EINVAL);
	ck_assert_ptr_nonnull(strstr(s->error, "a trace for a profile"));
	trace_stream_close(s);
	trace_close(&t);
}
END_TEST

START_TEST(foreign_files_are_refused)
{
	struct trace t;
	FILE *f = fopen(path, "w");

	for (int i = 0; i < 100; i++)
		fputs("neither a trace ", f);
	fclose(f);
	ck_assert_int_eq(trace_open(&t, path, error), -EINVAL);
	ck_assert_ptr_nonnull(strstr(error, "offset 0: not a trace"));
	ck_assert_int_eq(truncate(path, 10), 0);
	ck_assert_int_eq(trace_open(&t, path, error), -EINVAL);
	ck_assert_ptr_nonnull(strstr(error, "too short"));
	ck_assert_int_eq(trace_open(&t, "/nowhere", error), -EINVAL);
	ck_assert_int_eq(trace_open(&t, "/dev/null", error), -EINVAL);
	ck_assert_ptr_nonnull(strstr(error, "not a file"));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("trace");
	TCase *t = tcase_create("trace");

	tcase_add_checked_fixture(t, begin, end);
	tcase_set_timeout(t, 300);
	tcase_add_test(t, threads_read_as_they_were_written);
	tcase_add_test(t, events_stand_behind_their_block);
	tcase_add_test(t, a_directory_stands_for_its_only_trace);
	tcase_add_test(t, a_trace_that_was_cut_short_is_read_with_a_warning);
	tcase_add_test(t, every_changed_byte_of_content_is_found);
	tcase_add_loop_test(t, tokens_that_make_no_sense_are_refused, 0,
			    sizeof(bad) / sizeof(*bad));
	tcase_add_test(t, a_quick_part_tells_uses_of_lines_and_how_much_passed);
	tcase_add_test(t, uses_read_on_their_own_are_those_of_steps);
	tcase_add_test(t, a_quick_part_is_refused_by_who_needs_all);
	tcase_add_test(t, foreign_files_are_refused);
	suite_add_tcase(s, t);
	return run_suite(s);
}
