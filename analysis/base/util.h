/* SPDX-License-Identifier: MIT */
/*
 * util - messages, colour, numbers and untrusted text, for all verbs
 */
#ifndef COMDET_ANALYSIS_BASE_UTIL_H
#define COMDET_ANALYSIS_BASE_UTIL_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The exit status of die(): 1, but 125 in record. */
extern int die_status;

/*
 * Print "reusetrack: " and the message on stderr, through print_safe(), and
 * exit with die_status. The message tells the user what to do next.
 */
void die(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));
void die_as(int status, const char *fmt, ...)
	__attribute__((format(printf, 2, 3), noreturn));
void warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* These die when memory runs out; they never return NULL. */
void *xcalloc(size_t n, size_t size);
char *xstrdup(const char *s);
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
char *xvasprintf(const char *fmt, va_list ap);

/*
 * Make room for one more element in @array, which holds @used elements of @size
 * bytes and has room for *@room. Returns the array, perhaps moved.
 */
void *grow(void *array, size_t used, size_t *room, size_t size);

/*
 * Sort the @n elements of @size bytes and merge those that @order finds equal:
 * @add adds the second to the first. Returns how many remain.
 */
size_t unite(void *array, size_t n, size_t size,
	     int (*order)(const void *, const void *),
	     void (*add)(void *to, const void *from));

/* @a + @b, cut to UINT64_MAX: the counts in a file may be anything. */
static inline uint64_t sat_add(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

/* For comparisons: -1, 0 or 1. */
static inline int order_u64(uint64_t x, uint64_t y)
{
	return (x > y) - (x < y);
}

enum colour_mode {
	COLOUR_AUTO,
	COLOUR_ALWAYS,
	COLOUR_NEVER
};

/* auto, always or never; -1 for anything else. */
int colour_parse(const char *s);
/*
 * True if @f is to be coloured; auto wants a terminal and neither NO_COLOR nor
 * TERM=dumb.
 */
bool colour_wanted(enum colour_mode mode, FILE *f);

/*
 * Numbers as short texts, each valid until its function was called 16 more
 * times. 1234567 is "1,234,567"; durations are "412 ms", "1.5 s", "210 s", "3.2
 * h"; percent_text() gives "72 %", "0.4 %" or "<0.1 %" and never rounds to 0 or
 * 100.
 */
const char *count_text(uint64_t n);
const char *duration_text(uint64_t ns);
const char *percent_text(double part, double whole);
/* A computed time with four digits: "5.683 ms". */
const char *precise_time_text(double ns);

/*
 * @s made safe for a terminal: control characters, characters that reverse the
 * direction of text, and bytes that are not UTF-8 become \xNN. Valid like the
 * texts above; at most 511 bytes, cut at the end of a character.
 */
const char *safe_text(const char *s);

/* Print @s like safe_text, but whole, and with its line breaks and tabs. */
void print_safe(FILE *f, const char *s);

/* A malloc'ed copy with U+FFFD in the place of every byte that is not UTF-8. */
char *utf8_text(const char *s);

/* @s, a result of safe_text, cut to @columns; if cut, it ends in "...". */
const char *cut_text(const char *s, size_t columns);

/* The number of columns that @s, a result of safe_text, fills. */
size_t text_columns(const char *s);

/*
 * Print @s to @f in lines of at most 80 columns, broken at blanks. The first
 * continues a line at column @at; the others are indented by @indent.
 */
void print_wrapped(FILE *f, const char *s, size_t at, size_t indent);

/* The last part of a path, or @path itself if it ends in a slash. */
const char *base_name(const char *path);

/* Read a small file without its last newline; false if it cannot be read. */
bool read_line(const char *path, char *buf, size_t size);

#endif
