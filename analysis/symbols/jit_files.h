/* SPDX-License-Identifier: MIT */
/*
 * jit_files - find and keep what JIT compilers wrote about their code
 *
 * A JIT compiler that was asked to writes /tmp/perf-PID.map, or a jitdump
 * jit-PID.dump, of which it maps a page as code so that its place is known.
 * Both are found while the process runs or until somebody removes them; the
 * copies in the output directory stay.
 *
 * A process that runs is asked first: it may see other files, and have another
 * number, than we do (mount and pid namespaces).
 *
 * Any process may have put a file at these names. A file is taken only if it is
 * regular, no symbolic link, belongs to the user of the process or to root, and
 * was last changed while the process ran or soon after. The user of a process
 * that has ended is taken to be the owner of its profile.
 */
#ifndef COMDET_ANALYSIS_SYMBOLS_JIT_FILES_H
#define COMDET_ANALYSIS_SYMBOLS_JIT_FILES_H

#include "jit_code.h"
#include "analysis/profile/profile.h"

/* True if a mapping with this path may hold code of a JIT compiler. */
bool is_jit_mapping(const char *path);

/*
 * Copy the files of the processes of @p that have ended into @dirfd, their
 * output directory, unless copies are there. Does nothing where that fails.
 */
void jit_files_save(const struct profile *p, int dirfd);

/*
 * The code that JIT compilers reported in @process, from the copies in @dirfd
 * or else from the files themselves. NULL if there is nothing.
 */
struct jit_code *jit_files_read(const struct process *process, int dirfd);

#endif
