/* SPDX-License-Identifier: MIT */
/*
 * simulate - run a trace on a machine that need not exist
 */
#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.h"
#include "analysis/accuracy/run.h"
#include "analysis/base/options.h"
#include "analysis/base/util.h"
#include "analysis/model/machine.h"
#include "analysis/model/simulate.h"
#include "analysis/model/simulate_print.h"
#include "analysis/model/trace.h"
#include "analysis/record/record.h"

enum {
	CHANGES_MAX = 64,
	MACHINES_MAX = 64,
};

struct options {
	const char *machine[MACHINES_MAX], *change[CHANGES_MAX], *trace;
	int machines, changes;
	const char *roi;
	char **program; /* to trace first; NULL: there is a trace */
	bool json;
};

static const struct option long_options[] = {
	{ "machine", required_argument, NULL, 'm' },
	{ "set", required_argument, NULL, 's' },
	{ "roi", required_argument, NULL, 'r' },
	{ "json", no_argument, NULL, 'j' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static void parse_options(int argc, char **argv, struct options *o)
{
	const struct option_syntax syntax = { "simulate", cmd_simulate.usage,
					      ":h", long_options };
	int letter;

	optind = 1;
	while ((letter = next_option(&syntax, argc, argv)) != -1) {
		if (letter == 'm' && o->machines < MACHINES_MAX)
			o->machine[o->machines++] = optarg;
		else if (letter == 's' && o->changes < CHANGES_MAX)
			o->change[o->changes++] = optarg;
		else if (letter == 'r')
			o->roi = optarg;
		else if (letter == 'j')
			o->json = true;
		else
			die("simulate: too many --machine or --set");
	}
	if (optind < argc && !strcmp(argv[optind - 1], "--"))
		o->program = argv + optind;
	else
		o->trace = directory_argument("simulate", argc, argv);
	if (o->roi && !o->program)
		die("simulate: --roi needs a program to trace: -- PROGRAM");
	if (!o->machines)
		die("simulate: say on which machine: --machine NAME or FILE; "
		    "reusetrack machine --list shows the names");
}

static sigset_t stop_signals;
static _Atomic pid_t tracer; /* record, from when it runs */
static atomic_bool stopping;

/* A signal ends record first, and then us; exit removes what was traced. */
static void *wait_for_stop(void *unused)
{
	siginfo_t info;
	int sig;

	if (sigwait(&stop_signals, &sig))
		return NULL;
	stopping = true;
	if (tracer > 0) {
		kill(tracer, SIGTERM);
		waitid(P_PID, (id_t)tracer, &info, WEXITED | WNOWAIT);
	}
	exit(128 + sig);
}

static void hold_signals(void)
{
	sigemptyset(&stop_signals);
	sigaddset(&stop_signals, SIGINT);
	sigaddset(&stop_signals, SIGTERM);
	sigaddset(&stop_signals, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &stop_signals, NULL);
}

static void take_signals(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, wait_for_stop, NULL))
		pthread_sigmask(SIG_UNBLOCK, &stop_signals, NULL);
}

/* In a child: what the program prints is no result, so it goes to stderr. */
static __attribute__((noreturn)) void exec_record(const struct options *o,
						  char *out)
{
	char **argv;
	int n = 0, at = 0;

	while (o->program[n])
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
	if (o->roi) {
		argv[at++] = "--roi";
		argv[at++] = (char *)o->roi;
	}
	argv[at++] = "--";
	memcpy(argv + at, o->program, (size_t)n * sizeof(*argv));
	dup2(STDERR_FILENO, STDOUT_FILENO);
	sigprocmask(SIG_UNBLOCK, &stop_signals, NULL);
	execv("/proc/self/exe", argv);
	_exit(RECORD_FAILED);
}

/* Trace the program; returns the directory with its trace. */
static char *trace_program(const struct options *o)
{
	char *out = xasprintf("%s/out", accuracy_directory(NULL));
	int status;
	pid_t pid;

	hold_signals();
	fflush(NULL);
	pid = fork();
	if (!pid)
		exec_record(o, out);
	tracer = pid;
	take_signals();
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		die("simulate: cannot run record: %s", strerror(errno));
	tracer = 0;
	while (stopping)
		pause();
	if (WIFEXITED(status) && WEXITSTATUS(status) >= RECORD_FAILED &&
	    WEXITSTATUS(status) <= RECORD_NOT_FOUND)
		exit(1); /* record said why */
	return out;
}

static void read_machine(struct machine *m, const struct options *o, int i)
{
	char error[MACHINE_ERROR_BYTES];

	if (machine_read(m, o->machine[i], error))
		die("simulate: %s", error);
	for (int k = 0; k < o->changes; k++)
		if (machine_set(m, o->change[k], error))
			die("simulate: --set %s: %s", safe_text(o->change[k]),
			    error);
	if (machine_check(m, error))
		die("simulate: %s", error);
}

static int run_simulate(int argc, char **argv)
{
	static struct machine machine[MACHINES_MAX];
	char error[TRACE_ERROR_BYTES];
	struct options o = { 0 };
	struct simulated result;
	struct trace trace;

	parse_options(argc, argv, &o);
	for (int i = 0; i < o.machines; i++)
		read_machine(&machine[i], &o, i);
	if (o.program)
		o.trace = trace_program(&o);
	if (trace_open(&trace, o.trace, error))
		die("simulate: %s: %s", safe_text(o.trace), error);
	if (trace.warning)
		warn("simulate: %s: %s", safe_text(o.trace), trace.warning);
	for (int i = 0; i < o.machines; i++) {
		if (simulate(&result, &trace, &machine[i], error))
			die("simulate: %s: %s", safe_text(o.trace), error);
		if (i && !o.json)
			putchar('\n');
		if (o.json)
			simulate_print_json(&result, &machine[i]);
		else
			simulate_print_text(&result, &machine[i]);
		simulated_release(&result);
	}
	trace_close(&trace);
	return 0;
}

const struct command cmd_simulate = {
	.name = "simulate",
	.summary = "run a trace on a machine that need not exist",
	.usage = "usage: reusetrack simulate --machine NAME|FILE [OPTION...] "
		 "[TRACE]\n"
		 "       reusetrack simulate --machine NAME|FILE [OPTION...] "
		 "-- PROGRAM...\n\n"
		 "Simulates the trace in the file or directory TRACE, default "
		 "out, in every cycle\nof an out-of-order machine, and prints "
		 "its time, where its cycles go, and its\nmisses. Record a "
		 "trace with record -s emu -m trace, or name a PROGRAM: it\nis "
		 "traced first, and prints to standard error.\n\n"
		 "      --machine NAME|FILE  may be given several times; see "
		 "reusetrack machine\n"
		 "      --set KEY=VALUE      change a value of the machines, "
		 "for example\n"
		 "                           l2.size=1M\n"
		 "      --roi BEGIN,END      the part of PROGRAM to trace, as "
		 "for record\n"
		 "      --json               an object in a line for each "
		 "machine\n",
	.run = run_simulate,
};
