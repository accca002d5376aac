/* SPDX-License-Identifier: MIT */
/*
 * topology - which cores share which caches, from a few lines of text
 *
 * Two passes. The first takes the lines as they come: a thing and the name of
 * what it is part of. The second finds each name, so that a line may refer to
 * a later one, and walks from each core to the root; a walk longer than there
 * are things is a cycle.
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "topology.h"

enum {
	NONE = -1
};

enum kind {
	KIND_CACHE,
	KIND_SOCKET
};

struct name {
	enum kind kind;
	char text[TOPOLOGY_NAME_BYTES];
};

struct node {
	struct name name, parent_name;
	uint32_t line;
	int parent; /* node or NONE */
	bool has_parent;
};

struct parser {
	const char *p, *end;
	uint32_t line;
	struct topology_error *error;
	struct node node[TOPOLOGY_NODES_MAX];
	uint32_t nodes;
	struct name core_parent[TOPOLOGY_CORES_MAX];
	uint32_t core_line[TOPOLOGY_CORES_MAX]; /* 0: not declared */
	bool core_has_parent[TOPOLOGY_CORES_MAX];
	uint32_t cores; /* the highest number declared, + 1 */
};

static int fail(struct parser *p, enum topology_fault fault, uint32_t line,
		const char *word, size_t n)
{
	size_t room = sizeof(p->error->word) - 1;

	p->error->fault = fault;
	p->error->line = line;
	n = n < room ? n : room;
	memcpy(p->error->word, word, n);
	p->error->word[n] = '\0';
	return -EINVAL;
}

static int fail_name(struct parser *p, enum topology_fault fault, uint32_t line,
		     const struct name *name)
{
	return fail(p, fault, line, name->text, strlen(name->text));
}

static bool at_break(const struct parser *p)
{
	return p->p == p->end || *p->p == '\n' || *p->p == ';';
}

/* The next word of the line; its length, 0 at the end. */
static size_t word(struct parser *p, const char **at)
{
	while (p->p < p->end &&
	       (*p->p == ' ' || *p->p == '\t' || *p->p == '\r'))
		p->p++;
	if (p->p < p->end && *p->p == '#')
		while (!at_break(p))
			p->p++;
	*at = p->p;
	while (p->p < p->end && !memchr(" \t\r\n;#", *p->p, 6))
		p->p++;
	return p->p - *at;
}

static bool is(const char *at, size_t n, const char *text)
{
	return n == strlen(text) && !memcmp(at, text, n);
}

static bool good_name(const char *at, size_t n)
{
	static const char extra[] = "._-";

	for (size_t i = 0; i < n; i++)
		if (!((at[i] >= 'a' && at[i] <= 'z') ||
		      (at[i] >= 'A' && at[i] <= 'Z') ||
		      (at[i] >= '0' && at[i] <= '9') ||
		      (at[i] && strchr(extra, at[i]))))
			return false;
	return n > 0 && n < TOPOLOGY_NAME_BYTES;
}

/* "cache NAME" or "socket NAME". */
static int take_name(struct parser *p, const char *kind, size_t n,
		     struct name *name)
{
	const char *at;

	if (!is(kind, n, "cache") && !is(kind, n, "socket"))
		return fail(p, TOPOLOGY_SYNTAX, p->line, kind, n);
	name->kind = is(kind, n, "cache") ? KIND_CACHE : KIND_SOCKET;
	n = word(p, &at);
	if (!good_name(at, n))
		return fail(p, TOPOLOGY_NAME, p->line, at, n);
	memcpy(name->text, at, n);
	name->text[n] = '\0';
	return 0;
}

/* "in KIND NAME", or the end of the line: then *@has is false. */
static int take_parent(struct parser *p, struct name *name, bool *has)
{
	const char *at;
	size_t n = word(p, &at);
	int err;

	*has = n > 0;
	if (!n)
		return 0;
	if (!is(at, n, "in"))
		return fail(p, TOPOLOGY_SYNTAX, p->line, at, n);
	n = word(p, &at);
	err = take_name(p, at, n, name);
	if (err)
		return err;
	n = word(p, &at);
	return n ? fail(p, TOPOLOGY_SYNTAX, p->line, at, n) : 0;
}

/* Digits at @at, below TOPOLOGY_CORES_MAX; how many, 0 if it is no such number.
 */
static size_t number(const char *at, size_t n, uint32_t *value)
{
	size_t i = 0;

	for (*value = 0; i < n && at[i] >= '0' && at[i] <= '9'; i++) {
		*value = *value * 10 + (at[i] - '0');
		if (*value >= TOPOLOGY_CORES_MAX)
			return 0;
	}
	return i;
}

/* "core N" or "core N-M". */
static int take_cores(struct parser *p)
{
	struct name parent;
	uint32_t first, last;
	const char *at;
	size_t n = word(p, &at), used = number(at, n, &first);
	bool has;
	int err;

	last = first;
	if (used && used < n && at[used] == '-') {
		size_t more = number(at + used + 1, n - used - 1, &last);

		used = more ? used + 1 + more : 0;
	}
	if (!used || used != n || last < first)
		return fail(p, TOPOLOGY_NUMBER, p->line, at, n);
	err = take_parent(p, &parent, &has);
	if (err)
		return err;
	for (uint32_t i = first; i <= last; i++) {
		if (p->core_line[i])
			return fail(p, TOPOLOGY_TWICE, p->line, at, n);
		p->core_line[i] = p->line;
		p->core_parent[i] = parent;
		p->core_has_parent[i] = has;
	}
	if (last + 1 > p->cores)
		p->cores = last + 1;
	return 0;
}

static int find(const struct parser *p, const struct name *name)
{
	for (uint32_t i = 0; i < p->nodes; i++)
		if (p->node[i].name.kind == name->kind &&
		    !strcmp(p->node[i].name.text, name->text))
			return i;
	return NONE;
}

static int take_node(struct parser *p, const char *kind, size_t n)
{
	struct node *node = &p->node[p->nodes];
	int err;

	if (p->nodes == TOPOLOGY_NODES_MAX)
		return fail(p, TOPOLOGY_MANY, p->line, "", 0);
	err = take_name(p, kind, n, &node->name);
	if (err)
		return err;
	node->line = p->line;
	if (find(p, &node->name) != NONE)
		return fail_name(p, TOPOLOGY_TWICE, p->line, &node->name);
	err = take_parent(p, &node->parent_name, &node->has_parent);
	p->nodes++;
	return err;
}

static int take_lines(struct parser *p)
{
	for (p->line = 1; p->p < p->end; p->line++) {
		const char *at;
		size_t n = word(p, &at);
		int err = 0;

		if (is(at, n, "core"))
			err = take_cores(p);
		else if (n)
			err = take_node(p, at, n);
		if (err)
			return err;
		if (p->p < p->end)
			p->p++; /* the line break */
	}
	return 0;
}

static int find_parents(struct parser *p)
{
	for (uint32_t i = 0; i < p->nodes; i++) {
		struct node *node = &p->node[i];

		node->parent = NONE;
		if (!node->has_parent)
			continue;
		node->parent = find(p, &node->parent_name);
		if (node->parent == NONE)
			return fail_name(p, TOPOLOGY_UNKNOWN, node->line,
					 &node->parent_name);
	}
	for (uint32_t i = 0; i < p->nodes; i++) {
		uint32_t steps = 0;

		for (int at = i; at != NONE; at = p->node[at].parent)
			if (steps++ > p->nodes)
				return fail_name(p, TOPOLOGY_CYCLE,
						 p->node[i].line,
						 &p->node[i].name);
	}
	return 0;
}

/* The domains of @core above its own; how many, or -EINVAL. */
static int climb(struct parser *p, struct topology *t, uint32_t core)
{
	int levels = 1, at = NONE;

	t->domain[0][core] = core;
	if (!p->core_line[core])
		return fail(p, TOPOLOGY_GAP, 0, "", 0);
	if (p->core_has_parent[core]) {
		at = find(p, &p->core_parent[core]);
		if (at == NONE)
			return fail_name(p, TOPOLOGY_UNKNOWN,
					 p->core_line[core],
					 &p->core_parent[core]);
	}
	for (; at != NONE; at = p->node[at].parent) {
		if (levels == TOPOLOGY_LEVELS_MAX)
			return fail(p, TOPOLOGY_DEEP, p->core_line[core], "",
				    0);
		t->domain[levels++][core] = at;
	}
	return levels;
}

/* Domains are numbered below the number of cores: by their first core. */
static void number_domains(struct topology *t)
{
	for (uint32_t level = 1; level < t->shape.levels; level++) {
		uint32_t first[TOPOLOGY_NODES_MAX];

		memset(first, 0xff, sizeof(first));
		for (uint32_t c = 0; c < t->shape.cores; c++) {
			uint32_t node = t->domain[level][c];

			if (first[node] == UINT32_MAX)
				first[node] = c;
			t->domain[level][c] = first[node];
		}
	}
}

int topology_parse(struct topology *t, const char *text, size_t size,
		   struct topology_error *error)
{
	static struct parser p;
	int err, levels = 0;

	memset(&p, 0, sizeof(p));
	memset(t, 0, sizeof(*t));
	memset(error, 0, sizeof(*error));
	p.p = text;
	p.end = text + size;
	p.error = error;
	err = take_lines(&p);
	if (!err)
		err = find_parents(&p);
	if (!err && !p.cores)
		err = fail(&p, TOPOLOGY_NO_CORES, 0, "", 0);
	for (uint32_t c = 0; !err && c < p.cores; c++) {
		int n = climb(&p, t, c);

		if (n < 0)
			err = n;
		else if (c && n != levels)
			err = fail(&p, TOPOLOGY_UNEVEN, p.core_line[c], "", 0);
		levels = n;
	}
	if (err)
		return err;
	t->shape.cores = p.cores;
	t->shape.levels = levels;
	for (int i = 0; i < levels; i++)
		t->shape.domain[i] = t->domain[i];
	number_domains(t);
	return 0;
}

const char *topology_fault_text(enum topology_fault fault)
{
	static const char *const text[] = {
		[TOPOLOGY_GOOD] = "nothing is wrong",
		[TOPOLOGY_SYNTAX] = "a line is 'core N', 'core N-M', 'cache "
				    "NAME' or 'socket NAME', and may go on "
				    "with 'in cache NAME' or 'in socket NAME'",
		[TOPOLOGY_NAME] = "a name is 1 to 31 letters, digits, dots, "
				  "hyphens and underscores",
		[TOPOLOGY_NUMBER] = "a core is a number from 0 to 1023, or a "
				    "range of them",
		[TOPOLOGY_TWICE] = "it is declared twice",
		[TOPOLOGY_UNKNOWN] = "it is nowhere declared",
		[TOPOLOGY_CYCLE] = "it is part of itself",
		[TOPOLOGY_NO_CORES] = "there is no core",
		[TOPOLOGY_GAP] = "core numbers must have no gaps",
		[TOPOLOGY_UNEVEN] = "a core has more levels above it than "
				    "another",
		[TOPOLOGY_DEEP] = "a core has more than three levels above it",
		[TOPOLOGY_MANY] = "there are more than 1024 caches and sockets",
	};

	return text[fault];
}

void topology_scatter(const struct topology *t, uint32_t *order)
{
	const uint32_t *domain = t->domain[t->shape.levels - 1];
	uint32_t n = 0;

	/* In round r, the core that is number r of its domain. */
	for (uint32_t round = 0; n < t->shape.cores; round++)
		for (uint32_t c = 0; c < t->shape.cores; c++) {
			uint32_t before = 0;

			for (uint32_t i = 0; i < c; i++)
				before += domain[i] == domain[c];
			if (before == round)
				order[n++] = c;
		}
}
