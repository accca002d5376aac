/* SPDX-License-Identifier: MIT */
/*
 * library - find the libraries and programs that reusetrack needs
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "library.h"
#include "util.h"

static const char *const places[] = {
	"",
	"/../lib",
	"/../lib/reusetrack",
	"/../lib64",
	"/../lib/x86_64-linux-gnu",
};

char *library_path(const char *name)
{
	char dir[PATH_MAX], *slash, *path = NULL;
	ssize_t n = readlink("/proc/self/exe", dir, sizeof(dir) - 1);

	if (n < 0)
		return NULL;
	dir[n] = '\0';
	slash = strrchr(dir, '/');
	if (slash)
		*slash = '\0';
	for (size_t i = 0; !path && i < sizeof(places) / sizeof(*places); i++) {
		char *try = xasprintf("%s%s/%s", dir, places[i], name);

		path = realpath(try, NULL);
		free(try);
	}
	return path;
}

bool in_path(const char *name)
{
	const char *dir = getenv("PATH"), *end;
	char path[PATH_MAX];

	for (dir = dir ? dir : "/usr/bin"; dir; dir = *end ? end + 1 : NULL) {
		end = dir + strcspn(dir, ":");
		snprintf(path, sizeof(path), "%.*s%s%s", (int)(end - dir), dir,
			 end > dir ? "/" : "", name);
		if (!access(path, X_OK))
			return true;
	}
	return false;
}
