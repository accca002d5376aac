/* SPDX-License-Identifier: MIT */
/*
 * fuzz_machine - bytes of a fuzzer as a machine file (make fuzz)
 *
 * Bit 0 of the first byte puts "like = golden-c3" before the others, so that
 * the fuzzer meets files that are good. What is read must print as a file that
 * reads as the same machine; what is not must have a reason in one line.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/model/machine.h"

enum {
	TEXT_BYTES = 1 << 16
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must_fail_in_a_line(const char *error)
{
	if (!error[0] || strchr(error, '\n'))
		abort();
}

static void must_read_again(const struct machine *m)
{
	static char text[TEXT_BYTES];
	char error[MACHINE_ERROR_BYTES];
	struct machine again;
	FILE *f = fmemopen(text, sizeof(text), "w");

	if (!f)
		abort();
	machine_print(m, f);
	fclose(f);
	if (machine_parse(&again, m->name, text, error))
		abort();
	if (memcmp(m->uop, again.uop, sizeof(m->uop)) || m->rob != again.rob ||
	    m->llc.size != again.llc.size || m->predictor != again.predictor)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char error[MACHINE_ERROR_BYTES] = "", *text;
	struct machine m;

	if (!size || size > TEXT_BYTES / 2)
		return 0;
	text = calloc(size + 64, 1);
	if (!text)
		abort();
	if (data[0] & 1)
		strcpy(text, "like = golden-c3\n");
	memcpy(text + strlen(text), data + 1, size - 1);
	/* It names files only by "like", which may name any. */
	if (machine_parse(&m, "fuzz", text, error))
		must_fail_in_a_line(error);
	else
		must_read_again(&m);
	if (machine_set(&m, text, error))
		must_fail_in_a_line(error);
	free(text);
	return 0;
}
