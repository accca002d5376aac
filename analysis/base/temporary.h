/* SPDX-License-Identifier: MIT */
/*
 * temporary - a directory that is gone when we are
 */
#ifndef COMDET_ANALYSIS_BASE_TEMPORARY_H
#define COMDET_ANALYSIS_BASE_TEMPORARY_H

/* Remove @path with all its content; no error if it does not exist. */
void temporary_remove(const char *path);

/*
 * Create a directory "reusetrack-@what-...", once in a process, and remove it
 * at exit. It is in TMPDIR, or if that is not set in @where, or in /tmp if
 * @where is NULL or cannot be written. Dies if it cannot be created.
 */
char *temporary_directory(const char *what, const char *where);

#endif
