/* SPDX-License-Identifier: MIT */
/*
 * machine_chain - how long a load takes in chains through memory
 *
 * Each load reads the place of the next one, in an order that no prefetcher
 * knows. Lines come again only after all others, so a chain longer than a cache
 * finds nothing, or little, in it.
 */
#ifndef COMDET_ANALYSIS_MODEL_MACHINE_CHAIN_H
#define COMDET_ANALYSIS_MODEL_MACHINE_CHAIN_H

#include <stddef.h>
#include <stdint.h>

/* Which of @n places @next[i] comes after the place i, in one circle. */
typedef void machine_order(uint32_t *next, uint32_t n);

/* In an order that looks random (Sattolo 1986). */
machine_order machine_circle;
/* In the order of the addresses. */
machine_order machine_straight;

/*
 * Returns ns of a load in a chain through @bytes: the least of several repeats
 * of @loads loads, as whatever disturbs them makes them longer. With several
 * @cores, each has such a chain of its own at the same time, and the mean of
 * them counts. 0 if there are not enough memory or threads.
 */
double machine_chain_ns(uint64_t bytes, uint32_t loads, machine_order *order,
			unsigned int cores);

/*
 * Memory on huge pages, if there are any; NULL if there is not enough. It is
 * given back by munmap(*@mapped, *@length).
 */
void *machine_pages(size_t bytes, void **mapped, size_t *length);

#endif
