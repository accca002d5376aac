// SPDX-License-Identifier: MIT
/*
 * help_calls - count the system calls of the processes that a program forks
 *
 *	help_calls PROGRAM [ARGUMENT...]
 *
 * Prints "PROCESSES CALLS" on standard error: how many processes the program
 * started, by fork, vfork or clone, and the system calls that they made,
 *without those of the program's own process. Ends with the program's status, or
 *with 77 if it may not trace.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	CALL = SIGTRAP | 0x80, /* PTRACE_O_TRACESYSGOOD */
	OPTIONS = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK |
		  PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |
		  PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL,
};

static long stops, processes;

/* The signal that the stopped process is to receive. */
static int signal_of(pid_t pid, pid_t root, int status)
{
	int sig = WSTOPSIG(status);

	if (sig == CALL) {
		stops += pid != root;
		return 0;
	}
	if (status >> 16) { /* an event, or the first stop of a new process */
		int event = status >> 16;

		processes += event == PTRACE_EVENT_FORK ||
			     event == PTRACE_EVENT_VFORK ||
			     event == PTRACE_EVENT_CLONE;
		return 0;
	}
	return sig;
}

int main(int argc, char **argv)
{
	int status, result = 1;
	pid_t root = fork(), pid;

	if (!root) {
		raise(SIGSTOP);
		execvp(argv[1], argv + 1);
		_exit(127);
	}
	if (argc < 2 || waitpid(root, &status, WUNTRACED) != root)
		return 1;
	if (ptrace(PTRACE_SEIZE, root, 0, OPTIONS)) {
		kill(root, SIGKILL);
		perror("ptrace");
		return 77;
	}
	kill(root, SIGCONT);
	while ((pid = waitpid(-1, &status, __WALL)) > 0) {
		if (!WIFSTOPPED(status)) {
			if (pid == root)
				result = WIFEXITED(status)
						 ? WEXITSTATUS(status)
						 : 128 + WTERMSIG(status);
			continue;
		}
		ptrace(PTRACE_SYSCALL, pid, 0, signal_of(pid, root, status));
	}
	/* A call stops twice, exit_group once. */
	fprintf(stderr, "%ld %ld\n", processes, (stops + processes) / 2);
	return result;
}
