/* SPDX-License-Identifier: MIT */
/*
 * sandbox - a scratch directory, and system calls that fail on demand
 *
 * deny_call() makes the kernel refuse a system call (seccomp), raw calls
 * included, without a hook in the code under test. It lasts until the process
 * ends: Check runs each test in a process of its own.
 */
#ifndef COMDET_SANDBOX_H
#define COMDET_SANDBOX_H

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A sanitizer's runtime makes system calls of its own. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum {
	SANITIZED = 1
};
#else
enum {
	SANITIZED = 0
};
#endif

static char sandbox[64];
static int sandbox_fd = -1;

static inline void sandbox_setup(void)
{
	strcpy(sandbox, "/tmp/comdet-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(sandbox));
	sandbox_fd = open(sandbox, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_ge(sandbox_fd, 0);
}

static inline int sandbox_remove(const char *path, const struct stat *st,
				 int type, struct FTW *ftw)
{
	return remove(path);
}

/* Without running a program: the test may have denied the calls for that. */
static inline void sandbox_teardown(void)
{
	nftw(sandbox, sandbox_remove, 16, FTW_DEPTH | FTW_PHYS);
	close(sandbox_fd);
}

static inline void deny_filter(struct sock_filter *code, size_t n)
{
	struct sock_fprog prog = { .len = n, .filter = code };

	ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	ck_assert_int_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog), 0);
}

#define DENY_LOAD(field)                                                       \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define DENY_UNLESS(value, skip)                                               \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skip)
#define DENY_RETURN(action) BPF_STMT(BPF_RET | BPF_K, action)

/* From now on, system call @nr fails with @error. */
static inline void deny_call(int nr, int error)
{
	struct sock_filter code[] = {
		DENY_LOAD(nr),
		DENY_UNLESS(nr, 1),
		DENY_RETURN(SECCOMP_RET_ERRNO | error),
		DENY_RETURN(SECCOMP_RET_ALLOW),
	};

	deny_filter(code, sizeof(code) / sizeof(code[0]));
}

/* The same if the low half of its second argument is @value. */
static inline void deny_call_if_second(int nr, unsigned value, int error)
{
	struct sock_filter code[] = {
		DENY_LOAD(nr),
		DENY_UNLESS(nr, 3),
		DENY_LOAD(args[1]),
		DENY_UNLESS(value, 1),
		DENY_RETURN(SECCOMP_RET_ERRNO | error),
		DENY_RETURN(SECCOMP_RET_ALLOW),
	};

	deny_filter(code, sizeof(code) / sizeof(code[0]));
}

#endif
