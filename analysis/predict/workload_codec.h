/* SPDX-License-Identifier: MIT */
/*
 * workload_codec - the content of a .profile file, written or read
 *
 * One function goes through a profile for both, so that they cannot differ.
 */
#ifndef COMDET_ANALYSIS_PREDICT_WORKLOAD_CODEC_H
#define COMDET_ANALYSIS_PREDICT_WORKLOAD_CODEC_H

#include "workload.h"

enum {
	WORKLOAD_UNSHARED = 1, /* without depths among all threads */
	WORKLOAD_PLAIN,        /* without zero idioms and prefetches */
	WORKLOAD_STRIDES,      /* without the prefetcher stream */
	WORKLOAD_SETLESS,      /* without the set of an access */
	WORKLOAD_VERSION
};

/*
 * The bytes of a content; to write, all 0 at first. With @take, bytes to write
 * are passed on when there is no room for more, and @n is 0 from then on.
 */
struct workload_codec {
	bool reads;
	unsigned char *bytes; /* malloc'ed */
	size_t n, room;
	size_t at; /* read so far */
	void (*take)(void *data, const unsigned char *bytes, size_t n);
	void *data;
	uint64_t taken;    /* bytes before those */
	uint32_t version;  /* of the file */
	const char *wrong; /* the first thing that does not fit, or NULL */
};

void workload_codec_run(struct workload_codec *c, struct workload *w);

#endif
