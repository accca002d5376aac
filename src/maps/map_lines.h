/* SPDX-License-Identifier: MIT */
/*
 * map_lines - the mappings listed in /proc/PID/maps
 *
 *	map_lines_begin(&l, fd, buffer, sizeof(buffer));
 *	while (map_lines_next(&l, &m))
 *		...
 *
 * A line longer than the buffer is parsed as far as it fits: only its path is
 * cut. A last line without a newline is left out, as the kernel ends each with
 * one. Nothing in the text is trusted.
 *
 * Context: any, handler included.
 */
#ifndef COMDET_MAPS_MAP_LINES_H
#define COMDET_MAPS_MAP_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "src/store/cdp.h"

enum {
	MAP_LINES_MIN_BYTES = 128, /* of a buffer; holds a line's numbers */
};

struct map_lines {
	int fd;
	char *buffer;
	size_t size, have; /* bytes of the buffer, and those filled */
	size_t at;         /* where the next line begins */
	bool cut;          /* the rest of a long line is still to come */
};

/* Read from @fd, through a buffer that stays the caller's. */
void map_lines_begin(struct map_lines *l, int fd, char *buffer, size_t size);

/*
 * The next mapping, in @m; its generation and build-id are zero. Lines that
 * are not mappings are skipped. False at the end, and if reading fails.
 */
bool map_lines_next(struct map_lines *l, struct cdp_map *m);

/*
 * Parse one line, which ends before @end, without its newline. The path is as
 * the kernel writes it: a newline in it is \012, a file that was removed has
 * " (deleted)" at its end. Cut to what @m holds. False if it is no mapping.
 */
bool map_lines_parse(const char *line, const char *end, struct cdp_map *m);

#endif
