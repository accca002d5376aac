/* SPDX-License-Identifier: MIT */
/*
 * jit_files - find and keep what JIT compilers wrote about their code
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/openat2.h>

#include "jit_files.h"
#include "analysis/base/util.h"
#include "src/store/outdir.h"

#define FILE_MAX_BYTES (UINT64_C(256) << 20)
#define SECOND_NS      UINT64_C(1000000000)
#define LATER_NS       (60 * SECOND_NS)

struct bytes {
	uint8_t *at;
	size_t n;
};

static int open_to_read(int dirfd, const char *path)
{
	return openat(dirfd, path,
		      O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK |
			      O_NOCTTY);
}

/* Read at most FILE_MAX_BYTES: it may grow, shrink or be of any size. */
static bool read_all(int fd, struct bytes *b)
{
	size_t room = 0;
	ssize_t n = 1;

	*b = (struct bytes){ NULL, 0 };
	while (n > 0 && b->n < FILE_MAX_BYTES) {
		if (room - b->n < 65536) {
			room = room ? 2 * room : 1 << 20;
			b->at = realloc(b->at, room);
			if (!b->at)
				die("out of memory");
		}
		do {
			n = read(fd, b->at + b->n, room - b->n);
		} while (n < 0 && errno == EINTR);
		b->n += n > 0 ? n : 0;
	}
	if (n >= 0 && b->n)
		return true;
	free(b->at);
	return false;
}

/*
 * When the process may have written, ns of CLOCK_REALTIME. Compilers write a
 * map up to the end of the process, which is after that of the profile.
 */
struct span {
	uint64_t first, last;
};

static struct span life_of(const struct process *s)
{
	const struct cdp_header *h = &s->header;
	struct span life = { 0, UINT64_MAX };

	if (h->start_real > SECOND_NS)
		life.first = h->start_real - SECOND_NS;
	if (s->state != PROCESS_RUNNING && s->state != PROCESS_STOPPED &&
	    h->last_mono >= h->start_mono)
		life.last = sat_add(sat_add(h->start_real, LATER_NS),
				    h->last_mono - h->start_mono);
	return life;
}

/* Whose files are those of a process, besides root's. */
struct users {
	uid_t profile; /* the owner of its profile: mostly its user */
	uid_t process; /* the user of a live process, else the same */
};

/* See the first comment of jit_files.h. */
static bool is_trusted(int fd, const struct process *s, const struct users *u)
{
	struct span life = life_of(s);
	struct stat st;
	uint64_t changed;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) ||
	    (st.st_uid != u->profile && st.st_uid != u->process &&
	     st.st_uid != 0) ||
	    st.st_mtim.tv_sec < 0)
		return false;
	changed = (uint64_t)st.st_mtim.tv_sec * SECOND_NS + st.st_mtim.tv_nsec;
	return changed >= life.first && changed <= life.last;
}

static bool read_trusted(int fd, const struct process *s, const struct users *u,
			 struct bytes *b)
{
	bool good;

	if (fd < 0)
		return false;
	good = is_trusted(fd, s, u) && read_all(fd, b);
	close(fd);
	return good;
}

/* The name of the process's file with @end instead of ".cdp". */
static char *saved_name(const struct process *s, const char *end)
{
	size_t n = strlen(s->file);

	return n > 4 ? xasprintf("%.*s%s", (int)(n - 4), s->file, end) : NULL;
}

static bool read_saved(const struct process *s, int dirfd, const char *end,
		       struct bytes *b)
{
	char *name = saved_name(s, end);
	int fd = name ? open_to_read(dirfd, name) : -1;
	struct stat st;
	bool good;

	free(name);
	if (fd < 0)
		return false;
	good = !fstat(fd, &st) && S_ISREG(st.st_mode) && read_all(fd, b);
	close(fd);
	return good;
}

static bool is_saved(const struct process *s, int dirfd, const char *end)
{
	char *name = saved_name(s, end);
	bool there =
		!name || !faccessat(dirfd, name, F_OK, AT_SYMLINK_NOFOLLOW);

	free(name);
	return there;
}

/* An imported recording may be from another machine: there is none. */
static bool users_of(const struct process *s, int dirfd, struct users *u)
{
	char path[32];
	struct stat st;

	if (!strcmp(s->header.source, "import") ||
	    fstatat(dirfd, s->file, &st, 0))
		return false;
	u->profile = u->process = st.st_uid;
	snprintf(path, sizeof(path), "/proc/%u", s->header.pid);
	/* Root may have watched a process of somebody else. */
	if (s->live && !stat(path, &st))
		u->process = st.st_uid;
	return true;
}

/* The number that a live process has in its own pid namespace. */
static unsigned int own_pid(const struct process *s)
{
	unsigned int pid = s->header.pid;
	char path[64], line[256], *last;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/status", s->header.pid);
	f = s->live ? fopen(path, "re") : NULL;
	while (f && fgets(line, sizeof(line), f)) {
		if (strncmp(line, "NSpid:", 6))
			continue;
		line[strcspn(line, "\n")] = 0;
		last = strrchr(line, '\t');
		pid = last ? (unsigned int)strtoul(last + 1, NULL, 10) : pid;
		break;
	}
	if (f)
		fclose(f);
	return pid;
}

/* The file @name as the live process @pid sees it; no link leads out of that.
 */
static int open_seen(unsigned int pid, const char *name)
{
	struct open_how how = {
		.flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK |
			 O_NOCTTY,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	char path[32];
	int root, fd;

	snprintf(path, sizeof(path), "/proc/%u/root", pid);
	root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -1;
	fd = (int)syscall(SYS_openat2, root, name, &how, sizeof(how));
	close(root);
	return fd;
}

/* The file @name as the process itself sees it, then as we do. */
static bool read_seen(const struct process *s, const struct users *u,
		      const char *name, struct bytes *b)
{
	return (s->live &&
		read_trusted(open_seen(s->header.pid, name), s, u, b)) ||
	       read_trusted(open_to_read(AT_FDCWD, name), s, u, b);
}

static bool read_map(const struct process *s, const struct users *u,
		     struct bytes *b)
{
	unsigned int own = own_pid(s);
	char name[64];

	snprintf(name, sizeof(name), "/tmp/perf-%u.map", own);
	if (read_seen(s, u, name, b))
		return true;
	snprintf(name, sizeof(name), "/tmp/perf-%u.map", s->header.pid);
	return own != s->header.pid &&
	       read_trusted(open_to_read(AT_FDCWD, name), s, u, b);
}

/* The process has mapped a page of its jitdump as code. */
static bool read_dump(const struct process *s, const struct users *u,
		      struct bytes *b)
{
	char name[32];

	snprintf(name, sizeof(name), "jit-%u.dump", own_pid(s));
	for (size_t i = 0; i < s->maps; i++) {
		const struct cdp_map *m = &s->map[i];

		if ((m->prot & PROT_EXEC) && m->path[0] == '/' &&
		    !strcmp(base_name(m->path), name))
			return read_seen(s, u, m->path, b);
	}
	return false;
}

static void write_all(int fd, const struct bytes *b, bool *good)
{
	size_t done = 0;

	while (*good && done < b->n) {
		ssize_t n = write(fd, b->at + done, b->n - done);

		if (n < 0 && errno != EINTR)
			*good = false;
		done += n > 0 ? n : 0;
	}
}

/*
 * The file gets its name when it is complete, so that neither a crash nor
 * another reader finds a part.
 */
static void save(const struct process *s, int dirfd, const char *end,
		 const struct bytes *b)
{
	int fd = openat(dirfd, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	char *name = saved_name(s, end), path[64];
	bool good = fd >= 0;

	if (good) {
		write_all(fd, b, &good);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		if (good &&
		    linkat(AT_FDCWD, path, dirfd, name, AT_SYMLINK_FOLLOW))
			good = false;
		close(fd);
	}
	free(name);
}

bool is_jit_mapping(const char *path)
{
	return !path[0] || !strncmp(path, "[anon", 5) ||
	       !strncmp(path, "/memfd:", 7);
}

/* True if the process has code that no file holds. */
static bool has_jit(const struct process *s)
{
	for (size_t i = 0; i < s->maps; i++)
		if ((s->map[i].prot & PROT_EXEC) &&
		    is_jit_mapping(s->map[i].path))
			return true;
	return false;
}

void jit_files_save(const struct profile *p, int dirfd)
{
	for (size_t i = 0; i < p->processes; i++) {
		const struct process *s = &p->process[i];
		struct bytes b;
		struct users u;

		if (s->state == PROCESS_RUNNING || !has_jit(s) ||
		    !users_of(s, dirfd, &u))
			continue;
		if (!is_saved(s, dirfd, OUTDIR_JIT_MAP) &&
		    read_map(s, &u, &b)) {
			save(s, dirfd, OUTDIR_JIT_MAP, &b);
			free(b.at);
		}
		if (!is_saved(s, dirfd, OUTDIR_JIT_DUMP) &&
		    read_dump(s, &u, &b)) {
			save(s, dirfd, OUTDIR_JIT_DUMP, &b);
			free(b.at);
		}
	}
}

struct jit_code *jit_files_read(const struct process *process, int dirfd)
{
	struct jit_code *j = NULL;
	struct bytes b;
	struct users u;
	bool known = users_of(process, dirfd, &u);

	if (!has_jit(process))
		return NULL;
	if (read_saved(process, dirfd, OUTDIR_JIT_MAP, &b) ||
	    (known && read_map(process, &u, &b))) {
		j = jit_code_new();
		jit_code_add_map(j, (const char *)b.at, b.n);
		free(b.at);
	}
	/* It tells more than a map, so it comes last, and counts. */
	if (read_saved(process, dirfd, OUTDIR_JIT_DUMP, &b) ||
	    (known && read_dump(process, &u, &b))) {
		j = j ? j : jit_code_new();
		jit_code_add_dump(j, b.at, b.n);
		free(b.at);
	}
	if (j)
		jit_code_ready(j);
	return j;
}
