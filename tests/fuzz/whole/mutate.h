/* SPDX-License-Identifier: MIT */
/*
 * mutate - change bytes of a file, at random but the same for the same numbers
 */
#ifndef COMDET_TESTS_FUZZ_WHOLE_MUTATE_H
#define COMDET_TESTS_FUZZ_WHOLE_MUTATE_H

#include <stddef.h>
#include <stdint.h>

#include "src/base/rng.h"

struct input {
	unsigned char *bytes;
	size_t n, room;
};

/* Read the whole file at @path; exits on failure. */
void input_read(struct input *in, const char *path);

/* Make @to a copy of @from. */
void input_copy(struct input *to, const struct input *from);

/*
 * Change @in in one to eight places. @other, another seed, lends parts. @unit
 * is the size of a page or record, whose starts are hit more often; 0: text.
 */
void input_mutate(struct input *in, const struct input *other, size_t unit,
		  struct rng *rng);

#endif
