/* SPDX-License-Identifier: MIT */
/*
 * text - assemble a line of text without stdio
 *
 * Text that does not fit is cut; the result always ends in NUL. Context: any.
 */
#ifndef COMDET_BASE_TEXT_H
#define COMDET_BASE_TEXT_H

#include <stddef.h>
#include <stdint.h>

struct text {
	char *at;
	size_t room; /* the NUL included */
};

static inline void text_begin(struct text *t, char *buf, size_t size)
{
	t->at = buf;
	t->room = size;
	if (size)
		*buf = '\0';
}

static inline void text_put(struct text *t, const char *words)
{
	while (*words && t->room > 1) {
		*t->at++ = *words++;
		t->room--;
	}
	if (t->room)
		*t->at = '\0';
}

/* At most @most bytes of @words. */
static inline void text_put_some(struct text *t, const char *words, size_t most)
{
	char one[2] = "";

	while (most-- && (one[0] = *words++))
		text_put(t, one);
}

static inline void text_base(struct text *t, uint64_t n, unsigned int base)
{
	char digits[24];
	int i = sizeof(digits) - 1;

	digits[i] = '\0';
	do {
		digits[--i] = "0123456789abcdef"[n % base];
		n /= base;
	} while (n);
	text_put(t, &digits[i]);
}

static inline void text_number(struct text *t, uint64_t n)
{
	text_base(t, n, 10);
}

static inline void text_hex(struct text *t, uint64_t n)
{
	text_put(t, "0x");
	text_base(t, n, 16);
}

#endif
