/* SPDX-License-Identifier: MIT */
/*
 * control - commands that another program sends while we sample
 *
 * The option --control, as perf has it. The commands are lines: "enable" and
 * "disable" start and stop sampling, "ping" asks whether we are there, and
 * "stop" ends the recording. Each of them is answered with "ack\n" when it has
 * taken effect, if the option names a place for answers.
 *
 *	fifo:COMMANDS[,ANSWERS]	two FIFOs, by their paths
 *	fd:COMMANDS[,ANSWERS]	two descriptors that we inherit
 */
#ifndef COMDET_ANALYSIS_BASE_CONTROL_H
#define COMDET_ANALYSIS_BASE_CONTROL_H

#include <stddef.h>

enum {
	CONTROL_LINE_BYTES = 64
};

enum control_command {
	CONTROL_NOTHING, /* no whole line is there */
	CONTROL_ENABLE,
	CONTROL_DISABLE,
	CONTROL_PING,
	CONTROL_STOP,
	CONTROL_CLOSED, /* nobody can send any more */
};

struct control {
	int in, out; /* descriptors; out -1: nobody wants answers */
	char line[CONTROL_LINE_BYTES]; /* the part of it that has come */
	size_t used;
};

/*
 * Open what the value @spec of the option @name says. Descriptors below @least
 * are refused. Those that it takes are closed in programs that we execute.
 * Dies with one line if that cannot be done.
 */
void control_open(struct control *c, const char *name, const char *spec,
		  int least);

/*
 * The next command; it never waits. Says in a line on stderr what it does not
 * know, and goes on.
 */
enum control_command control_next(struct control *c);

/* Answer a command. The answer is lost if nobody takes it; we do not wait. */
void control_answer(const struct control *c);

void control_close(struct control *c);

#endif
