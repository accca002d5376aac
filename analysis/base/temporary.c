/* SPDX-License-Identifier: MIT */
/*
 * temporary - a directory that is gone when we are
 */
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "temporary.h"
#include "util.h"

enum {
	FILES_OPEN = 16
};

static char *directory; /* NULL: not made, or gone */

static int remove_entry(const char *path, const struct stat *st, int type,
			struct FTW *at)
{
	return remove(path) && errno != ENOENT;
}

void temporary_remove(const char *path)
{
	nftw(path, remove_entry, FILES_OPEN, FTW_DEPTH | FTW_PHYS);
}

static void remove_directory(void)
{
	if (directory)
		temporary_remove(directory);
	directory = NULL;
}

char *temporary_directory(const char *what, const char *where)
{
	const char *tmpdir = getenv("TMPDIR");

	if (directory)
		return directory;
	if (tmpdir && *tmpdir)
		where = tmpdir;
	else if (!where || access(where, W_OK | X_OK))
		where = "/tmp";
	directory = xasprintf("%s/reusetrack-%s-XXXXXX", where, what);
	if (!mkdtemp(directory))
		die("cannot make a temporary directory %s: %s; set TMPDIR to "
		    "one that you may write",
		    safe_text(directory), strerror(errno));
	atexit(remove_directory);
	return directory;
}
