/* SPDX-License-Identifier: MIT */
/*
 * fixes - which members or objects to move apart, and what that avoids
 *
 * The fields of a line that the same threads access belong together; those that
 * different threads access, one of them storing, do not. Lines of one variable,
 * and lines with objects of one type, need the same change.
 */
#ifndef COMDET_ANALYSIS_REPORT_FIXES_H
#define COMDET_ANALYSIS_REPORT_FIXES_H

#include <jansson.h>

#include "fields.h"
#include "gain.h"

enum fix_kind {
	FIX_ELEMENTS, /* elements of an array */
	FIX_OBJECTS,  /* several objects of one type */
	FIX_MEMBERS,  /* members of one object */
	FIX_NEAR,     /* objects that lie side by side */
};

enum {
	FIX_GROUPS = 8
};

/* Fields that the same threads access. A bit is a row of the byte map. */
struct fix_group {
	uint8_t users, writers;
	uint32_t field[BYTE_MAP_COLUMNS]; /* of struct fields */
	size_t fields;
};

struct fix {
	enum fix_kind kind;
	char *object; /* "workers", "struct worker" */
	uint64_t detections;
	struct judged judged;
	struct gain gain;
	size_t lines, line; /* how many; that with most detections */
};

struct fixes {
	struct fix *fix; /* what padding avoids most first */
	size_t n, room;
};

void fixes_build(struct fixes *f, struct report *r);
void fixes_release(struct fixes *f);

/* Put the fields of a line into groups. Returns their number. */
size_t fix_groups(const struct fields *f, struct fix_group group[FIX_GROUPS]);

/*
 * A sentence for the answer that proposes the best fix, and how much it avoids;
 * malloc'ed. NULL if no fix avoids a tenth of the detections.
 */
char *report_best_fix(struct report *r);

/* The part of the text, and of the JSON. */
void report_fixes(struct report *r);
json_t *report_fixes_json(struct report *r);

#endif
