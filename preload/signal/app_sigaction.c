/* SPDX-License-Identifier: MIT */
/*
 * app_sigaction - the application's action for the claimed signal
 *
 * A writer fills a free slot and publishes it by exchanging a ticket that names
 * the slot; it gets the old ticket and frees that slot. Handlers and threads
 * may call sigaction at any time, and none of them waits.
 *
 *            publish       read
 *   publish  last one wins reader retries
 *   read     reader retries independent
 */
#include <signal.h>
#include <stdatomic.h>
#include <string.h>

#include "app_sigaction.h"
#include "src/base/signal_safe.h"

enum {
	SLOTS = 64,
	READ_TRIES = 1024
};

struct slot {
	_Atomic bool taken;
	_Atomic uint64_t ticket; /* a number * SLOTS + the slot's index; 0:
				    being written */
	_Atomic(void *) handler, restorer;
	_Atomic uint64_t mask;
	_Atomic int flags;
};

static struct slot slots[SLOTS];
static _Atomic uint64_t tickets, current;

static struct slot *take_slot(void)
{
	for (int i = 0; i < SLOTS; i++)
		if (!atomic_load_explicit(&slots[i].taken,
					  memory_order_relaxed) &&
		    !atomic_exchange_explicit(&slots[i].taken, true,
					      memory_order_acquire))
			return &slots[i];
	return NULL;
}

/* No new reader finds the slot; a reader in it sees the ticket change. */
static void free_slot(uint64_t ticket)
{
	if (ticket)
		atomic_store_explicit(&slots[ticket % SLOTS].taken, false,
				      memory_order_release);
}

/* Returns the ticket, 0 if SLOTS other writers hold all slots. */
static uint64_t write_slot(const struct app_sigaction *w)
{
	struct slot *s = take_slot();
	uint64_t ticket;

	if (!s)
		return 0;
	ticket = (atomic_fetch_add(&tickets, 1) + 1) * SLOTS + (s - slots);
	atomic_store_explicit(&s->ticket, 0, memory_order_relaxed);
	/* (W1) before the fields change; pairs with (W4) in read_slot. */
	atomic_thread_fence(memory_order_release);
	atomic_store_explicit(&s->handler, w->handler, memory_order_relaxed);
	atomic_store_explicit(&s->restorer, w->restorer, memory_order_relaxed);
	atomic_store_explicit(&s->mask, w->mask, memory_order_relaxed);
	atomic_store_explicit(&s->flags, w->flags, memory_order_relaxed);
	/* (W2) after the fields; pairs with (W3) in read_slot. */
	atomic_store_explicit(&s->ticket, ticket, memory_order_release);
	return ticket;
}

static bool read_slot(uint64_t ticket, struct app_sigaction *w)
{
	struct slot *s = &slots[ticket % SLOTS];

	/* (W3) pairs with (W2): the fields are at least this ticket's. */
	if (atomic_load_explicit(&s->ticket, memory_order_acquire) != ticket)
		return false;
	w->handler = atomic_load_explicit(&s->handler, memory_order_relaxed);
	w->restorer = atomic_load_explicit(&s->restorer, memory_order_relaxed);
	w->mask = atomic_load_explicit(&s->mask, memory_order_relaxed);
	w->flags = atomic_load_explicit(&s->flags, memory_order_relaxed);
	/* (W4) pairs with (W1): they are not a later ticket's. */
	atomic_thread_fence(memory_order_acquire);
	return atomic_load_explicit(&s->ticket, memory_order_relaxed) == ticket;
}

bool app_sigaction_publish(const struct app_sigaction *w,
			   struct app_sigaction *before)
{
	uint64_t ticket = write_slot(w);

	if (!ticket)
		return false;
	ticket = atomic_exchange(&current, ticket);
	if (!ticket || !read_slot(ticket, before))
		memset(before, 0, sizeof(*before));
	free_slot(ticket);
	return true;
}

uint64_t app_sigaction_read(struct app_sigaction *w)
{
	for (int i = 0; i < READ_TRIES; i++) {
		uint64_t ticket =
			atomic_load_explicit(&current, memory_order_acquire);

		if (ticket && read_slot(ticket, w))
			return ticket;
	}
	memset(w, 0, sizeof(*w)); /* SIG_DFL */
	return 0;
}

void app_sigaction_reset(uint64_t ticket)
{
	uint64_t expected = ticket, next;
	struct app_sigaction w;

	if (!ticket || !read_slot(ticket, &w))
		return;
	w.handler = (void *)(uintptr_t)SIG_DFL;
	next = write_slot(&w);
	/* If this fails another action was set meanwhile, which stays. */
	if (next && !atomic_compare_exchange_strong(&current, &expected, next))
		ticket = next;
	if (next)
		free_slot(ticket);
}
