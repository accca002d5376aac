/* SPDX-License-Identifier: MIT */
/*
 * pager - let a person read a long text page by page
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pager.h"

extern char **environ;

static pid_t pager;

/* Context: handler too. */
static void wait_for_pager(void)
{
	while (waitpid(pager, NULL, 0) < 0 && errno == EINTR)
		;
}

/* The user has left the pager. */
static void on_broken_pipe(int sig)
{
	wait_for_pager();
	_exit(0);
}

static void end(void)
{
	fflush(stdout);
	close(STDOUT_FILENO); /* the pager sees the end */
	wait_for_pager();
}

static bool is_wanted(const char *command)
{
	const char *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && term && *term && strcmp(term, "dumb") &&
	       *command && strcmp(command, "cat");
}

/* Returns 0 if the pager runs, and reads what is written to fds[1]. */
static int start(const char *command, const int *fds)
{
	/* A name alone is not given to the shell: then a wrong one is noticed.
	 */
	bool plain = !command[strcspn(command, " \t\n|&;<>()$`\\\"'*?[#~=%")];
	char *argv[] = { (char *)"sh", (char *)"-c", (char *)command, NULL };
	char **words = plain ? argv + 2 : argv;
	posix_spawn_file_actions_t actions;
	int err = posix_spawn_file_actions_init(&actions);

	if (err)
		return err;
	err = posix_spawn_file_actions_adddup2(&actions, fds[0], STDIN_FILENO);
	if (!err)
		err = posix_spawnp(&pager, words[0], &actions, NULL, words,
				   environ);
	posix_spawn_file_actions_destroy(&actions);
	return err;
}

void pager_begin(void)
{
	const char *command = getenv("PAGER");
	int fds[2];

	command = command ? command : "less";
	if (!is_wanted(command))
		return;
	/* Colours; no pager for what fits on the screen; leave the text there.
	 */
	setenv("LESS", "FRX", 0);
	fflush(stdout);
	if (pipe2(fds, O_CLOEXEC))
		return;
	if (!start(command, fds)) {
		dup2(fds[1], STDOUT_FILENO);
		signal(SIGPIPE, on_broken_pipe);
		signal(SIGINT, SIG_IGN); /* the pager's, as SIGQUIT */
		signal(SIGQUIT, SIG_IGN);
		atexit(end);
	}
	close(fds[0]);
	close(fds[1]);
}
