/* SPDX-License-Identifier: MIT */
/*
 * log - every sample into a file, to check how they are chosen
 *
 * Of the process that began the run, or of the program that it executed last.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "log.h"
#include "state.h"
#include "src/store/sample_log.h"

static struct sample_log_record *sample_log;
static bool inherited;
static _Atomic uint32_t logged;

int emu_log_open(void)
{
	size_t bytes = SAMPLE_LOG_RECORDS * sizeof(*sample_log);
	const char *path = getenv("COMDET_SAMPLE_LOG");
	void *p;
	int fd, err;

	if (inherited || !path || !*path)
		return 0;
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
		  0600);
	if (fd < 0)
		return -errno;
	err = posix_fallocate(fd, 0, bytes);
	p = err ? MAP_FAILED
		: mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (!err && p == MAP_FAILED)
		err = errno;
	close(fd);
	if (!err)
		sample_log = p;
	return -err;
}

void emu_log_close(void)
{
	if (sample_log)
		munmap(sample_log, SAMPLE_LOG_RECORDS * sizeof(*sample_log));
	sample_log = NULL;
	inherited = true;
}

void emu_log_add(const struct vcpu *v, const struct access *a)
{
	uint32_t i;

	if (!sample_log)
		return;
	i = atomic_fetch_add(&logged, 1);
	if (i < SAMPLE_LOG_RECORDS)
		sample_log[i] = (struct sample_log_record){
			a->addr,  a->ip,          a->len,
			a->flags, SAMPLE_UNIFORM, v->record->id,
		};
}
