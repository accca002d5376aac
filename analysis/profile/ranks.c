/* SPDX-License-Identifier: MIT */
/*
 * ranks - the directories of the ranks of a parallel job, as one profile
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "ranks.h"
#include "analysis/base/util.h"
#include "src/store/rank.h"

enum {
	NUMBERS = 1 << 20, /* of processes watched together, in one rank */
};

static int is_rank(const struct dirent *e)
{
	return rank_of_name(e->d_name) >= 0;
}

/*
 * Numbers of processes that were watched together begin anew in each directory.
 */
static void tell_apart(struct profile *p, size_t processes, size_t pairs,
		       uint64_t number)
{
	for (size_t i = processes; i < p->processes; i++)
		if (p->process[i].header.number)
			p->process[i].header.number += number;
	for (size_t i = pairs; i < p->pairs; i++)
		if (p->pair[i].foreign)
			p->pair[i].foreign += number;
}

static int load_one(struct profile *p, const char *path, const char *name,
		    uint64_t from_ms, uint64_t until_ms, ranks_loader *load)
{
	char *one = xasprintf("%s/%s", path, name);
	size_t processes = p->processes, pairs = p->pairs;
	int err = load(p, one, from_ms, until_ms);

	tell_apart(p, processes, pairs,
		   (uint64_t)(rank_of_name(name) + 1) * NUMBERS);
	free(one);
	return err;
}

/* The directory that was made last: its rank is one of the last job. */
static int newest(const char *path, struct dirent **list, int n)
{
	struct timespec last = { 0, 0 };
	int found = 0;

	for (int i = 0; i < n; i++) {
		char *one = xasprintf("%s/%s", path, list[i]->d_name);
		struct stat st;

		if (!stat(one, &st) && (st.st_mtim.tv_sec > last.tv_sec ||
					(st.st_mtim.tv_sec == last.tv_sec &&
					 st.st_mtim.tv_nsec > last.tv_nsec))) {
			last = st.st_mtim;
			found = i;
		}
		free(one);
	}
	return found;
}

/* How many ranks the job had, by what was loaded; 0: not known. */
static uint32_t ranks_of(const struct profile *p)
{
	for (size_t i = 0; i < p->processes; i++)
		if (p->process[i].header.ranks)
			return p->process[i].header.ranks;
	return 0;
}

int ranks_load(struct profile *p, const char *path, uint64_t from_ms,
	       uint64_t until_ms, ranks_loader *load)
{
	struct dirent **list = NULL;
	int n = scandir(path, &list, is_rank, versionsort), last, err;
	uint32_t ranks;

	if (n <= 0) {
		free(list);
		return -EBADMSG;
	}
	last = newest(path, list, n);
	err = load_one(p, path, list[last]->d_name, from_ms, until_ms, load);
	ranks = ranks_of(p);
	for (int i = 0; i < n; i++) {
		if (!err && i != last &&
		    (!ranks || rank_of_name(list[i]->d_name) < ranks))
			err = load_one(p, path, list[i]->d_name, from_ms,
				       until_ms, load);
		free(list[i]);
	}
	free(list);
	return err;
}
