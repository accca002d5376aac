/* SPDX-License-Identifier: MIT */
/*
 * json_build - build JSON and print it
 */
#include <stdio.h>

#include "json_build.h"

int json_print(json_t *o)
{
	int err;

	if (!o)
		die("out of memory");
	err = json_dumpf(o, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(o);
	return err;
}
