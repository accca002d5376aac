/* SPDX-License-Identifier: MIT */
/*
 * designs - many machines: a design space
 */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "designs.h"
#include "analysis/base/util.h"
#include "analysis/model/machine_keys.h"
#include "src/base/regular_file.h"

enum {
	LINE_BYTES = 4096
};
#define DESIGNS_MAX (UINT64_C(1) << 48)

static char *trimmed(char *text)
{
	size_t n;

	text += strspn(text, " \t\r\n");
	n = strlen(text);
	while (n && isspace((unsigned char)text[n - 1]))
		text[--n] = 0;
	return text;
}

/* Split at @separator into at most @max parts, malloc'ed; -1: too many. */
static int split(char *text, const char *separator, char **part, int max)
{
	char *rest = text, *p;
	int n = 0;

	while ((p = strsep(&rest, separator))) {
		if (n == max)
			return -1;
		part[n++] = xstrdup(trimmed(p));
	}
	return n;
}

static const char *take_values(struct designs_axis *a, char *text)
{
	char *value[DESIGNS_VALUES];
	int n = split(text, "|", value, DESIGNS_VALUES), parts;
	const char *wrong = n < 0 ? "too many values" : NULL;

	for (int i = 0; i < n; i++) {
		parts = split(value[i], "+", a->value[i], DESIGNS_KEYS);
		if ((size_t)parts != a->keys)
			wrong = "a value for each key is needed";
		free(value[i]);
		a->values++;
	}
	return wrong;
}

/* Each value of an axis must be one that its key can have. */
static int try_values(const struct designs *s, const struct designs_axis *a,
		      char *error)
{
	int err = 0;

	for (size_t v = 0; v < a->values; v++)
		for (size_t k = 0; k < a->keys && !err; k++) {
			struct machine m = s->base;
			char *change =
				xasprintf("%s=%s", a->key[k], a->value[v][k]);

			err = machine_set(&m, change, error);
			free(change);
		}
	return err;
}

static int take_line(struct designs *s, char *line, bool *based, char *error)
{
	char *equals = strchr(line, '='), *name;
	struct designs_axis *a = &s->axis[s->axes];
	const char *wrong = NULL;
	int n;

	if (!equals) {
		wrong = "must be 'KEY = VALUE | VALUE'";
	} else {
		*equals++ = 0;
		name = trimmed(line);
		if (!*based) {
			*based = true;
			if (!strcmp(name, "like"))
				return machine_read(&s->base, trimmed(equals),
						    error);
			wrong = "the first line must be 'like = MACHINE'";
		} else if (s->axes == DESIGNS_AXES) {
			wrong = "too many lines";
		}
	}
	if (!wrong) {
		s->axes++;
		n = split(line, "+", a->key, DESIGNS_KEYS);
		a->keys = n < 0 ? 0 : (size_t)n;
		wrong = n < 0 ? "too many keys" : take_values(a, equals);
	}
	if (!wrong)
		return try_values(s, a, error);
	snprintf(error, MACHINE_ERROR_BYTES, "%s", wrong);
	return -EINVAL;
}

int designs_read(struct designs *s, const char *path,
		 char error[MACHINE_ERROR_BYTES])
{
	char line[LINE_BYTES], why[MACHINE_ERROR_BYTES] = "";
	int fd = regular_file_open(path), err = 0;
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	bool based = false;

	memset(s, 0, sizeof(*s));
	s->count = 1;
	if (!f) {
		snprintf(error, MACHINE_ERROR_BYTES, "%s: %s", safe_text(path),
			 regular_file_error(fd < 0 ? fd : -errno));
		return -EINVAL;
	}
	for (int n = 1; !err && fgets(line, sizeof(line), f); n++) {
		line[strcspn(line, "#\n")] = 0;
		if (*trimmed(line))
			err = take_line(s, line, &based, why);
		if (err)
			snprintf(error, MACHINE_ERROR_BYTES,
				 "%.100s, line %d: %.250s", safe_text(path), n,
				 why);
	}
	fclose(f);
	for (size_t i = 0; i < s->axes && s->count < DESIGNS_MAX; i++)
		s->count *= s->axis[i].values;
	if (!err && (!based || s->count >= DESIGNS_MAX)) {
		snprintf(error, MACHINE_ERROR_BYTES, "%.100s: %s",
			 safe_text(path),
			 based ? "too many designs" : "has no line 'like'");
		err = -EINVAL;
	}
	if (err)
		designs_release(s);
	return err;
}

void designs_release(struct designs *s)
{
	for (size_t i = 0; i < s->axes; i++) {
		struct designs_axis *a = &s->axis[i];

		for (int k = 0; k < DESIGNS_KEYS; k++)
			free(a->key[k]);
		for (int v = 0; v < DESIGNS_VALUES; v++)
			for (int k = 0; k < DESIGNS_KEYS; k++)
				free(a->value[v][k]);
	}
	memset(s, 0, sizeof(*s));
}

size_t designs_value(const struct designs *s, uint64_t i, size_t axis)
{
	for (size_t k = 0; k < axis; k++)
		i /= s->axis[k].values;
	return i % s->axis[axis].values;
}

int designs_machine(const struct designs *s, uint64_t i, struct machine *m,
		    char error[MACHINE_ERROR_BYTES])
{
	*m = s->base;
	for (size_t x = 0; x < s->axes; x++) {
		const struct designs_axis *a = &s->axis[x];
		size_t v = designs_value(s, i, x);

		for (size_t k = 0; k < a->keys; k++) {
			char *change =
				xasprintf("%s=%s", a->key[k], a->value[v][k]);
			int err = machine_set(m, change, error);

			free(change);
			if (err)
				return err;
		}
	}
	return machine_check(m, error);
}

/* A reader of expressions. */
struct reader {
	const char *at;
	const struct machine *m;
	int depth;
	bool wrong;
};

enum {
	DEPTH_MAX = 64
};

static double sum(struct reader *r);

static double key_value(struct reader *r)
{
	char name[64], text[64];
	size_t n = strspn(r->at, "abcdefghijklmnopqrstuvwxyz0123456789_.");
	const struct machine_key *key;
	double x = 0;
	char *end;

	snprintf(name, sizeof(name), "%.*s", (int)(n < 63 ? n : 63), r->at);
	r->at += n;
	key = machine_key_find(name);
	if (!key || (key->kind != KEY_COUNT && key->kind != KEY_BYTES &&
		     key->kind != KEY_REAL)) {
		r->wrong = true;
		return 0;
	}
	machine_key_text(r->m, key, text, sizeof(text));
	x = strtod(text, &end);
	for (const char *u = "KMG"; *end && *u; u++) {
		x *= 1024;
		if (*u == *end)
			break;
	}
	return x;
}

static double term(struct reader *r)
{
	double x;
	char *end;

	r->at += strspn(r->at, " \t");
	if (*r->at == '(' && r->depth < DEPTH_MAX) {
		r->at++;
		r->depth++;
		x = sum(r);
		r->depth--;
		r->wrong |= *r->at != ')';
		r->at += *r->at == ')';
	} else if (isalpha((unsigned char)*r->at)) {
		x = key_value(r);
	} else {
		x = strtod(r->at, &end);
		r->wrong |= end == r->at;
		r->at = end;
	}
	r->at += strspn(r->at, " \t");
	return x;
}

static double product(struct reader *r)
{
	double x = term(r), y;

	while (!r->wrong && (*r->at == '*' || *r->at == '/')) {
		char operation = *r->at++;

		y = term(r);
		x = operation == '*' ? x * y : x / y;
	}
	return x;
}

static double sum(struct reader *r)
{
	double x = product(r), y;

	while (!r->wrong && (*r->at == '+' || *r->at == '-')) {
		char operation = *r->at++;

		y = product(r);
		x = operation == '+' ? x + y : x - y;
	}
	return x;
}

int designs_cost(const char *text, const struct machine *m, double *to,
		 char error[MACHINE_ERROR_BYTES])
{
	struct reader r = { .at = text, .m = m };

	*to = sum(&r);
	if (!r.wrong && !*r.at && isfinite(*to))
		return 0;
	snprintf(error, MACHINE_ERROR_BYTES,
		 "the cost '%s' is not understood at '%.40s'", safe_text(text),
		 r.at);
	return -EINVAL;
}
