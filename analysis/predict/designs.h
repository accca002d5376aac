/* SPDX-License-Identifier: MIT */
/*
 * designs - many machines: a design space
 *
 * A text file. The first line that is not empty names the machine that all are
 * like, "like = NAME". Each other one is an axis, "KEY = VALUE | VALUE ...";
 * keys that change together are "KEY + KEY = VALUE + VALUE | VALUE + VALUE".
 * '#' begins a comment. The designs are all combinations.
 */
#ifndef COMDET_ANALYSIS_PREDICT_DESIGNS_H
#define COMDET_ANALYSIS_PREDICT_DESIGNS_H

#include "analysis/model/machine.h"

enum {
	DESIGNS_AXES = 32,
	DESIGNS_KEYS = 8,    /* of an axis */
	DESIGNS_VALUES = 64, /* of an axis */
};

struct designs_axis {
	char *key[DESIGNS_KEYS];
	size_t keys;
	char *value[DESIGNS_VALUES][DESIGNS_KEYS];
	size_t values;
};

struct designs {
	struct machine base;
	struct designs_axis axis[DESIGNS_AXES];
	size_t axes;
	uint64_t count;
};

/*
 * Read @path. Returns 0, or -EINVAL with a line in @error that names file and
 * line.
 */
int designs_read(struct designs *s, const char *path,
		 char error[MACHINE_ERROR_BYTES]);
void designs_release(struct designs *s);

/* Which value design @i has on @axis. */
size_t designs_value(const struct designs *s, uint64_t i, size_t axis);

/*
 * The machine of design @i, below s->count. Returns 0, or -EINVAL if its
 * values do not fit each other.
 */
int designs_machine(const struct designs *s, uint64_t i, struct machine *m,
		    char error[MACHINE_ERROR_BYTES]);

/*
 * The value of the expression @text for @m: numbers, keys of machines,
 * + - * / and parentheses. Returns 0, or -EINVAL with a line in @error.
 */
int designs_cost(const char *text, const struct machine *m, double *to,
		 char error[MACHINE_ERROR_BYTES]);

#endif
