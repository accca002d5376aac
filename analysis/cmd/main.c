/* SPDX-License-Identifier: MIT */
/*
 * reusetrack - record and read profiles of inter-thread communication
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "analysis/base/closest.h"
#include "analysis/base/roomy.h"
#include "analysis/base/util.h"

static const struct command *const commands[] = {
	&cmd_record,   &cmd_attach,  &cmd_daemon,  &cmd_top,      &cmd_report,
	&cmd_diff,     &cmd_export,  &cmd_doctor,  &cmd_list,     &cmd_import,
	&cmd_accuracy, &cmd_predict, &cmd_machine, &cmd_simulate, &cmd_sweep,
};
enum {
	COMMANDS = sizeof(commands) / sizeof(commands[0])
};

static void print_help(FILE *f)
{
	fputs("usage: reusetrack VERB [OPTION...] [ARGUMENT...]\n\nShows which "
	      "threads share cache lines, in unmodified programs.\n\n",
	      f);
	for (int i = 0; i < COMMANDS; i++)
		fprintf(f, "  %-10s %s\n", commands[i]->name,
			commands[i]->summary);
	fputs("\nStart with:\n"
	      "  reusetrack record -- ./program its arguments\n"
	      "  reusetrack report out\n\n"
	      "reusetrack VERB --help and man reusetrack-VERB say more.\n",
	      f);
}

static const struct command *find_command(const char *name)
{
	for (int i = 0; i < COMMANDS; i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}

static void __attribute__((noreturn)) die_verb(const char *name)
{
	struct closest c = { .typed = name };

	for (int i = 0; i < COMMANDS; i++)
		closest_try(&c, commands[i]->name);
	if (c.word)
		die("there is no verb '%s'; did you mean '%s'? 'reusetrack "
		    "--help' lists them",
		    safe_text(name), c.word);
	die("there is no verb '%s'; 'reusetrack --help' lists them",
	    safe_text(name));
}

/* Fail with a message if the output could not be written. */
static int finish(int status)
{
	bool failed = ferror(stdout);

	errno = 0;
	if (fclose(stdout) || failed) {
		if (errno != EPIPE)
			warn("cannot write the output: %s; is the disk full?",
			     errno ? strerror(errno) : "write error");
		return status ? status : 1;
	}
	return status;
}

static bool asks_for_help(const char *arg)
{
	return !strcmp(arg, "--help") || !strcmp(arg, "-h") ||
	       !strcmp(arg, "help");
}

static int run(int argc, char **argv)
{
	const struct command *command;
	const char *verb = argc > 1 ? argv[1] : NULL;

	if (!verb) {
		print_help(stderr);
		return 1;
	}
	if (asks_for_help(verb)) {
		command = argc > 2 ? find_command(argv[2]) : NULL;
		if (command)
			fputs(command->usage, stdout);
		else if (argc > 2 && !asks_for_help(argv[2]))
			die_verb(argv[2]);
		else
			print_help(stdout);
		return finish(0);
	}
	if (!strcmp(verb, "--version") || !strcmp(verb, "-V")) {
		puts("reusetrack " REUSETRACK_VERSION);
		return finish(0);
	}
	command = find_command(verb);
	if (!command)
		die_verb(verb);
	if (argc > 2 &&
	    (!strcmp(argv[2], "--help") || !strcmp(argv[2], "-h"))) {
		fputs(command->usage, stdout);
		return finish(0);
	}
	return finish(command->run(argc - 1, argv + 1));
}

int main(int argc, char **argv)
{
	return roomy_call(run, argc, argv);
}
