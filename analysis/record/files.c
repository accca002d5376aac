/* SPDX-License-Identifier: MIT */
/*
 * files - the profiles in an output directory, one by one
 */
#include <dirent.h>
#include <string.h>
#include <unistd.h>

#include "files.h"

void record_each_file(int dirfd,
		      void (*each)(void *ctx, int dirfd, const char *name),
		      void *ctx)
{
	int again = dup(dirfd);
	DIR *dir = again < 0 ? NULL : fdopendir(again);
	struct dirent *e;

	if (!dir) {
		if (again >= 0)
			close(again);
		return;
	}
	rewinddir(dir);
	while ((e = readdir(dir))) {
		size_t n = strlen(e->d_name);

		if (n >= 4 && !strcmp(e->d_name + n - 4, ".cdp"))
			each(ctx, dirfd, e->d_name);
	}
	closedir(dir);
}
