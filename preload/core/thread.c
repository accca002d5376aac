/* SPDX-License-Identifier: MIT */
/*
 * thread - what the library keeps of each thread of the program
 */
#include <errno.h>

#include "local.h"
#include "sys.h"
#include "thread.h"
#include "src/base/signal_safe.h"

struct own {
	struct thread *self;
	pid_t of;   /* the thread that @self belongs to */
	pid_t gone; /* the thread whose record has ended, 0: none */
};
_Static_assert(sizeof(struct own) <= LOCAL_STACK - LOCAL_THREAD, "it fits");

static struct own *own(void)
{
	return local_get(LOCAL_THREAD);
}

struct thread *thread_self(void)
{
	return own()->self;
}

bool thread_has_ended(void)
{
	pid_t gone = own()->gone;

	return gone && gone == sys_call0(SYS_gettid);
}

void thread_set_self(struct thread *t)
{
	if (t)
		own()->of = t->tid;
	own()->self = t;
}

void thread_set_ended(bool ended)
{
	own()->gone = ended ? (pid_t)sys_call0(SYS_gettid) : 0;
}

pid_t thread_self_tid(void)
{
	return own()->of;
}

bool thread_is_dead(void)
{
	return sys_call3(SYS_tgkill, runtime.pid, own()->of, 0) == -ESRCH;
}

bool thread_is_another(void)
{
	return own()->of != sys_call0(SYS_gettid);
}

void count_loss(struct thread *t, enum loss_cause cause)
{
	if (t && t->record)
		store_add(&t->record->loss[cause], 1);
	else
		store_lose(&runtime.store, cause, 1);
}
