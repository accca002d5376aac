/* SPDX-License-Identifier: MIT */
/*
 * workers - threads that do parts of the same work
 */
#include <pthread.h>
#include <stdlib.h>

#include "workers.h"
#include "util.h"

void workers_run(void *(*work)(void *), void *data, unsigned int n)
{
	pthread_t *thread = xcalloc(n, sizeof(*thread));
	unsigned int made = 0;

	while (made + 1 < n && !pthread_create(&thread[made], NULL, work, data))
		made++;
	work(data);
	while (made)
		pthread_join(thread[--made], NULL);
	free(thread);
}
