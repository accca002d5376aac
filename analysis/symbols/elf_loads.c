/* SPDX-License-Identifier: MIT */
/*
 * elf_loads - list the libraries that a program is started with
 *
 * This works as ldd does: with LD_TRACE_LOADED_OBJECTS in the environment, a
 * program of glibc gets no further than its loader, which prints a line for
 * each library: "libm.so.6 => /lib/libm.so.6 (0x...)", or the path alone.
 */
#include <fcntl.h>
#include <gelf.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "elf_loads.h"
#include "elf_inspect.h"

enum {
	LOADER_SECONDS = 5
};

/* The kernel would start a program that names no loader directly. */
static bool names_a_loader(const char *path)
{
	int fd;
	Elf *elf = elf_file_open(path, &fd);
	bool found = false;
	size_t n = 0;
	GElf_Phdr ph;

	if (!elf)
		return false;
	elf_getphdrnum(elf, &n);
	for (size_t i = 0; i < n && gelf_getphdr(elf, i, &ph); i++)
		found |= ph.p_type == PT_INTERP;
	elf_file_close(elf, fd);
	return found;
}

static pid_t start_loader(const char *path, const int pipe[2])
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	pid_t pid = fork();

	if (!pid) {
		signal(SIGALRM, SIG_DFL);
		alarm(LOADER_SECONDS); /* survives exec */
		if (null < 0 || dup2(null, 0) < 0 || dup2(pipe[1], 1) < 0 ||
		    dup2(null, 2) < 0 ||
		    setenv("LD_TRACE_LOADED_OBJECTS", "1", 1))
			_exit(1);
		execl(path, path, (char *)NULL);
		_exit(1);
	}
	if (null >= 0)
		close(null);
	return pid;
}

/*
 * The path in a line of the loader; NULL if it found no library, "" if the line
 * names no file.
 */
static const char *path_in(char *line)
{
	char *arrow = strstr(line, " => "), *end = strstr(line, " (0x");
	char *path = arrow ? arrow + 4 : line + strspn(line, " \t");

	if (end && end >= path)
		*end = '\0';
	else if (arrow)
		return NULL;
	return *path == '/' ? path : "";
}

static bool read_list(FILE *list, bool (*look)(void *ctx, const char *library),
		      void *ctx)
{
	char *line = NULL;
	size_t room = 0;
	bool all = true, any = false;

	while (all && getline(&line, &room, list) > 0) {
		const char *path = path_in(line);

		all = path && (!*path || look(ctx, path));
		any = true;
	}
	free(line);
	return all && any;
}

int elf_loads(const char *path, bool (*look)(void *ctx, const char *library),
	      void *ctx)
{
	int ends[2], status = -1;
	bool all;
	FILE *list;
	pid_t pid;

	if (!names_a_loader(path) || pipe2(ends, O_CLOEXEC))
		return -1;
	pid = start_loader(path, ends);
	close(ends[1]);
	list = fdopen(ends[0], "r");
	all = pid > 0 && list && read_list(list, look, ctx);
	if (list)
		fclose(list);
	else
		close(ends[0]);
	if (pid > 0 && waitpid(pid, &status, 0) != pid)
		status = -1;
	return all && !status ? 0 : -1;
}
