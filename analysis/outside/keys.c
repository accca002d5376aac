/* SPDX-License-Identifier: MIT */
/*
 * keys - one number for each byte that processes may share
 */
#include <stdlib.h>
#include <string.h>

#include "keys.h"
#include "analysis/base/util.h"

enum {
	BUCKETS_MIN = 256
};

static size_t hash(const struct backing *b)
{
	uint64_t h = b->inode * UINT64_C(0x9E3779B97F4A7C15);

	h ^= (uint64_t)b->dev_major << 32 | b->dev_minor;
	h = (h ^ b->ipc_namespace) * UINT64_C(0x9E3779B97F4A7C15);
	return (h ^ b->system_v) >> 20;
}

static bool equal(const struct backing *a, const struct backing *b)
{
	return a->inode == b->inode && a->dev_major == b->dev_major &&
	       a->dev_minor == b->dev_minor && a->system_v == b->system_v &&
	       a->ipc_namespace == b->ipc_namespace;
}

static uint32_t *find(const struct keys *k, const struct backing *b)
{
	size_t i = hash(b) & (k->buckets - 1);

	while (k->bucket[i] && !equal(&k->backing[k->bucket[i] - 1], b))
		i = (i + 1) & (k->buckets - 1);
	return &k->bucket[i];
}

static void widen(struct keys *k)
{
	free(k->bucket);
	k->buckets = k->buckets ? 2 * k->buckets : BUCKETS_MIN;
	k->bucket = xcalloc(k->buckets, sizeof(*k->bucket));
	for (size_t i = 0; i < k->backings; i++)
		*find(k, &k->backing[i]) = (uint32_t)i + 1;
}

uint32_t keys_backing(struct keys *k, const struct backing *b)
{
	uint32_t *bucket;

	if (2 * k->backings >= k->buckets)
		widen(k);
	bucket = find(k, b);
	if (*bucket)
		return *bucket - 1;
	if (k->backings == KEY_NUMBERS)
		return KEY_NONE;
	k->backing =
		grow(k->backing, k->backings, &k->room, sizeof(*k->backing));
	k->backing[k->backings++] = *b;
	*bucket = (uint32_t)k->backings;
	return *bucket - 1;
}

void keys_release(struct keys *k)
{
	free(k->backing);
	free(k->bucket);
	*k = (struct keys){ 0 };
}

bool keys_path_is_system_v(const char *path)
{
	static const char start[] = "/SYSV";
	size_t n = sizeof(start) - 1;

	if (strncmp(path, start, n))
		return false;
	path += n;
	n = strspn(path, "0123456789abcdef");
	return n == 8 && (!path[n] || !strcmp(path + n, " (deleted)"));
}
