/* SPDX-License-Identifier: MIT */
/*
 * sample - the fields of one perf_events record
 *
 * Records of the kernel come from a ring buffer or from a file; neither is
 * trusted. A record is decoded in two steps: first its fields
 * (perf_sample_decode), by the attribute of its event, then the memory access
 * that was sampled (memory.h), by the kind of event.
 *
 * Layout as in perf_event_open(2) and linux/perf_event.h of Linux 6.1. Little
 * endian.
 *
 * All of it is pure: no allocation, no system call, no state. Context: any,
 * handler included. Records may lie anywhere; they need no alignment.
 */
#ifndef COMDET_PMU_SAMPLE_H
#define COMDET_PMU_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/perf_event.h>

/* The fields that we use. A field is valid if its bit is set in has. */
struct perf_sample {
	uint64_t has;  /* PERF_SAMPLE_* */
	uint16_t misc; /* of the record: PERF_RECORD_MISC_* */
	uint32_t pid, tid, cpu;
	uint64_t id; /* of the event, from IDENTIFIER or ID */
	uint64_t stream_id;
	uint64_t ip, time, addr, phys_addr, period, data_src;
	uint64_t weight;           /* WEIGHT, or the latency of WEIGHT_STRUCT */
	uint16_t weight2, weight3; /* of WEIGHT_STRUCT */
	/* READ, of the first event of a group. */
	uint64_t read_value, read_enabled, read_running;
	const void *raw; /* into the record */
	uint32_t raw_bytes;
};

/*
 * Decode @record, a PERF_RECORD_SAMPLE of @bytes bytes with its header, of an
 * event with attributes @attr.
 *
 * Returns 0, -EINVAL if it is another record, -EMSGSIZE if a field reaches
 * beyond the record, or -EOPNOTSUPP if @attr asks for a field that we do not
 * know, so that the places of later fields are not known either.
 */
int perf_sample_decode(const struct perf_event_attr *attr, const void *record,
		       size_t bytes, struct perf_sample *s);

/*
 * Decode the fields at the end of other records, which they have if
 * attr.sample_id_all is set: pid, tid, time, id, stream_id and cpu, if the
 * event samples them. *@id_bytes, unless NULL, receives the length of these
 * fields.
 *
 * Returns 0, also if there are none, or -EMSGSIZE.
 */
int perf_sample_decode_id(const struct perf_event_attr *attr,
			  const void *record, size_t bytes,
			  struct perf_sample *s, size_t *id_bytes);

/*
 * The id of the event to which @record, of any type, belongs. All events of one
 * buffer have it in the same place, so @attr may be that of any of them.
 * Returns 0, -ENODATA if records of @attr carry no id, or -EMSGSIZE.
 */
int perf_sample_event(const struct perf_event_attr *attr, const void *record,
		      size_t bytes, uint64_t *id);

#endif
