/* SPDX-License-Identifier: MIT */
/*
 * closest - the word of a list that a mistyped one was meant to be
 */
#ifndef COMDET_ANALYSIS_BASE_CLOSEST_H
#define COMDET_ANALYSIS_BASE_CLOSEST_H

#include <stddef.h>

struct closest {
	const char *typed;
	const char *word;   /* the nearest so far; NULL: none is near */
	size_t differences; /* of it */
};

/*
 * Compare another @word. It is near if a third of its letters or fewer are
 * wrong, missing, too many, or in the wrong order, or if it begins with what
 * was typed (two letters or more). Words that are too long are never near.
 */
void closest_try(struct closest *c, const char *word);

#endif
