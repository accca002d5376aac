// SPDX-License-Identifier: MIT
/*
 * help_deny - run a program with system calls denied
 *
 *	help_deny CALL[,CALL...] ERRNO PROGRAM [ARGUMENTS]
 *
 * CALL is perf_event_open, timer_create or process_vm_readv, or
 * process_vm_readv_of_others, which a program may then use on itself; ERRNO is
 * EPERM or ENOSYS, as in containers, or KILL: then the call ends the program.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
	const char *name;
	int number;
	bool of_others; /* its first argument is a process */
} calls[] = {
	{ "perf_event_open", SYS_perf_event_open, false },
	{ "timer_create", SYS_timer_create, false },
	{ "process_vm_readv", SYS_process_vm_readv, false },
	{ "process_vm_readv_of_others", SYS_process_vm_readv, true },
};

static int deny(int number, bool of_others, unsigned int action)
{
	/* The program that we execute has our process id. */
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 4),
		BPF_JUMP(BPF_JMP | BPF_JA, of_others ? 0 : 2, 0, 0),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, args[0])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned int)getpid(), 1,
			 0),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(*code), code };

	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int argc, char **argv)
{
	char *name;
	unsigned int action;

	if (argc < 4)
		return 1;
	action = SECCOMP_RET_ERRNO |
		 (strcmp(argv[2], "ENOSYS") ? EPERM : ENOSYS);
	if (!strcmp(argv[2], "KILL"))
		action = SECCOMP_RET_KILL_PROCESS;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return 1;
	for (name = strtok(argv[1], ","); name; name = strtok(NULL, ","))
		for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
			if (!strcmp(name, calls[i].name) &&
			    deny(calls[i].number, calls[i].of_others, action))
				return 1;
	execvp(argv[3], argv + 3);
	perror(argv[3]);
	return 127;
}
