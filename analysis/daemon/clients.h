/* SPDX-License-Identifier: MIT */
/*
 * clients - the connections to the HTTP server: whom it serves, and how long
 *
 * Every program of this machine reaches 127.0.0.1, so do pages of other sites
 * in a browser on it, and slow clients could keep others out.
 */
#ifndef COMDET_ANALYSIS_DAEMON_CLIENTS_H
#define COMDET_ANALYSIS_DAEMON_CLIENTS_H

#include <stdbool.h>
#include <stdint.h>

enum {
	CLIENTS_MAX = 32,
	CLIENTS_SILENT_S = 10,  /* until a request and its headers are here */
	CLIENTS_SERVED_S = 120, /* from then on, until its answer is sent */
};

struct client {
	const void *connection; /* NULL: unused */
	int fd;
	uint64_t until; /* ns */
};

struct clients {
	struct client client[CLIENTS_MAX];
};

/*
 * May a request with these headers be answered, or NULL for each that it lacks?
 * A site that gives its own name the address 127.0.0.1 ("DNS rebinding") sends
 * that name as Host. A page of another site is told by Sec-Fetch-Site.
 */
bool clients_allowed(const char *host, const char *fetch_site);

/*
 * A connection begins, has sent a request, has its answer, ends; @now in ns. A
 * connection beyond CLIENTS_MAX has no limit of time.
 */
void clients_begin(struct clients *c, const void *connection, int fd,
		   uint64_t now);
void clients_asked(struct clients *c, const void *connection, uint64_t now);
void clients_answered(struct clients *c, const void *connection, uint64_t now);
void clients_end(struct clients *c, const void *connection);

/* Shut the sockets whose time is over. */
void clients_shut_slow(struct clients *c, uint64_t now);

/* ns until the next one's time is over, UINT64_MAX if there is none. */
uint64_t clients_wait(const struct clients *c, uint64_t now);

#endif
