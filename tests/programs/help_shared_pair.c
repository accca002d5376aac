/* SPDX-License-Identifier: MIT */
/*
 * help_shared_pair - two processes that store to one page
 *
 *   help_shared_pair memfd|anonymous|system_v|posix|private false|true|clean
 *
 * Parent and child add to neighbouring words (false), to one word (true) or to
 * words on different lines (clean). But for anonymous memory, each has mapped
 * the segment at an address of its own. private: each has a page of its own, at
 * the same address. Prints both process ids; runs until it is killed, the child
 * until its parent has ended.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <unistd.h>

enum {
	BYTES = 8192
};

static uint64_t *map(int fd)
{
	void *at =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 4096);

	return at == MAP_FAILED ? NULL : at;
}

static uint64_t *map_anonymous(int flags)
{
	void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			MAP_ANONYMOUS | flags, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

/* The segment, once for each process. */
static int get(const char *kind, uint64_t *segment[2])
{
	char name[64];
	int fd, id;

	snprintf(name, sizeof(name), "/comdet-test-%d", (int)getpid());
	if (!strcmp(kind, "private")) {
		segment[0] = segment[1] = map_anonymous(MAP_PRIVATE);
	} else if (!strcmp(kind, "anonymous")) {
		segment[0] = segment[1] = map_anonymous(MAP_SHARED);
	} else if (!strcmp(kind, "system_v")) {
		id = shmget(IPC_PRIVATE, BYTES, IPC_CREAT | 0600);
		segment[0] = shmat(id, NULL, 0);
		segment[1] = shmat(id, NULL, 0);
		shmctl(id, IPC_RMID, NULL);
	} else {
		fd = !strcmp(kind, "memfd")
			     ? memfd_create("pair", MFD_CLOEXEC)
			     : shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
		if (strcmp(kind, "memfd"))
			shm_unlink(name);
		if (fd < 0 || ftruncate(fd, BYTES))
			return -1;
		segment[0] = map(fd);
		segment[1] = map(fd);
	}
	return segment[0] && segment[1] ? 0 : -1;
}

static __attribute__((noinline)) void add_for_ever(volatile uint64_t *word)
{
	for (;;)
		__atomic_fetch_add(word, 1, __ATOMIC_RELAXED);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 2 ? argv[2] : "false";
	int apart = !strcmp(mode, "true") ? 0 : !strcmp(mode, "clean") ? 16 : 1;
	uint64_t *segment[2];
	pid_t child;

	if (argc < 3 || get(argv[1], segment)) {
		perror("help_shared_pair");
		return 1;
	}
	child = fork();
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		add_for_ever(segment[1] + apart);
	}
	printf("%d %d\n", (int)getpid(), (int)child);
	fflush(stdout);
	add_for_ever(segment[0]);
}
