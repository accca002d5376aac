/* SPDX-License-Identifier: MIT */
/*
 * outdir_marker - the marker file of an output directory, and temporary names
 */
#include <errno.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "outdir.h"
#include "outdir_internal.h"
#include "src/base/signal_safe.h"

#define MARKER_START "comdet 1 "
#define TEMP_START   ".comdet-"

long outdir_rename_new(int dirfd, const char *from, const char *to)
{
	return rawcall5(SYS_renameat2, dirfd, from, dirfd, to,
			RENAME_NOREPLACE);
}

bool outdir_run_id_valid(const char *id, size_t len)
{
	if (len < 1 || len >= OUTDIR_RUN_ID_BYTES)
		return false;
	for (size_t i = 0; i < len; i++)
		if (id[i] < '!' || id[i] > '~')
			return false;
	return true;
}

int outdir_read_marker(int dir, char *run_id)
{
	const size_t start = sizeof(MARKER_START) - 1;
	char text[sizeof(MARKER_START) + OUTDIR_RUN_ID_BYTES];
	const char *end;
	struct stat st;
	long fd, n;

	fd = rawcall4(SYS_openat, dir, OUTDIR_MARKER,
		      O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
	if (fd < 0)
		return fd == -ENOENT || fd == -ELOOP ? -EBADMSG : fd;
	n = rawcall2(SYS_fstat, fd, &st);
	if (n == 0)
		n = S_ISREG(st.st_mode)
			    ? rawcall3(SYS_read, fd, text, sizeof(text))
			    : -EBADMSG;
	outdir_close(fd);
	if (n < 0)
		return n;
	if ((size_t)n <= start || memcmp(text, MARKER_START, start))
		return -EBADMSG;
	end = memchr(text, '\n', n);
	if (!end || !outdir_run_id_valid(text + start, end - text - start))
		return -EBADMSG;
	if (run_id) {
		memset(run_id, 0, OUTDIR_RUN_ID_BYTES);
		memcpy(run_id, text + start, end - text - start);
	}
	return 0;
}

int outdir_write_marker(int dir, const char *run_id)
{
	char text[sizeof(MARKER_START) + OUTDIR_RUN_ID_BYTES];
	size_t len = sizeof(MARKER_START) - 1, id = strlen(run_id);
	struct rlimit lim;
	long fd, n;

	memcpy(text, MARKER_START, len);
	memcpy(text + len, run_id, id);
	len += id;
	text[len++] = '\n';
	/* Writing beyond this limit raises a signal. */
	n = rawcall4(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, &lim);
	if (n)
		return n;
	if (lim.rlim_cur < len)
		return -EFBIG;
	fd = rawcall4(SYS_openat, dir, OUTDIR_MARKER,
		      O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		      0600);
	if (fd < 0)
		return fd;
	n = rawcall2(SYS_fchmod, fd, 0600); /* whatever the umask */
	if (n == 0)
		n = rawcall3(SYS_write, fd, text, len);
	outdir_close(fd);
	return n < 0 ? n : (size_t)n == len ? 0 : -ENOSPC;
}

void outdir_temp_name(char *name)
{
	static const char hex[] = "0123456789abcdef";
	const size_t start = sizeof(TEMP_START) - 1;
	unsigned char r[8];
	struct timespec now;

	if (rawcall3(SYS_getrandom, r, sizeof(r), 1 /* GRND_NONBLOCK */) !=
	    sizeof(r)) {
		uint64_t x;

		rawcall2(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
		x = now.tv_sec * 1000000000ull + now.tv_nsec;
		x ^= (uint64_t)rawcall1(SYS_getpid, 0) << 40;
		memcpy(r, &x, sizeof(r));
	}
	memcpy(name, TEMP_START, start);
	for (size_t i = 0; i < sizeof(r); i++) {
		name[start + 2 * i] = hex[r[i] >> 4];
		name[start + 2 * i + 1] = hex[r[i] & 15];
	}
	name[start + 2 * sizeof(r)] = 0;
}
