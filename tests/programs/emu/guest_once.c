/* SPDX-License-Identifier: MIT */
/*
 * guest_once - memory that one thread fills and another one reads, once
 *
 *	guest_once LINES WORDS
 *
 * The first thread stores WORDS words, 1 to 8, of each line. Then the second
 * one loads them. Each line moves once. Prints the address of the first line.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct line {
	_Alignas(64) volatile uint64_t word[8];
};

static struct line *line;
static long lines, words;

static void *fill(void *arg)
{
	for (long i = 0; i < lines; i++)
		for (long k = 0; k < words; k++)
			line[i].word[k] = i;
	return NULL;
}

static void *read_all(void *arg)
{
	uint64_t sum = 0;

	for (long i = 0; i < lines; i++)
		for (long k = 0; k < words; k++)
			sum += line[i].word[k];
	return (void *)(uintptr_t)sum;
}

int main(int argc, char **argv)
{
	pthread_t t;

	lines = argc > 1 ? atol(argv[1]) : 0;
	words = argc > 2 ? atol(argv[2]) : 1;
	line = lines > 0 && words >= 1 && words <= 8
		       ? aligned_alloc(64, lines * sizeof(*line))
		       : NULL;
	if (!line || pthread_create(&t, NULL, fill, NULL))
		return 1;
	pthread_join(t, NULL);
	if (pthread_create(&t, NULL, read_all, NULL))
		return 1;
	pthread_join(t, NULL);
	printf("%p\n", (void *)line);
	free(line);
	return 0;
}
