/* SPDX-License-Identifier: MIT */
/*
 * jit_code - what a JIT compiler says of the code that it made
 */
#include <elf.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "jit_code.h"
#include "ranges.h"
#include "analysis/base/util.h"

enum {
	NAME_MAX_BYTES = 1023,
	ELF_HEADER = 0x40,
	PADDING = 8,           /* of a record; less is not read */
	PIECES_MAX = 1 << 21,  /* large programs have a tenth of that */
	STEPS_MAX = 100000000, /* in search of code that has moved */
};

/* A source line begins at an address of a piece of code. */
struct code_line {
	uint64_t addr;
	const char *file;
	int line;
};

struct piece {
	uint64_t start, end;
	const char *name;
	size_t first, lines; /* in jit_code.line */
};

struct jit_code {
	struct piece *piece;
	size_t pieces, piece_room;
	struct code_line *line;
	size_t lines, line_room;
	char **text;
	size_t texts, text_room;
	struct ranges at; /* value: index of the place; rank: of the piece */
	struct jit_place *place;
	size_t places, place_room;
	size_t steps;
};

struct jit_code *jit_code_new(void)
{
	return xcalloc(1, sizeof(struct jit_code));
}

void jit_code_free(struct jit_code *j)
{
	if (!j)
		return;
	for (size_t i = 0; i < j->texts; i++)
		free(j->text[i]);
	ranges_release(&j->at);
	free(j->text);
	free(j->piece);
	free(j->place);
	free(j->line);
	free(j);
}

static const char *keep_text(struct jit_code *j, const char *s, size_t n)
{
	char *copy;

	if (n > NAME_MAX_BYTES)
		n = NAME_MAX_BYTES;
	copy = xcalloc(n + 1, 1);
	memcpy(copy, s, n);
	j->text = grow(j->text, j->texts, &j->text_room, sizeof(*j->text));
	return j->text[j->texts++] = copy;
}

static struct piece *add_piece(struct jit_code *j, uint64_t start,
			       uint64_t bytes, const char *name)
{
	struct piece *p;

	j->piece = grow(j->piece, j->pieces, &j->piece_room, sizeof(*j->piece));
	p = &j->piece[j->pieces++];
	*p = (struct piece){ start, sat_add(start, bytes), name, 0, 0 };
	return p;
}

/* ---- perf map ---- */

static int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* A hexadecimal number, with or without 0x, and the blanks behind it. */
static const char *read_hex(const char *s, const char *end, uint64_t *value)
{
	int n = 0;

	*value = 0;
	if (end - s > 2 && s[0] == '0' && (s[1] | 0x20) == 'x')
		s += 2;
	for (; s < end && digit_value(*s) >= 0; s++) {
		if (++n > 16)
			return NULL;
		*value = *value << 4 | (unsigned)digit_value(*s);
	}
	if (!n || s == end || *s != ' ')
		return NULL;
	while (s < end && *s == ' ')
		s++;
	return s;
}

void jit_code_add_map(struct jit_code *j, const char *text, size_t n)
{
	const char *stop = text + n;

	while (text < stop && j->pieces < PIECES_MAX) {
		const char *end = memchr(text, '\n', stop - text), *s;
		uint64_t start, bytes;

		if (!end) /* the compiler was still writing it */
			return;
		s = read_hex(text, end, &start);
		s = s ? read_hex(s, end, &bytes) : NULL;
		if (s && s < end)
			add_piece(j, start, bytes, keep_text(j, s, end - s));
		text = end + 1;
	}
}

/* ---- jitdump: linux/tools/perf/Documentation/jitdump-specification.txt ----
 */

#define DUMP_MAGIC 0x4a695444u

enum dump_record {
	DUMP_LOAD,
	DUMP_MOVE,
	DUMP_LINES,
	DUMP_CLOSE,
};

struct dump_header {
	uint32_t magic, version, bytes, machine, pad, pid;
	uint64_t time, flags;
};

struct dump_prefix {
	uint32_t id, bytes;
	uint64_t time;
};

struct dump_load { /* the name and the code follow */
	uint32_t pid, tid;
	uint64_t vma, addr, bytes, index;
};

struct dump_move {
	uint32_t pid, tid;
	uint64_t vma, from, to, bytes, index;
};

struct dump_lines { /* the entries follow */
	uint64_t addr, entries;
};

struct dump_entry { /* the name of the file follows, with its NUL */
	uint64_t addr;
	uint32_t line, discriminator;
};

/* The text at @at that ends in NUL before @n; NULL if there is none. */
static const char *text_at(const uint8_t *bytes, size_t at, size_t n,
			   size_t *length)
{
	const uint8_t *end = at < n ? memchr(bytes + at, 0, n - at) : NULL;

	if (!end)
		return NULL;
	*length = end - (bytes + at);
	return (const char *)bytes + at;
}

/* Lines come before the code that they are about. */
struct pending {
	uint64_t addr;
	size_t first, lines;
};

static bool add_lines(struct jit_code *j, const uint8_t *body, size_t n,
		      struct pending *pending)
{
	struct dump_lines head;
	const char *file = NULL;
	size_t at = sizeof(head);

	if (n < sizeof(head))
		return false;
	memcpy(&head, body, sizeof(head));
	*pending = (struct pending){ head.addr, j->lines, 0 };
	for (uint64_t i = 0; i < head.entries; i++) {
		struct dump_entry e;
		const char *name;
		size_t length;

		if (n - at < sizeof(e))
			return false;
		memcpy(&e, body + at, sizeof(e));
		at += sizeof(e);
		name = text_at(body, at, n, &length);
		if (!name)
			return false;
		at += length + 1;
		/* The one character 0xff stands for the file before. */
		if (!file || length != 1 || name[0] != '\xff')
			file = length ? keep_text(j, name, length) : NULL;
		j->line = grow(j->line, j->lines, &j->line_room,
			       sizeof(*j->line));
		j->line[j->lines++] = (struct code_line){
			e.addr, file, e.line <= INT_MAX ? (int)e.line : 0
		};
		pending->lines++;
	}
	/* Node.js 20 writes 8 bytes more before each name: no lines then. */
	if (n - at >= PADDING)
		pending->lines = 0;
	return true;
}

static bool add_load(struct jit_code *j, const uint8_t *body, size_t n,
		     struct pending *pending)
{
	struct dump_load load;
	struct piece *p;
	const char *name;
	size_t length;

	if (n < sizeof(load))
		return false;
	memcpy(&load, body, sizeof(load));
	name = text_at(body, sizeof(load), n, &length);
	if (!name)
		return false;
	p = add_piece(j, load.addr, load.bytes, keep_text(j, name, length));
	if (pending->lines && pending->addr == load.addr) {
		p->first = pending->first;
		p->lines = pending->lines;
		/* V8 counts from the ELF file that perf is to make of it. */
		for (size_t i = 0; i < p->lines && !strncmp(name, "JS:", 3);
		     i++)
			j->line[p->first + i].addr -= ELF_HEADER;
	}
	pending->lines = 0;
	return true;
}

/* The code that was last loaded at the old address is now at the new one. */
static bool add_move(struct jit_code *j, const uint8_t *body, size_t n)
{
	struct dump_move move;

	if (n < sizeof(move))
		return false;
	memcpy(&move, body, sizeof(move));
	for (size_t i = j->pieces; i-- && j->steps++ < STEPS_MAX;) {
		struct piece from = j->piece[i];

		if (from.start != move.from)
			continue;
		add_piece(j, move.to, move.bytes, from.name);
		break;
	}
	return true;
}

bool jit_code_add_dump(struct jit_code *j, const uint8_t *bytes, size_t n)
{
	struct pending pending = { 0 };
	struct dump_header head;
	size_t at;

	if (n < sizeof(head))
		return false;
	memcpy(&head, bytes, sizeof(head));
	if (head.magic != DUMP_MAGIC || head.machine != EM_X86_64 ||
	    head.bytes < sizeof(head))
		return false;
	for (at = head.bytes; at < n && n - at >= sizeof(struct dump_prefix) &&
			      j->pieces < PIECES_MAX;) {
		struct dump_prefix prefix;
		const uint8_t *body = bytes + at + sizeof(prefix);
		size_t length;
		bool good = true;

		memcpy(&prefix, bytes + at, sizeof(prefix));
		if (prefix.bytes < sizeof(prefix) || prefix.bytes > n - at)
			break;
		length = prefix.bytes - sizeof(prefix);
		if (prefix.id == DUMP_LOAD)
			good = add_load(j, body, length, &pending);
		else if (prefix.id == DUMP_MOVE)
			good = add_move(j, body, length);
		else if (prefix.id == DUMP_LINES)
			good = add_lines(j, body, length, &pending);
		if (!good || prefix.id == DUMP_CLOSE)
			break;
		at += prefix.bytes;
	}
	return true;
}

static int compare_lines(const void *a, const void *b)
{
	const struct code_line *x = a, *y = b;

	return order_u64(x->addr, y->addr);
}

static void add_place(struct jit_code *j, size_t piece, uint64_t start,
		      uint64_t end, const struct code_line *l)
{
	const struct piece *p = &j->piece[piece];

	ranges_add(&j->at, start > p->start ? start : p->start,
		   end < p->end ? end : p->end, piece, j->places);
	j->place = grow(j->place, j->places, &j->place_room, sizeof(*j->place));
	j->place[j->places++] = (struct jit_place){ p->name, l ? l->file : NULL,
						    l ? l->line : 0 };
}

void jit_code_ready(struct jit_code *j)
{
	for (size_t i = 0; i < j->pieces; i++) {
		struct piece *p = &j->piece[i];
		struct code_line *l = p->lines ? &j->line[p->first] : NULL;

		add_place(j, i, p->start, p->end, NULL);
		if (p->lines)
			qsort(l, p->lines, sizeof(*l), compare_lines);
		for (size_t k = 0; k < p->lines; k++)
			add_place(j, i, l[k].addr,
				  k + 1 < p->lines ? l[k + 1].addr : UINT64_MAX,
				  &l[k]);
	}
	ranges_flatten(&j->at);
}

bool jit_code_find(const struct jit_code *j, uint64_t addr,
		   struct jit_place *out)
{
	const struct range *in = ranges_find(&j->at, addr);

	if (in)
		*out = j->place[in->value];
	return in;
}
