/* SPDX-License-Identifier: MIT */
/*
 * help_hook_process - every way to start a process; the argument names it
 *
 * The started program is this one again ("show"). It prints what it inherits:
 * LD_PRELOAD, and SIGTRAP's mask and action. The output must not depend on the
 * preload, apart from the preload's own entry, which is removed.
 */
#include <errno.h>
#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/programs/hooks/cases.h"
#include "tests/programs/hooks/inherited.h"
#include "tests/programs/hooks/signals.h"

extern char **environ;

static const char *self;

static void result(pid_t pid)
{
	int status = 0;

	if (pid < 0)
		printf("failed: %s\n", strerror(errno));
	else if (waitpid(pid, &status, 0) != pid)
		printf("no such child\n");
	else if (WIFSIGNALED(status))
		printf("killed by %d\n", WTERMSIG(status));
	else
		printf("exit %d\n", WEXITSTATUS(status));
}

static char *const *extra(void)
{
	static char *env[4096];
	int n = 0;

	for (; environ[n]; n++)
		env[n] = environ[n];
	env[n++] = (char *)"EXTRA=yes";
	env[n] = NULL;
	return env;
}

/* Each member of the exec family, in a child. */
static void run(int way)
{
	char *args[] = { (char *)self, (char *)"show", (char *)"a b", NULL };
	int fd;

	switch (way) {
	case 0:
		execve(self, args, extra());
		break;
	case 1:
		execv(self, args);
		break;
	case 2:
		execvp(self, args);
		break;
	case 3:
		execvpe(self, args, extra());
		break;
	case 4:
		execl(self, self, "show", "1", "2", "3", "4", "5", "6", "7",
		      "8", (char *)NULL);
		break;
	case 5:
		execlp(self, self, "show", (char *)NULL);
		break;
	case 6:
		execle(self, self, "show", "x", (char *)NULL, extra());
		break;
	case 7:
		fd = open(self, O_RDONLY | O_CLOEXEC);
		fexecve(fd, args, extra());
		break;
	case 8:
		execveat(AT_FDCWD, self, args, extra(), 0);
		break;
	default:
		execve("/nonexistent", args, environ);
		_exit(errno == ENOENT ? 9 : 10);
	}
	_exit(99);
}

enum {
	WAYS = 10
};

static void forks(void)
{
	for (int way = 0; way < WAYS; way++) {
		pid_t pid;

		fflush(stdout);
		pid = fork();
		if (!pid)
			run(way);
		result(pid);
	}
}

static void vforks(void)
{
	for (volatile int way = 0; way < WAYS; way++) {
		pid_t pid;

		fflush(stdout);
		pid = vfork();
		if (!pid)
			run(way);
		result(pid);
	}
}

static void one_child(void)
{
	pid_t pid;

	fflush(stdout);
	pid = vfork();
	if (!pid)
		run(1);
	result(pid);
}

static void under_forks(void)
{
	pid_t pid;

	fflush(stdout);
	pid = _Fork();
	if (!pid)
		run(1);
	result(pid);
}

static void spawns(void)
{
	char *args[] = { (char *)self, (char *)"show", NULL };
	char *bad[] = { (char *)"/nonexistent", NULL };
	posix_spawnattr_t a;
	sigset_t s;
	pid_t pid;

	fflush(stdout);
	printf("%d\n", posix_spawn(&pid, bad[0], NULL, NULL, bad, environ));
	fflush(stdout);
	if (!posix_spawn(&pid, self, NULL, NULL, args, environ))
		result(pid);
	fflush(stdout);
	if (!posix_spawnp(&pid, self, NULL, NULL, args, extra()))
		result(pid);
	fflush(stdout);
	posix_spawnattr_init(&a);
	posix_spawnattr_setflags(&a, POSIX_SPAWN_SETSIGMASK |
					     POSIX_SPAWN_SETSIGDEF);
	sigfillset(&s);
	posix_spawnattr_setsigmask(&a, &s);
	posix_spawnattr_setsigdefault(&a, &s);
	if (!posix_spawn(&pid, self, NULL, &a, args, environ))
		result(pid);
}

static void shells(void)
{
	char command[4200], line[256];
	FILE *f;
	int status;

	snprintf(command, sizeof(command), "'%s' see; exit 3", self);
	fflush(stdout);
	status = system(command);
	printf("system %d\n", WEXITSTATUS(status));
	printf("system NULL %d\n", system(NULL) != 0);
	f = popen(command, "r");
	while (f && fgets(line, sizeof(line), f))
		fputs(line, stdout);
	status = f ? pclose(f) : -1;
	printf("popen %d\n", WEXITSTATUS(status));
	printf("%d\n", system("kill -TRAP $$"));
}

static void every_way(void)
{
	forks();
	under_forks();
	vforks();
	spawns();
	shells();
	see();
}

static void plain(void)
{
	burn(5);
	every_way();
}

static void with_blocked(void)
{
	sigset_t s = only(SIGTRAP);

	sigprocmask(SIG_BLOCK, &s, NULL);
	burn(5);
	every_way();
}

static void with_ignored(void)
{
	signal(SIGTRAP, SIG_IGN);
	burn(5);
	every_way();
}

static void caught(int sig)
{
}

static void with_handler(void)
{
	signal(SIGTRAP, caught);
	burn(5);
	every_way();
}

/* A vfork child changes itself, not its parent. */
static void vfork_child_sets_itself(void)
{
	sigset_t s = only(SIGTRAP);
	pid_t pid;

	signal(SIGTRAP, caught);
	sigprocmask(SIG_BLOCK, &s, NULL);
	fflush(stdout);
	pid = vfork();
	if (!pid) {
		signal(SIGTRAP, SIG_IGN);
		sigprocmask(SIG_UNBLOCK, &s, NULL);
		run(1);
	}
	result(pid);
	see();
	sigprocmask(SIG_UNBLOCK, &s, NULL);
	fflush(stdout);
	pid = vfork();
	if (!pid) {
		signal(SIGTRAP, SIG_DFL);
		sigprocmask(SIG_BLOCK, &s, NULL);
		run(1);
	}
	result(pid);
	see();
	raise(SIGTRAP);
	printf("survived\n");
}

static void on_int3(int sig)
{
	printf("handled %d in the child\n", sig);
}

/* A forked child begins with the parent's action and mask, then has its own. */
static void forked_child_goes_on(void)
{
	sigset_t s = only(SIGTRAP), now;
	pid_t pid;

	signal(SIGTRAP, on_int3);
	sigprocmask(SIG_BLOCK, &s, NULL);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		burn(5);
		raise(SIGTRAP);
		printf("held\n");
		sigprocmask(SIG_UNBLOCK, &s, &now);
		printf("was blocked %d\n", sigismember(&now, SIGTRAP));
		__asm__ volatile("int3");
		printf("then %s\n",
		       signal(SIGTRAP, SIG_DFL) == on_int3 ? "ours" : "?");
		fflush(stdout);
		burn(5);
		raise(SIGTRAP);
	}
	result(pid);
	see();
}

/* A failed exec leaves everything as it was. */
static void failed_exec(void)
{
	char *args[] = { (char *)"x", NULL };
	sigset_t s = only(SIGTRAP);

	signal(SIGTRAP, SIG_IGN);
	sigprocmask(SIG_BLOCK, &s, NULL);
	for (int i = 0; i < 20; i++) {
		burn(1);
		if (execve("/nonexistent", args, environ) != -1 ||
		    errno != ENOENT)
			printf("errno %d\n", errno);
	}
	see();
	signal(SIGTRAP, on_int3);
	sigprocmask(SIG_UNBLOCK, &s, NULL);
	raise(SIGTRAP);
	printf("preload %s\n", getenv("LD_PRELOAD") ? "kept" : "gone");
}

static void execs_itself(void)
{
	sigset_t s = only(SIGTRAP);

	sigprocmask(SIG_BLOCK, &s, NULL);
	burn(20);
	execl(self, self, "see", (char *)NULL);
}

/* After every exec the new program is profiled in the same run. */
static void execs_on(void)
{
	char left[16];
	const char *n = getenv("HOOKS_LEFT");
	int i = n ? atoi(n) : 20;

	burn(3);
	if (!i) {
		printf("done\n");
		return;
	}
	snprintf(left, sizeof(left), "%d", i - 1);
	setenv("HOOKS_LEFT", left, 1);
	execlp(self, self, "execs_on", (char *)NULL);
}

static void detaches(void)
{
	int fd[2];
	char line[64] = "";

	if (pipe(fd))
		exit(1);
	fflush(stdout);
	if (!fork()) {
		close(fd[0]);
		if (daemon(1, 1))
			_exit(1);
		burn(5);
		raise(SIGCHLD);
		dprintf(fd[1], "from the daemon\n");
		_exit(0);
	}
	close(fd[1]);
	while (read(fd[0], line, sizeof(line) - 1) > 0)
		fputs(line, stdout);
	wait(NULL);
}

static void terminal(void)
{
	int master;
	pid_t pid;

	fflush(stdout);
	pid = forkpty(&master, NULL, NULL, NULL);
	if (!pid)
		_exit(isatty(0) ? 4 : 5);
	result(pid);
}

/* A vfork child passes on an environment too large for any stack. */
static void huge_environment(void)
{
	static char *env[20000];
	char *args[] = { (char *)self, (char *)"show", NULL };
	pid_t pid;
	int n = 0;

	for (; environ[n]; n++)
		env[n] = environ[n];
	for (int i = 0; i < 19000 - n; i++)
		env[n + i] = (char *)"FILLER=0123456789";
	fflush(stdout);
	for (int i = 0; i < 5; i++) {
		pid = vfork();
		if (!pid) {
			execve(self, args, env);
			_exit(99);
		}
		result(pid);
	}
	printf("environ %s\n",
	       getenv("LD_PRELOAD") && !getenv("FILLER") ? "kept" : "edited");
}

static void leave_by_exit(void)
{
	burn(5);
	_exit(11);
}

static void leave_by_Exit(void)
{
	_Exit(12);
}

static void at_quick(void)
{
	if (write(1, "quick\n", 6) != 6)
		_exit(1);
}

static void leave_quickly(void)
{
	at_quick_exit(at_quick);
	quick_exit(13);
}

static const struct hook_case cases[] = {
	{ "one_child", one_child },
	{ "plain", plain },
	{ "with_blocked", with_blocked },
	{ "with_ignored", with_ignored },
	{ "with_handler", with_handler },
	{ "vfork_child_sets_itself", vfork_child_sets_itself },
	{ "forked_child_goes_on", forked_child_goes_on },
	{ "failed_exec", failed_exec },
	{ "execs_itself", execs_itself },
	{ "execs_on", execs_on },
	{ "detaches", detaches },
	{ "terminal", terminal },
	{ "huge_environment", huge_environment },
	{ "leave_by_exit", leave_by_exit },
	{ "leave_by_Exit", leave_by_Exit },
	{ "leave_quickly", leave_quickly },
};

int main(int argc, char **argv)
{
	self = argv[0];
	if (argc > 1 && !strcmp(argv[1], "show"))
		return show(argc, argv);
	if (argc > 1 && !strcmp(argv[1], "see"))
		return see();
	return run_case(cases, sizeof(cases) / sizeof(cases[0]), argv[1]);
}
