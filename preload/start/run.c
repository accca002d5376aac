/* SPDX-License-Identifier: MIT */
/*
 * run - the run that this process is part of, from the environment
 *
 * COMDET_RUN is "ID:PID OF THE ROOT:DIRECTORY".
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "run.h"
#include "preload/common/run_variable.h"
#include "preload/core/preload_list.h"
#include "preload/core/runtime.h"

static const char variable[] = "COMDET_RUN=";
static const char preload[] = "LD_PRELOAD=";
static char entry[PATH_MAX + 80];

bool run_parse(const char *run, pid_t *root)
{
	return run_variable_parse(run, runtime.run_id, sizeof(runtime.run_id),
				  root, runtime.out, sizeof(runtime.out));
}

const char *run_announced(void)
{
	return entry[0] ? entry + sizeof(variable) - 1 : NULL;
}

static bool is_ours(const char *e)
{
	return !strncmp(e, "COMDET_", strlen("COMDET_"));
}

static bool is_preload(const char *e)
{
	return !strncmp(e, preload, sizeof(preload) - 1);
}

static bool is_run(const char *e)
{
	return !strncmp(e, variable, sizeof(variable) - 1);
}

/*
 * What record added to the environment changes the program: it copies more
 * variables into its heap. So we hide it, and add it again for programs that
 * are followed. The functions of libc that start a shell use the environment as
 * it is: with --children, the shell must load us, so nothing is hidden.
 */
static bool hides(void)
{
	return config_get(environ, "COMDET_PAD") && !runtime.config.children;
}

struct copy {
	char **program, **hidden; /* the two arrays */
	size_t programs, hiddens;
	char *text; /* room for the texts that are changed or kept */
};

static char *copy_text(struct copy *c, const char *text)
{
	char *at = c->text;

	strcpy(at, text);
	c->text += strlen(text) + 1;
	return at;
}

static void take(struct copy *c, char *e, bool hide)
{
	char *text = c->text;

	if (is_run(e))
		return;
	if (!hide || !(is_ours(e) || is_preload(e))) {
		c->program[c->programs++] = e;
		return;
	}
	if (is_ours(e)) {
		c->hidden[c->hiddens++] = copy_text(c, e);
		return;
	}
	memcpy(text, preload, sizeof(preload) - 1);
	preload_without(e + sizeof(preload) - 1, runtime_library_path(),
			text + sizeof(preload) - 1);
	if (text[sizeof(preload) - 1]) {
		c->program[c->programs++] = text;
		c->text += strlen(text) + 1;
	}
}

/*
 * setenv may be the application's own function (bash has one), so a copy of the
 * array is made. In a forked child the entry is in the array already. If the
 * program has removed it, it stays removed.
 */
void run_announce(void)
{
	bool again = entry[0], hide;
	size_t n = 0, bytes = 0;
	struct copy c = { NULL, NULL, 0, 0, NULL };

	snprintf(entry, sizeof(entry), "%s%s:%d:%s", variable, runtime.run_id,
		 (int)runtime.pid, runtime.out);
	if (again || !environ)
		return;
	hide = hides();
	for (; environ[n]; n++)
		bytes += strlen(environ[n]) + 1;
	c.program = mmap(NULL, 2 * (n + 2) * sizeof(char *) + bytes,
			 PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);
	if (c.program == MAP_FAILED)
		return;
	c.hidden = c.program + n + 2;
	c.text = (char *)(c.hidden + n + 2);
	for (size_t i = 0; i < n; i++)
		take(&c, environ[i], hide);
	if (hide)
		c.hidden[c.hiddens++] = entry;
	else
		c.program[c.programs++] = entry;
	runtime.hidden = hide ? c.hidden : NULL;
	environ = c.program;
}
