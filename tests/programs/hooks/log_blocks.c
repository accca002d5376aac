/* SPDX-License-Identifier: MIT */
/*
 * log_blocks - a preload that notes where a program's heap blocks lie
 *
 * The first thousand pairs of size and address go to the file that BLOCKS_LOG
 * names, through a mapping, so that no end of the program loses them. Of a
 * forked child, and of a program that a child executes, nothing is noted.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	BLOCKS = 1000
};

extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t n, size_t bytes);
extern void *__libc_realloc(void *p, size_t bytes);

static struct {
	uint64_t bytes, address;
} early[BLOCKS], (*note)[BLOCKS] = &early;
static unsigned noted;
static pid_t process;

static void *take(size_t bytes, void *p)
{
	if (process && process != getpid())
		return p;
	unsigned i = __atomic_fetch_add(&noted, 1, __ATOMIC_RELAXED);

	if (i < BLOCKS) {
		(*note)[i].bytes = bytes;
		(*note)[i].address = (uintptr_t)p;
	}
	return p;
}

void *malloc(size_t bytes)
{
	return take(bytes, __libc_malloc(bytes));
}

void *calloc(size_t n, size_t bytes)
{
	return take(n * bytes, __libc_calloc(n, bytes));
}

void *realloc(void *p, size_t bytes)
{
	return take(bytes, __libc_realloc(p, bytes));
}

__attribute__((constructor)) static void start(void)
{
	const char *name = getenv("BLOCKS_LOG");
	int fd = name ? open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600)
		      : -1;
	void *map = MAP_FAILED;

	process = getpid();
	if (fd < 0)
		return;
	if (!ftruncate(fd, sizeof(early)))
		map = mmap(NULL, sizeof(early), PROT_READ | PROT_WRITE,
			   MAP_SHARED, fd, 0);
	close(fd);
	if (map == MAP_FAILED)
		return;
	for (unsigned i = 0; i < BLOCKS; i++) {
		((uint64_t *)map)[2 * i] = early[i].bytes;
		((uint64_t *)map)[2 * i + 1] = early[i].address;
	}
	note = map;
}
