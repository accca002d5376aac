/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <profile.pb-c.h>

#include "pprof.h"
#include "analysis/base/json_build.h"

enum {
	VALUES = 2, /* false, true */
	LABELS = 5,
};

/* Everything that belongs to one sample, at addresses that stay. */
struct sample_parts {
	Pprof__Sample sample;
	uint64_t *location; /* innermost first */
	int64_t value[VALUES];
	Pprof__Label label[LABELS], *labels[LABELS];
};

struct frame_parts {
	Pprof__Location location;
	Pprof__Line line, *lines;
	Pprof__Function function;
};

struct builder {
	Pprof__Profile profile;
	json_t *strings, *frames; /* numbers by text */
	char **string;
	size_t strings_room;
	struct frame_parts **frame;
	size_t frames_used, frames_room;
};

static int64_t string_number(struct builder *b, const char *s)
{
	char *clean = utf8_text(s ? s : "");
	json_t *number = json_object_get(b->strings, clean);
	size_t n = b->profile.n_string_table;

	if (number) {
		free(clean);
		return json_integer_value(number);
	}
	put(b->strings, clean, integer(n));
	b->string = grow(b->string, n, &b->strings_room, sizeof(*b->string));
	b->string[n] = clean;
	b->profile.n_string_table = n + 1;
	return (int64_t)n;
}

/* Locations and functions are numbered alike, from 1. */
static uint64_t frame_number(struct builder *b, const struct stack_frame *frame)
{
	int64_t name = string_number(b, frame->name);
	int64_t file = string_number(b, frame->file);
	char *key = xasprintf("%" PRId64 " %" PRId64 " %d", name, file,
			      frame->line);
	json_t *number = json_object_get(b->frames, key);
	struct frame_parts *p;
	uint64_t id = b->frames_used + 1;

	if (number) {
		free(key);
		return json_integer_value(number);
	}
	put(b->frames, key, integer(id));
	free(key);
	p = xcalloc(1, sizeof(*p));
	pprof__location__init(&p->location);
	pprof__line__init(&p->line);
	pprof__function__init(&p->function);
	p->location.id = p->function.id = p->line.function_id = id;
	p->line.line = frame->line;
	p->function.name = name;
	p->function.filename = file;
	p->lines = &p->line;
	p->location.line = &p->lines;
	p->location.n_line = 1;
	b->frame = grow(b->frame, b->frames_used, &b->frames_room,
			sizeof(*b->frame));
	b->frame[b->frames_used++] = p;
	return id;
}

static void add_label(struct builder *b, struct sample_parts *p,
		      const char *key, const char *value)
{
	size_t n = p->sample.n_label++;

	pprof__label__init(&p->label[n]);
	p->label[n].key = string_number(b, key);
	p->label[n].str = string_number(b, safe_text(value));
	p->labels[n] = &p->label[n];
}

static void add_labels(struct builder *b, struct sample_parts *p,
		       const struct stack *s, const struct report *r)
{
	static const char *const keys[] = { "storing_thread",
					    "accessing_thread" };
	char text[64];

	for (int i = 0; i < 2; i++) {
		uint32_t row = s->threads[i];

		if (row >= r->profile->threads)
			continue;
		snprintf(text, sizeof(text), "%u %.15s", row,
			 r->profile->thread[row].name);
		add_label(b, p, keys[i], text);
	}
	add_label(b, p, "process", s->frame[STACK_PROCESS].name);
	add_label(b, p, "object", s->frame[STACK_OBJECT].name);
	snprintf(text, sizeof(text), "0x%" PRIx64, s->line);
	add_label(b, p, "line", text);
}

static void add_sample(struct builder *b, struct sample_parts *p,
		       const struct stack *s, const struct report *r)
{
	pprof__sample__init(&p->sample);
	p->location = xcalloc(s->frames, sizeof(*p->location));
	for (size_t i = 0; i < s->frames; i++)
		p->location[s->frames - 1 - i] = frame_number(b, &s->frame[i]);
	p->sample.location_id = p->location;
	p->sample.n_location_id = s->frames;
	p->value[s->kind == SHARING_TRUE] =
		s->detections > INT64_MAX ? INT64_MAX : (int64_t)s->detections;
	p->sample.value = p->value;
	p->sample.n_value = VALUES;
	p->sample.label = p->labels;
	add_labels(b, p, s, r);
}

static void write_out(FILE *f, const Pprof__Profile *profile)
{
	size_t size = pprof__profile__get_packed_size(profile);
	uint8_t *bytes = xcalloc(size + 1, 1);

	pprof__profile__pack(profile, bytes);
	fwrite(bytes, 1, size, f);
	free(bytes);
}

void pprof_write(FILE *f, const struct stacks *s, const struct report *r)
{
	struct sample_parts *parts = xcalloc(s->stacks + 1, sizeof(*parts));
	Pprof__Sample **samples = xcalloc(s->stacks + 1, sizeof(*samples));
	struct builder b = { .strings = json_object(),
			     .frames = json_object() };
	Pprof__ValueType type[VALUES], *types[VALUES];
	Pprof__Location **locations;
	Pprof__Function **functions;

	pprof__profile__init(&b.profile);
	string_number(&b, "");
	for (int i = 0; i < VALUES; i++) {
		pprof__value_type__init(&type[i]);
		type[i].type =
			string_number(&b, i ? "true_sharing" : "false_sharing");
		type[i].unit = string_number(&b, "detections");
		types[i] = &type[i];
	}
	for (size_t i = 0; i < s->stacks; i++) {
		add_sample(&b, &parts[i], &s->stack[i], r);
		samples[i] = &parts[i].sample;
	}
	locations = xcalloc(b.frames_used + 1, sizeof(*locations));
	functions = xcalloc(b.frames_used + 1, sizeof(*functions));
	for (size_t i = 0; i < b.frames_used; i++) {
		locations[i] = &b.frame[i]->location;
		functions[i] = &b.frame[i]->function;
	}
	b.profile.sample_type = types;
	b.profile.n_sample_type = VALUES;
	b.profile.sample = samples;
	b.profile.n_sample = s->stacks;
	b.profile.location = locations;
	b.profile.function = functions;
	b.profile.n_location = b.profile.n_function = b.frames_used;
	b.profile.default_sample_type = type[0].type;
	b.profile.duration_nanos = (int64_t)profile_wall_ns(r->profile);
	b.profile.string_table = b.string;
	write_out(f, &b.profile);
	for (size_t i = 0; i < b.frames_used; i++)
		free(b.frame[i]);
	for (size_t i = 0; i < b.profile.n_string_table; i++)
		free(b.string[i]);
	free(b.frame);
	free(b.string);
	free(locations);
	free(functions);
	free(samples);
	for (size_t i = 0; i < s->stacks; i++)
		free(parts[i].location);
	free(parts);
	json_decref(b.strings);
	json_decref(b.frames);
}
