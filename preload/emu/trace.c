/* SPDX-License-Identifier: MIT */
/*
 * trace - write what each thread executes to a .trace file
 */
#include <errno.h>
#include <string.h>

#include "trace.h"
#include "quick.h"
#include "say.h"
#include "scheduler.h"
#include "trace_blocks.h"
#include "trace_file.h"
#include "trace_thread.h"
#include "src/base/zero_pages.h"
#include "src/trace/trace_format.h"

enum {
	TOKENS_MAX = 3 * TRACE_NUMBER_BYTES, /* bytes that one call writes */
	NEXT_BYTES = TRACE_BLOCKS_MAX * sizeof(uint32_t),
	LAST_BYTES = TRACE_SITES_MAX * TRACE_KINDS * sizeof(uint64_t),
};

/*
 * The region of interest. Addresses count if they are set, otherwise numbers of
 * instructions.
 */
static uint64_t begin_ip, end_ip;

static inline unsigned char *room(struct trace_thread *t)
{
	if (trace_thread_is_full(t))
		emu_trace_flush(t);
	return t->at;
}

/* Call it with room. */
static inline void put_block(struct trace_thread *t,
			     const struct trace_block *b)
{
	uint32_t number = b->number, insns = b->insns;
	int64_t ahead = (int64_t)number - *t->follows;

	*t->follows = number;
	t->follows = &t->next[number];
	t->sites = b->site;
	t->last = &t->addresses[(size_t)b->first * TRACE_KINDS];
	t->insns = insns;
	t->index = 0;
	t->in_chunk += insns;
	t->at = trace_thread_put(
		t->at, trace_zigzag(ahead) << TRACE_TOKEN_BITS | TRACE_BLOCK);
}

/* After a change of where the thread is. */
static void find_quick(struct vcpu *v)
{
	struct trace_thread *t = v->trace;

	emu_quick_settle(v);
	v->quick = t && t->on && t->quick.on ? &t->quick : NULL;
}

/* Where the region begins or ends. */
static void cross(struct trace_thread *t, const struct trace_block *b)
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
}

/* @b counts in a part, which may end before it. */
static void count_in_part(struct trace_thread *t, const struct trace_block *b)
{
	struct quick_thread *q = &t->quick;

	q->left -= b->insns;
	if (q->left >= 0)
		return;
	q->left += b->insns;
	emu_quick_change(t, b->ip);
	if (q->on)
		q->told += b->insns;
}

/*
 * What is rare at a block: the end of a turn, a border of the region, a full
 * buffer, the end of a part.
 */
static __attribute__((noinline)) void take_rare_block(
	struct vcpu *v, const struct trace_block *b)
{
	struct trace_thread *t;

	if (v->turn < 0 && v->tid)
		emu_scheduler_end(v);
	/* The program may have ended while the thread waited for its turn. */
	t = v->trace;
	if (!t || t->silent)
		return;
	if (b->border)
		cross(t, b);
	t->executed += b->insns;
	if (t->on && emu.config.quick)
		count_in_part(t, b);
	find_quick(v);
	if (!t->on)
		return;
	if (t->quick.on) {
		emu_quick_fetch(t, b);
		return;
	}
	room(t);
	put_block(t, b);
}

/*
 * Instructions count in a turn, so that threads progress evenly also where they
 * access little memory: otherwise they would hardly ever wait for each other as
 * they do on a machine.
 */
static inline __attribute__((always_inline)) void take_block(
	struct vcpu *v, const struct trace_block *b, bool quick)
{
	struct trace_thread *t = v->trace;

	if (__builtin_expect(!t, 0))
		return;
	v->turn -= b->insns;
	if (__builtin_expect((v->turn < 0) | b->border, 0) ||
	    trace_thread_is_full(t) ||
	    (quick && (t->quick.on | (t->quick.left < b->insns)))) {
		take_rare_block(v, b);
	} else if (t->on) {
		if (quick)
			t->quick.left -= b->insns;
		put_block(t, b);
	}
}

static void on_block(unsigned int index, void *b)
{
	if (__builtin_expect(index < EMU_VCPUS_MAX, 1))
		take_block(&emu.vcpu[index], b, false);
}

/* For a trace that is whole in parts. */
static __attribute__((noinline)) void take_other_block(unsigned int index,
						       void *b)
{
	struct vcpu *v;

	if (index >= EMU_VCPUS_MAX)
		return;
	v = &emu.vcpu[index];
	emu_quick_settle(v);
	take_block(v, b, true);
	emu_quick_grant(v);
}

/* The same where nothing is to be done but to count, as mostly. */
static void on_block_quick(unsigned int index, void *data)
{
	const struct trace_block *b = data;
	struct quick_thread *q;
	int64_t budget;

	if (__builtin_expect(index >= EMU_VCPUS_MAX, 0))
		return;
	q = emu.vcpu[index].quick;
	if (__builtin_expect(!q, 0)) {
		take_other_block(index, data);
		return;
	}
	budget = q->budget - b->insns;
	if (__builtin_expect((budget < 0) | (q->code[b->place] != b->line) |
				     (q->code[b->last_place] != b->last),
			     0)) {
		take_other_block(index, data);
		return;
	}
	q->budget = budget;
}

void emu_trace_start(struct vcpu *v)
{
	struct trace_thread *t = zero_pages(sizeof(*t));

	if (!t)
		return;
	t->next = zero_pages(NEXT_BYTES);
	t->addresses = zero_pages(LAST_BYTES);
	if (!t->next || !t->addresses) {
		emu_say("thread %u is not in the trace: no memory",
			v->record->id);
		return;
	}
	t->follows = t->next;
	t->at = t->buffer;
	t->end = t->buffer + sizeof(t->buffer) - TOKENS_MAX;
	t->inside = t->on = !emu.config.roi;
	t->id = v->record->id;
	v->trace = t;
	if (emu.config.quick)
		emu_quick_start(v);
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
	emu_quick_settle(v);
	emu_quick_pass(t);
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
		emu_trace_flush(v->trace);
}

void emu_trace_silence(struct vcpu *v, bool silent)
{
	struct trace_thread *t = v->trace;

	t->silent = silent;
	t->on = t->inside && !silent;
	find_quick(v);
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
	emu_quick_settle(v);
	v->quick = NULL;
	v->trace = NULL;
	emu_quick_pass(t);
	emu_trace_flush(t);
	if (t->in_all)
		emu_trace_file_ended(t->id, t->in_all);
	munmap(t->next, NEXT_BYTES);
	munmap(t->addresses, LAST_BYTES);
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
	qemu_plugin_register_vcpu_tb_exec_cb(tb,
					     !emu.config.quick ? on_block
					     : b->border | b->long_code
						     ? take_other_block
						     : on_block_quick,
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
	if (emu.config.quick && emu_quick_open())
		return -ENOMEM;
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
	for (unsigned int i = 0; i < EMU_VCPUS_MAX; i++) {
		emu.vcpu[i].quick = NULL;
		emu.vcpu[i].trace = NULL;
	}
	emu_trace_blocks_forget();
	emu_trace_file_forget();
}
