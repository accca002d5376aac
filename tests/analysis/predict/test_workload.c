/* SPDX-License-Identifier: MIT */
/*
 * test_workload - profiles of random traces against a second implementation
 *
 * It keeps all, and finds producers, reuse times and depths by looking at it.
 */
#include <errno.h>

#include "analysis/base/util.h"
#include "analysis/predict/workload_codec.h"
#include "analysis/predict/workload_file.h"
#include "src/base/rng.h"
#include "tests/fake/fake_trace.h"
#include "tests/oracle/slow_reuse.h"
#include "tests/run_suite.h"
#include "tests/sandbox.h"

enum {
	TRACES = 80,
	PARTS = 4,
	THREADS_MAX = 3,
	STEPS_MAX = 120,
	INTERVAL = 50, /* instructions: of each micro-trace, too */
	CODE = 0x401000,
	APART = 20, /* bytes between blocks */
	DATA = 0x10000,
	LINES = 200,
	ONE_SET = 2048 * 64, /* bytes between lines of a set of 2,048 */
};

static const struct {
	const char *code;
	uint8_t bytes;
	bool load, store;
} insns[] = {
	{ "\x48\x01\xc0", 3, false, false },     /* add %rax,%rax */
	{ "\x48\x83\xc1\x01", 4, false, false }, /* add $1,%rcx */
	{ "\x48\x0f\xaf\xc1", 4, false, false }, /* imul %rcx,%rax */
	{ "\x48\x8d\x50\x01", 4, false, false }, /* lea 1(%rax),%rdx */
	{ "\xf2\x0f\x58\xc1", 4, false, false }, /* addsd */
	{ "\x48\x8b\x00", 3, true, false },      /* mov (%rax),%rax */
	{ "\x48\x8b\x11", 3, true, false },      /* mov (%rcx),%rdx */
	{ "\x48\x03\x01", 3, true, false },      /* add (%rcx),%rax */
	{ "\x48\x89\x11", 3, false, true },      /* mov %rdx,(%rcx) */
	{ "\x48\x01\x11", 3, true, true },       /* add %rdx,(%rcx) */
	{ "\x75\x10", 2, false, false },         /* jne */
};
enum {
	INSNS = sizeof(insns) / sizeof(insns[0])
};

static struct rng rng;
static struct fake_trace fake;
static struct workload workload;
static struct trace trace;
static char path[128], file[128], error[WORKLOAD_ERROR_BYTES];
static int steps[THREADS_MAX], threads;
static uint32_t kind[16], blocks, ran[THREADS_MAX][STEPS_MAX];
static uint64_t addr[THREADS_MAX][STEPS_MAX];
static bool locked[THREADS_MAX][STEPS_MAX]; /* before the step */

static uint32_t below(uint32_t n)
{
	return (uint32_t)rng_below(&rng, n);
}

/* A lock of its own: nobody waits. */
static void make_lock(int t)
{
	uint64_t lock = DATA - 64 * (uint64_t)(t + 1);

	fake_trace_event(&fake, t, TRACE_LOCK, lock, 0);
	fake_trace_event(&fake, t, TRACE_UNLOCK, lock, 0);
}

static void make_trace(void)
{
	fake_trace_init(&fake);
	threads = 1 + (int)below(THREADS_MAX);
	blocks = 2 + below(14);
	for (uint32_t i = 0; i < blocks; i++) {
		kind[i] = below(INSNS);
		fake_trace_block(&fake, CODE + APART * i);
		fake_trace_insn(&fake, insns[kind[i]].code,
				insns[kind[i]].bytes);
	}
	for (int t = 0; t < threads; t++) {
		uint32_t lines = 1 + below(LINES);
		uint64_t apart = below(2) ? 64 : ONE_SET;

		steps[t] = 1 + (int)below(STEPS_MAX);
		for (int i = 0; i < steps[t]; i++) {
			uint32_t b = below(blocks);
			uint64_t *at = &addr[t][i];

			ran[t][i] = b;
			*at = DATA + apart * below(lines) + 8 * below(2);
			locked[t][i] = !below(8);
			if (locked[t][i])
				make_lock(t);
			fake_trace_run(&fake, t, b);
			if (insns[kind[b]].load)
				fake_trace_access(&fake, t, 0, false, *at);
			if (insns[kind[b]].store)
				fake_trace_access(&fake, t, 0, true, *at);
		}
	}
	fake_trace_write(&fake, path);
	ck_assert_msg(!trace_open(&trace, path, error), "%s", error);
	ck_assert_msg(!workload_collect(&workload, &trace, INTERVAL, error),
		      "%s", error);
}

static void drop_trace(void)
{
	workload_release(&workload);
	trace_close(&trace);
	fake_trace_release(&fake);
}

/* What a thread executed in its micro-trace. */
struct slow_uop {
	const struct uop *u;
	uint64_t addr; /* 0: no access */
};
static struct slow_uop before[THREADS_MAX][MICRO_UOPS];
static uint32_t number[THREADS_MAX];   /* in the micro-trace */
static uint32_t finished[THREADS_MAX]; /* micro-operations of all */
static uint64_t fetched[THREADS_MAX];

static bool writes(const struct uop *u, uint8_t reg)
{
	for (int i = 0; i < u->results; i++)
		if (u->result[i] == reg)
			return true;
	return false;
}

static void check_sources(int t, const struct micro_uop *m)
{
	uint32_t now = number[t], expected = 0;
	const struct uop *u = before[t][now].u;

	for (int i = 0; i < u->sources; i++)
		for (uint32_t k = now; k-- > 0;)
			if (writes(before[t][k].u, u->source[i])) {
				bool found = false;

				for (int s = 0; s < m->sources; s++)
					found |= m->source[s] == now - k;
				ck_assert_msg(found, "a producer is missing");
				break;
			}
	for (int s = 0; s < m->sources; s++) {
		bool found = false;

		for (int i = 0; i < u->sources; i++)
			found |= writes(before[t][now - m->source[s]].u,
					u->source[i]);
		ck_assert_msg(found, "a producer too many");
		expected++;
	}
	ck_assert_uint_eq(m->sources, expected);
}

static void check_memory(int t, const struct micro_uop *m)
{
	const struct slow_uop *x = &before[t][number[t]];
	uint32_t line = 0, forward = 0;

	for (uint32_t k = number[t]; k-- > 0;) {
		const struct slow_uop *y = &before[t][k];

		if (!x->addr || !y->addr)
			continue;
		if (!line && x->addr / 64 == y->addr / 64)
			line = number[t] - k;
		if (!forward && x->addr / 8 == y->addr / 8 &&
		    y->u->flags & UOP_IS_STORE)
			forward = number[t] - k;
	}
	ck_assert_uint_eq(m->line, line);
	ck_assert_uint_eq(m->forward, x->u->flags & UOP_IS_LOAD ? forward : 0);
}

static void execute(int t, int step)
{
	const struct workload_thread *w = &workload.thread[t];
	uint32_t b = ran[t][step];
	const struct trace_insn *insn = &trace.insn[trace.block[b].first];
	uint64_t line = insn->ip / 64, last = (insn->ip + insn->bytes - 1) / 64;
	const struct micro_uop *m;

	/* A micro-trace begins with nothing to wait for. */
	bool drained = locked[t][step] && step % INTERVAL;

	if (step % INTERVAL == 0)
		number[t] = 0;
	m = &w->uop[finished[t]];
	/* Only the second of two new lines is kept: blocks never have two. */
	ck_assert_uint_eq(line, last);
	ck_assert_int_eq(m->fetch != 0, line != fetched[t]);
	if (m->fetch)
		slow_check_use(t, line, true, false, workload.shared,
			       &w->access[m->fetch - 1]);
	fetched[t] = line;
	for (int i = 0; i < insn->decoded.uops; i++, m++) {
		const struct uop *u = &insn->decoded.uop[i];
		bool memory = u->flags & (UOP_IS_LOAD | UOP_IS_STORE);

		before[t][number[t]] =
			(struct slow_uop){ u, memory ? addr[t][step] : 0 };
		ck_assert_uint_eq(m->class, u->class);
		ck_assert_uint_eq(
			m->flags,
			u->flags | (drained && !i ? MICRO_IS_DRAINED : 0));
		ck_assert_int_eq(m->access != 0, memory);
		if (memory)
			slow_check_use(t, addr[t][step] / 64, false,
				       u->flags & UOP_IS_STORE, workload.shared,
				       &w->access[m->access - 1]);
		check_sources(t, m);
		check_memory(t, m);
		number[t]++;
		finished[t]++;
	}
}

static void check_all(void)
{
	int at[THREADS_MAX] = { 0 };

	slow_uses = 0;
	for (int t = 0; t < threads; t++) {
		number[t] = finished[t] = 0;
		fetched[t] = 0;
	}
	for (;;) {
		int next = -1;

		for (int t = 0; t < threads; t++)
			if (at[t] < steps[t] && (next < 0 || at[t] < at[next]))
				next = t;
		if (next < 0)
			break;
		execute(next, at[next]++);
	}
	for (int t = 0; t < threads; t++)
		ck_assert_uint_eq(finished[t], workload.thread[t].uops);
}

/* The windows count what the micro-traces, which are everything here, have. */
static void check_windows(void)
{
	for (int t = 0; t < threads; t++) {
		const struct workload_thread *w = &workload.thread[t];
		uint64_t uops = 0, reuses = 0, depths = 0, insns_seen = 0;

		for (size_t i = 0; i < w->windows; i++) {
			insns_seen += w->window[i].instructions;
			for (int k = 0; k < UOP_CLASSES; k++)
				uops += w->window[i].uops[k];
			for (int k = 0; k < WINDOW_KINDS; k++) {
				for (int r = 0; r < WORKLOAD_REUSES; r++)
					reuses += w->window[i].reuse[k][r];
				for (int r = 0; r <= DEPTH_WAYS; r++)
					depths += w->window[i].depth[k][3][r];
			}
		}
		ck_assert_uint_eq(insns_seen, (uint64_t)steps[t]);
		ck_assert_uint_eq(uops, w->uops);
		ck_assert_uint_eq(reuses, w->accesses);
		ck_assert_uint_eq(depths, w->accesses);
	}
}

START_TEST(producers_reuse_times_and_depths_are_those_of_a_slow_search)
{
	rng_seed(&rng, 5, (uint64_t)_i);
	for (int i = 0; i < TRACES / PARTS; i++) {
		make_trace();
		check_all();
		check_windows();
		drop_trace();
	}
}
END_TEST

static void check_equal(const struct workload *a, const struct workload *b)
{
	ck_assert_uint_eq(a->threads, b->threads);
	ck_assert_uint_eq(a->interval, b->interval);
	for (size_t i = 0; i < a->threads; i++) {
		const struct workload_thread *x = &a->thread[i];
		const struct workload_thread *y = &b->thread[i];

		ck_assert_uint_eq(x->instructions, y->instructions);
		ck_assert_uint_eq(x->lines, y->lines);
		ck_assert_uint_eq(x->stored_lines, y->stored_lines);
		ck_assert_uint_eq(x->windows, y->windows);
		ck_assert_uint_eq(x->micros, y->micros);
		ck_assert_uint_eq(x->uops, y->uops);
		ck_assert_uint_eq(x->accesses, y->accesses);
		ck_assert_uint_eq(x->events, y->events);
		ck_assert_mem_eq(x->micro, y->micro,
				 x->micros * sizeof(*x->micro));
		ck_assert_mem_eq(x->uop, y->uop, x->uops * sizeof(*x->uop));
		ck_assert_mem_eq(x->access, y->access,
				 x->accesses * sizeof(*x->access));
		for (size_t k = 0; k < x->windows; k++) {
			struct window p = x->window[k], q = y->window[k];

			for (int e = 0; e < ENTROPIES; e++) {
				ck_assert_double_eq_tol(p.entropy[e],
							q.entropy[e], 1e-6);
				p.entropy[e] = q.entropy[e];
			}
			ck_assert_mem_eq(&p, &q, sizeof(p));
		}
		for (size_t k = 0; k < x->events; k++) {
			const struct workload_event *e = &x->event[k];
			const struct workload_event *f = &y->event[k];

			ck_assert_uint_eq(e->instruction, f->instruction);
			ck_assert_uint_eq(e->event.kind, f->event.kind);
			ck_assert_uint_eq(e->event.object, f->event.object);
		}
	}
}

START_TEST(a_profile_is_read_as_it_was_written)
{
	struct workload again;

	rng_seed(&rng, 7, (uint64_t)_i);
	make_trace();
	ck_assert_msg(!workload_file_write(&workload, file, error), "%s",
		      error);
	ck_assert(workload_file_is(file));
	ck_assert(!workload_file_is(path));
	ck_assert_msg(!workload_file_read(&again, file, error), "%s", error);
	check_equal(&workload, &again);
	ck_assert_int_eq(workload_file_write(&workload, file, error), -EEXIST);
	workload_release(&again);
	drop_trace();
}
END_TEST

static void write_file(const char *to, const unsigned char *bytes, size_t n)
{
	FILE *f = fopen(to, "w");

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(bytes, 1, n, f), n);
	fclose(f);
}

static size_t read_whole(const char *from, unsigned char *bytes, size_t room)
{
	FILE *f = fopen(from, "r");
	size_t n;

	ck_assert_ptr_nonnull(f);
	n = fread(bytes, 1, room, f);
	fclose(f);
	return n;
}

/* Not compressed and with the right check sum, so that the content is read. */
static void put_header(unsigned char *bytes, size_t content, uint32_t version)
{
	struct workload_header h = { .magic = WORKLOAD_MAGIC,
				     .version = version,
				     .header_bytes = sizeof(h),
				     .bytes = content,
				     .stored = content };

	h.check = trace_check(bytes + sizeof(h), (uint32_t)content);
	memcpy(bytes, &h, sizeof(h));
}

START_TEST(a_profile_of_each_version_is_read)
{
	static unsigned char bytes[1 << 20];
	const size_t header = sizeof(struct workload_header);
	struct workload again;

	rng_seed(&rng, 8, (uint64_t)_i);
	make_trace();
	/* The first version takes the depths among all threads away. */
	for (uint32_t v = WORKLOAD_VERSION; v >= WORKLOAD_UNSHARED; v--) {
		struct workload_codec c = { .version = v }, d = c;

		workload_codec_run(&c, &workload);
		memcpy(bytes + header, c.bytes, c.n);
		put_header(bytes, c.n, v);
		write_file(file, bytes, header + c.n);
		ck_assert(!workload_file_read(&again, file, error));
		ck_assert(again.shared == workload.shared);
		workload_codec_run(&d, &again);
		ck_assert(d.n == c.n && !memcmp(d.bytes, c.bytes, c.n));
		workload_release(&again);
		free(c.bytes);
		free(d.bytes);
	}
	drop_trace();
}
END_TEST

START_TEST(a_damaged_profile_is_an_error_or_a_profile)
{
	static unsigned char bytes[1 << 20], good[1 << 20];
	struct workload_codec c = { .version = WORKLOAD_VERSION };
	struct workload again;
	int refused = 0;

	rng_seed(&rng, 9, (uint64_t)_i);
	make_trace();
	workload_codec_run(&c, &workload);
	memcpy(good + sizeof(struct workload_header), c.bytes, c.n);
	for (int i = 0; i < 300; i++) {
		memcpy(bytes, good, sizeof(bytes));
		for (uint32_t k = 1 + below(3); k; k--)
			bytes[sizeof(struct workload_header) +
			      below(i % 2 ? 400 : (uint32_t)c.n)] =
				(unsigned char)below(256);
		put_header(bytes, c.n, WORKLOAD_VERSION);
		write_file(file, bytes, sizeof(struct workload_header) + c.n);
		error[0] = 0;
		if (workload_file_read(&again, file, error)) {
			ck_assert(error[0]);
			refused++;
		} else {
			workload_release(&again);
		}
	}
	ck_assert_int_gt(refused, 100);
	drop_trace();
	free(c.bytes);
}
END_TEST

static void is_refused(const char *name, const char *why)
{
	struct workload w;

	ck_assert_int_eq(workload_file_read(&w, name, error), -EINVAL);
	ck_assert_msg(strstr(error, why), "%s", error);
}

START_TEST(what_is_no_profile_is_refused)
{
	static unsigned char bytes[1 << 20];
	size_t n;

	rng_seed(&rng, 3, 3);
	make_trace();
	is_refused(path, "the first bytes are not CDPROFL");
	is_refused(sandbox, "");
	ck_assert(!workload_file_write(&workload, file, error));
	n = read_whole(file, bytes, sizeof(bytes));
	write_file(file, bytes, 20);
	is_refused(file, "too short");
	write_file(file, bytes, n - 1);
	is_refused(file, "cut short");
	bytes[n - 3] ^= 0x40;
	write_file(file, bytes, n);
	is_refused(file, "check sum");
	bytes[8]++;
	write_file(file, bytes, n);
	is_refused(file, "another version");
	drop_trace();
}
END_TEST

static void begin(void)
{
	sandbox_setup();
	snprintf(path, sizeof(path), "%s/x.trace", sandbox);
	snprintf(file, sizeof(file), "%s/x.profile", sandbox);
}

int main(void)
{
	Suite *s = suite_create("workload");
	TCase *t = tcase_create("workload");

	tcase_add_checked_fixture(t, begin, sandbox_teardown);
	tcase_set_timeout(t, 300);
	tcase_add_loop_test(
		t, producers_reuse_times_and_depths_are_those_of_a_slow_search,
		0, PARTS);
	tcase_add_loop_test(t, a_profile_is_read_as_it_was_written, 0, PARTS);
	tcase_add_loop_test(t, a_profile_of_each_version_is_read, 0, PARTS);
	tcase_add_loop_test(t, a_damaged_profile_is_an_error_or_a_profile, 0,
			    PARTS);
	tcase_add_test(t, what_is_no_profile_is_refused);
	suite_add_tcase(s, t);
	return run_suite(s);
}
