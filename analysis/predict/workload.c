/* SPDX-License-Identifier: MIT */
/*
 * workload - what a program does, whatever the machine: the profile of RPPM
 */
#include <stdlib.h>
#include <string.h>

#include "workload.h"

void workload_release(struct workload *w)
{
	for (size_t i = 0; i < w->threads; i++) {
		struct workload_thread *t = &w->thread[i];

		free(t->window);
		free(t->micro);
		free(t->uop);
		free(t->access);
		free(t->event);
	}
	free(w->thread);
	memset(w, 0, sizeof(*w));
}
