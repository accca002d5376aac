/* SPDX-License-Identifier: MIT */
/*
 * open - the profile that a user named, or why there is none
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profile.h"
#include "analysis/base/util.h"

void profile_open(struct profile *p, const char *path)
{
	int err = profile_load(p, path);

	if (err == -ENOENT)
		die("cannot open %s: %s; record a program first: reusetrack "
		    "record -- ./program",
		    safe_text(path), strerror(-err));
	if (err == -EBADMSG || err == -ENOTDIR)
		die("%s is not an output directory (it has no .comdet marker); "
		    "give the directory that record named",
		    safe_text(path));
	if (err)
		die("cannot open %s: %s; do you own it?", safe_text(path),
		    strerror(-err));
	for (size_t i = 0; i < p->bad_files; i++)
		warn("%s: %s; it is left out", safe_text(p->bad[i].name),
		     p->bad[i].why);
	if (!p->processes && p->bad_files) {
		profile_release(p);
		exit(1);
	}
	if (!p->processes)
		die("%s has no profile in it: the program has not started yet, "
		    "or ran unprofiled; try reusetrack doctor",
		    safe_text(path));
}

bool profile_note_is_new(const struct profile *p, size_t i)
{
	const char *note = p->process[i].header.note;

	for (size_t k = 0; k < i; k++)
		if (!strcmp(p->process[k].header.note, note))
			return false;
	return note[0];
}
