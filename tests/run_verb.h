/* SPDX-License-Identifier: MIT */
/*
 * run_verb - run a verb of reusetrack in a child and keep its output
 *
 * In a child, because verbs exit, and because a sanitizer's error must be told
 * from an exit status of the verb.
 */
#ifndef COMDET_RUN_VERB_H
#define COMDET_RUN_VERB_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/wait.h>

#include "analysis/cmd/command.h"
#include "sandbox.h"

enum {
	VERB_TEXT_MAX = 4 << 20
};

struct verb {
	int status; /* exit status, or 1000 + signal */
	char *out, *err;
};

static inline char *verb_read(const char *name)
{
	int fd = openat(sandbox_fd, name, O_RDONLY | O_CLOEXEC);
	char *text = calloc(1, VERB_TEXT_MAX);
	size_t used = 0;
	ssize_t n;

	ck_assert_int_ge(fd, 0);
	ck_assert_ptr_nonnull(text);
	while ((n = read(fd, text + used, VERB_TEXT_MAX - 1 - used)) > 0)
		used += n;
	close(fd);
	return text;
}

static inline void verb_redirect(const char *name, int to)
{
	int fd = openat(sandbox_fd, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || dup2(fd, to) < 0)
		_exit(99);
	close(fd);
}

/* @args ends with NULL; the first is the verb. */
static inline struct verb verb_run(const struct command *command,
				   const char *const *args)
{
	struct verb v;
	char **argv;
	int argc = 0, status;
	pid_t pid;

	while (args[argc])
		argc++;
	argv = calloc(argc + 1, sizeof(*argv));
	for (int i = 0; i < argc; i++)
		argv[i] = strdup(args[i]);
	fflush(NULL);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (!pid) {
		verb_redirect("stdout", STDOUT_FILENO);
		verb_redirect("stderr", STDERR_FILENO);
		status = command->run(argc, argv);
		fflush(NULL);
		_exit(status);
	}
	for (int i = 0; i < argc; i++)
		free(argv[i]);
	free(argv);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	v.status = WIFSIGNALED(status) ? 1000 + WTERMSIG(status)
				       : WEXITSTATUS(status);
	v.out = verb_read("stdout");
	v.err = verb_read("stderr");
	/* Whatever the status is, no sanitizer may have found an error. */
	ck_assert_msg(!strstr(v.err, "Sanitizer") &&
			      !strstr(v.err, "runtime error"),
		      "%s", v.err);
	return v;
}

#define VERB(command, ...)                                                     \
	verb_run(&(command), (const char *const[]){ __VA_ARGS__, NULL })

static inline void verb_free(struct verb *v)
{
	free(v->out);
	free(v->err);
}

/*
 * True if @text contains @words, with blanks and line breaks taken as one
 * blank.
 */
static inline bool verb_says(const char *text, const char *words)
{
	char *flat = calloc(1, strlen(text) + 2), *p = flat;
	bool found;

	for (; *text; text++) {
		char c = *text == '\n' || *text == '\t' ? ' ' : *text;

		if (c != ' ' || p == flat || p[-1] != ' ')
			*p++ = c;
	}
	found = strstr(flat, words) != NULL;
	free(flat);
	return found;
}

#define ASSERT_SAYS(text, words)                                               \
	ck_assert_msg(verb_says(text, words), "'%s' is not in: %s", words, text)

static inline int verb_lines(const char *text)
{
	int n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

/* The report of @dir as JSON; the verb must succeed. */
static inline json_t *report_of(const char *dir)
{
	struct verb v = VERB(cmd_report, "report", "--json", dir);
	json_error_t error;
	json_t *j;

	ck_assert_msg(v.status == 0, "status %d: %s", v.status, v.err);
	j = json_loads(v.out, JSON_REJECT_DUPLICATES, &error);
	ck_assert_msg(j != NULL, "%s in line %d", error.text, error.line);
	verb_free(&v);
	return j;
}

/* Follow the path "a.b.0.c"; the value must exist. */
static inline json_t *at(json_t *j, const char *path)
{
	char *copy = strdup(path), *rest = copy, *part;

	while ((part = strsep(&rest, "."))) {
		if (json_is_array(j))
			j = json_array_get(j, atoi(part));
		else
			j = json_object_get(j, part);
		ck_assert_msg(j != NULL, "%s: there is no %s", path, part);
	}
	free(copy);
	return j;
}

static inline json_int_t int_at(json_t *j, const char *path)
{
	ck_assert_msg(json_is_integer(at(j, path)), "%s", path);
	return json_integer_value(at(j, path));
}

static inline const char *text_at(json_t *j, const char *path)
{
	ck_assert_msg(json_is_string(at(j, path)), "%s", path);
	return json_string_value(at(j, path));
}

static inline char *report_text_of(const char *dir)
{
	struct verb v = VERB(cmd_report, "report", dir);

	ck_assert_msg(v.status == 0, "status %d: %s", v.status, v.err);
	ck_assert_str_eq(v.err, "");
	free(v.err);
	return v.out;
}

static inline json_t *find_cell(json_t *cells, json_int_t a, json_int_t b)
{
	for (size_t i = 0; i < json_array_size(cells); i++) {
		json_t *cell = json_array_get(cells, i);

		if (int_at(cell, "a") == a && int_at(cell, "b") == b)
			return cell;
	}
	return NULL;
}

#endif
