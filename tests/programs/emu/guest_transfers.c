/* SPDX-License-Identifier: MIT */
/*
 * guest_transfers - a known number of cache line transfers
 *
 *	guest_transfers ROUNDS READERS same|other
 *
 * In each round the main thread stores to a line, then one reader after the
 * other loads from it: READERS transfers from the main thread. No transfer goes
 * to the main thread, since no other thread stores. With "same" the readers
 * load the word that was stored, else another one. Other lines pass the turn
 * on. Prints the address of the line.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	READERS_MAX = 64
};

static struct {
	_Alignas(64) volatile long word[8];
} data;
static struct {
	_Alignas(64) _Atomic long turn; /* 0: main, n: reader n */
} next;

static long rounds, readers;
static int at;

static void wait_until(long turn)
{
	while (next.turn != turn)
		sched_yield();
}

static void *reader(void *arg)
{
	long me = (long)arg, sum = 0;

	for (long i = 0; i < rounds; i++) {
		wait_until(me);
		sum += data.word[at];
		next.turn = me == readers ? 0 : me + 1;
	}
	return (void *)sum;
}

int main(int argc, char **argv)
{
	pthread_t thread[READERS_MAX];

	readers = argc == 4 ? atol(argv[2]) : 0;
	if (readers < 1 || readers > READERS_MAX)
		return 1;
	rounds = atol(argv[1]);
	at = strcmp(argv[3], "same") ? 5 : 0;
	printf("%p\n", (void *)data.word);
	for (long i = 0; i < readers; i++)
		pthread_create(&thread[i], NULL, reader, (void *)(i + 1));
	for (long i = 0; i < rounds; i++) {
		data.word[0] = i;
		next.turn = 1;
		wait_until(0);
	}
	for (long i = 0; i < readers; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
