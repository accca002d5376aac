/* SPDX-License-Identifier: MIT */
/*
 * regular_file - open a path that may name anything
 *
 * Paths come from options and from files that other programs wrote. Opening a
 * pipe waits for its other end, opening a device may change it (a watchdog, a
 * tape), and reading either may never end. Some files of /proc, /sys and their
 * like are regular by their type, and reading them waits too.
 *
 * Context: set-up, analysis.
 */
#ifndef COMDET_BASE_REGULAR_FILE_H
#define COMDET_BASE_REGULAR_FILE_H

/*
 * Open the regular file @path for reading. Never waits, and never opens what it
 * refuses. Returns a descriptor that is closed on exec, -EMEDIUMTYPE if @path
 * is no regular file of a disk or of memory, or another -errno.
 */
int regular_file_open(const char *path);

/* What to say of an error of regular_file_open(). */
const char *regular_file_error(int error);

/*
 * True if @path can be opened by code that we do not control without waiting:
 * there is no file, or a regular one.
 */
int regular_file_or_none(const char *path);

#endif
