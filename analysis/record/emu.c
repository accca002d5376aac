/* SPDX-License-Identifier: MIT */
/*
 * emu - run a program under QEMU with our plugin
 *
 * Settings reach the plugin through the environment, as they reach the preload
 * library. QEMU runs ELF files only, so for a script its interpreters are found
 * here, as the kernel would find them.
 */
#include <errno.h>
#include <fcntl.h>
#include <hwloc.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emu.h"
#include "record.h"
#include "roi.h"
#include "analysis/base/util.h"
#include "analysis/locality/host_caches.h"
#include "src/base/topology.h"
#include "src/exact/cache_sets.h"
#include "src/base/regular_file.h"

enum {
	OWN_ARGUMENTS = 10,
	SCRIPTS_MAX = 5,
	SCRIPT_LINE_MAX = 256,
	TOPOLOGY_TEXT_MAX = 256 * 1024,
};

char *record_find_qemu(void)
{
	const char *dir = getenv("PATH"), *end;

	for (dir = dir ? dir : "/usr/bin"; dir; dir = *end ? end + 1 : NULL) {
		char *path;

		end = dir + strcspn(dir, ":");
		path = xasprintf("%.*s%sqemu-x86_64", (int)(end - dir), dir,
				 end > dir ? "/" : "");
		if (!access(path, X_OK))
			return path;
		free(path);
	}
	return NULL;
}

static char *find_qemu(void)
{
	char *path = record_find_qemu();

	if (path)
		return path;
	die_as(RECORD_NOT_FOUND,
	       "cannot find qemu-x86_64, under which the source emu runs "
	       "programs; install the package qemu-user (apt install "
	       "qemu-user)");
}

/* Double the commas, as QEMU's option parser requires. */
static char *escape_commas(const char *s)
{
	char *to = xcalloc(2 * strlen(s) + 1, 1), *p = to;

	for (; *s; s++) {
		*p++ = *s;
		if (*s == ',')
			*p++ = ',';
	}
	return to;
}

static void refuse_privilege(const struct program *p)
{
	struct stat st;

	if (!stat(p->loaded, &st) && (st.st_mode & (S_ISUID | S_ISGID)))
		die("cannot profile %s: it gains privileges when it is "
		    "executed, but would not under QEMU; profile a copy "
		    "without that, or run it as its owner",
		    safe_text(p->loaded));
}

/*
 * Replace argv[0] by the words of the "#!" line of @path; false if it has none.
 */
static bool take_script(char **path, char ***argv)
{
	char line[SCRIPT_LINE_MAX + 1] = "", *name, *end, *argument, **with;
	int fd = open(*path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), n = 0, at = 0;
	ssize_t got;

	if (fd < 0)
		return false;
	got = read(fd, line, SCRIPT_LINE_MAX);
	close(fd);
	if (got < 3 || line[0] != '#' || line[1] != '!')
		return false;
	line[strcspn(line, "\n")] = '\0';
	name = line + 2 + strspn(line + 2, " \t");
	end = name + strcspn(name, " \t");
	argument = end + strspn(end, " \t");
	*end = '\0';
	for (size_t len = strlen(argument);
	     len && strchr(" \t", argument[len - 1]); len--)
		argument[len - 1] = '\0';
	while ((*argv)[n])
		n++;
	with = xcalloc(n + 3, sizeof(*with));
	with[at++] = xstrdup(name);
	if (*argument)
		with[at++] = xstrdup(argument);
	with[at++] = *path;
	memcpy(with + at, *argv + 1, (n - 1) * sizeof(*with));
	*path = with[0];
	*argv = with;
	return true;
}

static char *read_text(const char *path, size_t *size)
{
	int fd = regular_file_open(path);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	char *text;

	if (!f)
		die("cannot open the topology %s: %s", safe_text(path),
		    regular_file_error(fd < 0 ? fd : -errno));
	text = xcalloc(TOPOLOGY_TEXT_MAX, 1);
	*size = fread(text, 1, TOPOLOGY_TEXT_MAX, f);
	if (ferror(f))
		die("cannot read the topology %s: %s", safe_text(path),
		    strerror(errno));
	fclose(f);
	if (*size == TOPOLOGY_TEXT_MAX)
		die("the topology %s is too long", safe_text(path));
	return text;
}

static void check_topology(const char *path)
{
	static struct topology topology;
	struct topology_error e;
	size_t size;
	char *text = read_text(path, &size);

	if (topology_parse(&topology, text, size, &e))
		die("the topology %s%s: %s%s%s", safe_text(path),
		    e.line ? xasprintf(", line %u", e.line) : "",
		    safe_text(e.word), e.word[0] ? ": " : "",
		    topology_fault_text(e.fault));
	free(text);
}

/* The ancestor of @core of this type; NULL if there is none. */
static hwloc_obj_t above(hwloc_topology_t t, hwloc_obj_t core,
			 hwloc_obj_type_t type)
{
	return hwloc_get_ancestor_obj_by_type(t, type, core);
}

/*
 * The host's cores, last level caches and sockets in the plugin's format, with
 * ';' for line breaks. Caches are left out unless every core has one, since all
 * cores must be at the same depth.
 */
static char *host_topology(void)
{
	char *text = xstrdup("text:"), *more;
	bool caches = true;
	hwloc_topology_t t;
	int cores;

	if (hwloc_topology_init(&t))
		return NULL;
	if (hwloc_topology_load(t)) {
		hwloc_topology_destroy(t);
		return NULL;
	}
	cores = hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_CORE);
	for (int i = 0; i < cores; i++)
		caches &=
			!!above(t, hwloc_get_obj_by_type(t, HWLOC_OBJ_CORE, i),
				HWLOC_OBJ_L3CACHE);
	for (int i = 0; i < cores; i++) {
		hwloc_obj_t core = hwloc_get_obj_by_type(t, HWLOC_OBJ_CORE, i);
		hwloc_obj_t cache = above(t, core, HWLOC_OBJ_L3CACHE);
		hwloc_obj_t socket = above(t, core, HWLOC_OBJ_PACKAGE);
		unsigned int s = socket ? socket->logical_index : 0;

		if (caches)
			more = xasprintf("%score %d in cache L3.%u;", text, i,
					 cache->logical_index);
		else
			more = xasprintf("%score %d in socket %u;", text, i, s);
		free(text);
		text = more;
	}
	for (int i = 0;
	     caches && i < hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_L3CACHE);
	     i++) {
		hwloc_obj_t cache =
			hwloc_get_obj_by_type(t, HWLOC_OBJ_L3CACHE, i);
		hwloc_obj_t socket = above(t, cache, HWLOC_OBJ_PACKAGE);

		more = xasprintf("%scache L3.%u in socket %u;", text,
				 cache->logical_index,
				 socket ? socket->logical_index : 0);
		free(text);
		text = more;
	}
	for (int i = 0;
	     i < hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_PACKAGE) || i == 0;
	     i++) {
		more = xasprintf("%ssocket %d;", text, i);
		free(text);
		text = more;
	}
	hwloc_topology_destroy(t);
	return text;
}

void record_settle_topology(void)
{
	const char *asked = getenv("COMDET_TOPOLOGY");
	const char *exact = getenv("COMDET_EXACT");
	const char *mode = getenv("COMDET_MODE");
	bool caches =
		mode && (strstr(mode, "shared") || strstr(mode, "global"));
	char *host;

	if (asked && *asked) {
		if (strncmp(asked, "text:", 5)) /* as the plugin passes it on */
			check_topology(asked);
		return;
	}
	if (!caches && (!exact || strcmp(exact, "1")))
		return;
	host = host_topology();
	if (host && setenv("COMDET_TOPOLOGY", host, 1))
		die("cannot set COMDET_TOPOLOGY: %s", strerror(errno));
	free(host);
}

/*
 * This machine's caches in the plugin's format, up to the first that cannot be
 * simulated: the misses of those after it depend on it.
 */
static char *host_caches_text(void)
{
	struct host_cache cache[HOST_CACHES_MAX];
	struct cache_sets_config config;
	size_t n = host_caches(cache), i;
	char *text = xstrdup("");

	for (i = 0; i < n; i++) {
		bool shared = cache[i].shared && i + 1 == n;
		char *more = xasprintf("%s%s %llu %u%s;", text, cache[i].name,
				       (unsigned long long)cache[i].bytes,
				       cache[i].ways, shared ? " shared" : "");

		if (cache[i].line_bytes != CACHE_SETS_LINE ||
		    cache_sets_parse(&config, more)) {
			free(more);
			break;
		}
		free(text);
		text = more;
	}
	if (i < n)
		warn("this machine's %s%s cannot be simulated: %llu bytes, "
		     "%u ways, lines of %u bytes; --caches takes others",
		     cache[i].name, i + 1 < n ? " and the caches after it" : "",
		     (unsigned long long)cache[i].bytes, cache[i].ways,
		     cache[i].line_bytes);
	return text;
}

/* With exact reuses, choose which caches to simulate. */
static void settle_caches(void)
{
	const char *asked = getenv("COMDET_CACHES");
	const char *exact = getenv("COMDET_EXACT");
	const char *mode = getenv("COMDET_MODE");
	bool simulated = mode && exact && !strcmp(exact, "1") &&
			 (strstr(mode, "reuse") || strstr(mode, "global"));
	char *host;

	if (asked && *asked) {
		if (!simulated)
			die("caches are simulated with --exact and -m reuse or "
			    "global; add these, or leave --caches "
			    "(COMDET_CACHES) out");
		return;
	}
	if (!simulated)
		return;
	host = host_caches_text();
	if (setenv("COMDET_CACHES", host, 1))
		die("cannot set COMDET_CACHES: %s", strerror(errno));
	free(host);
}

/* What the program loads first; QEMU separates variables by commas. */
static char *guest_preload(const char *guest)
{
	const char *others = getenv("LD_PRELOAD");

	return xasprintf("LD_PRELOAD=%s%s%s", guest,
			 others && *others ? ":" : "", others ? others : "");
}

char **record_emu_command(const struct program *p, char *const *argv,
			  const char *library, const char *guest,
			  const char *pipe)
{
	char **rest = (char **)argv, **command, *path = (char *)p->path;
	char *argv0 = argv[0];
	int n = 0, at = 0;

	record_settle_topology();
	settle_caches();
	refuse_privilege(p);
	for (int depth = 0; depth < SCRIPTS_MAX && take_script(&path, &rest);
	     depth++)
		argv0 = rest[0];
	record_settle_roi(path);
	while (rest[n])
		n++;
	command = xcalloc(n + OWN_ARGUMENTS + 2, sizeof(*command));
	command[at++] = find_qemu();
	command[at++] = "-cpu";
	command[at++] = "max";
	command[at++] = "-plugin";
	command[at] = escape_commas(library);
	if (pipe)
		command[at] = xasprintf("%s,pipe=%s", command[at],
					escape_commas(pipe));
	at++;
	if (guest) {
		command[at++] = "-E";
		command[at++] = guest_preload(guest);
	}
	command[at++] = "-0";
	command[at++] = p->shell ? "/bin/sh" : argv0;
	if (p->shell) {
		command[at++] = "/bin/sh";
		command[at++] = path;
	} else {
		command[at++] = path;
	}
	memcpy(command + at, rest + 1, (n - 1) * sizeof(*command));
	return command;
}
