/* SPDX-License-Identifier: MIT */
/*
 * transfers - a known number of cache line transfers
 *
 *	transfers ROUNDS READERS same|other|both|copy
 *
 * In each round the main thread stores to a line, then one reader after the
 * other loads from it: READERS transfers. With "same" the readers load the word
 * that was stored, with "other" another one; with "both" odd readers do the
 * former and even ones the latter. With "copy" the main thread fills a page and
 * each reader copies it: a transfer of each of its lines to each reader.
 * Semaphores, which have no hooks, pass the turn on. Prints the address of the
 * first line.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	READERS_MAX = 64,
	PAGE_BYTES = 4096,
};

static struct {
	_Alignas(PAGE_BYTES) volatile long word[8];
	char rest[PAGE_BYTES - 64];
} data;
static sem_t turn[READERS_MAX + 1]; /* of main, then of the readers */
static long rounds, readers;
static int words[2]; /* that even and odd readers load; -1: the page */

/* The compiler calls memcpy only if it does not know the length. */
static size_t length(void)
{
	size_t n = PAGE_BYTES;

	__asm__ volatile("" : "+r"(n));
	return n;
}

static void *reader(void *arg)
{
	long me = (long)arg, sum = 0;
	int at = words[me % 2];
	char *page = malloc(PAGE_BYTES);

	for (long i = 0; i < rounds; i++) {
		sem_wait(&turn[me]);
		if (at < 0)
			memcpy(page, (void *)data.word, length());
		else
			sum += data.word[at];
		sem_post(&turn[me == readers ? 0 : me + 1]);
	}
	sum += page[7];
	free(page);
	return (void *)sum;
}

int main(int argc, char **argv)
{
	pthread_t thread[READERS_MAX];

	if (argc != 4)
		return 1;
	rounds = atol(argv[1]);
	readers = atol(argv[2]);
	if (!strcmp(argv[3], "other") || !strcmp(argv[3], "both"))
		words[0] = 5;
	if (!strcmp(argv[3], "other"))
		words[1] = 5;
	if (!strcmp(argv[3], "copy"))
		words[0] = words[1] = -1;
	if (readers < 1 || readers > READERS_MAX)
		return 1;
	/* Registers compare the value that was loaded, too. */
	for (int i = 1; i < 8; i++)
		data.word[i] = -i;
	printf("%p\n", (void *)data.word);
	fflush(stdout);
	for (long i = 0; i <= readers; i++)
		sem_init(&turn[i], 0, 0);
	for (long i = 0; i < readers; i++)
		pthread_create(&thread[i], NULL, reader, (void *)(i + 1));
	for (long i = 0; i < rounds; i++) {
		if (words[0] < 0)
			memset((void *)data.word, (int)i, length());
		else
			data.word[0] = i;
		sem_post(&turn[1]);
		sem_wait(&turn[0]);
	}
	for (long i = 0; i < readers; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
