/* SPDX-License-Identifier: MIT */
/*
 * whole - damaged files through whole verbs, in one process (make fuzz-whole)
 *
 *	whole [-n MUTATIONS] [-s SEED] [-f FIRST] [-v] KIND SEEDFILE...
 *
 * KIND is cdp, perf, topology, caches or latencies; -v prints each status and
 * message. Mutation number i of a seed
 * is always the same. The verb's own function runs, from options to output;
 * exit() comes back here. Of each run is required:
 *
 *   - no finding of a sanitizer, and an end within CPU_SECONDS;
 *   - status 0 or 1 (record: 125);
 *   - one line on stderr if it fails, none if it does not; a report of a
 *     damaged file may fail with its output complete;
 *   - output of characters that are safe for a terminal; JSON that parses.
 *
 * Failures leave memory and descriptors behind, so a child does the work, and
 * the next one goes on where it stops: after BATCH runs, or after a finding.
 * Findings are printed in one line each, and the input is kept.
 */
#include <fcntl.h>
#include <ftw.h>
#include <jansson.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mutate.h"
#include "analysis/base/util.h"
#include "analysis/cmd/command.h"
#include "src/base/utf8.h"
#include "src/store/cdp.h"
#include "src/store/outdir.h"

enum {
	BATCH = 4000,
	CPU_SECONDS = 20,
	WALL_SECONDS = 600, /* a wait without CPU time, on any machine */
	OUTPUT_MAX = 16 << 20,
	SEEDS_MAX = 256,
	ARGS_MAX = 16,
	FINDINGS_MAX = 20,
	FIRST_FREE_FD = 20,
};

enum {
	STATUS_FOUND = 3,
	STATUS_HANG = 4,
};

struct state { /* shared with the child */
	uint64_t next, ok, refused;
	char finding[512];
};

static struct state *state;
static struct input seed[SEEDS_MAX], input;
static int seeds, out_fd, err_fd, say_fd;
static char dir[64], file[128], result[128];
static char out[OUTPUT_MAX + 1], err[OUTPUT_MAX + 1];

static jmp_buf after_exit;
static bool in_verb, verbose;

void __real_exit(int status) __attribute__((noreturn));
void __wrap_exit(int status) __attribute__((noreturn));

void __wrap_exit(int status)
{
	if (in_verb)
		longjmp(after_exit, 1000 + status);
	__real_exit(status);
}

static void finding(const char *what, const char *detail)
{
	snprintf(state->finding, sizeof(state->finding), "%s: %.*s", what,
		 (int)strcspn(detail, "\n"), detail);
	_exit(STATUS_FOUND);
}

static void on_hang(int sig)
{
	_exit(STATUS_HANG);
}

static void set_timers(int cpu, int wall)
{
	const struct itimerval of_cpu = { .it_value.tv_sec = cpu };
	const struct itimerval of_wall = { .it_value.tv_sec = wall };

	setitimer(ITIMER_PROF, &of_cpu, NULL);
	setitimer(ITIMER_REAL, &of_wall, NULL);
}

static size_t take(int fd, char *text)
{
	ssize_t n = pread(fd, text, OUTPUT_MAX, 0);

	text[n > 0 ? n : 0] = '\0';
	if (ftruncate(fd, 0))
		_exit(2);
	lseek(fd, 0, SEEK_SET);
	return n > 0 ? (size_t)n : 0;
}

static int lines(const char *s)
{
	int n = 0;

	for (; *s; s++)
		n += *s == '\n';
	return n;
}

static void require_safe(const char *what, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	uint32_t point;
	size_t n;

	for (; *s; s += n) {
		n = utf8_next(s, &point);
		if (!n)
			finding(what, "not UTF-8");
		if (*s != '\n' && *s != '\t' && !utf8_is_safe(point))
			finding(what, "a raw control character");
	}
}

/* A copy: getopt changes the order. */
static int copy_args(const char *const *args, char **argv)
{
	static char copy[ARGS_MAX][512];
	int argc;

	for (argc = 0; args[argc]; argc++) {
		snprintf(copy[argc], sizeof(copy[argc]), "%s", args[argc]);
		argv[argc] = copy[argc];
	}
	argv[argc] = NULL;
	return argc;
}

/* Run a verb; its output is then in out and err. */
static int run(const struct command *command, const char *const *args)
{
	static char *argv[ARGS_MAX + 1];
	static int argc;
	volatile int status;

	argc = copy_args(args, argv);
	optind = 0; /* forget what was parsed before */
	set_timers(CPU_SECONDS, WALL_SECONDS);
	in_verb = true;
	status = setjmp(after_exit);
	if (!status)
		status = command->run(argc, argv);
	else
		status -= 1000;
	in_verb = false;
	set_timers(0, 0);
	fflush(stdout);
	close_range(FIRST_FREE_FD, ~0u, 0);
	if (take(out_fd, out) == OUTPUT_MAX)
		finding("output", "longer than 16 MiB");
	take(err_fd, err);
	if (verbose)
		dprintf(say_fd, "%d %s", status, err[0] ? err : "\n");
	require_safe("stdout", out);
	require_safe("stderr", err);
	return status;
}

static void require_status(int status, int bad)
{
	if (status && status != bad)
		finding("an exit status that no page documents", err);
	if (status && lines(err) != 1)
		finding("not one line of a failure", err);
	status ? state->refused++ : state->ok++;
}

static void require_json(void)
{
	json_t *j = json_loads(out, JSON_REJECT_DUPLICATES, NULL);

	if (!j)
		finding("JSON", "does not parse");
	json_decref(j);
}

/* The report of @path in one of its forms. */
static int report(const char *path, struct rng *rng)
{
	static const char *const forms[][4] = {
		{ "report", "--no-symbols", "--json" },
		{ "report", "--no-symbols", "--color=never" },
		{ "report", "--no-symbols", "--top=1000" },
		{ "report", "--json" },
		{ "report", "--color=never" },
		{ "report", "--no-symbols", "--kind=RAW,WAR" },
		{ "report", "--no-symbols", "--thread=0" },
	};
	/* Names take a hundred times as long. */
	size_t form = rng_next(rng) % 50;
	const char *args[6] = { NULL };
	int n = 0, status;

	form = form < 1   ? 3
	       : form < 2 ? 4
	       : form < 4 ? 5
	       : form < 6 ? 6
			  : form % 3;
	for (; forms[form][n]; n++)
		args[n] = forms[form][n];
	args[n] = path;
	status = run(&cmd_report, args);
	if (out[0] && !strcmp(args[n - 1], "--json"))
		require_json();
	return status;
}

static void try_cdp(struct rng *rng)
{
	static const char *const predict[] = { "predict", "--json",
					       "--adjacent-line-prefetch", dir,
					       NULL };

	require_status(report(dir, rng), 1);
	if (rng_next(rng) % 16 == 0)
		require_status(run(&cmd_predict, predict), 1);
}

static int remove_one(const char *path, const struct stat *st, int type,
		      struct FTW *ftw)
{
	return remove(path);
}

static void try_perf(struct rng *rng)
{
	const char *const args[] = { "import", "-o", result, file, NULL };
	int status = run(&cmd_import, args);

	if (status && status != 1)
		finding("an exit status that no page documents", err);
	if (status && lines(err) != 1)
		finding("not one line of a failure", err);
	status ? state->refused++ : state->ok++;
	/* --kind needs reuses, which perf does not record. */
	if (!status && rng_next(rng) % 16 == 0 && report(result, rng) &&
	    !strstr(err, "--kind needs reuse data"))
		finding("what import wrote cannot be reported", err);
	nftw(result, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void forget_options(void)
{
	static const char *const set[] = { "COMDET_TOPOLOGY", "COMDET_CACHES",
					   "COMDET_MODE",     "COMDET_EXACT",
					   "COMDET_SOURCE",   "COMDET_OUT" };

	for (size_t i = 0; i < sizeof(set) / sizeof(set[0]); i++)
		unsetenv(set[i]);
}

/* The output directory cannot be made, so record ends before the program. */
static void record(const char *option, const char *value, const char *mode)
{
	const char *const args[] = { "record", "-semu", mode, "--exact",
				     option,   value,   "-o", "/dev/null/out",
				     "true",   NULL };

	if (run(&cmd_record, args) != 125)
		finding("record did not end with 125", err);
	if (lines(err) != 1)
		finding("not one line of a failure", err);
	strstr(err, "/dev/null/out") ? state->ok++ : state->refused++;
	forget_options();
}

static void try_topology(struct rng *rng)
{
	record("--topology", file, "-mshared");
}

static void try_caches(struct rng *rng)
{
	char value[256];
	size_t n = input.n < 255 ? input.n : 255;

	memcpy(value, input.bytes, n);
	value[n] = '\0';
	record("--caches", value, "-mreuse");
}

/* The first seed file is a directory's profile, the others are latencies. */
static void try_latencies(struct rng *rng)
{
	const char *const args[] = {
		"predict", "--adjacent-line-prefetch", "--latencies",
		file,      getenv("WHOLE_PROFILE"),    NULL
	};

	require_status(run(&cmd_predict, args), 1);
}

static const struct kind {
	const char *name;
	size_t unit;
	void (*attempt)(struct rng *rng);
} kinds[] = {
	{ "cdp", CDP_PAGE_BYTES, try_cdp }, { "perf", 64, try_perf },
	{ "topology", 0, try_topology },    { "caches", 0, try_caches },
	{ "latencies", 0, try_latencies },
};

static void write_input(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || write(fd, input.bytes, input.n) != (ssize_t)input.n)
		_exit(2);
	close(fd);
}

/* The same for the same seed and number, whatever ran before. */
static void make(const struct kind *kind, uint64_t s, uint64_t i,
		 struct rng *rng)
{
	rng_seed(rng, s, i);
	input_copy(&input, &seed[i % seeds]);
	input_mutate(&input, &seed[rng_next(rng) % seeds], kind->unit, rng);
}

static void work(const struct kind *kind, uint64_t s, uint64_t end)
{
	struct rng rng;

	signal(SIGPROF, on_hang);
	signal(SIGALRM, on_hang);
	for (int n = 0; state->next < end && n < BATCH; n++, state->next++) {
		make(kind, s, state->next, &rng);
		write_input(file);
		kind->attempt(&rng);
	}
	_exit(0);
}

/* The line of a sanitizer that says most. */
static const char *sanitizer_line(void)
{
	static const char *const marks[] = { "runtime error:", "SUMMARY:",
					     "ERROR:" };
	const char *at = NULL;

	take(err_fd, err);
	for (size_t i = 0; i < 3 && !at; i++)
		at = strstr(err, marks[i]);
	if (!at)
		return "no message";
	while (at > err && at[-1] != '\n')
		at--;
	return at;
}

static void print_finding(const struct kind *kind, uint64_t s, int status)
{
	const char *what = state->finding;
	char path[256];
	struct rng rng;

	if (WIFSIGNALED(status))
		what = strsignal(WTERMSIG(status));
	else if (WEXITSTATUS(status) == STATUS_HANG)
		what = "hang";
	else if (WEXITSTATUS(status) != STATUS_FOUND)
		what = sanitizer_line();
	dprintf(say_fd, "%s %llu: %.*s\n", kind->name,
		(unsigned long long)state->next, (int)strcspn(what, "\n"),
		what);
	make(kind, s, state->next, &rng);
	snprintf(path, sizeof(path), "%s/%s-%llu-%llu", getenv("WHOLE_KEEP"),
		 kind->name, (unsigned long long)s,
		 (unsigned long long)state->next);
	write_input(path);
}

static int watch(const struct kind *kind, uint64_t s, uint64_t end)
{
	int findings = 0, status;
	pid_t pid;

	while (state->next < end && findings < FINDINGS_MAX) {
		state->finding[0] = '\0';
		pid = fork();
		if (!pid)
			work(kind, s, end);
		if (pid < 0 || waitpid(pid, &status, 0) != pid)
			exit(2);
		if (status) {
			print_finding(kind, s, status);
			findings++;
			state->next++;
		}
		nftw(result, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	}
	return findings;
}

static int capture(int fd)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 10);
	int memory = memfd_create("output", MFD_CLOEXEC);

	if (copy < 0 || memory < 0 || dup2(memory, fd) < 0)
		exit(2);
	close(memory);
	return copy;
}

static void prepare(const struct kind *kind)
{
	char marker[128];
	int fd;

	strcpy(dir, "/dev/shm/comdet-whole-XXXXXX");
	if (!mkdtemp(dir))
		exit(2);
	snprintf(file, sizeof(file), "%s/input%s", dir,
		 kind->unit == CDP_PAGE_BYTES ? ".cdp" : "");
	snprintf(result, sizeof(result), "%s/result", dir);
	snprintf(marker, sizeof(marker), "%s/" OUTDIR_MARKER, dir);
	fd = open(marker, O_WRONLY | O_CREAT, 0600);
	if (fd < 0 || dprintf(fd, "comdet 1 0123456789abcdef\n") < 0)
		exit(2);
	close(fd);
	say_fd = capture(STDOUT_FILENO);
	capture(STDERR_FILENO);
	out_fd = STDOUT_FILENO;
	err_fd = STDERR_FILENO;
}

int main(int argc, char **argv)
{
	uint64_t n = 1000, s = 1, first = 0;
	const struct kind *kind = NULL;
	int letter, findings;

	while ((letter = getopt(argc, argv, "n:s:f:v")) != -1) {
		uint64_t value = optarg ? strtoull(optarg, NULL, 10) : 0;

		if (letter == '?')
			return 2;
		verbose |= letter == 'v';
		if (letter == 'v')
			continue;
		*(letter == 'n' ? &n : letter == 's' ? &s : &first) = value;
	}
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (optind < argc && !strcmp(argv[optind], kinds[i].name))
			kind = &kinds[i];
	if (!kind || argc - optind < 2 || !getenv("WHOLE_KEEP"))
		return 2;
	while (++optind < argc && seeds < SEEDS_MAX)
		input_read(&seed[seeds++], argv[optind]);
	state = mmap(NULL, sizeof(*state), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (state == MAP_FAILED)
		return 2;
	prepare(kind);
	state->next = first;
	findings = watch(kind, s, first + n);
	nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	dprintf(say_fd,
		"%s: %llu mutations of %d seeds: %llu accepted, %llu refused "
		"in one line, %d findings\n",
		kind->name, (unsigned long long)(state->next - first), seeds,
		(unsigned long long)state->ok,
		(unsigned long long)state->refused, findings);
	return findings ? 1 : 0;
}
