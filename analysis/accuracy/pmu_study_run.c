/* SPDX-License-Identifier: MIT */
/*
 * pmu_study_run - one run of a benchmark, with or without a source
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run.h"
#include "pmu_study_internal.h"
#include "analysis/base/temporary.h"
#include "analysis/base/util.h"

enum {
	ARGUMENTS_MAX = 32,
	LIMIT_S = 600,
};

struct files {
	char *out, *log, *said, *answer;
};

static volatile sig_atomic_t stop_signal;

static void on_stop(int sig)
{
	stop_signal = sig;
}

static bool records(enum pmu_study_column c)
{
	return c >= PMU_STUDY_FIRST;
}

static char *number(uint64_t n)
{
	return xasprintf("%llu", (unsigned long long)n);
}

static void put(char **argv, const char *word)
{
	int n = 0;

	while (argv[n])
		n++;
	if (n == ARGUMENTS_MAX - 1)
		die("too many arguments");
	argv[n] = (char *)word;
}

static void record_arguments(const struct pmu_study_run *r,
			     const struct files *f, char **argv)
{
	put(argv, "reusetrack");
	put(argv, "record");
	put(argv, "-s");
	put(argv, pmu_study_names[r->column]);
	put(argv, "-o");
	put(argv, f->out);
	if (r->column == PMU_STUDY_CLOCK) {
		put(argv, "-F");
		put(argv, number(r->freq));
	} else {
		put(argv, "-p");
		put(argv, number(r->period));
	}
	put(argv, "--");
}

static char *find_program(const struct pmu_study_run *r)
{
	char *name, *path;

	if (r->column != PMU_STUDY_INSTR)
		return accuracy_find_program(r->program);
	name = xasprintf("instr/%s", r->program);
	path = accuracy_find_program(name);
	free(name);
	return path;
}

static void exec_run(const struct pmu_study_run *r, const struct files *f,
		     char *program)
{
	char *argv[ARGUMENTS_MAX] = { NULL };
	char *rest = xstrdup(r->options), *word;

	/* If we end, the program must end too; record passes the signal on. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	accuracy_clear_environment();
	if (records(r->column)) {
		record_arguments(r, f, argv);
		if (setenv("COMDET_SAMPLE_LOG", f->log, 1) ||
		    setenv("COMDET_SEED", number(r->seed), 1))
			_exit(125);
	} else if (r->column == PMU_STUDY_QEMU) {
		put(argv, "qemu-x86_64");
		put(argv, "-cpu");
		put(argv, "max");
	}
	put(argv, program);
	put(argv, "--json");
	put(argv, "--iterations");
	put(argv, number(r->iterations));
	while ((word = strsep(&rest, " ")))
		if (*word)
			put(argv, word);
	accuracy_become(open("/dev/null", O_RDWR | O_CLOEXEC), STDIN_FILENO);
	accuracy_become(open(f->answer, O_WRONLY | O_CREAT | O_TRUNC, 0600),
			STDOUT_FILENO);
	accuracy_become(open(f->said, O_WRONLY | O_CREAT | O_TRUNC, 0600),
			STDERR_FILENO);
	if (records(r->column))
		execv("/proc/self/exe", argv);
	else
		execvp(argv[0], argv);
	_exit(125);
}

static void set_handler(int sig, void (*handler)(int))
{
	struct sigaction action = { .sa_handler = handler };

	sigaction(sig, &action, NULL);
}

/* Returns the status from waitpid. */
static int wait_for(pid_t pid)
{
	int status = 0;

	alarm(LIMIT_S);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		if (stop_signal)
			kill(pid, SIGTERM);
	alarm(0);
	if (stop_signal && stop_signal != SIGALRM)
		exit(128 + stop_signal);
	stop_signal = 0;
	return status;
}

static void run(struct pmu_study_run *r, const struct files *f)
{
	char *program = find_program(r), *said;
	int status;
	pid_t pid;

	temporary_remove(f->out);
	unlink(f->log);
	fflush(NULL);
	pid = fork();
	if (pid < 0)
		die("cannot start a process: %s", strerror(errno));
	if (!pid)
		exec_run(r, f, program);
	free(program);
	status = wait_for(pid);
	if (WIFEXITED(status) && !WEXITSTATUS(status)) {
		pmu_study_read_answer(r, f->answer);
		if (!r->failed && records(r->column))
			pmu_study_read_log(r, f->log);
		return;
	}
	said = accuracy_last_words(f->said);
	r->failed = xasprintf(
		"ended with %s %d: %s", WIFEXITED(status) ? "status" : "signal",
		WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status),
		said);
	free(said);
}

void pmu_study_execute(struct pmu_study *p, struct pmu_study_run *r)
{
	const char *dir = accuracy_directory(p->all->keep);
	unsigned int n = p->made++;
	struct files f = {
		.out = xasprintf("%s/precise-%u", dir, n),
		.log = xasprintf("%s/precise-%u.log", dir, n),
		.said = xasprintf("%s/precise-%u.said", dir, n),
		.answer = xasprintf("%s/precise-%u.json", dir, n),
	};

	set_handler(SIGINT, on_stop);
	set_handler(SIGTERM, on_stop);
	set_handler(SIGALRM, on_stop);
	run(r, &f);
	if (r->failed)
		warn("%s under %s: %s", r->program, pmu_study_names[r->column],
		     safe_text(r->failed));
	unlink(f.log); /* it has 32 MiB */
	if (!p->all->keep) {
		temporary_remove(f.out);
		unlink(f.said);
		unlink(f.answer);
	}
	free(f.out);
	free(f.log);
	free(f.said);
	free(f.answer);
}
