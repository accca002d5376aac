/* SPDX-License-Identifier: MIT */
/*
 * help_fake_source - two threads in turns whose every access is sampled
 *
 *	help_fake_source ROUNDS WORD
 *
 * In each round the first thread stores the first word of a line, then the
 * second one loads word WORD of it, then twice a line that nobody else touches.
 * Runs without the fake source as well.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static alignas(64) uint64_t line[8], own_line[8];
static void (*sample)(void *addr, uint32_t bytes, bool store);
static pthread_barrier_t turn;
static long rounds, word;

static void access_word(uint64_t *at, bool store)
{
	if (sample)
		sample(at, sizeof(*at), store);
}

static void *reader(void *arg)
{
	for (long i = 0; i < rounds; i++) {
		pthread_barrier_wait(&turn);
		access_word(&line[word], false);
		access_word(&own_line[0], false);
		access_word(&own_line[1], false);
		pthread_barrier_wait(&turn);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 100;
	word = argc > 2 ? strtol(argv[2], NULL, 10) % 8 : 0;
	*(void **)&sample = dlsym(RTLD_DEFAULT, "fake_sample");
	pthread_barrier_init(&turn, NULL, 2);
	pthread_create(&thread, NULL, reader, NULL);
	for (long i = 0; i < rounds; i++) {
		access_word(&line[0], true);
		pthread_barrier_wait(&turn);
		pthread_barrier_wait(&turn);
	}
	pthread_join(thread, NULL);
	printf("%ld rounds\n", rounds);
	return 0;
}
