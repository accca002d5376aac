/* SPDX-License-Identifier: MIT */
/*
 * microhttpd - libmicrohttpd, loaded when it is needed
 *
 * It brings a library for TLS along, which would make every start of reusetrack
 * slower.
 */
#ifndef COMDET_ANALYSIS_DAEMON_MICROHTTPD_H
#define COMDET_ANALYSIS_DAEMON_MICROHTTPD_H

#include <microhttpd.h>

#define MICROHTTPD_FUNCTIONS(X)                                                \
	X(start_daemon)                                                        \
	X(stop_daemon)                                                         \
	X(get_daemon_info)                                                     \
	X(get_timeout)                                                         \
	X(get_connection_info)                                                 \
	X(run)                                                                 \
	X(lookup_connection_value)                                             \
	X(suspend_connection)                                                  \
	X(resume_connection)                                                   \
	X(create_response_from_buffer)                                         \
	X(add_response_header)                                                 \
	X(queue_response)                                                      \
	X(destroy_response)

struct microhttpd {
#define MEMBER(name) __typeof__(&MHD_##name) name;
	MICROHTTPD_FUNCTIONS(MEMBER)
#undef MEMBER
};

/* Dies if it is not installed. */
const struct microhttpd *microhttpd(void);

#endif
