/* SPDX-License-Identifier: MIT */
/*
 * environment - keep the program's stack where it is without us
 *
 * Above the stack lie the texts, then a multiple of 16 bytes is taken, then
 * there are the pointers to them, and again a multiple of 16 is taken. So the
 * stack moves by what the texts and the pointers take together if the texts
 * take a multiple of 16 bytes and the number of pointers is even.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "environment.h"

enum {
	LINE_BYTES = 64
};

static struct environment_size noted;

struct environment_size environment_size(char *const *env)
{
	struct environment_size s = { 0, 0 };

	for (; env && env[s.count]; s.count++)
		s.bytes += strlen(env[s.count]) + 1;
	return s;
}

void environment_note(void)
{
	unsetenv("COMDET_PAD");
	unsetenv("COMDET_PAD2");
	noted = environment_size(environ);
}

static int set_zeros(const char *name, size_t n)
{
	char zeros[LINE_BYTES + 1];

	memset(zeros, '0', n);
	zeros[n] = 0;
	return setenv(name, zeros, 1);
}

int environment_pad(void)
{
	struct environment_size now;
	size_t more;

	if (set_zeros("COMDET_PAD", 0))
		return -1;
	now = environment_size(environ);
	if ((now.count - noted.count) % 2) {
		if (set_zeros("COMDET_PAD2", 0))
			return -1;
		now = environment_size(environ);
	}
	more = now.bytes - noted.bytes +
	       (now.count - noted.count) * sizeof(char *);
	return set_zeros("COMDET_PAD", (0 - more) % LINE_BYTES);
}
