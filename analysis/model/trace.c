/* SPDX-License-Identifier: MIT */
/*
 * trace - what the threads of a program executed, read from a .trace file
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "trace.h"
#include "analysis/base/util.h"
#include "src/store/outdir.h"

static int fail_in(char *error, uint64_t offset, const char *why)
{
	snprintf(error, TRACE_ERROR_BYTES, "chunk at offset %llu: %s",
		 (unsigned long long)offset, why);
	return -EINVAL;
}

/* Count @insn, the next of @b. */
static void add_insn(struct trace_block *b, struct trace_insn *insn)
{
	const struct uop_insn *d = &insn->decoded;

	for (int i = 0; i < d->uops; i++) {
		uint8_t flags = d->uop[i].flags;

		insn->flags |= flags;
		b->loads += !!(flags & UOP_IS_LOAD);
		b->stores += !!(flags & UOP_IS_STORE);
	}
	b->uops += d->uops;
	b->plain &= d->known && !b->branch;
	b->branch = insn->flags & UOP_IS_BRANCH;
	b->jump = !strcmp(d->mnemonic, "jmp");
	b->last = insn->ip;
}

/* Read one block's description; NULL if it is damaged. */
static const unsigned char *take_block(struct trace *t, const unsigned char *at,
				       const unsigned char *end)
{
	struct trace_block b = { .first = (uint32_t)t->insns, .plain = true };
	uint64_t n, ip;

	at = trace_get(at, end, &n);
	at = at ? trace_get(at, end, &ip) : NULL;
	if (!at || !n || n > TRACE_INSNS_MAX ||
	    t->insns + n > TRACE_SITES_MAX || t->blocks == TRACE_BLOCKS_MAX)
		return NULL;
	b.ip = ip;
	b.insns = (uint32_t)n;
	for (uint64_t i = 0; i < n; i++) {
		struct trace_insn insn = { .ip = ip };

		if (at == end || !*at || *at > TRACE_INSN_BYTES ||
		    end - at - 1 < *at)
			return NULL;
		insn.bytes = *at++;
		uop_decode(at, insn.bytes, &insn.decoded);
		at += insn.bytes;
		ip += insn.bytes;
		add_insn(&b, &insn);
		t->insn = grow(t->insn, t->insns, &t->insns_room,
			       sizeof(*t->insn));
		t->insn[t->insns++] = insn;
	}
	b.end = ip;
	t->block =
		grow(t->block, t->blocks, &t->blocks_room, sizeof(*t->block));
	t->block[t->blocks++] = b;
	return at;
}

bool trace_add_blocks(struct trace *t, const unsigned char *content,
		      size_t bytes)
{
	const unsigned char *at = content, *end = at + bytes;

	while (at && at < end)
		at = take_block(t, at, end);
	return at;
}

static int take_blocks(struct trace *t, size_t chunk, char *error)
{
	const struct trace_place *p = &t->file.place[chunk];
	unsigned char *content = xcalloc(1, TRACE_CHUNK_BYTES);
	int err = trace_chunks_read(&t->file, chunk, content, error);
	bool good = err || trace_add_blocks(t, content, p->chunk.bytes);

	free(content);
	if (!good)
		err = fail_in(error, p->offset, "a damaged block");
	return err;
}

static void take_thread(struct trace *t, size_t chunk)
{
	const struct trace_chunk *h = &t->file.place[chunk].chunk;
	struct trace_thread *thread;
	size_t i = 0;

	while (i < t->threads && t->thread[i].id != h->thread)
		i++;
	if (i == t->threads) {
		t->thread = grow(t->thread, t->threads, &t->threads_room,
				 sizeof(*t->thread));
		t->thread[t->threads++] =
			(struct trace_thread){ .id = h->thread };
	}
	thread = &t->thread[i];
	thread->chunk = grow(thread->chunk, thread->chunks, &thread->room,
			     sizeof(*thread->chunk));
	thread->chunk[thread->chunks++] = chunk;
	thread->instructions = sat_add(thread->instructions, h->instructions);
}

static int by_id(const void *x, const void *y)
{
	const struct trace_thread *a = x, *b = y;

	return (a->id > b->id) - (a->id < b->id);
}

static bool is_trace(const char *name)
{
	size_t n = strlen(name), m = strlen(OUTDIR_TRACE);

	return n > m && !strcmp(name + n - m, OUTDIR_TRACE);
}

/* The only trace in the directory @path, malloc'ed; NULL with @error set. */
static char *find_in(const char *path, char *error)
{
	DIR *dir = opendir(path);
	char *found = NULL;
	struct dirent *e;
	int n = 0;

	while (dir && (e = readdir(dir)))
		if (is_trace(e->d_name) && !n++)
			found = xasprintf("%s/%s", path, e->d_name);
	if (dir)
		closedir(dir);
	if (n == 1)
		return found;
	snprintf(error, TRACE_ERROR_BYTES,
		 n ? "has %d traces; name one of them"
		   : "holds no trace; record one with -s emu -m trace",
		 n);
	free(found);
	return NULL;
}

static int read_chunks(struct trace *t, char *error)
{
	int err = 0;

	for (size_t i = 0; i < t->file.places && !err; i++)
		if (t->file.place[i].chunk.kind == TRACE_BLOCKS)
			err = take_blocks(t, i, error);
	for (size_t i = 0; i < t->file.places && !err; i++) {
		if (t->file.place[i].chunk.kind == TRACE_THREAD)
			take_thread(t, i);
		t->complete |= t->file.place[i].chunk.kind == TRACE_END;
	}
	if (err)
		return err;
	if (!t->threads) {
		snprintf(error, TRACE_ERROR_BYTES,
			 "holds no instructions; did the program reach the "
			 "region of interest?");
		return -EINVAL;
	}
	qsort(t->thread, t->threads, sizeof(*t->thread), by_id);
	if (!t->complete)
		t->warning = TRACE_CUT_SHORT;
	return 0;
}

int trace_open(struct trace *t, const char *path, char error[TRACE_ERROR_BYTES])
{
	struct stat st;
	int err;

	memset(t, 0, sizeof(*t));
	if (!stat(path, &st) && S_ISDIR(st.st_mode)) {
		t->path = find_in(path, error);
		if (!t->path)
			return -EINVAL;
	} else {
		t->path = xstrdup(path);
	}
	err = trace_chunks_open(&t->file, t->path, error);
	if (!err)
		err = read_chunks(t, error);
	if (err)
		trace_close(t);
	return err;
}

size_t trace_working(const struct trace *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->threads; i++)
		n += t->thread[i].instructions > 0;
	return n;
}

void trace_close(struct trace *t)
{
	while (t->threads)
		free(t->thread[--t->threads].chunk);
	free(t->insn);
	free(t->block);
	free(t->thread);
	free(t->path);
	trace_chunks_close(&t->file);
	memset(t, 0, sizeof(*t));
}

uint64_t trace_instructions(const struct trace *t)
{
	uint64_t n = 0;

	for (size_t i = 0; i < t->threads; i++)
		n += t->thread[i].instructions;
	return n;
}
