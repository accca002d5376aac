/* SPDX-License-Identifier: MIT */
/*
 * pprof_child - make a profile for pprof in a child
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pprof_child.h"
#include "analysis/base/util.h"
#include "analysis/export/pprof.h"
#include "analysis/report/report.h"

enum {
	ANSWER_BYTES = 16 << 20,
	CPU_S = 20,
};

struct order {
	int fd;
	const char *path;
	uint64_t from_ms, until_ms;
};

/* In the child. */
static int make(void *ctx)
{
	const struct order *o = ctx;
	struct rlimit size = { ANSWER_BYTES, ANSWER_BYTES };
	struct rlimit cpu = { CPU_S, CPU_S };
	struct profile p = { 0 };
	struct report r = { .profile = &p, .thread = -1 };
	struct stacks s;
	FILE *f = fdopen(o->fd, "w");

	setrlimit(RLIMIT_FSIZE, &size);
	setrlimit(RLIMIT_CPU, &cpu);
	if (!f)
		return 1;
	if (o->path)
		profile_load_made(&p, o->path, o->from_ms, o->until_ms);
	r.symbols = symbols_new(true, o->path ? o->path : ".");
	tally_init(&r.tally, &p, r.symbols, -1);
	stacks_init(&s, &r);
	pprof_write(f, &s, &r);
	return fclose(f) ? 1 : 0;
}

int pprof_child_begin(struct pprof_child *c, const char *path, uint64_t from_ms,
		      uint64_t until_ms)
{
	struct order o = { memfd_create("pprof", MFD_CLOEXEC), path, from_ms,
			   until_ms };
	int err;

	if (o.fd < 0)
		return -errno;
	err = child_begin(&c->child, make, &o, o.fd);
	if (err)
		close(o.fd);
	else
		c->answer = o.fd;
	return err;
}

uint64_t pprof_child_end(struct pprof_child *c, char **answer, size_t *bytes)
{
	struct stat st;
	bool success;
	uint64_t ns = child_end(&c->child, &success);

	*answer = NULL;
	if (success && !fstat(c->answer, &st) && st.st_size <= ANSWER_BYTES) {
		*bytes = (size_t)st.st_size;
		*answer = malloc(*bytes + 1);
		if (*answer &&
		    pread(c->answer, *answer, *bytes, 0) != st.st_size) {
			free(*answer);
			*answer = NULL;
		}
	}
	close(c->answer);
	return ns;
}

uint64_t pprof_child_kill(struct pprof_child *c)
{
	bool success;
	uint64_t ns;

	if (!c->child.pid)
		return 0;
	child_signal(&c->child, SIGKILL);
	ns = child_end(&c->child, &success);
	close(c->answer);
	return ns;
}
