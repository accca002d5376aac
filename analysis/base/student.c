/* SPDX-License-Identifier: MIT */
/*
 * student - quantiles of Student's distribution
 */
#include <math.h>

#include "student.h"

/*
 * P(|T| <= @t), Abramowitz and Stegun 26.7.3 and 26.7.4. From 1000 degrees of
 * freedom on, T is taken as normal.
 */
static double student_inside(double t, unsigned int df)
{
	double angle, cosine, term, sum;

	if (!df || df > 1000)
		return erf(t / M_SQRT2);
	angle = atan(t / sqrt(df));
	cosine = cos(angle);
	if (df % 2) {
		term = cosine;
		sum = df > 1 ? cosine : 0;
		for (unsigned int k = 3; k + 2 <= df; k += 2) {
			term *= cosine * cosine * (k - 1) / k;
			sum += term;
		}
		return M_2_PI * (angle + sin(angle) * sum);
	}
	term = sum = 1;
	for (unsigned int k = 2; k + 2 <= df; k += 2) {
		term *= cosine * cosine * (k - 1) / k;
		sum += term;
	}
	return sin(angle) * sum;
}

double student_quantile(double tail, unsigned int df)
{
	double low = 0, high = 1;

	while (1 - student_inside(high, df) > 2 * tail && high < 1e9)
		high *= 2;
	for (int i = 0; i < 200; i++) {
		double middle = (low + high) / 2;

		if (1 - student_inside(middle, df) > 2 * tail)
			low = middle;
		else
			high = middle;
	}
	return high;
}
