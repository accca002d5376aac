/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "flame.h"
#include "analysis/base/json_build.h"

void flame_collapsed(FILE *f, const struct stacks *s)
{
	for (size_t i = 0; i < s->stacks; i++) {
		for (size_t k = 0; k < s->stack[i].frames; k++)
			fprintf(f, "%s%s", k ? ";" : "",
				s->stack[i].frame[k].name);
		fprintf(f, " %" PRIu64 "\n", s->stack[i].detections);
	}
}

/* The number of @frame in @frames, to which it is added if it is new. */
static json_t *frame_number(json_t *frames, json_t *numbers,
			    const struct stack_frame *frame)
{
	char *key = xasprintf("%s\n%s\n%d", frame->name,
			      frame->file ? frame->file : "", frame->line);
	char *clean = utf8_text(key);
	json_t *number = json_object_get(numbers, clean), *o;

	if (!number) {
		number = integer(json_array_size(frames));
		put(numbers, clean, number);
		o = json_object();
		put(o, "name", text(frame->name));
		put_text(o, "file", frame->file);
		if (frame->line)
			put(o, "line", integer(frame->line));
		append(frames, o);
	}
	free(clean);
	free(key);
	return json_incref(number);
}

int flame_speedscope(FILE *f, const struct stacks *s)
{
	json_t *frames = json_array(), *numbers = json_object();
	json_t *samples = json_array(), *weights = json_array();
	json_t *all = json_object(), *shared = json_object();
	json_t *profile = json_object(), *profiles = json_array();
	uint64_t total = 0;
	int err;

	for (size_t i = 0; i < s->stacks; i++) {
		json_t *stack = json_array();

		for (size_t k = 0; k < s->stack[i].frames; k++)
			append(stack, frame_number(frames, numbers,
						   &s->stack[i].frame[k]));
		append(samples, stack);
		append(weights, integer(s->stack[i].detections));
		total = sat_add(total, s->stack[i].detections);
	}
	json_decref(numbers);
	put(profile, "type", json_string("sampled"));
	put(profile, "name", json_string("detections of shared cache lines"));
	put(profile, "unit", json_string("none"));
	put(profile, "startValue", integer(0));
	put(profile, "endValue", integer(total));
	put(profile, "samples", samples);
	put(profile, "weights", weights);
	append(profiles, profile);
	put(shared, "frames", frames);
	put(all, "$schema",
	    json_string("https://www.speedscope.app/file-format-schema.json"));
	put(all, "shared", shared);
	put(all, "profiles", profiles);
	put(all, "exporter", json_string("reusetrack"));
	err = json_write(all, f, JSON_INDENT(1));
	fputc('\n', f);
	json_decref(all);
	return err;
}
