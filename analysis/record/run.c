/* SPDX-License-Identifier: MIT */
/*
 * run - start the program that is recorded, and be invisible to it
 *
 * We stay in the program's process group. A signal from the terminal reaches
 * the whole group by itself; one that was sent to our process alone is passed
 * on. There are no handlers: signals are blocked and accepted one by one, so
 * there are no races with them.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "run.h"
#include "environment.h"
#include "record.h"
#include "analysis/base/util.h"

static const int passed_on[] = { SIGHUP,  SIGINT,  SIGQUIT, SIGUSR1, SIGUSR2,
				 SIGALRM, SIGTERM, SIGCONT, SIGWINCH };

static void watched_signals(sigset_t *set)
{
	sigemptyset(set);
	for (size_t i = 0; i < sizeof(passed_on) / sizeof(passed_on[0]); i++)
		sigaddset(set, passed_on[i]);
	for (int sig = SIGRTMIN; sig <= SIGRTMAX; sig++)
		sigaddset(set, sig);
	sigaddset(set, SIGCHLD);
	sigaddset(set, SIGTSTP);
	sigaddset(set, SIGTTIN);
	sigaddset(set, SIGTTOU);
}

static void fail(int error, int report)
{
	if (write(report, &error, sizeof(error)) < 0)
		_exit(RECORD_FAILED);
	_exit(RECORD_FAILED);
}

static void set_or_fail(const char *name, const char *value, int report)
{
	if (setenv(name, value, 1))
		fail(ENOMEM, report);
}

/* Wait until our parent has closed its end of the pipe @gate. */
static void wait_at(int gate)
{
	char c;

	while (read(gate, &c, 1) < 0 && errno == EINTR)
		;
}

static void exec_program(const struct run *r, const sigset_t *mask,
			 sighandler_t on_child, int report)
{
	const char *others = getenv("LD_PRELOAD");
	char *preload, *run;
	int error;

	run = xasprintf("%s:%d:%s", r->run_id, (int)getpid(), r->out);
	if (r->library) {
		preload = xasprintf("%s%s%s%s%s", r->library,
				    r->heap ? ":" : "", r->heap ? r->heap : "",
				    others && *others ? ":" : "",
				    others ? others : "");
		set_or_fail("LD_PRELOAD", preload, report);
	}
	set_or_fail("COMDET_RUN", run, report);
	set_or_fail("COMDET_OUT", r->out, report);
	if (environment_pad())
		fail(ENOMEM, report);
	signal(SIGCHLD, on_child);
	sigprocmask(SIG_SETMASK, mask, NULL);
	execv(r->path, r->argv);
	error = errno;
	if (write(report, &error, sizeof(error)) < 0)
		_exit(RECORD_FAILED);
	_exit(RECORD_CANNOT_RUN);
}

/* Pass on a signal that a process sent to us alone, as far as we can tell. */
static void pass_on(pid_t pid, const siginfo_t *info)
{
	if (info->si_code > 0) /* terminal or kernel: both got it */
		return;
	if (info->si_code == SI_QUEUE)
		sigqueue(pid, info->si_signo, info->si_value);
	else
		kill(pid, info->si_signo);
}

/*
 * The program stopped for job control: stop too, so that the shell sees it. The
 * kernel ignores this in a process group that nobody could continue, which is
 * right.
 */
static void stop_like(int sig)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, sig);
	kill(getpid(), sig);
	sigprocmask(SIG_UNBLOCK, &set, NULL); /* we stop here */
	sigprocmask(SIG_BLOCK, &set, NULL);
}

/* The process has ended; while nobody has waited for it, its clock stands. */
static void note_cpu_time(struct run *r)
{
	siginfo_t info = { .si_pid = 0 };
	struct timespec ts;
	clockid_t clock;

	if (waitid(P_PID, r->pid, &info, WEXITED | WNOHANG | WNOWAIT) ||
	    info.si_pid != r->pid || clock_getcpuclockid(r->pid, &clock) ||
	    clock_gettime(clock, &ts))
		return;
	r->cpu_ns = (uint64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static bool reap(struct run *r, int *status)
{
	pid_t pid = r->pid;

	note_cpu_time(r);
	while (waitpid(pid, status, WNOHANG | WUNTRACED) == pid) {
		if (!WIFSTOPPED(*status))
			return true;
		if (WSTOPSIG(*status) != SIGSTOP)
			stop_like(WSTOPSIG(*status));
	}
	return false;
}

/* Accept a signal; after a second without any, return -1. */
static int next_signal(const struct run *r, const sigset_t *set,
		       siginfo_t *info)
{
	const struct timespec second = { 1, 0 };
	int sig;

	if (!r->tick)
		return sigwaitinfo(set, info);
	sig = sigtimedwait(set, info, &second);
	if (sig < 0 && errno == EAGAIN)
		r->tick(r->tick_ctx);
	return sig;
}

static int wait_for_end(struct run *r, const sigset_t *set)
{
	int status;

	while (!reap(r, &status)) {
		siginfo_t info;
		int sig = next_signal(r, set, &info);

		if (sig < 0 || sig == SIGCHLD || sig == SIGTSTP ||
		    sig == SIGTTIN || sig == SIGTTOU)
			continue;
		pass_on(r->pid, &info);
	}
	r->wait_status = status;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status)
				   : WEXITSTATUS(status);
}

int run_program(struct run *r)
{
	sigset_t set, mask;
	sighandler_t on_child;
	int report[2], gate[2], status;
	ssize_t n;

	if (pipe2(report, O_CLOEXEC) || pipe2(gate, O_CLOEXEC))
		die("cannot make a pipe: %s", strerror(errno));
	watched_signals(&set);
	/*
	 * Our parent may have ignored SIGCHLD; then children cannot be waited
	 * for.
	 */
	on_child = signal(SIGCHLD, SIG_DFL);
	sigprocmask(SIG_BLOCK, &set, &mask);
	fflush(stdout);
	r->pid = fork();
	if (r->pid < 0)
		die("cannot start a process: %s", strerror(errno));
	if (!r->pid) {
		close(gate[1]);
		wait_at(gate[0]);
		exec_program(r, &mask, on_child, report[1]);
	}
	if (r->begin)
		r->begin(r->begin_ctx, r->pid);
	close(gate[0]);
	close(gate[1]);
	close(report[1]);
	do {
		n = read(report[0], &r->exec_error, sizeof(r->exec_error));
	} while (n < 0 && errno == EINTR);
	if (n != sizeof(r->exec_error))
		r->exec_error = 0;
	close(report[0]);
	status = wait_for_end(r, &set);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	return status;
}
