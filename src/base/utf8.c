/* SPDX-License-Identifier: MIT */
/*
 * utf8 - which bytes of foreign text a terminal may see
 */
#include "utf8.h"
#include "src/base/signal_safe.h"

size_t utf8_next(const unsigned char *s, uint32_t *point)
{
	static const uint32_t least[5] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t n = s[0] < 0x80    ? 1
		   : s[0] >= 0xf5 ? 0
		   : s[0] >= 0xf0 ? 4
		   : s[0] >= 0xe0 ? 3
		   : s[0] >= 0xc2 ? 2
				  : 0;
	uint32_t p = n < 2 ? s[0] : s[0] & (0xff >> (n + 1));

	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		p = p << 6 | (s[i] & 0x3f);
	}
	if (p < least[n] || p > 0x10ffff || (p >= 0xd800 && p < 0xe000))
		return 0;
	*point = p;
	return n;
}

bool utf8_is_safe(uint32_t p)
{
	if (p < 0x20 || (p >= 0x7f && p < 0xa0))
		return false;
	/* Marks of direction, line separators, the byte order mark, tags. */
	return !(p == 0xad || p == 0x61c || p == 0x180e ||
		 (p >= 0x200b && p <= 0x200f) || (p >= 0x2028 && p <= 0x202e) ||
		 (p >= 0x2060 && p <= 0x206f) || p == 0xfeff ||
		 (p >= 0xfff0 && p <= 0xfffb) || p >= 0xe0000);
}

void utf8_blot(char *s)
{
	while (*s) {
		uint32_t point;
		size_t n = utf8_next((const unsigned char *)s, &point);
		bool safe = n && utf8_is_safe(point);

		for (n = n ? n : 1; n; n--, s++)
			if (!safe)
				*s = '?';
	}
}
