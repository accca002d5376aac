/* SPDX-License-Identifier: MIT */
/*
 * student - quantiles of Student's distribution
 *
 * Context: analysis. Does not allocate. Needs libm.
 */
#ifndef COMDET_ANALYSIS_BASE_STUDENT_H
#define COMDET_ANALYSIS_BASE_STUDENT_H

/*
 * The value that Student's variable of @df degrees of freedom exceeds with
 * probability @tail; @df 0: the normal variable.
 */
double student_quantile(double tail, unsigned int df);

#endif
