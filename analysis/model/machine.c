/* SPDX-License-Identifier: MIT */
/*
 * machine - a processor that may not exist, as the simulator needs it
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"
#include "machine_keys.h"
#include "machine_shipped.h"
#include "analysis/base/util.h"

enum {
	FILE_MAX_BYTES = 1 << 20,
	DEPTH_MAX = 8, /* of machines that are like others */
	KEYS_MAX = 128,
	WIDTH_COLUMNS = 38,
};

struct reader {
	struct machine *m;
	char *error;
	bool set[KEYS_MAX];
	int line_of[KEYS_MAX]; /* that set it; 0: in a file that this is like */
	int line, depth;
};

__attribute__((format(printf, 2, 3))) static int fail(char *error,
						      const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(error, MACHINE_ERROR_BYTES, format, ap);
	va_end(ap);
	return -EINVAL;
}

static int read_named(struct reader *r, const char *name);

/* Cut blanks from both ends of @s. */
static char *trim(char *s)
{
	size_t n;

	s += strspn(s, " \t\r");
	for (n = strlen(s); n && strchr(" \t\r", s[n - 1]); n--)
		s[n - 1] = '\0';
	return s;
}

static size_t number_of(const struct machine_key *key)
{
	size_t i = 0;

	while (machine_key(i) != key)
		i++;
	return i;
}

static int set_key(struct reader *r, const char *name, const char *value)
{
	const struct machine_key *key = machine_key_find(name), *like;
	const char *wrong;

	if (!key) {
		like = machine_key_like(name);
		return fail(r->error, "there is no key '%s'%s%s%s",
			    safe_text(name), like ? "; did you mean " : "",
			    like ? like->name : "", like ? "?" : "");
	}
	wrong = machine_key_set(r->m, key, value);
	if (wrong)
		return fail(r->error, "%s, not '%s'", wrong, safe_text(value));
	r->set[number_of(key)] = true;
	r->line_of[number_of(key)] = r->depth > 1 ? 0 : r->line;
	return 0;
}

/* All classes but loads and stores at once. */
static int set_default_uop(struct reader *r, const char *value)
{
	for (int i = 0; i < UOP_CLASSES; i++) {
		char name[64];
		int err;

		if (i == UOP_LOAD || i == UOP_STORE)
			continue;
		snprintf(name, sizeof(name), "uop.%s", uop_class_names[i]);
		err = set_key(r, name, value);
		if (err)
			return err;
	}
	return 0;
}

static int take_line(struct reader *r, char *line, bool first)
{
	char *value, *name;

	line[strcspn(line, "#")] = '\0';
	name = trim(line);
	if (!*name)
		return 0;
	value = strchr(name, '=');
	if (!value)
		return fail(r->error, "needs KEY = VALUE, not '%s'",
			    safe_text(name));
	*value = '\0';
	name = trim(name);
	value = trim(value + 1);
	if (!*value)
		return fail(r->error, "%s has no value", safe_text(name));
	if (!strcmp(name, "like")) {
		if (!first)
			return fail(r->error, "'like' must come before all "
					      "other keys");
		return read_named(r, value);
	}
	if (!strcmp(name, "uop.default"))
		return set_default_uop(r, value);
	return set_key(r, name, value);
}

static bool is_blank(const char *line)
{
	line += strspn(line, " \t\r");
	return !*line || *line == '#';
}

static int take_text(struct reader *r, const char *name, const char *text)
{
	char *copy = xstrdup(text), *rest = copy, *line;
	char inner[MACHINE_ERROR_BYTES];
	bool first = true;
	int err = 0;

	for (int n = 1; !err && (line = strsep(&rest, "\n")); n++) {
		bool blank = is_blank(line);

		r->line = n;
		err = take_line(r, line, first);
		if (err && !strstr(r->error, ", line ")) {
			snprintf(inner, sizeof(inner), "%s", r->error);
			fail(r->error, "%s, line %d: %s", safe_text(name), n,
			     inner);
		}
		if (!blank)
			first = false;
	}
	free(copy);
	return err;
}

static int read_file(struct reader *r, const char *path)
{
	char *text = xcalloc(FILE_MAX_BYTES + 1, 1);
	FILE *f = fopen(path, "re");
	size_t n = 0;
	int err;

	if (f) {
		n = fread(text, 1, FILE_MAX_BYTES, f);
		err = ferror(f) ? errno : 0;
		fclose(f);
	} else {
		err = errno;
	}
	if (err)
		err = fail(r->error,
			   err == ENOENT ? "there is no machine and no file "
					   "'%s'; reusetrack machine --list "
					   "shows the machines"
					 : "cannot read the machine %s: %s",
			   safe_text(path), strerror(err));
	else if (strlen(text) != n || n == FILE_MAX_BYTES)
		err = fail(r->error, "%s is not a machine file",
			   safe_text(path));
	else
		err = take_text(r, path, text);
	free(text);
	return err;
}

static int read_named(struct reader *r, const char *name)
{
	const char *shipped = machine_shipped(name);
	int err;

	if (r->depth == DEPTH_MAX)
		return fail(r->error,
			    "machines are like each other in a circle");
	r->depth++;
	err = shipped ? take_text(r, name, shipped) : read_file(r, name);
	r->depth--;
	return err;
}

/* Keys that came after the first machine files: those need not have them. */
static int begin(struct reader *r)
{
	memset(r->m, 0, sizeof(*r->m));
	return set_key(r, "core.zero_idioms", "false") ||
	       set_key(r, "core.prefetch_ahead", "20") ||
	       set_key(r, "core.forwarding", "0") ||
	       set_key(r, "core.forwarding_vector", "0") ||
	       set_key(r, "l1d.after_load", "0") ||
	       set_key(r, "l1d.after_store", "0") ||
	       set_key(r, "coherence.in_turn", "false") ||
	       set_key(r, "sync.call", "20") || set_key(r, "sync.wake", "0");
}

/* Values do not fit, as r->error says: the latest line that has one of them. */
static void name_line(const struct reader *r, const char *name)
{
	const struct machine_key *k;
	char inner[MACHINE_ERROR_BYTES];
	int line = 0;

	for (size_t i = 0; (k = machine_key(i)); i++)
		if (r->line_of[i] > line && strstr(r->error, k->name))
			line = r->line_of[i];
	snprintf(inner, sizeof(inner), "%s", r->error);
	if (line)
		fail(r->error, "%s, line %d: %s", safe_text(name), line, inner);
	else
		fail(r->error, "%s: %s", safe_text(name), inner);
}

static int finish(struct reader *r, const char *name)
{
	const struct machine_key *k;
	int err;

	for (size_t i = 0; (k = machine_key(i)); i++)
		if (!r->set[i])
			return fail(r->error, "%s lacks the key %s (%s)",
				    safe_text(name), k->name, k->meaning);
	snprintf(r->m->name, sizeof(r->m->name), "%s", name);
	err = machine_check(r->m, r->error);
	if (err)
		name_line(r, name);
	return err;
}

int machine_parse(struct machine *m, const char *name, const char *text,
		  char error[MACHINE_ERROR_BYTES])
{
	struct reader r = { .m = m, .error = error, .depth = 1 };
	int err;

	err = begin(&r) || take_text(&r, name, text);
	return err ? -EINVAL : finish(&r, name);
}

int machine_read(struct machine *m, const char *name,
		 char error[MACHINE_ERROR_BYTES])
{
	struct reader r = { .m = m, .error = error };
	int err;

	err = begin(&r) || read_named(&r, name);
	return err ? -EINVAL : finish(&r, name);
}

int machine_set(struct machine *m, const char *change,
		char error[MACHINE_ERROR_BYTES])
{
	struct reader r = { .m = m, .error = error };
	char *line = xstrdup(change);
	int err = strchr(change, '=') ? take_line(&r, line, false)
				      : fail(error, "needs KEY=VALUE, not '%s'",
					     safe_text(change));

	free(line);
	return err;
}

static int check_cache(const char *name, const struct machine_cache *c,
		       char *error)
{
	uint64_t set = (uint64_t)c->ways << MACHINE_LINE_SHIFT;
	uint64_t sets = c->size / set;

	if (c->size % set || (sets & (sets - 1)) || !sets)
		return fail(error,
			    "%s.size = %llu and %s.ways = %u do not fit: a "
			    "cache has a power of two of sets, each of ways "
			    "times 64 bytes",
			    name, (unsigned long long)c->size, name, c->ways);
	return 0;
}

int machine_check(const struct machine *m, char error[MACHINE_ERROR_BYTES])
{
	if (check_cache("l1i", &m->l1i, error) ||
	    check_cache("l1d", &m->l1d, error) ||
	    check_cache("l2", &m->l2, error) ||
	    check_cache("llc", &m->llc, error))
		return -EINVAL;
	if (m->l2.size < m->l1d.size || m->l2.size < m->l1i.size ||
	    m->llc.size < m->l2.size)
		return fail(error, "a cache holds all lines of the caches "
				   "before it, so llc.size must not be below "
				   "l2.size, nor l2.size below l1i.size "
				   "and l1d.size");
	if (m->iq > m->rob)
		return fail(error,
			    "core.issue_queue = %u is larger than "
			    "core.rob = %u",
			    m->iq, m->rob);
	return 0;
}

void machine_print(const struct machine *m, FILE *f)
{
	const struct machine_key *k;
	char value[256];

	fprintf(f, "# %s\n", safe_text(m->name));
	for (size_t i = 0; (k = machine_key(i)); i++) {
		int n;

		machine_key_text(m, k, value, sizeof(value));
		n = fprintf(f, "%s = %s", k->name, value);
		fprintf(f, "%*s# %s\n",
			n < WIDTH_COLUMNS ? WIDTH_COLUMNS - n : 1, "",
			k->meaning);
	}
}
