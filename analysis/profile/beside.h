/* SPDX-License-Identifier: MIT */
/*
 * beside - where a recording went that did not get the directory it asked for
 */
#ifndef COMDET_ANALYSIS_PROFILE_BESIDE_H
#define COMDET_ANALYSIS_PROFILE_BESIDE_H

/*
 * The output directory that a user means by @path. If @path is a directory, or
 * a file, that no recording made, that is the latest of PATH.1 to PATH.999,
 * which recordings take then; a line on stderr says so. Otherwise, and if there
 * is none, @path. Valid until the next call.
 */
const char *profile_beside(const char *path);

#endif
