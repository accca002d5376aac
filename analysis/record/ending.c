/* SPDX-License-Identifier: MIT */
/*
 * ending - write into the profile how the program ended
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ending.h"
#include "files.h"
#include "src/store/cdp.h"

/*
 * The library within the program cannot see its end by a signal; the watcher
 * from outside sees the end, but the signal only if it asks before we wait.
 */
static bool lacks_the_end(const struct cdp_header *h, const struct run *r)
{
	return h->state == CDP_RUNNING ||
	       (h->state == CDP_ENDED && WIFSIGNALED(r->wait_status));
}

static bool is_the_last(const struct cdp_header *h, const struct run *r)
{
	return !memcmp(h->magic, CDP_MAGIC, sizeof(h->magic)) &&
	       h->version == CDP_VERSION && h->pid == (uint32_t)r->pid &&
	       lacks_the_end(h, r) &&
	       !strncmp(h->run_id, r->run_id, sizeof(h->run_id));
}

static void write_at(int fd, size_t offset, const void *from, size_t bytes)
{
	ssize_t n = pwrite(fd, from, bytes, (off_t)offset);

	(void)n; /* then the report says less */
}

#define WRITE(fd, h, field)                                                    \
	write_at(fd, offsetof(struct cdp_header, field), &(h)->field,          \
		 sizeof((h)->field))

static void note_in(int fd, const struct run *r)
{
	struct cdp_header h;

	if (pread(fd, &h, sizeof(h), 0) != sizeof(h) || !is_the_last(&h, r))
		return;
	if (WIFSIGNALED(r->wait_status)) {
		h.end_how = CDP_END_SIGNAL;
		h.end_value = (uint32_t)WTERMSIG(r->wait_status);
	} else {
		h.end_how = CDP_END_EXIT;
		h.end_value = (uint32_t)WEXITSTATUS(r->wait_status);
	}
	WRITE(fd, &h, end_value);
	WRITE(fd, &h, end_how);
	/* emu's CPU time is the guest's. */
	if (h.state == CDP_RUNNING && r->cpu_ns > h.cpu_ns &&
	    strcmp(h.source, "emu") != 0) {
		h.cpu_ns = r->cpu_ns;
		WRITE(fd, &h, cpu_ns);
	}
}

static void note_file(void *run, int dirfd, const char *name)
{
	int fd = openat(dirfd, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK);

	if (fd < 0)
		return;
	note_in(fd, run);
	close(fd);
}

void ending_note(struct run *r, int dirfd)
{
	record_each_file(dirfd, note_file, r);
}
