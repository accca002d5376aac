/* SPDX-License-Identifier: MIT */
/*
 * print_json - the answer of a verb with --json
 */
#include "print_json.h"

#include <stdio.h>

#include "util.h"

int print_json(json_t *o)
{
	int err;

	if (!o)
		die("out of memory");
	err = json_dumpf(o, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(o);
	return err;
}
