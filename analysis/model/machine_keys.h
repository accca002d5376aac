/* SPDX-License-Identifier: MIT */
/*
 * machine_keys - the keys of machine files: where each value is, and its limits
 */
#ifndef COMDET_ANALYSIS_MODEL_MACHINE_KEYS_H
#define COMDET_ANALYSIS_MODEL_MACHINE_KEYS_H

#include "machine.h"

enum machine_key_kind {
	KEY_COUNT, /* uint32_t */
	KEY_BYTES, /* uint64_t, with K, M or G */
	KEY_REAL,  /* double */
	KEY_WORD,  /* uint32_t: one of words */
	KEY_UOP,   /* struct machine_uop */
};

struct machine_key {
	const char *name;
	enum machine_key_kind kind;
	size_t offset; /* in struct machine */
	double low, high;
	const char *const *words;
	uint32_t n_words;
	const char *meaning;
};

/* The key number @i, or NULL behind the last; those of classes come last. */
const struct machine_key *machine_key(size_t i);

/* The key of @name; NULL if there is none. */
const struct machine_key *machine_key_find(const char *name);

/* The key whose name is most like @name; NULL if none is like it. */
const struct machine_key *machine_key_like(const char *name);

/*
 * Set the value of @key from @text. Returns NULL, or what is wrong with it,
 * valid until the next call.
 */
const char *machine_key_set(struct machine *m, const struct machine_key *key,
			    const char *text);

/* Write the value as machine_key_set reads it. */
void machine_key_text(const struct machine *m, const struct machine_key *key,
		      char *to, size_t size);

#endif
