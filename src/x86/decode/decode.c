/* SPDX-License-Identifier: MIT */
/*
 * decode - cached and uncached decoding
 *
 * The cache is direct-mapped memory of its own. Each slot is a sequence lock,
 * whose sequence is odd while a thread writes. A reader copies the slot and
 * keeps the copy only if the sequence was even before and is the same
 * afterwards. A writer that finds the sequence odd, or loses the race to make
 * it odd, gives up, and the instruction is decoded again next time. No thread
 * waits, so a handler may interrupt any of this. If a thread dies while it
 * writes, the cache has one slot less.
 *
 *                 slot_read        slot_write
 * slot_read       independent      reader misses
 * slot_write      reader misses    loser drops
 *
 * The words of a slot are loaded with acquire and stored with release order,
 * which costs nothing on x86-64 and needs no fence:
 * (A) A reader that sees a word of a writer also sees that writer's odd
 *     sequence when it loads the sequence again (B), and drops the copy.
 * (C) The even sequence is stored after all words, so a reader that starts
 *     with it (D) sees all of them.
 *
 * A copy is also stale if the code at its address has changed. So its bytes
 * are compared with memory on every use.
 */
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "convert.h"
#include "decode.h"
#include "src/base/rawcall.h"
#include "src/base/signal_safe.h"

enum {
	CACHE_SLOTS = 16384,
	LINE_BYTES = 64,
	LINE_SLOTS = LINE_BYTES / 2,
	CODE_LINES = CACHE_SLOTS / LINE_SLOTS,
	INSN_WORDS = sizeof(struct insn) / sizeof(uint64_t),
};

_Static_assert(sizeof(struct insn) % sizeof(uint64_t) == 0,
	       "a slot is copied by words");

struct slot {
	_Atomic uint64_t ip; /* repeated here to detect a miss early */
	_Atomic uint32_t sequence;
	/*
	 * Distance to the instruction that was decoded DECODE_AHEAD later, 0
	 * if not known. Slots are cold when a sample comes and a window needs
	 * about a hundred, so each one names a later one to prefetch.
	 */
	_Atomic int32_t ahead;
	_Atomic uint64_t word[INSN_WORDS];
} __attribute__((aligned(128)));

static _Atomic(struct slot *) cache; /* NULL: not yet, or there is no room */
static _Atomic bool no_room;

/*
 * The cache is shared memory, which a limit on data (ulimit -d) does not count.
 * So a forked child goes on with its parent's, which is as good: what is found
 * there is compared with memory.
 */
static struct slot *map_cache(void)
{
	const size_t bytes = CACHE_SLOTS * sizeof(struct slot);
	struct slot *mine, *first = NULL;
	long at;

	if (atomic_load_explicit(&no_room, memory_order_relaxed))
		return NULL;
	at = rawcall6(SYS_mmap, 0, (long)bytes, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (at < 0 && at > -4096) {
		atomic_store(&no_room, true);
		return NULL;
	}
	mine = (struct slot *)at;
	if (atomic_compare_exchange_strong(&cache, &first, mine))
		return mine;
	rawcall2(SYS_munmap, at, bytes); /* another thread was faster */
	return first;
}

/*
 * A line of code has a page of slots, one for each two of its bytes. A window
 * then touches few pages: between two samples the program replaces all of the
 * processor's translations, and each one costs more than a cache miss.
 */
static struct slot *first_slot(uint64_t ip)
{
	uint64_t line = (ip / LINE_BYTES * 0x9e3779b97f4a7c15u) >> 55;
	struct slot *all = atomic_load_explicit(&cache, memory_order_relaxed);

	if (!all)
		all = map_cache();
	return !all ? NULL : &all[line * LINE_SLOTS + ip % LINE_BYTES / 2];
}

_Static_assert(CODE_LINES == 1 << (64 - 55), "first_slot takes the top bits");

/*
 * Of two instructions that would share a slot, such as two pushes, the one that
 * came later is half a page away.
 */
static struct slot *slot_of(uint64_t ip)
{
	struct slot *s = first_slot(ip);

	if (s && atomic_load_explicit(&s->ip, memory_order_relaxed) == (ip ^ 1))
		s = first_slot(ip ^ LINE_BYTES / 2);
	return s;
}

static void fetch_ahead(const struct slot *s, uint64_t ip)
{
	int32_t ahead = atomic_load_explicit(&s->ahead, memory_order_relaxed);
	const struct slot *later;

	if (ahead) {
		later = first_slot(ip + (uint64_t)(int64_t)ahead);
		__builtin_prefetch(later);
		__builtin_prefetch((const char *)later + LINE_BYTES);
	}
}

void decode_learn_ahead(uint64_t ip, uint64_t later)
{
	struct slot *s = slot_of(ip);
	int64_t ahead = (int64_t)(later - ip);

	if (!s || ahead != (int32_t)ahead ||
	    atomic_load_explicit(&s->ip, memory_order_relaxed) != ip ||
	    atomic_load_explicit(&s->ahead, memory_order_relaxed) == ahead)
		return;
	atomic_store_explicit(&s->ahead, (int32_t)ahead, memory_order_relaxed);
}

static bool slot_read(struct slot *s, uint64_t ip, struct insn *out)
{
	uint32_t before, after;
	uint64_t word;

	if (atomic_load_explicit(&s->ip, memory_order_relaxed) != ip)
		return false;
	before = atomic_load_explicit(&s->sequence,
				      memory_order_acquire); /* D */
	if (before & 1)
		return false;
	for (size_t i = 0; i < INSN_WORDS; i++) {
		word = atomic_load_explicit(&s->word[i],
					    memory_order_acquire); /* A */
		memcpy((char *)out + i * sizeof(word), &word, sizeof(word));
	}
	after = atomic_load_explicit(&s->sequence,
				     memory_order_relaxed); /* B */
	return before == after && out->ip == ip && out->len;
}

static void slot_write(struct slot *s, const struct insn *insn)
{
	uint32_t sequence =
		atomic_load_explicit(&s->sequence, memory_order_relaxed);
	uint64_t word;

	if (sequence & 1 || !atomic_compare_exchange_strong_explicit(
				    &s->sequence, &sequence, sequence + 1,
				    memory_order_acquire, memory_order_relaxed))
		return;
	for (size_t i = 0; i < INSN_WORDS; i++) {
		memcpy(&word, (const char *)insn + i * sizeof(word),
		       sizeof(word));
		atomic_store_explicit(&s->word[i], word,
				      memory_order_release); /* A */
	}
	atomic_store_explicit(&s->ip, insn->ip, memory_order_relaxed);
	atomic_store_explicit(&s->sequence, sequence + 2,
			      memory_order_release); /* C */
}

typedef uint64_t code_word __attribute__((may_alias, aligned(1)));

__attribute__((no_sanitize("thread", "address"))) static bool same_direct(
	const struct memory *mem, const struct insn *insn)
{
	const volatile code_word *code = (const volatile code_word *)insn->ip;
	const code_word *mine = (const code_word *)insn->bytes;
	const volatile uint8_t *tail;
	unsigned unused = 8 * (8 - insn->len % 8);

	if (!memory_is_direct(mem, insn->ip, 16)) {
		tail = (const volatile uint8_t *)insn->ip;
		for (size_t i = 0; i < insn->len; i++)
			if (tail[i] != insn->bytes[i])
				return false;
		return true;
	}
	if (insn->len < 8)
		return (code[0] ^ mine[0]) << unused == 0;
	return code[0] == mine[0] &&
	       (insn->len == 8 || (code[1] ^ mine[1]) << unused == 0);
}

/* Read one cache line at a time: the next one may be unmapped. */
static size_t read_code(const struct memory *mem, uint64_t ip, uint8_t *buf,
			size_t want)
{
	size_t got = 0, n;

	while (got < want) {
		n = LINE_BYTES - (ip + got) % LINE_BYTES;
		if (n > want - got)
			n = want - got;
		if (memory_is_direct(mem, ip + got, n))
			memory_copy_direct(buf + got, ip + got, n);
		else if (!mem->read ||
			 mem->read(mem->ctx, ip + got, buf + got, n))
			break;
		got += n;
	}
	return got;
}

bool decode_unchanged(const struct memory *mem, const struct insn *insn)
{
	uint8_t now[INSN_BYTES_MAX];

	if (memory_is_direct(mem, insn->ip, insn->len))
		return same_direct(mem, insn);
	return read_code(mem, insn->ip, now, insn->len) == insn->len &&
	       !memcmp(now, insn->bytes, insn->len);
}

static int error_of(ZyanStatus status)
{
	if (status == ZYDIS_STATUS_NO_MORE_DATA)
		return -ENODATA;
	return ZYAN_SUCCESS(status) ? 0 : -EILSEQ;
}

/* All but the operands. */
static int decode_head(ZydisDecoder *decoder, ZydisDecoderContext *context,
		       const void *code, size_t n, ZydisDecodedInstruction *z)
{
	ZydisDecoderInit(decoder, ZYDIS_MACHINE_MODE_LONG_64,
			 ZYDIS_STACK_WIDTH_64);
	return error_of(ZydisDecoderDecodeInstruction(
		decoder, context, code, n < INSN_BYTES_MAX ? n : INSN_BYTES_MAX,
		z));
}

int decode_shape(const void *code, size_t n, uint64_t ip,
		 struct insn_shape *out)
{
	ZydisDecoder decoder;
	ZydisDecodedInstruction z;
	int err = decode_head(&decoder, NULL, code, n, &z);

	if (!err)
		convert_shape(&z, ip, out);
	return err;
}

int decode_bytes(const void *code, size_t n, uint64_t ip, struct insn *out)
{
	ZydisDecoder decoder;
	ZydisDecoderContext context;
	ZydisDecodedInstruction z;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	int err = decode_head(&decoder, &context, code, n, &z);

	if (!err)
		err = error_of(ZydisDecoderDecodeOperands(
			&decoder, &context, &z, operands, z.operand_count));
	if (err)
		return err;
	memset(out, 0, sizeof(*out));
	out->ip = ip;
	memcpy(out->bytes, code, z.length);
	decode_convert(&z, operands, out);
	return 0;
}

const struct insn *decode_at(const struct memory *mem, uint64_t ip,
			     struct insn *scratch, int *error)
{
	struct slot *s = slot_of(ip);
	uint8_t code[INSN_BYTES_MAX];
	size_t got, first = LINE_BYTES - ip % LINE_BYTES;
	int err;

	if (s) {
		fetch_ahead(s, ip);
		if (slot_read(s, ip, scratch) && decode_unchanged(mem, scratch))
			return scratch;
	}

	if (first > INSN_BYTES_MAX)
		first = INSN_BYTES_MAX;
	got = read_code(mem, ip, code, first);
	if (!got) {
		*error = -EFAULT;
		return NULL;
	}
	err = decode_bytes(code, got, ip, scratch);
	if (err == -ENODATA && got == first && got < INSN_BYTES_MAX) {
		got += read_code(mem, ip + got, code + got,
				 INSN_BYTES_MAX - got);
		err = decode_bytes(code, got, ip, scratch);
	}
	if (err) {
		*error = err == -ENODATA && got < INSN_BYTES_MAX ? -EFAULT
								 : -EILSEQ;
		return NULL;
	}
	if (s)
		slot_write(s, scratch);
	return scratch;
}

uint32_t decode_length_before(const struct memory *mem, uint64_t ip)
{
	uint32_t found = 0;
	struct insn insn;

	for (uint32_t len = 1; len <= INSN_BYTES_MAX; len++) {
		struct slot *s = slot_of(ip - len);

		if (!s || !slot_read(s, ip - len, &insn) || insn.len != len ||
		    !decode_unchanged(mem, &insn))
			continue;
		if (found)
			return 0;
		found = len;
	}
	return found;
}
