/* SPDX-License-Identifier: MIT */
/*
 * demangle_rust - names of Rust's mangling scheme v0, RFC 2603
 *
 * Each function reads one production of the grammar in the RFC and prints it. A
 * symbol may refer back to its earlier parts, so a short one could stand for a
 * name without end: the depth, the length and the steps are limited.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "demangle_rust.h"
#include "analysis/base/util.h"

enum {
	DEPTH_MAX = 100,
	STEPS_MAX = 20000,
	NAME_BYTES = 4096
};

struct demangler {
	const char *start, *at; /* behind "_R" */
	char *out;
	size_t used;
	int depth, steps;
	bool bad, quiet; /* quiet: read, but do not print */
};

struct identifier {
	const char *text;
	size_t bytes;
	uint64_t number; /* of those with the same name */
	bool punycode;
};

static void read_path(struct demangler *d, bool in_value);
static void read_type(struct demangler *d);
static void read_const(struct demangler *d);

static void put_bytes(struct demangler *d, const char *s, size_t n)
{
	if (d->quiet || d->bad)
		return;
	if (n >= NAME_BYTES - d->used) {
		d->bad = true;
		return;
	}
	memcpy(d->out + d->used, s, n);
	d->used += n;
}

static void put(struct demangler *d, const char *s)
{
	put_bytes(d, s, strlen(s));
}

static void put_number(struct demangler *d, uint64_t n)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)n);
	put(d, text);
}

static bool take(struct demangler *d, char c)
{
	if (d->bad || *d->at != c)
		return false;
	d->at++;
	return true;
}

/* The next character; a bad symbol has only 'E', which ends all lists. */
static char next(struct demangler *d)
{
	if (!d->bad && *d->at && ++d->steps < STEPS_MAX)
		return *d->at++;
	d->bad = true;
	return 'E';
}

static bool enter(struct demangler *d)
{
	if (++d->depth > DEPTH_MAX)
		d->bad = true;
	return !d->bad;
}

/* {0-9a-zA-Z} "_": 0 is "_", 1 is "0_". */
static uint64_t read_base62(struct demangler *d)
{
	uint64_t n = 0;

	if (take(d, '_'))
		return 0;
	for (;;) {
		char c = next(d);

		if (c == '_')
			return n + 1;
		if (d->bad || n > UINT64_MAX / 64)
			break;
		n *= 62;
		if (c >= '0' && c <= '9')
			n += c - '0';
		else if (c >= 'a' && c <= 'z')
			n += c - 'a' + 10;
		else if (c >= 'A' && c <= 'Z')
			n += c - 'A' + 36;
		else
			break;
	}
	d->bad = true;
	return 0;
}

/* A number behind @tag, counted from 1; 0 without it. */
static uint64_t read_tagged(struct demangler *d, char tag)
{
	return take(d, tag) ? read_base62(d) + 1 : 0;
}

static struct identifier read_plain_identifier(struct demangler *d)
{
	struct identifier i = { .punycode = take(d, 'u') };
	char c = next(d);

	if (c < '0' || c > '9')
		d->bad = true;
	i.bytes = c - '0';
	while (i.bytes && i.bytes < NAME_BYTES && *d->at >= '0' &&
	       *d->at <= '9' && !d->bad)
		i.bytes = 10 * i.bytes + (next(d) - '0');
	take(d, '_');
	if (d->bad || strnlen(d->at, i.bytes) < i.bytes) {
		d->bad = true;
		return (struct identifier){ .text = "" };
	}
	i.text = d->at;
	d->at += i.bytes;
	return i;
}

static struct identifier read_identifier(struct demangler *d)
{
	uint64_t number = read_tagged(d, 's');
	struct identifier i = read_plain_identifier(d);

	i.number = number;
	return i;
}

static void put_identifier(struct demangler *d, const struct identifier *i)
{
	if (i->punycode)
		put(d, "punycode{");
	put_bytes(d, i->text, i->bytes);
	if (i->punycode)
		put(d, "}");
}

/* Read an earlier part again with @read. */
static void follow(struct demangler *d, void (*read)(struct demangler *, bool),
		   bool in_value)
{
	const char *here = d->at - 1, *back;
	uint64_t to = read_base62(d);

	if (d->bad || to >= (uint64_t)(here - d->start)) {
		d->bad = true;
		return;
	}
	back = d->at;
	d->at = d->start + to;
	if (!d->quiet)
		read(d, in_value);
	d->at = back;
}

/* Lifetimes tell nothing about the code: they are not printed. */
static bool skip_lifetime(struct demangler *d)
{
	if (!take(d, 'L'))
		return false;
	read_base62(d);
	return true;
}

static void read_generic_args(struct demangler *d)
{
	int n = 0;

	while (!take(d, 'E') && !d->bad) {
		if (skip_lifetime(d))
			continue;
		put(d, n++ ? ", " : "");
		if (take(d, 'K'))
			read_const(d);
		else
			read_type(d);
	}
}

/* The path of an impl tells nothing that its type does not. */
static void skip_impl_path(struct demangler *d)
{
	bool quiet = d->quiet;

	d->quiet = true;
	read_tagged(d, 's');
	read_path(d, false);
	d->quiet = quiet;
}

static void read_nested(struct demangler *d, bool in_value)
{
	char kind = next(d);
	struct identifier i;
	bool special = kind >= 'A' && kind <= 'Z';

	read_path(d, in_value);
	i = read_identifier(d);
	if (special) {
		put(d, "::{");
		if (kind == 'C')
			put(d, "closure");
		else if (kind == 'S')
			put(d, "shim");
		else
			put_bytes(d, &kind, 1);
		if (i.bytes) {
			put(d, ":");
			put_identifier(d, &i);
		}
		put(d, "#");
		put_number(d, i.number);
		put(d, "}");
	} else if (i.bytes) {
		put(d, "::");
		put_identifier(d, &i);
	}
}

static void read_qualified(struct demangler *d, char tag)
{
	if (tag != 'Y')
		skip_impl_path(d);
	put(d, "<");
	read_type(d);
	if (tag != 'M') {
		put(d, " as ");
		read_path(d, false);
	}
	put(d, ">");
}

static void read_path(struct demangler *d, bool in_value)
{
	struct identifier i;
	char tag;

	if (!enter(d))
		return;
	tag = next(d);
	switch (tag) {
	case 'C':
		i = read_identifier(d);
		put_identifier(d, &i);
		break;
	case 'M':
	case 'X':
	case 'Y':
		read_qualified(d, tag);
		break;
	case 'N':
		read_nested(d, in_value);
		break;
	case 'I':
		read_path(d, in_value);
		put(d, in_value ? "::<" : "<");
		read_generic_args(d);
		put(d, ">");
		break;
	case 'B':
		follow(d, read_path, in_value);
		break;
	default:
		d->bad = true;
	}
	d->depth--;
}

static const char *basic_type(char c)
{
	static const char *const names[26] = {
		"i8",   "bool",  "char",  "f64", "str", "f32", NULL,
		"u8",   "isize", "usize", NULL,  "i32", "u32", "i128",
		"u128", "_",     NULL,    NULL,  "i16", "u16", "()",
		"...",  NULL,    "i64",   "u64", "!",
	};

	return c >= 'a' && c <= 'z' ? names[c - 'a'] : NULL;
}

static void read_function_type(struct demangler *d)
{
	struct identifier abi;

	read_tagged(d, 'G'); /* lifetimes that it binds */
	if (take(d, 'U'))
		put(d, "unsafe ");
	if (take(d, 'K')) {
		put(d, "extern \"");
		if (take(d, 'C')) {
			put(d, "C");
		} else {
			abi = read_plain_identifier(d);
			put_identifier(d, &abi);
		}
		put(d, "\" ");
	}
	put(d, "fn(");
	for (int i = 0; !take(d, 'E') && !d->bad; i++) {
		put(d, i ? ", " : "");
		read_type(d);
	}
	put(d, ")");
	if (!take(d, 'u')) {
		put(d, " -> ");
		read_type(d);
	}
}

/* A trait whose types stand among its generic arguments. */
static void read_dyn_trait(struct demangler *d)
{
	size_t before;
	bool open = false;

	read_path(d, false);
	before = d->used;
	if (!d->quiet && before && d->out[before - 1] == '>') {
		d->used--;
		open = true;
	}
	while (take(d, 'p')) {
		struct identifier i = read_plain_identifier(d);

		put(d, open ? ", " : "<");
		open = true;
		put_identifier(d, &i);
		put(d, " = ");
		read_type(d);
	}
	if (open)
		put(d, ">");
}

static void read_dyn_type(struct demangler *d)
{
	put(d, "dyn ");
	read_tagged(d, 'G');
	for (int i = 0; !take(d, 'E') && !d->bad; i++) {
		put(d, i ? " + " : "");
		read_dyn_trait(d);
	}
	if (!skip_lifetime(d))
		d->bad = true;
}

static void read_tuple(struct demangler *d)
{
	int n = 0;

	put(d, "(");
	for (; !take(d, 'E') && !d->bad; n++) {
		put(d, n ? ", " : "");
		read_type(d);
	}
	put(d, n == 1 ? ",)" : ")");
}

static void read_type_again(struct demangler *d, bool in_value)
{
	read_type(d);
}

static void read_type(struct demangler *d)
{
	char tag;

	if (!enter(d))
		return;
	tag = next(d);
	switch (tag) {
	case 'R':
	case 'Q':
		skip_lifetime(d);
		put(d, tag == 'R' ? "&" : "&mut ");
		read_type(d);
		break;
	case 'P':
	case 'O':
		put(d, tag == 'P' ? "*const " : "*mut ");
		read_type(d);
		break;
	case 'A':
	case 'S':
		put(d, "[");
		read_type(d);
		if (tag == 'A') {
			put(d, "; ");
			read_const(d);
		}
		put(d, "]");
		break;
	case 'T':
		read_tuple(d);
		break;
	case 'F':
		read_function_type(d);
		break;
	case 'D':
		read_dyn_type(d);
		break;
	case 'B':
		follow(d, read_type_again, false);
		break;
	default:
		if (basic_type(tag)) {
			put(d, basic_type(tag));
		} else if (!d->bad) {
			d->at--;
			read_path(d, false);
		}
	}
	d->depth--;
}

static void read_const_again(struct demangler *d, bool in_value)
{
	read_const(d);
}

/* A number, a truth value or a character; others are shown as "_". */
static void read_const(struct demangler *d)
{
	uint64_t n = 0;
	bool negative;
	char tag;

	if (!enter(d))
		return;
	tag = next(d);
	if (tag == 'B') {
		follow(d, read_const_again, false);
	} else if (tag == 'p') {
		put(d, "_");
	} else if (basic_type(tag)) {
		negative = take(d, 'n');
		for (char c = next(d); c != '_' && !d->bad; c = next(d)) {
			if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'f'))
				d->bad = true;
			n = n << 4 | (c <= '9' ? c - '0' : c - 'a' + 10);
		}
		if (tag == 'b') {
			put(d, n ? "true" : "false");
		} else {
			put(d, negative ? "-" : "");
			put_number(d, n);
		}
	} else {
		d->bad = true;
	}
	d->depth--;
}

char *demangle_rust(const char *name)
{
	struct demangler d = { .start = name + 2, .at = name + 2 };

	if (strncmp(name, "_R", 2))
		return NULL;
	d.out = xcalloc(NAME_BYTES, 1);
	read_path(&d, true);
	/* Then comes the crate that asked for the code, or a linker's ending.
	 */
	if (!d.bad && *d.at && *d.at != '.') {
		d.quiet = true;
		read_path(&d, false);
	}
	if (!d.bad && (!*d.at || *d.at == '.'))
		return d.out;
	free(d.out);
	return NULL;
}
