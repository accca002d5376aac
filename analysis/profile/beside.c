/* SPDX-License-Identifier: MIT */
/*
 * beside - where a recording went that did not get the directory it asked for
 */
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "beside.h"
#include "analysis/base/util.h"
#include "src/store/outdir.h"

enum {
	NUMBERS = 999
};

/* True if a recording made @path, or if it is a file of one. */
static bool is_ours(const char *path)
{
	size_t n = strlen(path);
	int dirfd = outdir_open(path, NULL);

	if (dirfd >= 0)
		close(dirfd);
	return dirfd >= 0 || (n >= 4 && !strcmp(path + n - 4, ".cdp"));
}

static bool is_later(const struct stat *a, const struct stat *b)
{
	return a->st_mtim.tv_sec > b->st_mtim.tv_sec ||
	       (a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
		a->st_mtim.tv_nsec >= b->st_mtim.tv_nsec);
}

const char *profile_beside(const char *path)
{
	static char found[PATH_MAX];
	char beside[PATH_MAX];
	struct stat st, latest = { 0 };
	size_t n = strlen(path);

	if (stat(path, &st) || is_ours(path))
		return path;
	while (n > 1 && path[n - 1] == '/')
		n--;
	found[0] = '\0';
	for (int i = 1; i <= NUMBERS; i++) {
		snprintf(beside, sizeof(beside), "%.*s.%d", (int)n, path, i);
		if (stat(beside, &st) || !S_ISDIR(st.st_mode) ||
		    !is_later(&st, &latest) || !is_ours(beside))
			continue;
		latest = st;
		memcpy(found, beside, sizeof(found));
	}
	if (!found[0])
		return path;
	warn("%s is not an output directory; the latest recording beside it is "
	     "%s",
	     safe_text(path), safe_text(found));
	return found;
}
