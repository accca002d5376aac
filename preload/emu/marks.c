/* SPDX-License-Identifier: MIT */
/*
 * marks - the synchronization that the library in the guest tells of
 */
#include <pthread.h>
#include <stdatomic.h>

#include "marks.h"
#include "guest.h"
#include "marks_cond.h"
#include "marks_table.h"
#include "trace.h"
#include "src/trace/sync_marks.h"
#include "src/trace/trace_format.h"

enum {
	BARRIER_COUNT = 8, /* where a pthread_barrier_t has its count */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sync_mailbox *mailbox[EMU_VCPUS_MAX];
static uint64_t joins[EMU_VCPUS_MAX]; /* whose end, plus 1 */
static uint64_t code_begin, code_end, mark_ip;
static _Atomic uint64_t numbers;

uint64_t emu_marks_number(void)
{
	return ++numbers;
}

void emu_marks_call(struct vcpu *v, const uint64_t arg[6])
{
	size_t index = (size_t)(v - emu.vcpu);
	struct sync_mailbox m;

	if (!v->trace || !emu_guest_read(arg[0], &m, sizeof(m)))
		return;
	code_begin = arg[2];
	code_end = arg[3];
	mark_ip = arg[4];
	mailbox[index] = (struct sync_mailbox *)(arg[0] + emu.guest_base);
	mailbox[index]->active = 1;
	pthread_mutex_lock(&lock);
	marks_table_put(MARKS_THREAD, arg[1], (uint64_t)v->record->id + 1);
	pthread_mutex_unlock(&lock);
}

static uint32_t guest_word(uint64_t addr)
{
	uint32_t word = 0;

	emu_guest_read(addr, &word, sizeof(word));
	return word;
}

/* An event that lets others go on, which find its number by the object. */
static void release(struct vcpu *v, enum marks_value what, uint64_t object)
{
	uint64_t number = emu_marks_number();

	marks_table_put(what, object, number);
	emu_trace_event(v, TRACE_SET, object, number);
}

static void await(struct vcpu *v, enum marks_value what, uint64_t object)
{
	uint64_t number = marks_table_get(what, object);

	if (number)
		emu_trace_event(v, TRACE_AWAIT, object, number);
}

static void on_barrier(struct vcpu *v, const struct sync_mailbox *m)
{
	uint64_t n = m->argument;

	if (!n)
		n = marks_table_get(MARKS_MEMBERS, m->object);
	if (!n)
		n = guest_word(m->object + BARRIER_COUNT);
	if (n)
		emu_trace_event(v, TRACE_BARRIER, m->object, n);
}

static void on_woken(struct vcpu *v, const struct sync_mailbox *m)
{
	uint64_t number = marks_cond_end((unsigned int)(v - emu.vcpu));

	if (m->mark == MARK_COND_TIMEOUT)
		number = 0;
	emu_trace_event(v, TRACE_PAIR, number, 0);
	emu_trace_event(v, TRACE_COND_WAIT, m->object, m->argument);
}

static void on_signal(struct vcpu *v, const struct sync_mailbox *m)
{
	bool all = m->mark == MARK_BROADCAST;
	uint64_t number = emu_marks_number();

	if (!marks_cond_send(m->object, number, all))
		return; /* nobody waits */
	emu_trace_event(v, all ? TRACE_COND_BROADCAST : TRACE_COND_SIGNAL,
			m->object, number);
}

static void on_semaphore(struct vcpu *v, const struct sync_mailbox *m)
{
	uint64_t first = marks_table_get(MARKS_SEMAPHORE, m->object);

	switch ((enum sync_mark_kind)m->mark) {
	case MARK_SEM_INIT:
		marks_table_put(MARKS_SEMAPHORE, m->object, 1);
		emu_trace_event(v, TRACE_SEM_INIT, m->object, m->argument);
		break;
	case MARK_SEM_FIRST:
		if (!first)
			marks_table_put(MARKS_SEMAPHORE, m->object,
					(uint64_t)guest_word(m->object) + 2);
		break;
	default:
		emu_trace_event(v,
				m->mark == MARK_SEM_POST ? TRACE_SEM_POST
							 : TRACE_SEM_WAIT,
				m->object, first ? first - 1 : 0);
	}
}

static void on_join(struct vcpu *v, const struct sync_mailbox *m)
{
	uint64_t *joined = &joins[v - emu.vcpu];

	if (m->mark == MARK_JOIN_BEGIN)
		*joined = marks_table_get(MARKS_THREAD, m->object);
	/*
	 * Who reads from a pipe is told at once of a wait that only the other
	 * thread's end ends: it may last as long as the program.
	 */
	if (*joined && (m->mark == MARK_JOIN ||
			(m->argument == JOIN_WAITS && emu.config.pipe))) {
		emu_trace_event(v, TRACE_JOIN, *joined - 1, 0);
		*joined = 0;
	}
}

static void take(struct vcpu *v, const struct sync_mailbox *m)
{
	switch ((enum sync_mark_kind)m->mark) {
	case MARK_LOCK:
		emu_trace_event(v, TRACE_LOCK, m->object, 0);
		break;
	case MARK_READ_LOCK:
		emu_trace_event(v, TRACE_READ_LOCK, m->object, 0);
		break;
	case MARK_UNLOCK:
		emu_trace_event(v, TRACE_UNLOCK, m->object, 0);
		break;
	case MARK_BARRIER_INIT:
		marks_table_put(MARKS_MEMBERS, m->object, m->argument);
		break;
	case MARK_BARRIER:
		on_barrier(v, m);
		break;
	case MARK_COND_BEGIN:
		marks_cond_begin((unsigned int)(v - emu.vcpu), m->object);
		break;
	case MARK_COND_WOKEN:
	case MARK_COND_TIMEOUT:
		on_woken(v, m);
		break;
	case MARK_SIGNAL:
	case MARK_BROADCAST:
		on_signal(v, m);
		break;
	case MARK_SEM_INIT:
	case MARK_SEM_FIRST:
	case MARK_SEM_WAIT:
	case MARK_SEM_POST:
		on_semaphore(v, m);
		break;
	case MARK_ONCE_DONE:
		release(v, MARKS_ONCE, m->object);
		break;
	case MARK_ONCE:
		await(v, MARKS_ONCE, m->object);
		break;
	case MARK_JOIN_BEGIN:
	case MARK_JOIN:
		on_join(v, m);
		break;
	case MARK_FORK:
		marks_table_put(MARKS_ORDERED, m->object, 0);
		release(v, MARKS_TEAM, m->object);
		break;
	case MARK_TEAM:
		await(v, MARKS_TEAM, m->object);
		break;
	case MARK_ORDERED:
		await(v, MARKS_ORDERED, m->object);
		break;
	case MARK_ORDERED_END:
		release(v, MARKS_ORDERED, m->object);
		break;
	default:
		break;
	}
}

/* The program's thread has something in its mailbox. */
static void on_mark(unsigned int index, void *data)
{
	struct vcpu *v = &emu.vcpu[index];
	const struct sync_mailbox *m;

	if (index >= EMU_VCPUS_MAX || !mailbox[index] || !v->trace)
		return;
	m = mailbox[index];
	emu_trace_silence(v, m->silent);
	if (m->mark == MARK_NOTHING)
		return;
	pthread_mutex_lock(&lock);
	take(v, m);
	pthread_mutex_unlock(&lock);
}

bool emu_marks_translate(struct qemu_plugin_tb *tb)
{
	uint64_t ip = qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, 0));

	if (ip < code_begin || ip >= code_end)
		return false;
	if (ip == mark_ip)
		qemu_plugin_register_vcpu_tb_exec_cb(
			tb, on_mark, QEMU_PLUGIN_CB_NO_REGS, NULL);
	return true;
}

void emu_marks_end(struct vcpu *v)
{
	mailbox[v - emu.vcpu] = NULL;
	pthread_mutex_lock(&lock);
	marks_cond_end((unsigned int)(v - emu.vcpu));
	pthread_mutex_unlock(&lock);
}

void emu_marks_forget(void)
{
	pthread_mutex_init(&lock, NULL);
	marks_table_clear();
	marks_cond_clear();
}
