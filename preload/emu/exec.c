/* SPDX-License-Identifier: MIT */
/*
 * exec - follow a profiled process into the program that it executes
 *
 * QEMU passes an execve on to the kernel, so the new program would run without
 * QEMU. Before that we execute the same QEMU on the new program. The plugin and
 * the run's directory are arguments of QEMU, so neither the arguments nor the
 * environment of the program show them. If QEMU could not run the program as
 * the kernel does (another architecture, set-user-ID), we leave it to the
 * kernel.
 */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exec.h"
#include "describe.h"
#include "guest.h"
#include "state.h"
#include "src/base/zero_pages.h"

enum {
	ARGUMENTS_MAX = 65536,
	ARENA_BYTES = 16 << 20,  /* the kernel accepts less than half of that */
	STRING_MAX = 128 * 1024, /* the longest string for the kernel */
	SCRIPT_LINE_MAX = 256,   /* as the kernel's BINPRM_BUF_SIZE */
	SCRIPTS_MAX = 4, /* how often an interpreter may be a script itself */
	SETTINGS_MAX = 8192,
	OPTIONS_MAX = 64, /* words of QEMU's own options */
};

/* Memory for all strings and vectors, unmapped if the exec fails. */
struct arena {
	char *base;
	size_t used;
};

struct target {
	char path[PATH_MAX]; /* for QEMU to load */
	/* The words that "#!" lines put before the arguments. */
	char *prefix[2 * SCRIPTS_MAX];
	int prefixes;
};

static void *take(struct arena *m, size_t bytes)
{
	void *p = m->base + m->used;

	bytes = (bytes + 7) & ~(size_t)7;
	if (bytes > ARENA_BYTES - m->used)
		return NULL;
	m->used += bytes;
	return p;
}

static char *take_copy(struct arena *m, const char *s)
{
	char *p = take(m, strlen(s) + 1);

	return p ? strcpy(p, s) : NULL;
}

bool emu_exec_possible(uint64_t path)
{
	char name[PATH_MAX];

	return emu_guest_read_string(path, name, sizeof(name)) &&
	       !access(name, X_OK);
}

/* Count the pointers before the NULL; -1 if they cannot be read. */
static int count_pointers(uint64_t addr)
{
	uint64_t p;

	for (int n = 0; n < ARGUMENTS_MAX; n++, addr += sizeof(p)) {
		if (!emu_guest_read(addr, &p, sizeof(p)))
			return -1;
		if (!p)
			return n;
	}
	return -1;
}

/* Take the interpreter and its argument from a "#!" line. */
static bool take_script(struct arena *m, struct target *t, char *line)
{
	char *name = line + 2 + strspn(line + 2, " \t");
	char *end, *argument;

	name[strcspn(name, "\n")] = '\0';
	end = name + strcspn(name, " \t");
	argument = end + strspn(end, " \t");
	*end = '\0';
	if (!*name || t->prefixes + 2 > 2 * SCRIPTS_MAX)
		return false;
	for (size_t n = strlen(argument); n && strchr(" \t", argument[n - 1]);
	     n--)
		argument[n - 1] = '\0';
	/* Put the script's path before the words that outer scripts added. */
	memmove(t->prefix + 2, t->prefix, t->prefixes * sizeof(t->prefix[0]));
	t->prefix[0] = *argument ? take_copy(m, argument) : NULL;
	t->prefix[1] = take_copy(m, t->path);
	t->prefixes += 2;
	snprintf(t->path, sizeof(t->path), "%s", name);
	return true;
}

/* Follow scripts to a program. Returns true if QEMU can run it. */
static bool find_target(struct arena *m, struct target *t)
{
	for (int depth = 0; depth <= SCRIPTS_MAX; depth++) {
		char head[SCRIPT_LINE_MAX + 1] = "";
		Elf64_Ehdr eh;
		struct stat st;
		ssize_t n = -1;
		int fd = open(t->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

		if (fd < 0)
			return false;
		if (!fstat(fd, &st) && S_ISREG(st.st_mode) &&
		    !(st.st_mode & (S_ISUID | S_ISGID)) &&
		    !access(t->path, X_OK))
			n = read(fd, head, SCRIPT_LINE_MAX);
		close(fd);
		if (n > 2 && head[0] == '#' && head[1] == '!') {
			if (!take_script(m, t, head))
				return false;
			continue;
		}
		memcpy(&eh, head, sizeof(eh));
		return n >= (ssize_t)sizeof(eh) &&
		       !memcmp(eh.e_ident, ELFMAG, SELFMAG) &&
		       eh.e_ident[EI_CLASS] == ELFCLASS64 &&
		       eh.e_machine == EM_X86_64;
	}
	return false;
}

/* Copy QEMU's own options, except those that exec_target() sets. */
static int own_options(char **to, int room)
{
	static char buf[8192];
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC), n = 0;
	char *p = buf, *end;
	ssize_t got;

	if (fd < 0)
		return 0;
	got = read(fd, buf, sizeof(buf) - 1);
	close(fd);
	end = buf + (got > 0 ? got : 0);
	for (p += strlen(p) + 1; p < end && *p == '-'; p += strlen(p) + 1) {
		char *value =
			emu_describe_takes_value(p) ? p + strlen(p) + 1 : NULL;
		const char *name = p + 1 + (p[1] == '-');
		bool anew = !strcmp(name, "plugin") || !strcmp(name, "0") ||
			    !strcmp(name, "argv0");

		if (value >= end || n + 2 > room)
			break;
		if (!anew)
			to[n++] = p;
		if (value && !anew)
			to[n++] = value;
		if (value)
			p = value;
	}
	return n;
}

/* Write "PLUGIN,NAME=VALUE,..." for this run. */
static bool plugin_option(char *to, size_t size)
{
	char run[PATH_MAX + 80];
	Dl_info info;
	size_t n;

	if (!dladdr((void *)plugin_option, &info) || !info.dli_fname ||
	    strchr(info.dli_fname, ',') || !realpath(info.dli_fname, to))
		return false;
	snprintf(run, sizeof(run), "%s:%d:%s", emu.run_id, (int)emu.pid,
		 emu.out);
	n = strlen(to);
	return !emu_config_arguments(to + n, size - n, emu.argc, emu.argv, run,
				     emu.config.seed);
}

static char *guest_string(struct arena *m, uint64_t addr)
{
	char *s = take(m, STRING_MAX);

	if (!s || !emu_guest_read_string(addr, s, STRING_MAX))
		return NULL;
	m->used -= STRING_MAX;
	return take(m, strlen(s) + 1);
}

/* Append the program's strings at @addr, from number @from on. */
static bool append_guest(struct arena *m, char **to, int *n, uint64_t addr,
			 int from, int count)
{
	for (int i = from; i < count; i++) {
		uint64_t p;

		if (!emu_guest_read(addr + i * sizeof(p), &p, sizeof(p)))
			return false;
		to[*n] = guest_string(m, p);
		if (!to[(*n)++])
			return false;
	}
	to[*n] = NULL;
	return true;
}

/* Execute QEMU on the program. Returns if that is not possible. */
static void exec_target(struct arena *m, uint64_t path, uint64_t argv,
			uint64_t envp)
{
	static char qemu[PATH_MAX], plugin[PATH_MAX + SETTINGS_MAX];
	struct target t = { .prefixes = 0 };
	int arguments = count_pointers(argv), n = 0, e = 0;
	int variables = envp ? count_pointers(envp) : 0;
	ssize_t len = readlink("/proc/self/exe", qemu, sizeof(qemu) - 1);
	char **a, **env;

	if (arguments < 0 || variables < 0 || len < 0 ||
	    !emu_guest_read_string(path, t.path, sizeof(t.path)) ||
	    !find_target(m, &t) || !plugin_option(plugin, sizeof(plugin)))
		return;
	qemu[len] = '\0';
	a = take(m,
		 (arguments + OPTIONS_MAX + 2 * SCRIPTS_MAX + 8) * sizeof(*a));
	env = take(m, (variables + 1) * sizeof(*env));
	if (!a || !env)
		return;
	a[n++] = qemu;
	n += own_options(a + n, OPTIONS_MAX);
	a[n++] = "-plugin";
	a[n++] = plugin;
	if (arguments && !t.prefixes) {
		a[n++] = "-0";
		if (!append_guest(m, a, &n, argv, 0, 1))
			return;
	}
	a[n++] = t.path;
	for (int i = 0; i < t.prefixes; i++)
		if (t.prefix[i])
			a[n++] = t.prefix[i];
	if (append_guest(m, a, &n, argv, 1, arguments) &&
	    append_guest(m, env, &e, envp, 0, variables))
		execve(qemu, a, env);
}

void emu_exec(uint64_t path, uint64_t argv, uint64_t envp)
{
	struct arena m = { .used = 0 };

	m.base = zero_pages(ARENA_BYTES);
	if (!m.base)
		return;
	exec_target(&m, path, argv, envp);
	munmap(m.base, ARENA_BYTES);
}
