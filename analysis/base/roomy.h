/* SPDX-License-Identifier: MIT */
/*
 * roomy - run on a stack that is large enough, whatever ulimit -s says
 */
#ifndef COMDET_ANALYSIS_BASE_ROOMY_H
#define COMDET_ANALYSIS_BASE_ROOMY_H

/*
 * Returns @run(@argc, @argv). With a limit below 8 MiB it runs on a stack that
 * we map, because the libraries that we use need more than the least limits.
 */
int roomy_call(int (*run)(int, char **), int argc, char **argv);

#endif
