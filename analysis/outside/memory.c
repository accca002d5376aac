/* SPDX-License-Identifier: MIT */
/*
 * memory - the memory of a watched process, as it was at an interrupt
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>

#include "memory.h"
#include "now.h"
#include "analysis/base/util.h"

enum {
	SEEN_BITS = 14,
	CODE_BITS = 10,
	PAGE = 4096,
	LINE = 64,
	SETTLED_NS = 1000 * 1000,
	BELOW = 8192,     /* bytes of the stack that calls may take soon */
	STACK_TAIL = 256, /* bytes of the copy to be compared, at most */
};

struct memory_seen {
	uint64_t key;   /* of the line, 0: unused */
	uint64_t since; /* ns: when it was first read with these bytes */
	uint8_t bytes[LINE];
};

struct memory_code {
	uint64_t page;
	uint32_t space; /* number + 1, 0: unused */
	uint8_t bytes[PAGE];
};

void memory_init(struct outside_memory *m)
{
	memset(m, 0, sizeof(*m));
	m->seen = xcalloc(1 << SEEN_BITS, sizeof(*m->seen));
	m->code = xcalloc(1 << CODE_BITS, sizeof(*m->code));
}

void memory_release(struct outside_memory *m)
{
	free(m->seen);
	free(m->code);
	memset(m, 0, sizeof(*m));
}

int memory_peek(pid_t pid, uint64_t addr, void *buf, size_t n)
{
	struct iovec local = { buf, n };
	struct iovec remote = { (void *)(uintptr_t)addr, n };
	ssize_t got = process_vm_readv(pid, &local, 1, &remote, 1, 0);

	return got == (ssize_t)n ? 0 : got < 0 ? -errno : -EFAULT;
}

static size_t slot(uint64_t key, int bits)
{
	return key * UINT64_C(0x9E3779B97F4A7C15) >> (64 - bits);
}

/* Part of one line of writable memory. */
static int read_line_of(struct outside_memory *m, const struct space_range *r,
			uint64_t addr, void *buf, size_t n)
{
	uint64_t line = addr & -(uint64_t)LINE;
	uint64_t key = space_key(m->space, r, line);
	struct memory_seen *s = &m->seen[slot(key / LINE, SEEN_BITS)];
	uint8_t bytes[LINE];
	uint64_t now;

	if (memory_peek(m->space->pid, line, bytes, LINE))
		return -EFAULT;
	now = outside_now();
	if (s->key != key || memcmp(s->bytes, bytes, LINE)) {
		s->key = key;
		s->since = now;
		memcpy(s->bytes, bytes, LINE);
	}
	if (m->interrupt < s->since + SETTLED_NS) {
		m->racy = true;
		return -EFAULT;
	}
	m->verified = true;
	memcpy(buf, bytes + (addr - line), n);
	return 0;
}

/* Part of one page of code that the process cannot write to. */
static int read_code(struct outside_memory *m, uint64_t addr, void *buf,
		     size_t n)
{
	uint64_t page = addr & -(uint64_t)PAGE;
	struct memory_code *c =
		&m->code[slot(page / PAGE + m->space->number, CODE_BITS)];

	if (c->page != page || c->space != m->space->number + 1) {
		c->space = 0;
		if (memory_peek(m->space->pid, page, c->bytes, PAGE))
			return -EFAULT;
		c->page = page;
		c->space = m->space->number + 1;
	}
	memcpy(buf, c->bytes + (addr - page), n);
	return 0;
}

/* Copy those of the @n bytes at @addr that @c begins with. Returns how many. */
static size_t take_copy(const struct memory_copy *c, uint64_t addr, void *buf,
			size_t n)
{
	uint64_t from = addr - c->at;

	if (addr < c->at || from >= c->n)
		return 0;
	n = c->n - from < n ? c->n - from : n;
	memcpy(buf, c->bytes + from, n);
	return n;
}

static int read_part(struct outside_memory *m, uint64_t addr, void *buf,
		     size_t n)
{
	const struct space_range *r;

	if (take_copy(&m->stack, addr, buf, n) == n)
		return 0;
	r = space_at(m->space, addr);
	if (!r)
		return -EFAULT;
	/* A JIT compiler may write code, but seldom what runs. */
	if (r->prot & PROT_EXEC && r->file && !(r->prot & PROT_WRITE))
		return read_code(m, addr, buf, n);
	if (r->prot & PROT_EXEC || !(r->prot & PROT_WRITE))
		return memory_peek(m->space->pid, addr, buf, n);
	return read_line_of(m, r, addr, buf, n);
}

/* Memory further out on the stack, as it is now. */
static int read_beyond(struct outside_memory *m, uint64_t addr, void *buf,
		       size_t n)
{
	size_t tail = m->stack.n < STACK_TAIL ? m->stack.n : STACK_TAIL;
	size_t from = m->stack.n - tail;
	uint8_t now[STACK_TAIL];

	if (!tail || memory_peek(m->space->pid, addr, buf, n) ||
	    memory_peek(m->space->pid, m->stack.at + from, now, tail) ||
	    memcmp(now, m->stack.bytes + from, tail))
		return -EFAULT;
	return 0;
}

/* For frames: a part that does not cross pages. */
static int read_frame(struct outside_memory *m, uint64_t addr, void *buf,
		      size_t n)
{
	const struct space_range *r = space_at(m->space, addr);

	/* What calls ahead of the interrupt push there, the interpreter has. */
	if (m->stack.n && addr < m->stack.at && m->stack.at - addr <= BELOW)
		return memory_peek(m->space->pid, addr, buf, n);
	if (r && r->prot & PROT_WRITE)
		return read_beyond(m, addr, buf, n);
	if (r && r->file)
		return read_code(m, addr, buf, n);
	return memory_peek(m->space->pid, addr, buf, n);
}

static int read_frames(struct outside_memory *m, uint64_t addr, uint8_t *to,
		       size_t n)
{
	while (n) {
		size_t part = take_copy(&m->stack, addr, to, n);

		if (!part)
			part = take_copy(&m->index, addr, to, n);
		if (!part) {
			part = PAGE - addr % PAGE;
			part = part < n ? part : n;
			if (addr < m->stack.at && m->stack.at - addr < part)
				part = m->stack.at - addr;
			if (read_frame(m, addr, to, part))
				return -EFAULT;
		}
		addr += part;
		to += part;
		n -= part;
	}
	return 0;
}

/* In parts that do not cross lines; so none crosses pages or mappings. */
static int read_memory(void *ctx, uint64_t addr, void *buf, size_t n)
{
	struct outside_memory *m = ctx;
	uint8_t *to = buf;

	if (m->walking)
		return read_frames(m, addr, to, n);
	while (n) {
		size_t part = LINE - addr % LINE;
		int err;

		part = part < n ? part : n;
		err = read_part(m, addr, to, part);
		if (err)
			return -EFAULT;
		addr += part;
		to += part;
		n -= part;
	}
	return 0;
}

struct memory memory_at(struct outside_memory *m, const struct space *space,
			uint64_t interrupt)
{
	m->space = space;
	m->interrupt = interrupt;
	m->verified = m->racy = false;
	return (struct memory){ .read = read_memory, .ctx = m };
}

void memory_forget_code(struct outside_memory *m, const struct space *space)
{
	for (size_t i = 0; i < 1u << CODE_BITS; i++)
		if (m->code[i].space == space->number + 1)
			m->code[i].space = 0;
}
