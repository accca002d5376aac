/* SPDX-License-Identifier: MIT */
/*
 * cursor - a walk over bytes that may end at any point
 *
 * A step that would leave the bytes takes nothing and spends the cursor for
 * good: from then on every step yields NULL or 0. So a decoder checks once, at
 * the end. Safe in signal handlers.
 */
#ifndef COMDET_SRC_BASE_CURSOR_H
#define COMDET_SRC_BASE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cursor {
	const char *at;
	size_t left;
	bool spent;
};

static inline struct cursor cursor_of(const void *from, size_t bytes)
{
	return (struct cursor){ .at = from, .left = bytes };
}

/* The next @bytes, passed over; NULL if there are fewer. */
static inline const char *cursor_take(struct cursor *c, uint64_t bytes)
{
	const char *at = c->at;

	if (c->spent || bytes > c->left) {
		c->spent = true;
		return NULL;
	}
	c->at += bytes;
	c->left -= bytes;
	return at;
}

static inline uint32_t cursor_u32(struct cursor *c)
{
	const char *at = cursor_take(c, sizeof(uint32_t));
	uint32_t n = 0;

	if (at)
		memcpy(&n, at, sizeof(n));
	return n;
}

static inline uint64_t cursor_u64(struct cursor *c)
{
	const char *at = cursor_take(c, sizeof(uint64_t));
	uint64_t n = 0;

	if (at)
		memcpy(&n, at, sizeof(n));
	return n;
}

#endif
