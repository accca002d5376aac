/* SPDX-License-Identifier: MIT */
/*
 * import - a recording of perf in memory
 */
#include <stdlib.h>
#include <string.h>

#include "import.h"
#include "analysis/base/util.h"

enum {
	ITEMS_MAX = 64 * 1024 * 1024,
};

static int too_many(struct import *im)
{
	return perf_data_fail(&im->data,
			      "has more than %d million samples: "
			      "record for a shorter time",
			      ITEMS_MAX >> 20);
}

int import_add_item(struct import *im, uint64_t time, uint32_t at)
{
	if (im->items == ITEMS_MAX)
		return too_many(im);
	im->item =
		grow(im->item, im->items, &im->items_room, sizeof(*im->item));
	im->item[im->items] = (struct import_item){
		.time = time,
		.order = (uint32_t)im->items,
		.at = at,
	};
	im->items++;
	return 0;
}

/* In a stream, events are announced one by one. */
void import_know_events(struct import *im)
{
	struct perf_data *d = &im->data;

	if (im->events_known == d->events)
		return;
	im->event = realloc(im->event, d->events * sizeof(*im->event));
	if (!im->event)
		die("out of memory");
	memset(im->event + im->events_known, 0,
	       (d->events - im->events_known) * sizeof(*im->event));
	im->events_known = d->events;
}

struct import_event *import_event(struct import *im,
				  const struct perf_data_event *e)
{
	return e ? &im->event[e - im->data.event] : NULL;
}

void import_release(struct import *im)
{
	for (size_t i = 0; i < im->tasks; i++)
		free(im->task[i].text);
	for (size_t i = 0; i < im->processes; i++)
		free(im->process[i].map);
	free(im->task);
	free(im->sample);
	free(im->item);
	free(im->event);
	free(im->process);
	free(im->thread);
	free(im->by_process);
	perf_data_close(&im->data);
	memset(im, 0, sizeof(*im));
}
