/* SPDX-License-Identifier: MIT */
/*
 * elf_inspect - find out whether a program will load our preload library
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "elf_inspect.h"
#include "analysis/base/util.h"
#include "src/base/regular_file.h"

enum {
	SCRIPT_DEPTH_MAX = 5,
	HEAD_BYTES = 256,
	PHDRS_MAX = 512
};

#define LOADER "ld-linux-x86-64.so.2"

#define JUDGE(p, verdict, ...)                                                 \
	do {                                                                   \
		(p)->kind = (verdict);                                         \
		snprintf((p)->why, sizeof((p)->why), __VA_ARGS__);             \
	} while (0)

/* Search as execvp does: @name itself if it has a slash, else along PATH. */
static bool find_program(struct program *p, const char *name)
{
	const char *dir = getenv("PATH"), *end;
	bool denied = false;
	struct stat st;

	if (strchr(name, '/') || !*name) {
		snprintf(p->path, sizeof(p->path), "%s", name);
		return strlen(name) < sizeof(p->path);
	}
	for (dir = dir ? dir : "/bin:/usr/bin"; dir; dir = *end ? end + 1 : 0) {
		end = dir + strcspn(dir, ":");
		if (snprintf(p->path, sizeof(p->path), "%.*s%s%s",
			     (int)(end - dir), dir, end > dir ? "/" : "",
			     name) >= (int)sizeof(p->path))
			continue;
		if (stat(p->path, &st) || S_ISDIR(st.st_mode))
			continue;
		if (!access(p->path, X_OK))
			return true;
		denied = true;
	}
	if (denied)
		JUDGE(p, PROGRAM_CANNOT_RUN,
		      "cannot run %s: not executable; chmod +x it, or give its "
		      "path",
		      safe_text(name));
	else
		JUDGE(p, PROGRAM_NOT_FOUND,
		      "cannot find %s in PATH; give its path, such as ./%s",
		      safe_text(name), safe_text(name));
	return false;
}

static const char *machine_name(unsigned int machine)
{
	switch (machine) {
	case EM_386:
		return "32-bit x86";
	case EM_AARCH64:
		return "64-bit ARM";
	case EM_ARM:
		return "32-bit ARM";
	case EM_RISCV:
		return "RISC-V";
	case EM_PPC64:
		return "64-bit POWER";
	case EM_S390:
		return "s390";
	default:
		return "another machine";
	}
}

/* If the kernel raises privileges at exec, the loader ignores LD_PRELOAD. */
static bool gains_privilege(int fd, const struct stat *st, const char **how)
{
	struct statvfs fs;

	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ||
	    (!fstatvfs(fd, &fs) && (fs.f_flag & ST_NOSUID)))
		return false;
	if ((st->st_mode & S_ISUID) && st->st_uid != getuid()) {
		*how = "setuid";
		return true;
	}
	if ((st->st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) &&
	    st->st_gid != getgid()) {
		*how = "setgid";
		return true;
	}
	if (getuid() && fgetxattr(fd, "security.capability", NULL, 0) > 0) {
		*how = "given file capabilities";
		return true;
	}
	return false;
}

static bool has_soname_of_loader(int fd, const Elf64_Phdr *ph, int n)
{
	char buf[65536];
	ssize_t got;

	/* A loader started by hand has its strings in its first segment. */
	for (int i = 0; i < n; i++) {
		if (ph[i].p_type != PT_LOAD)
			continue;
		got = pread(fd, buf, sizeof(buf), ph[i].p_offset);
		return got > 0 && memmem(buf, got, LOADER, sizeof(LOADER));
	}
	return false;
}

static bool is_glibcs(const char *loader)
{
	const char *slash = strrchr(loader, '/');

	return !strcmp(slash ? slash + 1 : loader, LOADER);
}

static void judge_interpreter(struct program *p, int fd, const Elf64_Phdr *ph)
{
	char name[PATH_MAX] = "";

	if (ph->p_filesz < 2 || ph->p_filesz > sizeof(name) ||
	    pread(fd, name, ph->p_filesz, ph->p_offset) !=
		    (ssize_t)ph->p_filesz ||
	    name[ph->p_filesz - 1]) {
		JUDGE(p, PROGRAM_CANNOT_RUN,
		      "cannot run %s: its ELF file is damaged",
		      safe_text(p->loaded));
		return;
	}
	if (strstr(name, "ld-musl"))
		JUDGE(p, PROGRAM_NO_PRELOAD,
		      "%s is built for musl, whose loader cannot take "
		      "libcomdet.so, a glibc library; build it for glibc",
		      safe_text(p->loaded));
	else if (access(name, F_OK))
		JUDGE(p, PROGRAM_CANNOT_RUN,
		      "cannot run %s: its loader %s does not exist; install "
		      "the C library that it was built for",
		      safe_text(p->loaded), safe_text(name));
	else if (!is_glibcs(name))
		JUDGE(p, PROGRAM_NO_PRELOAD,
		      "%s uses the loader %s, not glibc's, so libcomdet.so "
		      "cannot be loaded; build it for glibc",
		      safe_text(p->loaded), safe_text(name));
}

static void judge_segments(struct program *p, int fd, const Elf64_Ehdr *eh)
{
	Elf64_Phdr ph[PHDRS_MAX];
	size_t bytes = eh->e_phnum * sizeof(ph[0]);

	if (eh->e_phentsize != sizeof(ph[0]) || !eh->e_phnum ||
	    eh->e_phnum > PHDRS_MAX ||
	    pread(fd, ph, bytes, eh->e_phoff) != (ssize_t)bytes) {
		JUDGE(p, PROGRAM_CANNOT_RUN,
		      "cannot run %s: its ELF file is damaged",
		      safe_text(p->loaded));
		return;
	}
	for (int i = 0; i < eh->e_phnum; i++) {
		if (ph[i].p_type == PT_INTERP) {
			judge_interpreter(p, fd, &ph[i]);
			return;
		}
	}
	if (eh->e_type == ET_DYN && has_soname_of_loader(fd, ph, eh->e_phnum))
		return;
	JUDGE(p, PROGRAM_NO_PRELOAD,
	      "%s is statically linked, so no loader runs that would load "
	      "libcomdet.so; link it dynamically, or use -s emu",
	      safe_text(p->loaded));
}

static void judge_elf(struct program *p, int fd, const struct stat *st,
		      const void *head, size_t bytes)
{
	Elf64_Ehdr eh;
	const unsigned char *ident = head;
	const char *how;

	memcpy(&eh, head, bytes < sizeof(eh) ? bytes : sizeof(eh));
	if (bytes < sizeof(eh)) {
		JUDGE(p, PROGRAM_CANNOT_RUN,
		      "cannot run %s: its ELF file is cut short",
		      safe_text(p->loaded));
	} else if (ident[EI_CLASS] != ELFCLASS64 ||
		   ident[EI_DATA] != ELFDATA2LSB || eh.e_machine != EM_X86_64) {
		JUDGE(p, PROGRAM_CANNOT_RUN,
		      "cannot profile %s: it is built for %s; only 64-bit "
		      "x86 programs can be profiled",
		      safe_text(p->loaded),
		      ident[EI_DATA] != ELFDATA2LSB
			      ? "another machine"
			      : machine_name(eh.e_machine));
	} else if (eh.e_type != ET_EXEC && eh.e_type != ET_DYN) {
		JUDGE(p, PROGRAM_CANNOT_RUN,
		      "cannot run %s: an ELF file, but not a program; link it "
		      "first",
		      safe_text(p->loaded));
	} else if (gains_privilege(fd, st, &how)) {
		p->privileged = 1;
		JUDGE(p, PROGRAM_NO_PRELOAD,
		      "%s is %s, so the loader ignores libcomdet.so; run it "
		      "as its owner, or profile a copy without that privilege",
		      safe_text(p->loaded), how);
	} else {
		judge_segments(p, fd, &eh);
	}
}

/* Put the interpreter that the "#!" line @head names into p->loaded. */
static bool script_interpreter(struct program *p, char *head)
{
	char *name = head + 2 + strspn(head + 2, " \t");

	name[strcspn(name, " \t\n")] = '\0';
	if (!*name)
		return false;
	snprintf(p->loaded, sizeof(p->loaded), "%s", name);
	return true;
}

static void judge_file(struct program *p, int depth);

static void judge_content(struct program *p, int fd, int depth)
{
	char head[HEAD_BYTES + 1];
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		JUDGE(p, PROGRAM_CANNOT_RUN, "cannot run %s: not a file",
		      safe_text(p->loaded));
		return;
	}
	n = pread(fd, head, HEAD_BYTES, 0);
	if (n < 0) {
		JUDGE(p, PROGRAM_CANNOT_RUN, "cannot read %s: %s",
		      safe_text(p->loaded), strerror(errno));
		return;
	}
	head[n] = '\0';
	if (n >= SELFMAG && !memcmp(head, ELFMAG, SELFMAG)) {
		judge_elf(p, fd, &st, head, n);
	} else if (n >= 2 && !memcmp(head, "#!", 2)) {
		if (depth == SCRIPT_DEPTH_MAX || !script_interpreter(p, head))
			JUDGE(p, PROGRAM_CANNOT_RUN,
			      "cannot run %s: its \"#!\" line names no "
			      "interpreter",
			      safe_text(p->path));
		else
			judge_file(p, depth + 1);
	} else if (depth == 0 && memchr(head, '\0', n) == NULL) {
		p->shell = 1;
		snprintf(p->loaded, sizeof(p->loaded), "/bin/sh");
		judge_file(p, SCRIPT_DEPTH_MAX);
	} else {
		JUDGE(p, PROGRAM_CANNOT_RUN,
		      "cannot run %s: neither a program nor a script",
		      safe_text(p->loaded));
	}
}

static void judge_file(struct program *p, int depth)
{
	struct stat st;
	int fd;

	if (stat(p->loaded, &st)) {
		bool absent = errno == ENOENT || errno == ENOTDIR;

		if (depth)
			JUDGE(p, PROGRAM_CANNOT_RUN,
			      "cannot run %s: its interpreter %s: %s",
			      safe_text(p->path), safe_text(p->loaded),
			      strerror(errno));
		else
			JUDGE(p,
			      absent ? PROGRAM_NOT_FOUND : PROGRAM_CANNOT_RUN,
			      "cannot find %s: %s", safe_text(p->loaded),
			      strerror(errno));
		return;
	}
	if (S_ISDIR(st.st_mode)) {
		JUDGE(p, PROGRAM_CANNOT_RUN, "cannot run %s: a directory",
		      safe_text(p->loaded));
		return;
	}
	if (access(p->loaded, X_OK)) {
		JUDGE(p, PROGRAM_CANNOT_RUN,
		      "cannot run %s: not executable; chmod +x it",
		      safe_text(p->loaded));
		return;
	}
	/* Do not block: opening a pipe would wait for its other end. */
	fd = open(p->loaded, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return; /* executable but not readable: accept it */
	judge_content(p, fd, depth);
	close(fd);
}

void program_inspect(struct program *p, const char *name)
{
	memset(p, 0, sizeof(*p));
	p->kind = PROGRAM_FITS;
	if (!*name) {
		JUDGE(p, PROGRAM_NOT_FOUND, "the program's name is empty");
		return;
	}
	if (!find_program(p, name)) {
		if (p->kind == PROGRAM_FITS)
			JUDGE(p, PROGRAM_NOT_FOUND, "cannot find %s",
			      safe_text(name));
		return;
	}
	memcpy(p->loaded, p->path, sizeof(p->loaded));
	judge_file(p, 0);
}

Elf *elf_file_open(const char *path, int *fd)
{
	Elf *elf;

	*fd = regular_file_open(path);
	if (*fd < 0)
		return NULL;
	elf_version(EV_CURRENT);
	elf = elf_begin(*fd, ELF_C_READ, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF)
		return elf;
	elf_file_close(elf, *fd);
	return NULL;
}

void elf_file_close(Elf *elf, int fd)
{
	elf_end(elf);
	close(fd);
}

bool elf_is_go(const char *path)
{
	Elf_Scn *scn = NULL;
	bool found = false;
	GElf_Shdr sh;
	size_t names;
	int fd;
	Elf *elf = elf_file_open(path, &fd);

	if (!elf)
		return false;
	while (!elf_getshdrstrndx(elf, &names) && !found &&
	       (scn = elf_nextscn(elf, scn)) && gelf_getshdr(scn, &sh)) {
		const char *name = elf_strptr(elf, names, sh.sh_name);

		found = name && !strcmp(name, ".go.buildinfo");
	}
	elf_file_close(elf, fd);
	return found;
}
