// SPDX-License-Identifier: MIT
/*
 * help_own_registers - run a program whose debug registers a debugger owns
 *
 *	help_own_registers PROGRAM [ARGUMENTS]
 *
 * Sets all four through ptrace as the program starts, to watch addresses that
 * it never touches, and goes on tracing it. Returns the program's status.
 */
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

static int take_registers(pid_t pid)
{
	/* Four 8-byte write watchpoints at the unmapped bottom of memory. */
	unsigned long control = 0;

	for (int i = 0; i < 4; i++) {
		control |= 1ul << (2 * i);
		control |= 9ul << (16 + 4 * i); /* write, 8 bytes */
		if (ptrace(PTRACE_POKEUSER, pid,
			   offsetof(struct user, u_debugreg[i]), 4096 + 8 * i))
			return -1;
	}
	return ptrace(PTRACE_POKEUSER, pid,
		      offsetof(struct user, u_debugreg[7]), control);
}

int main(int argc, char **argv)
{
	int status, first = 1;
	pid_t pid = fork();

	if (argc < 2 || pid < 0)
		return 1;
	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		execvp(argv[1], argv + 1);
		perror(argv[1]);
		_exit(127);
	}
	while (waitpid(pid, &status, 0) == pid) {
		int sig = 0;

		if (WIFEXITED(status))
			return WEXITSTATUS(status);
		if (WIFSIGNALED(status))
			return 128 + WTERMSIG(status);
		/* The trap of the first execve, then the event of each. */
		if (first ||
		    status >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8)) {
			first = 0;
			ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_TRACEEXEC);
			if (take_registers(pid)) {
				perror("help_own_registers");
				kill(pid, SIGKILL);
				return 1;
			}
		} else {
			sig = WSTOPSIG(status);
		}
		ptrace(PTRACE_CONT, pid, 0, sig);
	}
	return 1;
}
