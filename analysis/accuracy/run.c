/* SPDX-License-Identifier: MIT */
/*
 * run - run trials, a few at a time, and read their recordings
 *
 * Each trial is a `reusetrack record -s emu --exact` of its own, so that what
 * is scored is what users get. The user's environment settings for recording
 * are removed. Recordings go to a temporary directory and are removed once
 * read, unless they are to be kept.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "run.h"
#include "read.h"
#include "analysis/base/library.h"
#include "analysis/base/temporary.h"
#include "analysis/base/util.h"

enum {
	JOBS_MAX = 64,
	ARGUMENTS_MAX = 64,
	POLL_MS = 20,
	LIMIT_S = 7200, /* for one trial */
	WHY_BYTES = 400,
};

struct job {
	pid_t pid; /* 0: free */
	struct accuracy_trial *trial;
	char *dir, *said; /* the recording, and what record said */
	time_t start;
};

static struct job job[JOBS_MAX];
static time_t began;    /* when the first trial started */
static char *directory; /* NULL: not yet made */
static volatile sig_atomic_t stop_signal;

static time_t seconds_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

const char *accuracy_directory(const char *keep)
{
	if (directory)
		return directory;
	if (keep) {
		if (mkdir(keep, 0700) && errno != EEXIST)
			die("cannot make the directory %s: %s", safe_text(keep),
			    strerror(errno));
		directory = realpath(keep, NULL);
	} else {
		directory = temporary_directory("accuracy", NULL);
	}
	if (!directory)
		die("cannot find the directory %s: %s", safe_text(keep),
		    strerror(errno));
	return directory;
}

static void on_stop(int sig)
{
	stop_signal = sig;
}

static void stop_all(void)
{
	for (int i = 0; i < JOBS_MAX; i++)
		if (job[i].pid)
			kill(job[i].pid, SIGTERM);
	for (int i = 0; i < JOBS_MAX; i++)
		if (job[i].pid)
			waitpid(job[i].pid, NULL, 0);
	exit(128 + stop_signal);
}

void accuracy_clear_environment(void)
{
	static const char *const twins[] = {
		"MODE",  "SOURCE",     "PERIOD",   "FREQ",      "OUT",
		"WATCH", "CHILDREN",   "TOPOLOGY", "ALGORITHM", "REGISTERS",
		"EXACT", "DELAY",      "DURATION", "SLICE",     "PMU",
		"PLACE", "ARMING",     "COVER",    "BOARD",     "SEED",
		"RUN",   "SAMPLE_LOG", "CONTROL",
	};

	for (size_t i = 0; i < sizeof(twins) / sizeof(*twins); i++) {
		char *name = xasprintf("COMDET_%s", twins[i]);

		unsetenv(name);
		free(name);
	}
}

static void set(const char *name, uint64_t value)
{
	char *text = xasprintf("%llu", (unsigned long long)value);

	if (setenv(name, text, 1))
		die("cannot set %s: %s", name, strerror(errno));
	free(text);
}

static void put_setting(char **argv, int *n, const char *option, char *value)
{
	argv[(*n)++] = (char *)option;
	argv[(*n)++] = value;
}

static char *number(uint64_t n)
{
	return xasprintf("%llu", (unsigned long long)n);
}

static void record_command(const struct accuracy_trial *t, char *program,
			   char *dir, char **argv)
{
	char *rest = xstrdup(t->arguments), *word;
	int n = 0;

	argv[n++] = "reusetrack";
	argv[n++] = "record";
	put_setting(argv, &n, "-s", "emu");
	argv[n++] = "--exact";
	put_setting(argv, &n, "-o", dir);
	put_setting(argv, &n, "-p", number(t->period));
	put_setting(argv, &n, "--algorithm", (char *)t->algorithm);
	put_setting(argv, &n, "--registers", number(t->registers));
	put_setting(argv, &n, "--slice", number(t->slice));
	if (t->topology)
		put_setting(argv, &n, "--topology", (char *)t->topology);
	if (t->place)
		put_setting(argv, &n, "--place", (char *)t->place);
	argv[n++] = "--";
	argv[n++] = program;
	while (n < ARGUMENTS_MAX - 1 && (word = strsep(&rest, " ")))
		if (*word)
			argv[n++] = word;
	argv[n] = NULL;
}

void accuracy_become(int from, int to)
{
	if (from < 0 || dup2(from, to) < 0)
		_exit(125);
}

/*
 * Put each trial on one processor: threads that take turns never run at the
 * same time, and waking one on another processor takes three times as long. If
 * we cannot find out which processors we may use, use all.
 */
static void stay_on_one_processor(size_t slot)
{
	cpu_set_t ours, one;
	size_t n;

	if (sched_getaffinity(0, sizeof(ours), &ours) || !CPU_COUNT(&ours))
		return;
	n = slot % (size_t)CPU_COUNT(&ours);
	for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &ours) && !n--) {
			CPU_ZERO(&one);
			CPU_SET(cpu, &one);
			sched_setaffinity(0, sizeof(one), &one);
			return;
		}
}

static void exec_record(const struct job *j, char *program)
{
	char *argv[ARGUMENTS_MAX];

	if (j->trial->slice)
		stay_on_one_processor((size_t)(j - job));

	/* If we end, the program must end too; record passes the signal on. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	setpgid(0, 0);
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	accuracy_clear_environment();
	set("COMDET_ARMING", j->trial->arming);
	set("COMDET_BOARD", j->trial->board);
	set("COMDET_SEED", j->trial->seed);
	if (j->trial->chunks && setenv("COMDET_COVER", "chunks", 1))
		_exit(125);
	record_command(j->trial, program, j->dir, argv);
	accuracy_become(open("/dev/null", O_RDWR | O_CLOEXEC), STDIN_FILENO);
	accuracy_become(STDIN_FILENO, STDOUT_FILENO);
	accuracy_become(
		open(j->said, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600),
		STDERR_FILENO);
	execv("/proc/self/exe", argv);
	_exit(125);
}

char *accuracy_find_program(const char *name)
{
	char *relative = xasprintf("microbench/%s", name);
	char *path = library_path(relative);

	if (!path)
		die("cannot find %s beside reusetrack nor in "
		    "../lib/reusetrack (is /proc mounted?); run make",
		    relative);
	free(relative);
	return path;
}

/*
 * Named by suite and number, so the name does not depend on what else is run.
 */
static char *path_of(const struct accuracy *all, size_t index)
{
	return xasprintf("%s/%s-%zu", directory, all->trial[index].suite,
			 index - all->suite_first);
}

/* True if an earlier call left a recording of trial @index. */
static bool is_there(const struct accuracy *all, size_t index)
{
	struct accuracy_trial *t = &all->trial[index];
	char *dir;

	if (!all->resume)
		return false;
	dir = path_of(all, index);
	accuracy_read(t, dir);
	free(dir);
	if (!t->failed)
		return true;
	free(t->failed);
	t->failed = NULL;
	return false;
}

static void start(const struct accuracy *all, struct job *j, size_t index)
{
	char *program;

	j->trial = &all->trial[index];
	program = accuracy_find_program(j->trial->program);
	j->dir = path_of(all, index);
	j->said = xasprintf("%s.said", j->dir);
	temporary_remove(j->dir);
	j->start = seconds_now();
	fflush(NULL);
	j->pid = fork();
	if (j->pid < 0)
		die("cannot start a process: %s", strerror(errno));
	if (!j->pid)
		exec_record(j, program);
	free(program);
}

char *accuracy_last_words(const char *path)
{
	char text[WHY_BYTES + 1] = "", *line;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = 0;

	if (fd >= 0) {
		off_t size = lseek(fd, 0, SEEK_END);

		n = pread(fd, text, WHY_BYTES,
			  size > WHY_BYTES ? size - WHY_BYTES : 0);
		close(fd);
	}
	text[n > 0 ? n : 0] = '\0';
	if (n > 0 && text[n - 1] == '\n')
		text[n - 1] = '\0';
	line = strrchr(text, '\n');
	return xstrdup(line ? line + 1 : text);
}

static void finish(const struct accuracy *all, struct job *j, int status)
{
	struct accuracy_trial *t = j->trial;

	if (WIFEXITED(status) && !WEXITSTATUS(status)) {
		accuracy_read(t, j->dir);
	} else {
		char *said = accuracy_last_words(j->said);

		t->failed = xasprintf("record ended with %s %d: %s",
				      WIFEXITED(status) ? "status" : "signal",
				      WIFEXITED(status) ? WEXITSTATUS(status)
							: WTERMSIG(status),
				      said);
		free(said);
	}
	if (!all->keep) {
		temporary_remove(j->dir);
		unlink(j->said);
	}
	free(j->dir);
	free(j->said);
	memset(j, 0, sizeof(*j));
}

/* Collect the trials that ended, and end those that take too long. */
static unsigned int collect(const struct accuracy *all)
{
	unsigned int ended = 0;

	for (unsigned int i = 0; i < all->jobs; i++) {
		time_t took = seconds_now() - job[i].start;
		int status;

		if (!job[i].pid)
			continue;
		if (waitpid(job[i].pid, &status, WNOHANG) == job[i].pid) {
			finish(all, &job[i], status);
			ended++;
		} else if (took > LIMIT_S) {
			kill(-job[i].pid,
			     took > LIMIT_S + 5 ? SIGKILL : SIGTERM);
		}
	}
	return ended;
}

static void show_progress(const struct accuracy *all, size_t ended, size_t last)
{
	size_t trials = all->trials - all->suite_first;
	static size_t shown = SIZE_MAX;

	if (!isatty(STDERR_FILENO) || shown == ended + last)
		return;
	shown = ended + last;
	if (ended == trials)
		fputs("\r\033[K", stderr);
	else
		fprintf(stderr, "\r\033[K%s: run %zu of %zu, %s",
			all->trial[last].suite, ended + 1, trials,
			cut_text(safe_text(all->trial[last].label), 40));
	fflush(stderr);
}

static size_t common_divisor(size_t a, size_t b)
{
	while (b) {
		size_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/*
 * The step from one trial to the next. Trials run in an order that jumps about
 * the suite, so that those that have run when time is up represent all of it.
 * The step is about the golden section of @n and has no divisor in common with
 * @n.
 */
static size_t step_of(size_t n)
{
	size_t step = n * 618 / 1000 + 1;

	while (common_divisor(step, n) > 1)
		step++;
	return step;
}

static bool time_is_over(const struct accuracy *all)
{
	return all->minutes >= 0 && seconds_now() - began >= all->minutes * 60;
}

/* Remove the trials that time did not allow, so that they are not judged. */
static void leave_out(struct accuracy *all, const bool *ran, bool whole)
{
	size_t n = all->trials - all->suite_first, kept = all->suite_first;

	for (size_t i = 0; i < n; i++)
		if (ran[i])
			all->trial[kept++] = all->trial[all->suite_first + i];
	all->left_out += all->trials - kept;
	if (whole && kept != all->trials)
		kept = all->suite_first;
	all->trials = kept;
}

void accuracy_run(struct accuracy *all, const struct accuracy_suite *s)
{
	struct timespec pause = { 0, POLL_MS * 1000 * 1000 };
	struct sigaction action = { .sa_handler = on_stop };
	size_t first = all->suite_first, n = all->trials - first;
	size_t next = 0, ended = 0, last = first, step = step_of(n);
	bool *ran = xcalloc(n + 1, sizeof(*ran));

	if (all->jobs > JOBS_MAX)
		all->jobs = JOBS_MAX;
	if (!began)
		began = seconds_now();
	accuracy_directory(all->keep);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	while (ended < n) {
		for (unsigned int i = 0; i < all->jobs; i++) {
			while (!job[i].pid && next < n) {
				size_t at = next++ * step % n;

				ran[at] = true;
				if (is_there(all, first + at)) {
					ended++;
				} else if (time_is_over(all)) {
					ran[at] = false;
					ended++;
				} else {
					last = first + at;
					start(all, &job[i], last);
				}
			}
		}
		show_progress(all, ended, last);
		nanosleep(&pause, NULL);
		if (stop_signal)
			stop_all();
		ended += collect(all);
	}
	if (n)
		show_progress(all, ended, last);
	leave_out(all, ran, s->whole);
	free(ran);
}
