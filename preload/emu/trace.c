/* SPDX-License-Identifier: MIT */
/*
 * trace - write what each thread executes to a .trace file
 */
#include <errno.h>
#include <string.h>

#include "trace.h"
#include "say.h"
#include "scheduler.h"
#include "trace_blocks.h"
#include "trace_file.h"
#include "src/base/zero_pages.h"
#include "src/trace/trace_format.h"

enum {
	TOKENS_MAX = 3 * TRACE_NUMBER_BYTES, /* bytes that one call writes */
	KINDS = 2,                           /* loads and stores */
	INSNS_OF_TURN = 4, /* they count as an access does in a turn */
};

struct trace_thread {
	unsigned char *at, *end; /* of the buffer; end leaves room */
	bool on;                 /* what it executes is traced: it is */
	bool inside;             /* in the region of interest, */
	bool silent;             /* and not in a function for which the trace
				    has an event */
	uint32_t block, index;   /* of the latest access */
	const struct trace_block *now; /* the block that was put last */
	uint64_t executed;             /* instructions, with those outside */
	uint64_t in_chunk, in_all;     /* instructions in the trace */
	uint32_t id;
	uint32_t turn_rest; /* instructions that the turn does not count yet */
	uint32_t *next;     /* by block: the one that followed last */
	uint64_t *last;     /* by instruction and kind: the latest address */
	unsigned char buffer[TRACE_CHUNK_BYTES];
};

enum {
	NEXT_BYTES = TRACE_BLOCKS_MAX * sizeof(uint32_t),
	LAST_BYTES = TRACE_SITES_MAX * KINDS * sizeof(uint64_t),
};

/*
 * The region of interest. Addresses count if they are set, otherwise numbers of
 * instructions.
 */
static uint64_t begin_ip, end_ip;

static void flush(struct trace_thread *t)
{
	uint32_t bytes = (uint32_t)(t->at - t->buffer);

	emu_trace_blocks_flush();
	if (bytes)
		emu_trace_file_thread(t->id, t->buffer, bytes, t->in_chunk);
	t->at = t->buffer;
	t->in_chunk = 0;
}

static inline unsigned char *room(struct trace_thread *t)
{
	if (__builtin_expect(t->at > t->end, 0))
		flush(t);
	return t->at;
}

static inline void put_block(struct trace_thread *t,
			     const struct trace_block *b)
{
	uint32_t number = b->number, insns = b->insns;
	unsigned char *to = room(t);
	int64_t ahead = (int64_t)number - t->next[t->block];

	t->next[t->block] = number;
	t->block = number;
	t->now = b;
	t->index = 0;
	t->in_chunk += insns;
	t->in_all += insns;
	t->at = trace_put(to, trace_zigzag(ahead) << TRACE_TOKEN_BITS |
				      TRACE_BLOCK);
}

/* Where the region begins or ends; false if the block is outside. */
static bool cross(struct trace_thread *t, const struct trace_block *b)
{
	const struct emu_config *c = &emu.config;

	if (c->roi == EMU_ROI_COUNT)
		t->inside =
			t->executed >= c->roi_begin && t->executed < c->roi_end;
	else if (b->ip == begin_ip)
		t->inside = true;
	else if (b->ip == end_ip)
		t->inside = false;
	t->on = t->inside;
	return t->on;
}

/*
 * Threads progress evenly also where they access little memory: otherwise they
 * would hardly ever wait for each other as they do on a machine.
 */
static inline void count_turn(struct vcpu *v, struct trace_thread *t,
			      uint32_t insns)
{
	t->turn_rest += insns;
	v->turn -= t->turn_rest / INSNS_OF_TURN;
	t->turn_rest %= INSNS_OF_TURN;
	if (__builtin_expect(v->turn < 0 && v->tid, 0))
		emu_scheduler_end(v);
}

static void on_block(unsigned int index, void *data)
{
	const struct trace_block *b = data;
	struct trace_thread *t;

	if (__builtin_expect(index >= EMU_VCPUS_MAX, 0))
		return;
	t = emu.vcpu[index].trace;
	if (__builtin_expect(!t, 0))
		return;
	count_turn(&emu.vcpu[index], t, b->insns);
	/* The program may have ended while the thread waited for its turn. */
	t = emu.vcpu[index].trace;
	if (__builtin_expect(!t || t->silent, 0))
		return;
	if (b->border && !cross(t, b)) {
		t->executed += b->insns;
		return;
	}
	t->executed += b->insns;
	if (t->on)
		put_block(t, b);
}

void emu_trace_access(struct vcpu *v, unsigned int class, uint64_t addr,
		      const struct trace_site *site)
{
	bool store = class & EMU_CLASS_STORE;
	struct trace_thread *t = v->trace;
	unsigned char *to;
	uint64_t *last;

	if (!t || !t->on)
		return;
	/* The thread may have been outside when this block began. */
	if (!t->now || (size_t)(site - t->now->site) >= t->now->insns)
		return;
	to = room(t);
	last = &t->last[(size_t)site->number * KINDS + store];
	to = trace_put(to, (uint64_t)(site->index - t->index)
					   << TRACE_TOKEN_BITS |
				   (store ? TRACE_STORE : TRACE_LOAD));
	t->index = site->index;
	t->at = trace_put(to, trace_zigzag((int64_t)(addr - *last)));
	*last = addr;
}

void emu_trace_start(struct vcpu *v)
{
	struct trace_thread *t = zero_pages(sizeof(*t));

	if (!t)
		return;
	t->next = zero_pages(NEXT_BYTES);
	t->last = zero_pages(LAST_BYTES);
	if (!t->next || !t->last) {
		emu_say("thread %u is not in the trace: no memory",
			v->record->id);
		return;
	}
	t->at = t->buffer;
	t->end = t->buffer + sizeof(t->buffer) - TOKENS_MAX;
	t->inside = t->on = !emu.config.roi;
	t->id = v->record->id;
	v->trace = t;
}

void emu_trace_event(struct vcpu *v, enum trace_event_kind kind,
		     uint64_t object, uint64_t argument)
{
	struct trace_thread *t = v->trace;
	uint64_t value = (uint64_t)kind;
	unsigned char *to;

	if (!t)
		return;
	if (!t->inside)
		value |= TRACE_OUTSIDE;
	to = trace_put(room(t), value << TRACE_TOKEN_BITS | TRACE_EVENT);
	t->at = trace_put(trace_put(to, object), argument);
}

void emu_trace_create(struct vcpu *v, struct vcpu *child)
{
	if (!v->trace || !child->trace)
		return;
	emu_trace_event(v, TRACE_CREATE, child->record->id, 0);
	emu_trace_event(child, TRACE_BEGIN, v->record->id, 0);
	emu_trace_waits(child); /* before the event in @v's stream is sent */
}

void emu_trace_waits(struct vcpu *v)
{
	if (emu.config.pipe && v->trace)
		flush(v->trace);
}

void emu_trace_silence(struct vcpu *v, bool silent)
{
	struct trace_thread *t = v->trace;

	t->silent = silent;
	t->on = t->inside && !silent;
}

bool emu_trace_is_silent(const struct vcpu *v)
{
	return v->trace && v->trace->silent;
}

void emu_trace_end(struct vcpu *v)
{
	struct trace_thread *t = v->trace;

	if (!t)
		return;
	v->trace = NULL;
	flush(t);
	if (t->in_all)
		emu_trace_file_ended(t->id, t->in_all);
	munmap(t->next, NEXT_BYTES);
	munmap(t->last, LAST_BYTES);
	munmap(t, sizeof(*t));
}

void emu_trace_translate(struct qemu_plugin_tb *tb,
			 qemu_plugin_mem_cb on_access)
{
	struct trace_block *b = emu_trace_block(tb);

	if (!b) /* the tables are full; emu_trace_block said so */
		return;
	b->border = emu.config.roi == EMU_ROI_COUNT ||
		    (emu.config.roi && (b->ip == begin_ip || b->ip == end_ip));
	qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block,
					     QEMU_PLUGIN_CB_NO_REGS, b);
	for (size_t i = 0; i < b->insns; i++)
		qemu_plugin_register_vcpu_mem_cb(
			qemu_plugin_tb_get_insn(tb, i), on_access,
			QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW,
			&b->site[i]);
}

int emu_trace_open(void)
{
	if (emu.config.roi == EMU_ROI_ADDRESS) {
		begin_ip = emu.config.roi_begin;
		end_ip = emu.config.roi_end;
	} else if (emu.config.roi == EMU_ROI_OFFSET) {
		begin_ip = emu.config.roi_begin + qemu_plugin_start_code();
		end_ip = emu.config.roi_end + qemu_plugin_start_code();
	}
	return emu_trace_file_open();
}

void emu_trace_finish(void)
{
	for (unsigned int i = 0; i < EMU_VCPUS_MAX; i++)
		emu_trace_end(&emu.vcpu[i]);
	emu_trace_file_finish();
}

void emu_trace_forget(void)
{
	for (unsigned int i = 0; i < EMU_VCPUS_MAX; i++)
		emu.vcpu[i].trace = NULL;
	emu_trace_blocks_forget();
	emu_trace_file_forget();
}
