/* SPDX-License-Identifier: MIT */
/*
 * corpus - the inputs that fuzzing found, played back
 *
 * tests/fuzz/corpus/NAME has for each part of the code of a reader that the
 * fuzzer reached the smallest input that it found. A test includes
 * tests/fuzz_NAME.c and hands each of them to it: a reader that crashes, reads
 * out of bounds (under AddressSanitizer) or breaks what the fuzzer requires
 * ends the test.
 */
#ifndef COMDET_TESTS_FUZZ_CORPUS_H
#define COMDET_TESTS_FUZZ_CORPUS_H

#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Seen from the directory of the project, or from the test's own. */
static inline DIR *corpus_open(const char *name)
{
	/* build/tests/DIR/DIR/test_X, build/san-X/tests/... */
	static const char *const above[] = { "../../../../",
					     "../../../../../" };
	char path[4400] = { 0 };
	size_t len;
	DIR *dir;

	snprintf(path, sizeof(path), "tests/fuzz/corpus/%s", name);
	dir = opendir(path);
	memset(path, 0, sizeof(path));
	ck_assert_int_gt(readlink("/proc/self/exe", path, 4096), 0);
	len = strrchr(path, '/') + 1 - path;
	for (int i = 0; !dir && i < 2; i++) {
		snprintf(path + len, sizeof(path) - len,
			 "%stests/fuzz/corpus/%s", above[i], name);
		dir = opendir(path);
	}
	ck_assert_msg(dir != NULL, "no tests/fuzz/corpus/%s", name);
	return dir;
}

/* How many there are. */
static inline uint32_t corpus_play(const char *name,
				   int (*one)(const uint8_t *, size_t))
{
	DIR *dir = corpus_open(name);
	struct dirent *e;
	uint32_t played = 0;

	while ((e = readdir(dir))) {
		uint8_t *input = malloc(1 << 20), *exact;
		int fd = openat(dirfd(dir), e->d_name, O_RDONLY);
		ssize_t n;

		ck_assert_ptr_nonnull(input);
		ck_assert_int_ge(fd, 0);
		n = e->d_name[0] == '.' ? -1 : read(fd, input, 1 << 20);
		close(fd);
		if (n > 0) {
			/* Nothing behind it that could be read unseen. */
			exact = malloc(n);
			ck_assert_ptr_nonnull(exact);
			memcpy(exact, input, n);
			one(exact, n);
			free(exact);
			played++;
		}
		free(input);
	}
	closedir(dir);
	return played;
}

#endif
