/* SPDX-License-Identifier: MIT */
/*
 * parts_of - what our code knows of accesses and of variables, to compare with
 * gdb (tests/oracle/compare_gdb.py) and with what a test program says of itself
 *
 *	parts_of FILE access < ADDRESSES of instructions
 *	parts_of FILE kind < ADDRESSES of instructions
 *	parts_of FILE variable < ADDRESSES of bytes of static variables
 *
 * prints "ADDRESS TYPE|VARIABLE PATH START SIZE" or "ADDRESS ?"; for "kind"
 * whether the pointer or variable that leads to the access is declared as of a
 * "structure", or of something "plain": numbers, characters, pointers, or
 *arrays of these.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/symbols/module.h"

static void print_part(struct module *m, const char *name,
		       const struct data_type *type, uint64_t offset)
{
	struct data_part part;

	if (!module_part(m, type, offset, &part)) {
		printf("%s|(none)|%llu|0\n", name ? name : "?",
		       (unsigned long long)offset);
		return;
	}
	printf("%s|%s|%llu|%llu\n", name ? name : "?", part.path,
	       (unsigned long long)part.start, (unsigned long long)part.size);
	free(part.path);
}

static void print_access(struct module *m, uint64_t addr)
{
	struct typed_place p;
	int64_t size;

	/* A number or a pointer, as in the frame, is part of no object. */
	if (!module_access(m, addr, &p) || p.indexed ||
	    (!p.type->compound && !p.fixed)) {
		puts("?");
		return;
	}
	size = (int64_t)p.type->size;
	print_part(m, p.type->name, p.type,
		   size ? (uint64_t)((p.offset % size + size) % size)
			: (uint64_t)p.offset);
}

static void print_kind(struct module *m, uint64_t addr)
{
	const struct data_type *type;
	struct data_part first;
	struct typed_place p;

	if (!module_access(m, addr, &p)) {
		puts("?");
		return;
	}
	type = p.type;
	/* An array is what its elements are, if they can be looked at. */
	if (type->array) {
		if (!module_part(m, type, 0, &first)) {
			puts("?");
			return;
		}
		puts(strchr(first.path, '.') || first.type->compound
			     ? "structure"
			     : "plain");
		free(first.path);
		return;
	}
	puts(type->compound ? "structure" : "plain");
}

static void print_variable(struct module *m, uint64_t addr)
{
	struct data_variable v;

	if (module_data(m, addr, &v))
		print_part(m, v.name, v.type, addr - v.start);
	else
		puts("?");
}

int main(int argc, char **argv)
{
	struct module *m;
	char line[64];

	if (argc != 3) {
		fputs("usage: parts_of FILE access|kind|variable < ADDRESSES\n",
		      stderr);
		return 2;
	}
	m = module_open(argv[1], NULL, 0);
	if (module_state(m) != MODULE_GOOD) {
		fprintf(stderr, "%s cannot be read\n", argv[1]);
		return 1;
	}
	while (fgets(line, sizeof(line), stdin)) {
		uint64_t addr = strtoull(line, NULL, 16);

		printf("0x%llx|", (unsigned long long)addr);
		if (argv[2][0] == 'a')
			print_access(m, addr);
		else if (argv[2][0] == 'k')
			print_kind(m, addr);
		else
			print_variable(m, addr);
	}
	module_close(m);
	return 0;
}
