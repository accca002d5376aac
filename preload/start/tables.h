/* SPDX-License-Identifier: MIT */
/*
 * tables - the memory that a profile begins with: board, threads, mappings
 */
#ifndef COMDET_PRELOAD_START_TABLES_H
#define COMDET_PRELOAD_START_TABLES_H

/*
 * Make the tables, empty, and the record of the calling thread, the only one.
 * Those that a forked child inherited are freed. Returns 0 or -errno. Context:
 * set-up; also our handler.
 */
int tables_init(void);

#endif
