/* SPDX-License-Identifier: MIT */
/*
 * http - let other tools fetch what the daemon has found
 *
 *	/healthz                         "ok"
 *	/metrics                         OpenMetrics (metrics.h)
 *	/debug/pprof/sharing?seconds=N   a profile of the slices that end in the
 *	                                 next N seconds, for pprof
 *
 * Off unless asked for. It listens on a UNIX socket of mode 0600, or on the
 * loopback address, never on another. Connections, their memory and their time
 * are bounded (clients.h), and so are N and the size of a profile. There is no
 * thread: the daemon's loop waits for our descriptors and calls us. A profile
 * is made in a child, since it reads files of programs.
 */
#ifndef COMDET_ANALYSIS_DAEMON_HTTP_H
#define COMDET_ANALYSIS_DAEMON_HTTP_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

enum {
	HTTP_SECONDS_MAX = 60,
	HTTP_SECONDS_DEFAULT = 10,
	HTTP_REQUESTS = 4, /* profiles at a time */
	HTTP_POLLS = HTTP_REQUESTS + 2,
};

struct http;

/* What the answers are made of. */
struct http_source {
	/* The metrics; malloc'ed. */
	char *(*metrics)(void *ctx);
	/*
	 * The directory that is being written, and from when on and until when
	 * files in it belong to slices that have ended since @ms, all in ms of
	 * CLOCK_REALTIME. False if there are none.
	 */
	bool (*ended)(void *ctx, uint64_t ms, const char **path, uint64_t *from,
		      uint64_t *until);
	void *ctx;
};

/*
 * Listen on the socket @path, unless it is NULL, and on @port of 127.0.0.1,
 * unless it is 0. Dies with what to do if that is impossible.
 */
struct http *http_open(const struct http_source *s, const char *path,
		       uint16_t port);

/* Fill in at most HTTP_POLLS descriptors to wait for; returns how many. */
int http_polls(struct http *h, struct pollfd *p);

/* ns until http_work must be called, whatever the descriptors say. */
uint64_t http_wait(struct http *h);

/* Do what is to be done, without waiting. */
void http_work(struct http *h);

/* CPU time of children so far, in ns. */
uint64_t http_cpu_ns(const struct http *h);

void http_close(struct http *h);

#endif
