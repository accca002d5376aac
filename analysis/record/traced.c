/* SPDX-License-Identifier: MIT */
/*
 * traced - record the trace of a program, and take it from a pipe
 *
 * The plugin opens the pipe by its name. We hold it open for writing too, until
 * record has ended: so it has an end only then.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "traced.h"
#include "record.h"
#include "analysis/base/temporary.h"
#include "analysis/base/util.h"

enum {
	PATIENCE =
		200, /* looks, until a program that ignores signals is left */
	LOOK_NS = 10 * 1000 * 1000,
	COPY_BYTES = 1 << 16,
};

static sigset_t stop_signals;
static pid_t pid; /* of record */
static int held;  /* the pipe */
static pthread_t waiter;
static atomic_bool ended, stopping;
static int wait_status;

static void *wait_for_record(void *unused)
{
	while (waitpid(pid, &wait_status, 0) < 0 && errno == EINTR)
		;
	ended = true;
	close(held);
	return NULL;
}

void traced_stop(void)
{
	static const struct timespec look = { 0, LOOK_NS };

	if (!pid || ended)
		return;
	kill(pid, SIGTERM);
	for (int i = 0; i < PATIENCE && !ended; i++)
		nanosleep(&look, NULL);
}

/* exit ends record, and removes what it wrote. */
static void *wait_for_stop(void *unused)
{
	int sig;

	if (sigwait(&stop_signals, &sig))
		return NULL;
	stopping = true;
	exit(128 + sig);
}

/* In a child: what the program prints is no result, so it goes to stderr. */
static __attribute__((noreturn)) void exec_record(char *const *program,
						  const char *roi, char *out,
						  const char *pipe)
{
	char **argv;
	int n = 0, at = 0;

	while (program[n])
		n++;
	argv = xcalloc((size_t)n + 12, sizeof(*argv));
	argv[at++] = "reusetrack";
	argv[at++] = "record";
	argv[at++] = "-s";
	argv[at++] = "emu";
	argv[at++] = "-m";
	argv[at++] = "trace";
	argv[at++] = "-o";
	argv[at++] = out;
	if (roi) {
		argv[at++] = "--roi";
		argv[at++] = (char *)roi;
	}
	argv[at++] = "--";
	memcpy(argv + at, program, (size_t)n * sizeof(*argv));
	dup2(STDERR_FILENO, STDOUT_FILENO);
	setenv(RECORD_TRACE_PIPE, pipe, 1);
	sigprocmask(SIG_UNBLOCK, &stop_signals, NULL);
	execv("/proc/self/exe", argv);
	_exit(RECORD_FAILED);
}

static int open_pipe(const char *path)
{
	int fd = -1;

	held = -1;
	if (!mkfifo(path, 0600))
		fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0)
		held = open(path, O_WRONLY | O_CLOEXEC);
	if (held < 0 || fcntl(fd, F_SETFL, 0))
		die("cannot make the pipe %s: %s", safe_text(path),
		    strerror(errno));
	return fd;
}

static void start_threads(void)
{
	pthread_t thread;

	if (pthread_create(&waiter, NULL, wait_for_record, NULL))
		die("cannot start a thread");
	if (pthread_create(&thread, NULL, wait_for_stop, NULL))
		pthread_sigmask(SIG_UNBLOCK, &stop_signals, NULL);
}

void traced_start(struct traced *t, char *const *program, const char *roi)
{
	const char *in = temporary_directory("simulate", "/dev/shm");
	char *out = xasprintf("%s/out", in);
	char *pipe = xasprintf("%s/trace", in);

	t->out = out;
	t->fd = open_pipe(pipe);
	sigemptyset(&stop_signals);
	sigaddset(&stop_signals, SIGINT);
	sigaddset(&stop_signals, SIGTERM);
	sigaddset(&stop_signals, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &stop_signals, NULL);
	fflush(NULL);
	pid = fork();
	if (!pid)
		exec_record(program, roi, out, pipe);
	if (pid < 0)
		die("cannot run record: %s", strerror(errno));
	atexit(traced_stop);
	start_threads();
	free(pipe);
}

int traced_end(void)
{
	int status;

	while (stopping)
		pause(); /* until the other thread has ended us */
	pthread_join(waiter, NULL);
	while (stopping)
		pause();
	status = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 0;
	if (status >= RECORD_FAILED && status <= RECORD_NOT_FOUND)
		exit(1); /* record said why */
	if (WIFSIGNALED(wait_status))
		return WTERMSIG(wait_status);
	return status > 128 ? status - 128 : 0;
}

char *traced_keep(const struct traced *t)
{
	static char bytes[COPY_BYTES];
	int fd = memfd_create("trace", MFD_CLOEXEC);
	ssize_t n;

	while (fd >= 0 && (n = read(t->fd, bytes, sizeof(bytes))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 || write(fd, bytes, (size_t)n) != n)
			die("cannot keep the trace in memory: %s",
			    strerror(errno));
	}
	if (fd < 0)
		die("cannot keep the trace in memory: %s", strerror(errno));
	close(t->fd);
	return xasprintf("/proc/self/fd/%d", fd);
}
