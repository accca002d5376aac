/* SPDX-License-Identifier: MIT */
/*
 * record - the parts of the verb that starts a program under the preload
 */
#ifndef COMDET_ANALYSIS_RECORD_RECORD_H
#define COMDET_ANALYSIS_RECORD_RECORD_H

#include <stdbool.h>
#include <sys/types.h>

#include "analysis/symbols/elf_inspect.h"

enum {
	RECORD_FAILED = 125,
	RECORD_CANNOT_RUN = 126,
	RECORD_NOT_FOUND = 127
};

/*
 * Read the options of record and put each into the environment as its twin;
 * check the twins that the user set. Dies with one line if a value is bad or
 * not available in this build; prints @usage and exits if --help is among them.
 * Returns the index of the program in @argv.
 */
int record_options(int argc, char **argv, const char *usage);

/*
 * After record_options: does the source depend on whether there are hooks? So
 * it does if none was asked for: the preload takes hooks before all else.
 */
bool record_looks_for_hooks(void);

/*
 * After record_options, with whether the program is started with our hooks, in
 * itself or in a library: dies with one line if an option is not for the source
 * that will be taken.
 */
void record_check_source(bool hooks);

/*
 * After that: where the source is auto and the clock cannot tick, put
 * emu into its place, if QEMU is there, and say so.
 */
void record_choose_source(void);

/* After that: is the program to run under QEMU? */
bool record_emulates(void);

/* Likewise: must it be a program with hooks, for instr? */
bool record_needs_hooks(void);

/*
 * The arguments that run @p under QEMU with the plugin @library, instead of
 * @argv: malloc'ed, the first is the path of QEMU. Sets the topology's twin to
 * the host's, where counting is exact and no other is asked for. Dies if QEMU
 * is missing, the topology is bad, or the program would run otherwise than
 * without.
 */
char **record_emu_command(const struct program *p, char *const *argv,
			  const char *library);

/*
 * Set the topology's twin to the host's if none is asked for and it matters.
 * Dies if the one asked for is bad.
 */
void record_settle_topology(void);

/* Is the source instr asked about caches that cores share? */
bool record_needs_topology(void);

/* The path of QEMU, malloc'ed; NULL if it is not installed. */
char *record_find_qemu(void);

struct run {
	pid_t pid;
	const char *path;    /* to exec */
	char **argv;         /* as the program is to see it */
	const char *library; /* to preload: absolute path, NULL: none */
	const char *run_id;
	const char *out; /* absolute */
	/* When the program could not be executed, errno of that; else 0. */
	int exec_error;
};

/*
 * Start the program, pass signals on to it, stop when it stops for job
 * control, and wait for its end. Returns its exit status, or 128 + the signal
 * that ended it.
 */
int run_program(struct run *r);

#endif
