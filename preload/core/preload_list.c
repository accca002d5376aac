/* SPDX-License-Identifier: MIT */
/*
 * preload_list - the libraries that LD_PRELOAD names
 */
#include <string.h>

#include "preload_list.h"
#include "src/base/signal_safe.h"

static const char *file_name(const char *path, size_t length)
{
	const char *name = path;

	for (size_t i = 0; i < length; i++)
		if (path[i] == '/')
			name = path + i + 1;
	return name;
}

static bool same_library(const char *entry, size_t length, const char *path)
{
	size_t path_length = strlen(path);
	const char *a = file_name(entry, length);
	const char *b = file_name(path, path_length);
	size_t a_length = entry + length - a, b_length = path + path_length - b;

	return a_length == b_length && a_length && !memcmp(a, b, a_length);
}

/* libcomdet-heap.so, which record names after us. */
static bool is_heap_library(const char *entry, size_t length)
{
	return same_library(entry, length, "libcomdet-heap.so");
}

bool preload_without(const char *value, const char *path, char *out)
{
	bool found = false, separator = false;
	char between = ':';

	while (*value) {
		size_t length = strcspn(value, ": ");

		if (same_library(value, length, path)) {
			found = true;
		} else if (length && !is_heap_library(value, length)) {
			if (separator)
				*out++ = between;
			memcpy(out, value, length);
			out += length;
			separator = true;
		}
		value += length;
		if (*value)
			between = *value++;
	}
	*out = 0;
	return found;
}
