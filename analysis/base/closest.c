/* SPDX-License-Identifier: MIT */
/*
 * closest - the word of a list that a mistyped one was meant to be
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "closest.h"

enum {
	LETTERS_MAX = 40
};

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/*
 * Steps from @a to @b: a letter changed, left out, put in, or two neighbours
 * exchanged (Damerau 1964).
 */
static size_t steps(const char *a, size_t n, const char *b, size_t m)
{
	size_t d[LETTERS_MAX + 1][LETTERS_MAX + 1];

	for (size_t i = 0; i <= n; i++)
		d[i][0] = i;
	for (size_t k = 0; k <= m; k++)
		d[0][k] = k;
	for (size_t i = 1; i <= n; i++)
		for (size_t k = 1; k <= m; k++) {
			bool same = a[i - 1] == b[k - 1];

			d[i][k] = least(d[i - 1][k - 1] + !same,
					least(d[i - 1][k], d[i][k - 1]) + 1);
			if (i > 1 && k > 1 && a[i - 1] == b[k - 2] &&
			    a[i - 2] == b[k - 1])
				d[i][k] = least(d[i][k], d[i - 2][k - 2] + 1);
		}
	return d[n][m];
}

void closest_try(struct closest *c, const char *word)
{
	size_t n = strlen(c->typed), m = strlen(word), wrong;

	if (n > LETTERS_MAX || m > LETTERS_MAX)
		return;
	wrong = steps(c->typed, n, word, m);
	if (n >= 2 && !strncmp(c->typed, word, n))
		wrong = 1;
	if (wrong * 3 > m || (c->word && wrong >= c->differences))
		return;
	c->word = word;
	c->differences = wrong;
}
