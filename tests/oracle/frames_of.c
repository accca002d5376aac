/* SPDX-License-Identifier: MIT */
/*
 * frames_of - functions and lines of addresses, as addr2line -a -f -i prints
 *
 *	frames_of FILE < ADDRESSES
 *
 * tests/oracle/compare_addr2line.py compares the two.
 */
#include <stdio.h>
#include <stdlib.h>

#include "analysis/symbols/module.h"

int main(int argc, char **argv)
{
	struct module *m;
	char line[64];

	if (argc != 2) {
		fputs("usage: frames_of FILE < ADDRESSES\n", stderr);
		return 2;
	}
	m = module_open(argv[1], NULL, 0);
	if (module_state(m) != MODULE_GOOD) {
		fprintf(stderr, "%s cannot be read\n", argv[1]);
		return 1;
	}
	while (fgets(line, sizeof(line), stdin)) {
		uint64_t addr = strtoull(line, NULL, 16);
		struct frame frame[FRAMES_MAX];
		int n = module_code(m, addr, frame);

		printf("0x%016llx\n", (unsigned long long)addr);
		for (int i = 0; i < n; i++) {
			const struct frame *f = &frame[i];

			printf("%s\n%s:%d\n", f->function ? f->function : "??",
			       f->file ? f->file : "??", f->line);
			free(frame[i].function);
		}
	}
	module_close(m);
	return 0;
}
