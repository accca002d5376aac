/* SPDX-License-Identifier: MIT */
/*
 * topology_file - read the topology that --topology or COMDET_TOPOLOGY names
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "topology_file.h"

enum {
	TEXT_MAX = 256 * 1024,
};

static FILE *open_text(const char *path)
{
	static const char inlined[] = "text:";

	if (strncmp(path, inlined, strlen(inlined)))
		return fopen(path, "re");
	path += strlen(inlined);
	return fmemopen((void *)path, strlen(path), "re");
}

int topology_file_read(struct topology *t, const char *path, char *error,
		       size_t size)
{
	static char text[TEXT_MAX];
	struct topology_error e;
	FILE *f = open_text(path);
	size_t n;

	if (!f) {
		snprintf(error, size, "cannot open the topology %.200s: %s",
			 path, strerror(errno));
		return -EINVAL;
	}
	n = fread(text, 1, sizeof(text), f);
	fclose(f);
	if (n == sizeof(text)) {
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
