/* SPDX-License-Identifier: MIT */
/*
 * known - the files that the processes of a profile have mapped, each opened
 * once, and what is wrong with them
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "known.h"
#include "analysis/base/util.h"
#include "src/base/regular_file.h"

struct known_module {
	char *path; /* as recorded */
	uint8_t id[20];
	uint8_t id_bytes;
	struct module *module;
	char *problem;
	bool code; /* a process has some of it */
};

static const char deleted[] = " (deleted)";

static void forget_problems(struct known *k)
{
	for (size_t i = 0; i < k->problems; i++)
		free(k->problem[i]);
	k->problems = 0;
}

void known_release(struct known *k)
{
	for (size_t i = 0; i < k->modules; i++) {
		free(k->module[i].path);
		free(k->module[i].problem);
		if (k->module[i].module)
			module_close(k->module[i].module);
	}
	forget_problems(k);
	free(k->problem);
	free(k->module);
}

static bool same_file(const struct cdp_map *a, const struct cdp_map *b)
{
	return !strcmp(a->path, b->path) && a->inode == b->inode &&
	       a->dev_major == b->dev_major && a->dev_minor == b->dev_minor;
}

const struct cdp_map *known_first_map(const struct process *p,
				      const struct cdp_map *m)
{
	const struct cdp_map *best = NULL;

	for (size_t i = 0; i < p->maps && p->map[i].start <= m->start; i++) {
		const struct cdp_map *c = &p->map[i];

		if (!c->file_offset && same_file(c, m) &&
		    c->generation <= m->generation)
			best = c;
	}
	return best;
}

bool known_has_code(const struct process *p, const struct cdp_map *m)
{
	for (size_t i = 0; i < p->maps; i++)
		if (p->map[i].prot & PROT_EXEC && same_file(&p->map[i], m))
			return true;
	return false;
}

/* The length of @path without the kernel's " (deleted)"; 0 if it is not. */
static size_t length_before_deleted(const char *path)
{
	size_t n = strlen(path), d = sizeof(deleted) - 1;

	return n > d && !strcmp(path + n - d, deleted) ? n - d : 0;
}

static char *problem_of_deleted(const struct known_module *k, int length)
{
	char *path = xasprintf("%.*s", length, k->path);
	const char *then =
		module_state(k->module) == MODULE_CHANGED
			? "the file there now is of another build (its "
			  "build-id is another one)"
		: access(path, F_OK)
			? "it is not there any more"
			: "without a build-id nothing tells whether the file "
			  "there now is the same";
	char *text = xasprintf("%s was deleted or replaced while the program "
			       "ran, and %s: its addresses are shown without "
			       "names; profile it again, and leave it in place "
			       "until the report is made",
			       safe_text(path), then);

	free(path);
	return text;
}

/*
 * True if the process ran on another machine: then the file at the same path
 * here may be a different one.
 */
static bool is_foreign(const struct process *p)
{
	char host[sizeof(p->header.host)] = "";

	if (strcmp(p->header.source, "import"))
		return false;
	gethostname(host, sizeof(host) - 1);
	return strcmp(host, p->header.host) != 0;
}

/* Was the file at @path written more than a second after @p was recorded? */
static bool is_newer(const char *path, const struct process *p)
{
	const struct cdp_header *h = &p->header;
	uint64_t end = h->start_real + 1000000000;
	struct stat st;

	if (!h->start_real || stat(path, &st) || st.st_mtim.tv_sec < 0)
		return false;
	if (h->last_mono > h->start_mono)
		end += h->last_mono - h->start_mono;
	return (uint64_t)st.st_mtim.tv_sec > end / 1000000000;
}

static char *problem_of(const struct known_module *k, const struct process *p)
{
	size_t length = length_before_deleted(k->path);

	switch (module_state(k->module)) {
	case MODULE_GONE:
		if (length)
			return problem_of_deleted(k, (int)length);
		return xasprintf(
			"%s cannot be opened (%s%s): its addresses are shown "
			"without names",
			safe_text(k->path),
			regular_file_error(module_error(k->module)),
			module_error(k->module) == -ENOENT
				? "; it was deleted since the program loaded "
				  "it, or is on another machine"
				: "");
	case MODULE_CHANGED:
		if (length)
			return problem_of_deleted(k, (int)length);
		return xasprintf("%s has changed since it was profiled (its "
				 "build-id is another one): its addresses are "
				 "shown without names; profile it again",
				 safe_text(k->path));
	case MODULE_NOT_ELF:
		return xasprintf("%s is not an ELF file: its addresses are "
				 "shown without names",
				 safe_text(k->path));
	default:
		if (k->id_bytes || !is_newer(k->path, p))
			return NULL;
		return xasprintf("%s has changed since it was profiled (it was "
				 "written later, and has no build-id to "
				 "compare): its addresses are shown without "
				 "names; profile it again",
				 safe_text(k->path));
	}
}

static struct module *open_module(struct known_module *k)
{
	size_t length = length_before_deleted(k->path);
	struct module *m = module_open(k->path, k->id, k->id_bytes);

	/* Only the build-id tells whether it was rebuilt without a change. */
	if (module_state(m) == MODULE_GONE && k->id_bytes && length) {
		char *path = xasprintf("%.*s", (int)length, k->path);

		module_close(m);
		m = module_open(path, k->id, k->id_bytes);
		free(path);
	}
	return m;
}

struct module *known_module(struct known *all, const struct process *p,
			    const struct cdp_map *m)
{
	const struct cdp_map *first = known_first_map(p, m);
	const uint8_t *id = first ? first->build_id : m->build_id;
	size_t id_bytes = first ? first->build_id_bytes : 0;
	struct known_module *k;

	if (m->path[0] != '/')
		return NULL;
	/* An imported recording may have the mapping of the code alone. */
	if (!id_bytes) {
		id = m->build_id;
		id_bytes = m->build_id_bytes;
	}
	if (id_bytes > sizeof(k->id))
		id_bytes = 0;
	for (size_t i = 0; i < all->modules; i++) {
		k = &all->module[i];
		if (!strcmp(k->path, m->path) && k->id_bytes == id_bytes &&
		    !memcmp(k->id, id, id_bytes)) {
			k->code |= k->problem && known_has_code(p, m);
			return k->problem ? NULL : k->module;
		}
	}
	all->module = grow(all->module, all->modules, &all->room,
			   sizeof(*all->module));
	k = &all->module[all->modules++];
	memset(k, 0, sizeof(*k));
	k->path = xstrdup(m->path);
	memcpy(k->id, id, id_bytes);
	k->id_bytes = (uint8_t)id_bytes;
	k->code = known_has_code(p, m);
	if (!id_bytes && is_foreign(p)) {
		k->problem = xasprintf("%s was recorded on another machine, "
				       "without its build-id: its addresses "
				       "are shown without names",
				       safe_text(k->path));
		return NULL;
	}
	k->module = open_module(k);
	k->problem = problem_of(k, p);
	return k->problem ? NULL : k->module;
}

static void add_problem(struct known *k, char *text)
{
	k->problem = grow(k->problem, k->problems, &k->problem_room,
			  sizeof(*k->problem));
	k->problem[k->problems++] = text;
}

const char *known_problem(struct known *k, size_t i)
{
	if (i)
		return i < k->problems ? k->problem[i] : NULL;
	forget_problems(k);
	for (size_t n = 0; n < k->modules; n++) {
		const struct known_module *m = &k->module[n];
		char *lack;

		/* Nobody misses names in a file that has no code. */
		if (m->problem && m->code)
			add_problem(k, xstrdup(m->problem));
		for (int l = 0;
		     !m->problem && (lack = module_lack(m->module, l)); l++)
			add_problem(k, lack);
	}
	return k->problems ? k->problem[0] : NULL;
}
