/* SPDX-License-Identifier: MIT */
/*
 * help_perf_data - write a generated recording
 *
 *	help_perf_data KIND SEED FILE
 *
 * KIND is intel, packed (WEIGHT_STRUCT) or amd; ",stream" and ",compressed" may
 * follow.
 */
#include <stdio.h>

#include "tests/fake/perf_twins.h"

int main(int argc, char **argv)
{
	struct perf_file f = { 0 };
	struct gen out = { 0 };
	uint64_t seed;
	FILE *to;

	if (argc != 4)
		return 1;
	seed = strtoull(argv[2], NULL, 10);
	if (!strncmp(argv[1], "amd", 3))
		twin_amd(&f, seed);
	else
		twin_intel(&f, seed, !strncmp(argv[1], "packed", 6));
	if (strstr(argv[1], ",compressed"))
		perf_file_compress(&f, 30000);
	if (strstr(argv[1], ",stream"))
		perf_file_write_stream(&f, &out);
	else
		perf_file_write(&f, &out);
	to = fopen(argv[3], "w");
	if (!to || fwrite(out.bytes, out.used, 1, to) != 1 || fclose(to))
		return 1;
	gen_release(&out);
	perf_file_release(&f);
	return 0;
}
