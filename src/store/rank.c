/* SPDX-License-Identifier: MIT */
/*
 * rank - which process of a parallel job a process is
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "rank.h"
#include "src/base/rawcall.h"
#include "src/base/text.h"
#include "src/base/signal_safe.h"

enum {
	DIGITS_MAX = 8,
	ENTRY_BYTES = 64, /* longer variables are none of these */
	READ_BYTES = 2048,
};

/*
 * The better known come first: Slurm starts MPI's daemons, which start ranks.
 * Slurm's rank is one only in a step; a batch script has it too.
 */
static const struct {
	const char *rank, *ranks;
	bool both; /* the second must be there */
} launchers[] = {
	{ "OMPI_COMM_WORLD_RANK=", "OMPI_COMM_WORLD_SIZE=", false },
	{ "PMI_RANK=", "PMI_SIZE=", false },
	{ "SLURM_PROCID=", "SLURM_STEP_NUM_TASKS=", true },
};
enum {
	LAUNCHERS = sizeof(launchers) / sizeof(launchers[0])
};

struct found {
	int64_t rank[LAUNCHERS], ranks[LAUNCHERS]; /* -1: not there */
};

/* A number of digits only, or -1. */
static int64_t number_of(const char *text)
{
	size_t n = strlen(text);
	int64_t x = 0;

	if (!n || n > DIGITS_MAX)
		return -1;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return -1;
		x = 10 * x + (*text - '0');
	}
	return x;
}

static void take(struct found *f, const char *entry)
{
	for (int i = 0; i < LAUNCHERS; i++) {
		size_t n = strlen(launchers[i].rank),
		       m = strlen(launchers[i].ranks);

		if (!strncmp(entry, launchers[i].rank, n))
			f->rank[i] = number_of(entry + n);
		else if (!strncmp(entry, launchers[i].ranks, m))
			f->ranks[i] = number_of(entry + m);
	}
}

/* Entries end with a zero byte; they may be of any length. */
static void scan(struct found *f, long fd)
{
	char buf[READ_BYTES], entry[ENTRY_BYTES];
	size_t have = 0;
	long n;

	while ((n = rawcall3(SYS_read, fd, buf, sizeof(buf))) > 0)
		for (long i = 0; i < n; i++) {
			if (have < sizeof(entry))
				entry[have++] = buf[i];
			if (buf[i])
				continue;
			if (have < sizeof(entry) || !entry[have - 1])
				take(f, entry);
			have = 0;
		}
}

bool rank_of(pid_t pid, uint32_t *rank, uint32_t *ranks)
{
	struct found f;
	struct text t;
	char path[64];
	long fd;

	for (int i = 0; i < LAUNCHERS; i++)
		f.rank[i] = f.ranks[i] = -1;
	text_begin(&t, path, sizeof(path));
	text_put(&t, "/proc/");
	if (pid)
		text_number(&t, (uint64_t)pid);
	else
		text_put(&t, "self");
	text_put(&t, "/environ");
	fd = rawcall4(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return false;
	scan(&f, fd);
	rawcall1(SYS_close, fd);
	for (int i = 0; i < LAUNCHERS; i++) {
		if (f.rank[i] < 0 || (launchers[i].both && f.ranks[i] < 0))
			continue;
		*rank = (uint32_t)f.rank[i];
		*ranks = f.ranks[i] > 0 ? (uint32_t)f.ranks[i] : 0;
		return true;
	}
	return false;
}

int rank_directory(const char *out, uint32_t rank, char *path, size_t size)
{
	struct text t;
	long err = rawcall3(SYS_mkdirat, AT_FDCWD, out, 0700);

	if (err && err != -EEXIST)
		return (int)err;
	if (strlen(out) + sizeof("/" RANK_DIRECTORY) + DIGITS_MAX >= size)
		return -ENAMETOOLONG;
	text_begin(&t, path, size);
	text_put(&t, out);
	text_put(&t, "/" RANK_DIRECTORY);
	text_number(&t, rank);
	return 0;
}

int64_t rank_of_name(const char *name)
{
	size_t n = strlen(RANK_DIRECTORY);

	return strncmp(name, RANK_DIRECTORY, n) ? -1 : number_of(name + n);
}
