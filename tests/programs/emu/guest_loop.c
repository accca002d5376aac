/* SPDX-License-Identifier: MIT */
/*
 * guest_loop - threads load and store at random in memory of their own
 *
 *	guest_loop THREADS TURNS
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

enum {
	WORDS_LOG = 18,
	THREADS_MAX = 64
};

static long turns;

static void *work(void *arg)
{
	volatile uint32_t *word = calloc(1 << WORDS_LOG, sizeof(*word));
	uint32_t sum = 0;

	for (long i = 0; word && i < turns; i++) {
		uint32_t k = (uint32_t)i * 2654435761u >> (32 - WORDS_LOG);

		sum += word[k];
		word[k] = sum + (uint32_t)i;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[THREADS_MAX];
	int n = argc == 3 ? atoi(argv[1]) : 0;

	if (n < 1 || n > THREADS_MAX)
		return 1;
	turns = atol(argv[2]);
	for (int i = 0; i < n; i++)
		pthread_create(&thread[i], NULL, work, NULL);
	for (int i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
