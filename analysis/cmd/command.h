/* SPDX-License-Identifier: MIT */
/*
 * command - how a verb of reusetrack describes itself
 *
 * Each verb has a file of its own and exports one constant of this type; main.c
 * lists them.
 */
#ifndef COMDET_ANALYSIS_CMD_COMMAND_H
#define COMDET_ANALYSIS_CMD_COMMAND_H

struct command {
	const char *name;
	const char *summary; /* one line, for the list of commands */
	const char *usage;   /* the whole help text */
	/* argv[0] is the verb. Returns the exit status. */
	int (*run)(int argc, char **argv);
};

extern const struct command cmd_record;
extern const struct command cmd_attach;
extern const struct command cmd_daemon;
extern const struct command cmd_top;
extern const struct command cmd_report;
extern const struct command cmd_diff;
extern const struct command cmd_export;
extern const struct command cmd_doctor;
extern const struct command cmd_list;
extern const struct command cmd_import;
extern const struct command cmd_accuracy;
extern const struct command cmd_predict;
extern const struct command cmd_machine;
extern const struct command cmd_simulate;
extern const struct command cmd_sweep;

#endif
