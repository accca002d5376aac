/* SPDX-License-Identifier: MIT */
/*
 * options - the options of record and their twins in the environment
 */
#ifndef COMDET_ANALYSIS_RECORD_OPTIONS_H
#define COMDET_ANALYSIS_RECORD_OPTIONS_H

/*
 * Read the options of record and put each into the environment as its twin;
 * check the twins that the user set. Prints @usage and exits if --help is among
 * them; dies with one line if a value is bad or not available in this build.
 * Returns the index of the program in @argv.
 */
int record_options(int argc, char **argv, const char *usage);

#endif
