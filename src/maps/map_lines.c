/* SPDX-License-Identifier: MIT */
/*
 * map_lines - the mappings listed in /proc/PID/maps
 */
#include <string.h>
#include <sys/mman.h>

#include "map_lines.h"
#include "src/base/rawcall.h"

#include "src/base/signal_safe.h"

struct cursor {
	const char *p, *end;
};

static int digit(char c, unsigned base)
{
	int d = -1;

	if (c >= '0' && c <= '9')
		d = c - '0';
	else if (c >= 'a' && c <= 'f')
		d = c - 'a' + 10;
	return d < (int)base ? d : -1;
}

/* A number of at least one digit and at most @max. */
static bool number(struct cursor *c, unsigned base, uint64_t max, uint64_t *v)
{
	const char *begin = c->p;
	int d;

	*v = 0;
	for (; c->p < c->end && (d = digit(*c->p, base)) >= 0; c->p++) {
		if (*v > (max - (unsigned)d) / base)
			return false;
		*v = *v * base + (unsigned)d;
	}
	return c->p > begin;
}

static bool hex(struct cursor *c, uint64_t *v)
{
	return number(c, 16, UINT64_MAX, v);
}

static bool one(struct cursor *c, char want)
{
	return c->p < c->end && *c->p++ == want;
}

static bool spaces(struct cursor *c)
{
	const char *begin = c->p;

	while (c->p < c->end && *c->p == ' ')
		c->p++;
	return c->p > begin;
}

/* Rights such as r-xp, or rw-s of shared memory. */
static bool rights(struct cursor *c, uint32_t *prot, uint32_t *flags)
{
	static const char letter[] = "rwx";
	static const uint32_t bit[] = { PROT_READ, PROT_WRITE, PROT_EXEC };

	if (c->end - c->p < 4)
		return false;
	for (int i = 0; i < 3; i++, c->p++) {
		if (*c->p == letter[i])
			*prot |= bit[i];
		else if (*c->p != '-')
			return false;
	}
	if (*c->p == 's')
		*flags |= CDP_MAP_SHARED;
	return *c->p == 'p' ? one(c, 'p') : one(c, 's');
}

bool map_lines_parse(const char *line, const char *end, struct cdp_map *m)
{
	struct cursor c = { line, end };
	uint64_t major, minor;
	size_t n;

	memset(m, 0, sizeof(*m));
	if (!hex(&c, &m->start) || !one(&c, '-') || !hex(&c, &m->end) ||
	    m->end <= m->start || !spaces(&c) ||
	    !rights(&c, &m->prot, &m->flags) || !spaces(&c) ||
	    !hex(&c, &m->file_offset) || !spaces(&c) ||
	    !number(&c, 16, UINT32_MAX, &major) || !one(&c, ':') ||
	    !number(&c, 16, UINT32_MAX, &minor) || !spaces(&c) ||
	    !number(&c, 10, UINT64_MAX, &m->inode))
		return false;
	m->dev_major = (uint32_t)major;
	m->dev_minor = (uint32_t)minor;
	if (c.p < c.end && !spaces(&c))
		return false;
	n = strnlen(c.p, c.end - c.p);
	if (n > sizeof(m->path) - 1)
		n = sizeof(m->path) - 1;
	memcpy(m->path, c.p, n);
	return true;
}

void map_lines_begin(struct map_lines *l, int fd, char *buffer, size_t size)
{
	*l = (struct map_lines){ .fd = fd, .buffer = buffer, .size = size };
}

/* Read more behind what is left of the buffer; false if there is no more. */
static bool refill(struct map_lines *l)
{
	long got;

	l->have -= l->at;
	memmove(l->buffer, l->buffer + l->at, l->have);
	l->at = 0;
	got = rawcall3(SYS_read, l->fd, l->buffer + l->have, l->size - l->have);
	if (got <= 0)
		return false;
	l->have += (size_t)got;
	return true;
}

bool map_lines_next(struct map_lines *l, struct cdp_map *m)
{
	const char *line, *end;
	bool rest;

	for (;;) {
		line = l->buffer + l->at;
		end = memchr(line, '\n', l->have - l->at);
		rest = l->cut;
		if (end) {
			l->at = (size_t)(end - l->buffer) + 1;
			l->cut = false;
		} else if (l->have - l->at == l->size) {
			end = l->buffer + l->have;
			l->at = l->have;
			l->cut = true;
		} else if (refill(l)) {
			continue;
		} else {
			return false;
		}
		if (!rest && map_lines_parse(line, end, m))
			return true;
	}
}
