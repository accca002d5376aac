/* SPDX-License-Identifier: MIT */
/*
 * trace_blocks - the blocks of instructions of a trace, each written once
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "trace_blocks.h"
#include "quick.h"
#include "say.h"
#include "trace_file.h"
#include "src/base/zero_pages.h"
#include "src/x86/decode/decode.h"
#include "src/trace/trace_format.h"

enum {
	HASH_SIZE = 1 << 16,
	TEXT_MAX = TRACE_INSNS_MAX * (TRACE_INSN_BYTES + 1) +
		   2 * TRACE_NUMBER_BYTES,
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct trace_block *table[HASH_SIZE];
static uint32_t blocks, sites;
static bool full;

static struct trace_block **made; /* by number */
static uint32_t written;          /* how many are in the file */

static uint64_t hash_of(const unsigned char *text, uint32_t bytes)
{
	uint64_t sum = UINT64_C(14695981039346656037);

	for (uint32_t i = 0; i < bytes; i++)
		sum = (sum ^ text[i]) * UINT64_C(1099511628211);
	return sum;
}

/*
 * How many instructions @tb has. If one that is not the first crosses a page,
 * QEMU 7.2 ends the block before it, but still lists it, with the bytes that it
 * had read: these are no whole instruction. It begins the next block.
 */
static size_t count_insns(const struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb);
	const struct qemu_plugin_insn *last;
	struct insn decoded;

	if (n < 2)
		return n;
	last = qemu_plugin_tb_get_insn(tb, n - 1);
	return n - (decode_bytes(qemu_plugin_insn_data(last),
				 qemu_plugin_insn_size(last),
				 qemu_plugin_insn_vaddr(last),
				 &decoded) == -ENODATA);
}

/* Describe @tb as the file does; returns how many bytes that takes. */
static uint32_t describe(const struct qemu_plugin_tb *tb, size_t n,
			 unsigned char *text)
{
	unsigned char *to = trace_put(text, n);

	to = trace_put(to,
		       qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, 0)));
	for (size_t i = 0; i < n; i++) {
		const struct qemu_plugin_insn *insn =
			qemu_plugin_tb_get_insn(tb, i);
		size_t bytes = qemu_plugin_insn_size(insn);

		if (bytes > TRACE_INSN_BYTES)
			bytes = TRACE_INSN_BYTES;
		*to++ = (unsigned char)bytes;
		memcpy(to, qemu_plugin_insn_data(insn), bytes);
		to += bytes;
	}
	return (uint32_t)(to - text);
}

static struct trace_block *make(const struct qemu_plugin_tb *tb, size_t n,
				const unsigned char *text, uint32_t bytes)
{
	struct trace_block *b;

	if (!made)
		made = zero_pages(TRACE_BLOCKS_MAX *
				  sizeof(struct trace_block *));
	if (!made || blocks == TRACE_BLOCKS_MAX || sites + n > TRACE_SITES_MAX)
		return NULL;
	b = calloc(1, sizeof(*b) + n * sizeof(b->site[0]) + bytes);
	if (!b)
		return NULL;
	b->text = (unsigned char *)&b->site[n];
	b->bytes = bytes;
	memcpy(b->text, text, bytes);
	b->insns = (uint32_t)n;
	b->number = blocks++;
	b->first = sites;
	sites += (uint32_t)n;
	for (size_t i = 0; i < n; i++)
		b->site[i].ip =
			qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, i));
	b->ip = b->site[0].ip;
	b->line = b->ip >> EMU_LINE_SHIFT;
	b->last = b->site[n - 1].ip >> EMU_LINE_SHIFT;
	b->place = quick_place(b->line);
	b->last_place = quick_place(b->last);
	b->long_code = b->last - b->line > 1;
	made[b->number] = b;
	return b;
}

struct trace_block *emu_trace_block(struct qemu_plugin_tb *tb)
{
	static unsigned char text[TEXT_MAX];
	size_t n = count_insns(tb);
	struct trace_block *b = NULL, **at;
	uint32_t bytes;
	uint64_t hash;

	if (!n || n > TRACE_INSNS_MAX)
		return NULL;
	pthread_mutex_lock(&lock);
	bytes = describe(tb, n, text);
	hash = hash_of(text, bytes);
	at = &table[hash % HASH_SIZE];
	for (b = *at; b; b = b->other)
		if (b->hash == hash && b->bytes == bytes &&
		    !memcmp(b->text, text, bytes))
			break;
	if (!b && !full) {
		b = make(tb, n, text, bytes);
		full = !b;
		if (full)
			emu_say("the trace lacks code: the program has more "
				"than a trace can hold");
	}
	if (b && !b->hash) {
		b->hash = hash;
		b->other = *at;
		*at = b;
	}
	pthread_mutex_unlock(&lock);
	return b;
}

void emu_trace_blocks_flush(void)
{
	static unsigned char chunk[TRACE_CHUNK_BYTES];
	uint32_t used = 0;

	pthread_mutex_lock(&lock);
	for (; written < blocks; written++) {
		const struct trace_block *b = made[written];

		if (used + b->bytes > sizeof(chunk)) {
			emu_trace_file_blocks(chunk, used);
			used = 0;
		}
		memcpy(chunk + used, b->text, b->bytes);
		used += b->bytes;
	}
	if (used)
		emu_trace_file_blocks(chunk, used);
	pthread_mutex_unlock(&lock);
}

/* Translations live on in the child, so the blocks keep their numbers. */
void emu_trace_blocks_forget(void)
{
	pthread_mutex_init(&lock, NULL);
	written = 0;
}
