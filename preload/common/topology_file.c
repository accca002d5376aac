/* SPDX-License-Identifier: MIT */
/*
 * topology_file - read the topology that --topology or COMDET_TOPOLOGY names
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "topology_file.h"
#include "src/base/regular_file.h"

enum {
	TEXT_MAX = 256 * 1024,
};

/* *@error receives what to say if it returns NULL. */
static FILE *open_text(const char *path, const char **error)
{
	static const char inlined[] = "text:";
	FILE *f;
	int fd;

	if (strncmp(path, inlined, strlen(inlined))) {
		fd = regular_file_open(path);
		f = fd < 0 ? NULL : fdopen(fd, "r");
		*error = regular_file_error(fd < 0 ? fd : -errno);
		return f;
	}
	path += strlen(inlined);
	f = fmemopen((void *)path, strlen(path), "re");
	*error = strerror(errno);
	return f;
}

static int read_into(struct topology *t, char *text, const char *path,
		     char *error, size_t size)
{
	struct topology_error e;
	const char *why;
	FILE *f = open_text(path, &why);
	size_t n;

	if (!f) {
		snprintf(error, size, "cannot open the topology %.200s: %s",
			 path, why);
		return -EINVAL;
	}
	n = fread(text, 1, TEXT_MAX, f);
	fclose(f);
	if (n == TEXT_MAX) {
		snprintf(error, size, "the topology %.200s is too long", path);
		return -EINVAL;
	}
	if (topology_parse(t, text, n, &e)) {
		snprintf(error, size, "the topology %.200s, line %u%s%s: %s",
			 path, e.line, e.word[0] ? ": " : "", e.word,
			 topology_fault_text(e.fault));
		return -EINVAL;
	}
	return 0;
}

int topology_file_read(struct topology *t, const char *path, char *error,
		       size_t size)
{
	char *text = mmap(NULL, TEXT_MAX, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int r;

	if (text == MAP_FAILED) {
		snprintf(error, size, "no memory for the topology %.200s",
			 path);
		return -ENOMEM;
	}
	r = read_into(t, text, path, error, size);
	munmap(text, TEXT_MAX);
	return r;
}
