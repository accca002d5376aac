/* SPDX-License-Identifier: MIT */
/*
 * sharing_cost - what accesses to a line cost that two cores share
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sharing_cost.h"
#include "src/store/outdir.h"

#define FIRST_LINE "sharing-cost 1\n"

static const char *const names[COST_KINDS] = { "update", "store", "locked",
					       "load" };

int sharing_cost_write(const struct sharing_cost *c, int dirfd)
{
	int fd = openat(dirfd, SHARING_COST_FILE,
			O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
			0600);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");

	if (!f)
		return -errno;
	fprintf(f, FIRST_LINE "round_trip_ns %.1f\n", c->round_trip_ns);
	for (int i = 0; i < COST_KINDS; i++)
		fprintf(f, "%s %.3f %.3f %.3f\n", names[i], c->alone[i].middle,
			c->alone[i].low, c->alone[i].high);
	return fclose(f) ? -errno : 0;
}

static bool is_ratio(const struct cost_ratio *r)
{
	return r->low > 0 && r->low <= r->middle && r->middle <= r->high &&
	       r->high < 1000;
}

static bool read_from(struct sharing_cost *c, FILE *f)
{
	char line[80];

	if (!fgets(line, sizeof(line), f) || strcmp(line, FIRST_LINE) != 0 ||
	    fscanf(f, "round_trip_ns %lf", &c->round_trip_ns) != 1 ||
	    !(c->round_trip_ns > 0 && c->round_trip_ns < 1e9))
		return false;
	for (int i = 0; i < COST_KINDS; i++) {
		struct cost_ratio *r = &c->alone[i];

		if (fscanf(f, "%15s %lf %lf %lf", line, &r->middle, &r->low,
			   &r->high) != 4 ||
		    strcmp(line, names[i]) != 0 || !is_ratio(r))
			return false;
	}
	return true;
}

bool sharing_cost_read(struct sharing_cost *c, const char *path)
{
	int dirfd = outdir_open(path, NULL), fd;
	FILE *f;
	bool good;

	memset(c, 0, sizeof(*c));
	if (dirfd < 0)
		return false;
	fd = openat(dirfd, SHARING_COST_FILE,
		    O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	close(dirfd);
	f = fd < 0 ? NULL : fdopen(fd, "r");
	if (!f)
		return false;
	good = read_from(c, f);
	fclose(f);
	return good;
}
