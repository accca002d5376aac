/* SPDX-License-Identifier: MIT */
/*
 * perf_file - whole recordings as perf writes them: a file or a stream
 *
 * Events and records are described once. perf_file_write() and
 * perf_file_write_stream() write either form; perf_file_compress() wraps the
 * records as perf record -z does, in zstd blocks that hold them uncompressed,
 * which needs no library.
 */
#ifndef COMDET_TESTS_FAKE_PERF_FILE_H
#define COMDET_TESTS_FAKE_PERF_FILE_H

#include <stdbool.h>
#include <sys/mman.h>

#include "perf_gen.h"

enum {
	PERF_FILE_EVENTS = 8,
	PERF_FILE_IDS = 4,
};

struct perf_file_event {
	struct perf_event_attr attr;
	const char *name;
	uint64_t id[PERF_FILE_IDS];
	size_t ids;
};

struct perf_file {
	struct perf_file_event event[PERF_FILE_EVENTS];
	size_t events;
	struct gen data;
	struct gen build_ids;
	const char *host, *kernel, *version, *arch, *cpu, *cpuid;
	const char *pmu; /* name of the PMU of the first event */
	uint32_t cpus;
	bool compressed;
	bool zen4; /* the PMU has Zen 4's extensions */
};

static inline struct perf_file_event *perf_file_event(struct perf_file *f,
						      const char *name,
						      uint64_t sample_type)
{
	struct perf_file_event *e = &f->event[f->events++];

	memset(e, 0, sizeof(*e));
	e->attr.type = PERF_TYPE_RAW;
	e->attr.size = sizeof(e->attr);
	e->attr.config = 0x1cd;
	e->attr.sample_period = 1000;
	e->attr.sample_type = sample_type;
	e->attr.sample_id_all = 1;
	e->attr.precise_ip = 2;
	e->attr.mmap = e->attr.mmap2 = e->attr.comm = e->attr.task = 1;
	e->name = name;
	e->id[0] = 100 * f->events;
	e->ids = 1;
	return e;
}

/* The records below are of one thread, with the layout of the first event. */
static inline void perf_file_id(struct perf_file *f, size_t at, uint32_t pid,
				uint32_t tid, uint64_t time)
{
	struct gen_sample s = {
		.pid = pid, .tid = tid, .time = time, .id = f->event[0].id[0]
	};

	gen_id(&f->data, &f->event[0].attr, &s);
	gen_end(&f->data, at);
}

static inline void perf_file_comm(struct perf_file *f, uint32_t pid,
				  uint32_t tid, const char *name, bool exec,
				  uint64_t time)
{
	size_t at = gen_begin(&f->data, PERF_RECORD_COMM,
			      exec ? PERF_RECORD_MISC_COMM_EXEC : 0);

	gen_u32(&f->data, pid);
	gen_u32(&f->data, tid);
	gen_string(&f->data, name);
	perf_file_id(f, at, pid, tid, time);
}

static inline void perf_file_task(struct perf_file *f, uint32_t type,
				  uint32_t pid, uint32_t parent, uint32_t tid,
				  uint32_t parent_tid, uint64_t time)
{
	size_t at = gen_begin(&f->data, type, 0);

	gen_u32(&f->data, pid);
	gen_u32(&f->data, parent);
	gen_u32(&f->data, tid);
	gen_u32(&f->data, parent_tid);
	gen_u64(&f->data, time);
	perf_file_id(f, at, pid, tid, time);
}

static inline void perf_file_map(struct perf_file *f, uint32_t pid,
				 uint64_t start, uint64_t bytes,
				 const char *path, uint32_t prot, uint64_t time)
{
	size_t at = gen_begin(
		&f->data, PERF_RECORD_MMAP,
		PERF_RECORD_MISC_USER |
			(prot & PROT_EXEC ? 0 : PERF_RECORD_MISC_MMAP_DATA));

	gen_u32(&f->data, pid);
	gen_u32(&f->data, pid);
	gen_u64(&f->data, start);
	gen_u64(&f->data, bytes);
	gen_u64(&f->data, 0);
	gen_string(&f->data, path);
	perf_file_id(f, at, pid, pid, time);
}

/*
 * A MMAP2 with a build-id or, if @build_id is NULL, the file's device and
 * inode.
 */
static inline void perf_file_map2(struct perf_file *f, uint32_t pid,
				  uint64_t start, uint64_t bytes,
				  const char *path, uint32_t prot,
				  const uint8_t *build_id, uint64_t time)
{
	size_t at = gen_begin(&f->data, PERF_RECORD_MMAP2,
			      PERF_RECORD_MISC_USER | (build_id ? 1 << 14 : 0));

	gen_u32(&f->data, pid);
	gen_u32(&f->data, pid);
	gen_u64(&f->data, start);
	gen_u64(&f->data, bytes);
	gen_u64(&f->data, 0);
	if (build_id) {
		gen_u32(&f->data, 20);
		gen_bytes(&f->data, build_id, 20);
	} else {
		gen_u32(&f->data, 8);
		gen_u32(&f->data, 1);
		gen_u64(&f->data, 4711);
		gen_u64(&f->data, 0);
	}
	gen_u32(&f->data, prot);
	gen_u32(&f->data, MAP_PRIVATE);
	gen_string(&f->data, path);
	perf_file_id(f, at, pid, pid, time);
}

static inline void perf_file_sample(struct perf_file *f, size_t event,
				    struct gen_sample *s)
{
	s->id = f->event[event].id[0];
	gen_sample(&f->data, &f->event[event].attr, s);
}

/* A record that consists of a few words. */
static inline void perf_file_words(struct perf_file *f, uint32_t type,
				   const uint64_t *word, size_t words,
				   uint64_t time)
{
	size_t at = gen_begin(&f->data, type, 0);

	for (size_t i = 0; i < words; i++)
		gen_u64(&f->data, word[i]);
	perf_file_id(f, at, 0, 0, time);
}

static inline void perf_file_round(struct perf_file *f)
{
	gen_end(&f->data, gen_begin(&f->data, 68, 0));
}

/* An entry of the list of build-ids, the same in file and stream. */
static inline void perf_file_build_id(struct perf_file *f, const char *path,
				      const uint8_t *id, uint8_t bytes)
{
	struct gen *g = &f->build_ids;
	size_t at = gen_begin(g, 67, PERF_RECORD_MISC_USER | 1 << 15);

	gen_u32(g, (uint32_t)-1);
	for (int i = 0; i < 20; i++)
		gen_u8(g, i < bytes ? id[i] : 0);
	gen_u8(g, bytes);
	gen_u8(g, 0);
	gen_u16(g, 0);
	gen_string(g, path);
	gen_end(g, at);
}

/* The content of feature @n; false if the recording does not have it. */
static inline bool perf_file_feature(const struct perf_file *f, int n,
				     struct gen *g)
{
	const char *const text[] = {
		[3] = f->host, [4] = f->kernel, [5] = f->version,
		[6] = f->arch, [8] = f->cpu,    [9] = f->cpuid,
	};

	if (n == 2 && f->build_ids.used) {
		gen_bytes(g, f->build_ids.bytes, f->build_ids.used);
	} else if (n < 10 && n != 2 && text[n]) {
		gen_counted_string(g, text[n]);
	} else if (n == 7 && f->cpus) {
		gen_u32(g, f->cpus);
		gen_u32(g, f->cpus);
	} else if (n == 11) {
		gen_u32(g, 3);
		gen_counted_string(g, "perf");
		gen_counted_string(g, "mem");
		gen_counted_string(g, "record");
	} else if (n == 12) {
		gen_u32(g, f->events);
		gen_u32(g, sizeof(f->event[0].attr));
		for (size_t i = 0; i < f->events; i++) {
			const struct perf_file_event *e = &f->event[i];

			gen_bytes(g, &e->attr, sizeof(e->attr));
			gen_u32(g, e->ids);
			gen_counted_string(g, e->name);
			for (size_t k = 0; k < e->ids; k++)
				gen_u64(g, e->id[k]);
		}
	} else if (n == 16 && f->pmu) {
		gen_u32(g, 2);
		gen_u32(g, f->event[0].attr.type);
		gen_counted_string(g, f->pmu);
		gen_u32(g, f->event[0].attr.type + 1);
		gen_counted_string(g, "ibs_fetch");
	} else if (n == 31 && f->zen4) {
		gen_u32(g, 1);
		gen_u32(g, 1);
		gen_counted_string(g, "zen4_ibs_extensions");
		gen_counted_string(g, "1");
		gen_counted_string(g, f->pmu);
	} else if (n == 27 && f->compressed) {
		gen_u32(g, 1);          /* version */
		gen_u32(g, 1);          /* zstd */
		gen_u32(g, 1);          /* level */
		gen_u32(g, 1);          /* ratio */
		gen_u32(g, 512 * 1024); /* size of a ring buffer */
	} else {
		return false;
	}
	return true;
}

/*
 * Wrap the records into compressed ones, in pieces of @piece bytes that may end
 * inside a record.
 */
static inline void perf_file_compress(struct perf_file *f, size_t piece)
{
	struct gen from = f->data, to = { 0 };

	for (size_t at = 0; at < from.used; at += piece) {
		size_t n = from.used - at < piece ? from.used - at : piece;
		size_t record = gen_begin(&to, 81, 0);
		uint32_t block = n << 3; /* raw bytes, not the last block */

		if (!at) {
			gen_u32(&to, 0xfd2fb528);
			gen_u8(&to, 0);      /* with a window, without sizes */
			gen_u8(&to, 7 << 3); /* of 128 KiB */
		}
		gen_bytes(&to, &block, 3);
		gen_bytes(&to, from.bytes + at, n);
		gen_end(&to, record);
	}
	gen_release(&from);
	f->data = to;
	f->compressed = true;
}

static inline void perf_file_write(const struct perf_file *f, struct gen *out)
{
	size_t attrs, list, data, n = 0;
	uint64_t flags = 0;
	struct gen ids = { 0 }, features = { 0 };

	out->used = 0;
	gen_bytes(out, "PERFILE2", 8);
	for (int i = 1; i < 13; i++)
		gen_u64(out, 0);
	for (size_t i = 0; i < f->events; i++)
		for (size_t k = 0; k < f->event[i].ids; k++)
			gen_u64(&ids, f->event[i].id[k]);
	list = out->used;
	gen_bytes(out, ids.bytes, ids.used);
	attrs = out->used;
	for (size_t i = 0; i < f->events; i++) {
		const struct perf_file_event *e = &f->event[i];

		gen_bytes(out, &e->attr, sizeof(e->attr));
		gen_u64(out, list);
		gen_u64(out, 8 * e->ids);
		list += 8 * e->ids;
	}
	data = out->used;
	gen_bytes(out, f->data.bytes, f->data.used);
	gen_put_u64(out, 8, 104);
	gen_put_u64(out, 16, sizeof(f->event[0].attr) + 16);
	gen_put_u64(out, 24, attrs);
	gen_put_u64(out, 32, data - attrs);
	gen_put_u64(out, 40, data);
	gen_put_u64(out, 48, f->data.used);
	list = out->used;
	for (int i = 0; i < 64; i++) {
		size_t before = features.used;

		if (!perf_file_feature(f, i, &features))
			continue;
		flags |= 1ull << i;
		/* Offsets are known only once the number of features is. */
		gen_u64(out, before);
		gen_u64(out, features.used - before);
		n++;
	}
	for (size_t i = 0; i < n; i++) {
		uint64_t at;

		memcpy(&at, out->bytes + list + 16 * i, sizeof(at));
		gen_put_u64(out, list + 16 * i, at + out->used);
	}
	gen_bytes(out, features.bytes, features.used);
	gen_put_u64(out, 72, flags);
	gen_release(&ids);
	gen_release(&features);
}

static inline void perf_file_write_stream(const struct perf_file *f,
					  struct gen *out)
{
	out->used = 0;
	gen_bytes(out, "PERFILE2", 8);
	gen_u64(out, 16);
	for (size_t i = 0; i < f->events; i++) {
		size_t at = gen_begin(out, 64, 0);

		gen_bytes(out, &f->event[i].attr, sizeof(f->event[i].attr));
		for (size_t k = 0; k < f->event[i].ids; k++)
			gen_u64(out, f->event[i].id[k]);
		gen_end(out, at);
	}
	for (int i = 0; i < 64; i++) {
		size_t at = gen_begin(out, 80, 0);

		gen_u64(out, i);
		/* In a stream, build-ids are records of their own. */
		if (i == 2 || !perf_file_feature(f, i, out)) {
			out->used = at;
			continue;
		}
		gen_pad(out, 8);
		gen_end(out, at);
	}
	gen_bytes(out, f->data.bytes, f->data.used);
	gen_bytes(out, f->build_ids.bytes, f->build_ids.used);
}

static inline void perf_file_release(struct perf_file *f)
{
	gen_release(&f->data);
	gen_release(&f->build_ids);
	memset(f, 0, sizeof(*f));
}

#endif
