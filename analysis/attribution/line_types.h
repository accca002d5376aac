/* SPDX-License-Identifier: MIT */
/*
 * line_types - which objects of which types lie on a cache line
 *
 * A static variable lies where it lies. Elsewhere the instructions that
 * accessed the line say what it holds: each tells a type and the member, and so
 * where the object begins. They may disagree, where debug information is poor:
 * of objects that overlap, the one with the most detections is there; of two
 * with equally many, that of the program, not of a library.
 */
#ifndef COMDET_ANALYSIS_ATTRIBUTION_LINE_TYPES_H
#define COMDET_ANALYSIS_ATTRIBUTION_LINE_TYPES_H

#include "tally.h"

/* An object, or a static variable. */
struct instance {
	struct type_ref type;
	const char *variable; /* its name; NULL: memory of that type */
	uint64_t start;       /* address; perhaps before the line */
	uint64_t votes;       /* detections of accesses that say so */
	uint32_t number, of;  /* among those of its type on the line, from 1 */
};

struct line_types {
	struct instance *instance; /* by address; they do not overlap */
	size_t n, room;
};

/* A part of an object: a member, or an element of an array. */
struct line_field {
	const struct instance *in;
	uint64_t start, size; /* address */
	char *path;           /* ".stats.hits", "[3].x", "": the object */
};

void line_types_build(struct line_types *t, const struct tally *tally,
		      struct symbols *s, const struct line_tally *line);
void line_types_release(struct line_types *t);

/*
 * The field that contains the byte at @addr; false if it is not known. The
 * caller frees out->path.
 */
bool line_types_field(const struct line_types *t, uint64_t addr,
		      struct line_field *out);

/*
 * The name of @field for people, malloc'ed: "workers[3].stats.hits", or
 * "struct worker.hits", or with a number if the line has several:
 * "struct worker #2.hits".
 */
char *line_field_name(const struct line_field *field);

/* "workers", "struct worker", "unnamed structure" */
const char *instance_name(const struct instance *i);

#endif
