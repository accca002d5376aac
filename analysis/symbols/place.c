/* SPDX-License-Identifier: MIT */
/*
 * place - where an instruction is: its module and, if known, its source line
 */
#include <stdio.h>
#include <string.h>

#include "place.h"
#include "analysis/base/util.h"

int place_compare(const struct place *x, const struct place *y)
{
	int order = strcmp(x->module, y->module);

	return order ? order
		     : (x->offset > y->offset) - (x->offset < y->offset);
}

static int compare_text(const char *x, const char *y)
{
	return strcmp(x ? x : "", y ? y : "");
}

int place_compare_lines(const struct place *x, const struct place *y)
{
	int order = strcmp(x->module, y->module);

	if (!order)
		order = compare_text(x->file, y->file);
	if (order)
		return order;
	if (!x->file && !(x->jit && y->jit))
		return (x->offset > y->offset) - (x->offset < y->offset);
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return compare_text(x->function, y->function);
}

const char *place_text(const struct place *p)
{
	char text[512];

	if (p->file && p->line)
		snprintf(text, sizeof(text), "%s:%d", base_name(p->file),
			 p->line);
	else if (p->jit && p->function)
		snprintf(text, sizeof(text), "%s", p->function);
	else if (p->file)
		snprintf(text, sizeof(text), "%s", base_name(p->file));
	else
		snprintf(text, sizeof(text), "%s+0x%llx", base_name(p->module),
			 (unsigned long long)p->offset);
	return safe_text(text);
}
