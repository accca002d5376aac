/* SPDX-License-Identifier: MIT */
/*
 * sync_objects - what threads wait for each other by, found by address
 */
#include <stdlib.h>
#include <string.h>

#include "sync_objects.h"
#include "sync_engine.h"
#include "analysis/base/util.h"

enum {
	BUCKETS = 64, /* at first */
};

static size_t bucket_of(const struct sync_objects *o, enum sync_class class,
			uint64_t address)
{
	uint64_t hash = (address ^ (uint64_t) class << 60) *
			UINT64_C(0x9e3779b97f4a7c15);

	return (size_t)(hash >> 32) & (o->buckets - 1);
}

static void put(struct sync_objects *o, struct sync_object *x)
{
	struct sync_object **at =
		&o->bucket[bucket_of(o, x->class, x->address)];

	x->next = *at;
	*at = x;
}

static void make_room(struct sync_objects *o)
{
	struct sync_objects more = { .buckets = o->buckets ? 2 * o->buckets
							   : BUCKETS,
				     .n = o->n };

	more.bucket = xcalloc(more.buckets, sizeof(struct sync_object *));
	for (size_t i = 0; i < o->buckets; i++)
		while (o->bucket[i]) {
			struct sync_object *x = o->bucket[i];

			o->bucket[i] = x->next;
			put(&more, x);
		}
	free(o->bucket);
	*o = more;
}

struct sync_object *sync_objects_get(struct sync_objects *o,
				     enum sync_class class, uint64_t address)
{
	struct sync_object *x;

	if (o->n == o->buckets)
		make_room(o);
	x = o->bucket[bucket_of(o, class, address)];
	while (x && (x->class != class || x->address != address))
		x = x->next;
	if (x)
		return x;
	x = xcalloc(1, sizeof(*x));
	x->class = class;
	x->address = address;
	x->owner = x->first = x->last = SYNC_NOWHERE;
	put(o, x);
	o->n++;
	return x;
}

void sync_objects_release(struct sync_objects *o)
{
	for (size_t i = 0; i < o->buckets; i++)
		while (o->bucket[i]) {
			struct sync_object *x = o->bucket[i];

			o->bucket[i] = x->next;
			free(x->loan);
			free(x);
		}
	free(o->bucket);
	memset(o, 0, sizeof(*o));
}
