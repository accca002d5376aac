/* SPDX-License-Identifier: MIT */
/*
 * fake_source - a source whose samples the profiled program makes itself
 *
 * All that a source needs is this folder and a line in source_table.c. The
 * program calls fake_sample, which it finds with dlsym, so a
 * test knows every sample and what must come of it.
 */
#ifndef COMDET_TESTS_FAKE_SOURCE_FAKE_SOURCE_H
#define COMDET_TESTS_FAKE_SOURCE_FAKE_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/core/source.h"

extern const struct source_ops fake_source;

/* The calling thread accesses the @bytes at @addr: that is sampled. */
void fake_sample(void *addr, uint32_t bytes, bool store);

#endif
