/* SPDX-License-Identifier: MIT */
/*
 * thread - what the library keeps of each thread of the program
 */
#include "thread.h"
#include "sys.h"
#include "src/base/signal_safe.h"

static __thread struct thread *self __attribute__((tls_model("initial-exec")));
static __thread bool gone __attribute__((tls_model("initial-exec")));

struct thread *thread_self(void)
{
	return self;
}

bool thread_has_ended(void)
{
	return gone;
}

void thread_set_self(struct thread *t)
{
	self = t;
}

void thread_set_ended(bool ended)
{
	gone = ended;
}

bool thread_is_another(const struct thread *t)
{
	return t->tid != sys_call0(SYS_gettid);
}

void count_loss(struct thread *t, enum loss_cause cause)
{
	if (t && t->record)
		store_add(&t->record->loss[cause], 1);
	else
		store_lose(&runtime.store, cause, 1);
}
