/* SPDX-License-Identifier: MIT */
/*
 * reuse_words - scopes, kinds, times and ratios of reuse in words
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reuse_words.h"
#include "analysis/base/util.h"

const char *reuse_pairing_name(enum reuse_pairing pairing)
{
	static const char *const names[] = {
		[REUSE_RAR] = "RAR",
		[REUSE_RAW] = "RAW",
		[REUSE_WAR] = "WAR",
		[REUSE_WAW] = "WAW",
	};

	return names[pairing];
}

unsigned reuse_pairings_parse(const char *list)
{
	unsigned bits = 0;

	do {
		size_t n = strcspn(list, ",");
		int i = 0;

		while (i < REUSE_PAIRINGS &&
		       (n != strlen(reuse_pairing_name(i)) ||
			strncasecmp(list, reuse_pairing_name(i), n)))
			i++;
		if (i == REUSE_PAIRINGS)
			return 0;
		bits |= 1u << i;
		list += n;
	} while (*list++);
	return bits;
}

const char *reuse_scope_text(enum reuse_scope scope, int64_t thread)
{
	static const char *const all[] = {
		[REUSE_PRIVATE] = "within each thread",
		[REUSE_SHARED] = "between cores that share a cache",
		[REUSE_GLOBAL] = "among all threads under a cache",
	};
	char text[96];

	if (thread < 0)
		return all[scope];
	if (scope == REUSE_PRIVATE)
		snprintf(text, sizeof(text), "within thread %lld",
			 (long long)thread);
	else
		snprintf(text, sizeof(text), "of thread %lld %s",
			 (long long)thread, all[scope]);
	return safe_text(text);
}

int reuse_ratio_digits(double ratio)
{
	return ratio > 0 && ratio < 0.01 ? 2 : 1;
}

const char *reuse_ratio_text(double ratio, struct interval by)
{
	int digits = reuse_ratio_digits(fmax(ratio, by.high));
	char text[64];

	if (by.high > by.low)
		snprintf(text, sizeof(text), "%5.*f %%   %.*f to %.*f", digits,
			 100 * ratio, digits, 100 * by.low, digits,
			 100 * by.high);
	else
		snprintf(text, sizeof(text), "%5.*f %%", digits, 100 * ratio);
	return safe_text(text);
}

const char *reuse_kinds_text(const struct reuse_filter *f)
{
	const char *between = " (";
	char text[64] = "";
	size_t n = 0;

	for (int i = 0; i < REUSE_PAIRINGS; i++) {
		if (!(f->pairings >> i & 1))
			continue;
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s",
				      between, reuse_pairing_name(i));
		between = ", ";
	}
	if (n)
		snprintf(text + n, sizeof(text) - n, ")");
	return safe_text(text);
}

const char *reuse_time_text(double time, bool ns)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	char text[32];
	int unit = 0;

	if (!ns)
		return count_text((uint64_t)(time + .5));
	while (unit < 3 && time >= 999.5) {
		time /= 1000;
		unit++;
	}
	snprintf(text, sizeof(text),
		 time < 9.95 && unit ? "%.1f %s" : "%.0f %s", time,
		 units[unit]);
	return safe_text(text);
}
