/* SPDX-License-Identifier: MIT */
/*
 * sample_log - every sample of one process, to check how they are chosen
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>

#include "sample_log.h"
#include "src/base/rawcall.h"
#include "src/base/signal_safe.h"

#define LOG_BYTES (SAMPLE_LOG_RECORDS * sizeof(struct sample_log_record))

static struct sample_log_record *records; /* NULL: not open */
static _Atomic uint32_t logged;

int sample_log_open(const char *path)
{
	long p, fd = rawcall4(SYS_openat, AT_FDCWD, path,
			      O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC |
				      O_NOFOLLOW,
			      0600);

	if (fd < 0)
		return fd;
	p = rawcall4(SYS_fallocate, fd, 0, 0, LOG_BYTES);
	if (!p)
		p = rawcall6(SYS_mmap, 0, LOG_BYTES, PROT_READ | PROT_WRITE,
			     MAP_SHARED, fd, 0);
	rawcall1(SYS_close, fd);
	if (p < 0 && p > -4096)
		return p;
	records = (struct sample_log_record *)p;
	return 0;
}

void sample_log_close(void)
{
	if (!records)
		return;
	rawcall2(SYS_munmap, records, LOG_BYTES);
	records = NULL;
}

void sample_log_add(uint32_t thread, const struct access *a,
		    enum sample_kind kind)
{
	uint32_t i;

	if (!records)
		return;
	i = atomic_fetch_add(&logged, 1);
	if (i < SAMPLE_LOG_RECORDS)
		records[i] = (struct sample_log_record){
			a->addr, a->ip, a->len, a->flags, kind, thread,
		};
}
