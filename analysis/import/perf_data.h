/* SPDX-License-Identifier: MIT */
/*
 * perf_data - the records of a perf.data file or stream, one after another
 *
 * perf writes two forms: a file, whose header points to attributes, data and
 * features, and a stream (perf record -o -), where all of these are records.
 * Compressed records are inflated if libzstd was there at build time. Records
 * that describe the recording are used on the way and kept here; all others are
 * handed out.
 *
 * The bytes are untrusted: every size, count and offset is checked against what
 * is there, and nothing recurses. Recordings of big-endian machines and of
 * other architectures are refused.
 *
 * Use: perf_data_open(), perf_data_next() until it returns 0,
 * perf_data_close().
 */
#ifndef COMDET_ANALYSIS_IMPORT_PERF_DATA_H
#define COMDET_ANALYSIS_IMPORT_PERF_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "index.h"
#include "src/pmu/ibs.h"
#include "src/pmu/memory.h"
#include "src/pmu/sample.h"

enum {
	PERF_DATA_NAME_BYTES = 128,
	PERF_DATA_ID_BYTES = 20,
};

/* Types of records that perf itself writes. */
enum {
	PERF_DATA_ATTR = 64,
	PERF_DATA_TRACING_DATA = 66,
	PERF_DATA_BUILD_ID = 67,
	PERF_DATA_FINISHED_ROUND = 68,
	PERF_DATA_AUXTRACE = 71,
	PERF_DATA_EVENT_UPDATE = 78,
	PERF_DATA_FEATURE = 80,
	PERF_DATA_COMPRESSED = 81,
	PERF_DATA_COMPRESSED2 = 83,
};

struct perf_data_event {
	struct perf_event_attr attr;     /* 0 where the file has less */
	char name[PERF_DATA_NAME_BYTES]; /* "" if the recording has none */
	enum perf_kind kind;
	uint32_t kind_at; /* what perf_data.kinds was when kind was set */
};

struct perf_data_build_id {
	uint8_t id[PERF_DATA_ID_BYTES];
	uint8_t bytes;
	bool user;   /* of a file in user space */
	int32_t pid; /* -1: any; else a guest's */
	char *file;
};

struct perf_data_id {
	uint64_t id;
	uint32_t event;
	/* From the last sample with PERF_SAMPLE_READ; 0: none. */
	uint64_t enabled, running;
};

struct perf_data_pmu {
	uint32_t type;
	char name[32];
};

struct perf_data_buffer {
	char *bytes;
	size_t at, end, room;
};

struct perf_data {
	/* About the recording; complete once all records have been read. */
	struct perf_data_event *event;
	size_t events, events_room;
	struct perf_data_build_id *build_id;
	size_t build_ids, build_ids_room;
	char host[64], kernel[128], perf[64], arch[32], cpu[128], cpuid[64];
	char command[768]; /* of perf itself */
	uint32_t cpus;
	struct ibs_cpu ibs_cpu; /* from cpuid, on AMD */
	uint64_t unknown;       /* records of unknown type, skipped */

	char error[256]; /* one line for the user, after an error */

	/* Private. */
	int fd;
	bool stream;
	uint64_t at, end; /* of the data, in the file */
	uint64_t bytes;   /* of the file */
	struct perf_data_id *id;
	size_t ids, ids_room;
	struct import_index by_id; /* id to the number of its entry */
	uint32_t kinds;            /* raised when kinds must be found anew */
	struct perf_data_pmu *pmu;
	size_t pmus, pmus_room;
	struct perf_data_buffer in, inflated;
	bool in_inflated; /* the latest record came from the inflated data */
	void *inflater;
};

/*
 * Read what comes before the records, from the file or stream @fd, which stays
 * open. Returns 0 or -errno, -EBADMSG if it is not a recording that can be
 * read; @d->error says why. The caller calls perf_data_close() in either case.
 */
int perf_data_open(struct perf_data *d, int fd);
void perf_data_close(struct perf_data *d);

/*
 * The next record, header included, in one piece, valid until the next call.
 * Returns 1, 0 at the end, -EBADMSG if the file is damaged, -errno.
 */
int perf_data_next(struct perf_data *d, const void **record, size_t *bytes);

/*
 * The event of a record: the only one, or the one with its id; NULL if the id
 * is unknown. Unless NULL, *@id receives the entry of the id, or NULL.
 */
const struct perf_data_event *perf_data_event(struct perf_data *d,
					      const void *record, size_t bytes,
					      struct perf_data_id **id);

/* Set @d->error and return -EBADMSG. */
int perf_data_fail(struct perf_data *d, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* True if this build can inflate compressed records. */
bool perf_data_inflates(void);

#endif
