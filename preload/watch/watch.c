/* SPDX-License-Identifier: MIT */
/*
 * watch - debug registers of the calling thread, through perf_events
 *
 * A lease is four breakpoint events of one thread: all but the last form a
 * group, whose leader is enabled last and disabled first, so that changing
 * its siblings costs no interrupt; the last one stands alone, because it also
 * serves as the execution breakpoint. With fewer registers in use the group
 * shrinks, down to the single one.
 *
 * A lease's word holds who has it and whether it is in use this moment:
 *
 *   owner:  HELD by me -> BUSY by me -> HELD by me       (arm, disarm)
 *   thief:  HELD by another, long unused -> BUSY by me, closes, opens its own
 *
 * Each arrow is one compare-and-swap, so an owner that lost its lease notices
 * when its own swap fails. No operation waits.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>

#include "own_event.h"
#include "watch.h"
#include "preload/core/sys.h"
#include "preload/core/thread.h"
#include "src/base/signal_safe.h"

enum {
	LEASES_MAX = 64,
	FDS_BELOW = 1024, /* a high number would cost the kernel a big table */
	STEAL_NS = 20 * 1000 * 1000,
	REST_NS = 100 * 1000 * 1000,
	CLOSE_TRIES = 1000, /* to close a lease that is in use */
	FDS_FEW = 8,        /* the clock's, and those that are moved up */
};

enum {
	LEASE_FREE,
	LEASE_HELD,
	LEASE_BUSY
};

struct lease {
	_Atomic uint64_t word; /* owner's tid << 2 | LEASE_* */
	_Atomic uint64_t last_use;
	struct own_event event[COMM_REGISTERS_MAX];
	int count; /* that were opened; fewer are left later */
	bool exec; /* the last one is an execution
		      breakpoint */
	bool may_fire[COMM_REGISTERS_MAX]; /* with queued signals: it has not
					      fired yet */
};

static struct lease leases[LEASES_MAX];
static uint32_t lease_count;
static int fd_base;
static long fd_end;                                  /* the soft limit */
static uint64_t parked __attribute__((aligned(64))); /* never accessed */

uint64_t watch_cookie(enum watch_event event)
{
	return WATCH_COOKIE | (uint64_t)event << 8;
}

static struct perf_event_attr attributes(uint32_t type,
					 const struct watch_range *range,
					 uint64_t data)
{
	struct perf_event_attr a = own_event_breakpoint(type, range, data);

	if (runtime.delivery != DELIVERY_SIGTRAP) {
		a.sigtrap = a.remove_on_exec = 0;
		a.sig_data = 0;
		a.wakeup_events = 1;
	}
	return a;
}

int watch_fd_base(void)
{
	return fd_base;
}

int watch_fd_base_for(uint32_t more)
{
	/* Without a higher limit the registers need all from the base on. */
	return fd_end - FDS_BELOW >= (long)more ? fd_base : fd_base / 2;
}

uint32_t watch_fds_beside(void)
{
	return lease_count / 2;
}

static void close_registers(struct lease *l)
{
	for (int i = 0; i < COMM_REGISTERS_MAX; i++) {
		own_event_close(&l->event[i]);
		l->may_fire[i] = false;
	}
	l->exec = false;
}

static int by_signal(int fd)
{
	struct f_owner_ex owner = { F_OWNER_TID, (pid_t)sys_call0(SYS_gettid) };
	long r = sys_call3(SYS_fcntl, fd, F_SETSIG, runtime.signal);

	if (!r)
		r = sys_call3(SYS_fcntl, fd, F_SETOWN_EX, &owner);
	if (!r)
		r = sys_call3(SYS_fcntl, fd, F_SETFL, O_ASYNC);
	return r;
}

/*
 * With queued signals an event fires once. A leader would then switch its whole
 * group off, so there are no groups.
 */
static bool grouped(void)
{
	return runtime.delivery == DELIVERY_SIGTRAP;
}

int watch_registers(void)
{
	return (int)__atomic_load_n(&runtime.registers, __ATOMIC_RELAXED);
}

/* Open the lease's registers for the calling thread, all disabled. */
static int open_registers(struct lease *l)
{
	struct watch_range nothing = { (uint64_t)(uintptr_t)&parked, 8 };
	int n = watch_registers(), r = 0;

	for (int i = 0; i < n && !r; i++) {
		struct perf_event_attr a =
			attributes(HW_BREAKPOINT_RW, &nothing,
				   watch_cookie(WATCH_DATA) | i);
		int leader = grouped() && i && i < n - 1 ? l->event[0].fd : -1;

		r = own_event_open(&l->event[i], &a, leader, fd_base);
		if (!r && runtime.delivery == DELIVERY_RTSIG)
			r = by_signal(l->event[i].fd);
	}
	l->count = n;
	if (r)
		close_registers(l);
	return r;
}

static bool move(struct lease *l, uint64_t from, uint64_t to)
{
	/*
	 * (A) acquires what (B) released: the descriptors that the former
	 * holder opened or closed are seen by the next one.
	 */
	return atomic_compare_exchange_strong_explicit(&l->word, &from, to,
						       memory_order_acquire,
						       memory_order_relaxed);
}

static uint64_t word(const struct thread *t, uint64_t state)
{
	return (uint64_t)(uint32_t)t->tid << 2 | state;
}

static void give_back(struct lease *l, const struct thread *t, uint64_t state)
{
	/* (B) pairs with (A). */
	atomic_store_explicit(&l->word,
			      state == LEASE_FREE ? LEASE_FREE : word(t, state),
			      memory_order_release);
}

static bool take_own(struct thread *t)
{
	return t->lease &&
	       move(t->lease, word(t, LEASE_HELD), word(t, LEASE_BUSY));
}

/* A lease for @t, in use; NULL if there is none to have. */
static struct lease *take_any(struct thread *t)
{
	struct lease *found = NULL;
	uint64_t now = t->clock_at, seen = 0;

	for (uint32_t i = 0; i < lease_count && !found; i++)
		if (move(&leases[i], LEASE_FREE, word(t, LEASE_BUSY)))
			found = &leases[i];
	for (uint32_t i = 0; i < lease_count && !found; i++) {
		uint64_t used = atomic_load_explicit(&leases[i].last_use,
						     memory_order_relaxed);

		seen = atomic_load_explicit(&leases[i].word,
					    memory_order_relaxed);
		if ((seen & 3) == LEASE_HELD && now > used + STEAL_NS &&
		    move(&leases[i], seen, word(t, LEASE_BUSY)))
			found = &leases[i];
	}
	if (!found)
		return NULL;
	close_registers(found);
	if (open_registers(found)) {
		give_back(found, t, LEASE_FREE);
		return NULL;
	}
	t->lease = found;
	return found;
}

static struct lease *take(struct thread *t)
{
	if (take_own(t))
		return t->lease;
	t->registers_lost |= t->lease != NULL;
	t->lease = NULL;
	return watch_registers() ? take_any(t) : NULL;
}

static int enable(struct lease *l, int i, uint32_t type,
		  const struct watch_range *range, uint64_t data)
{
	struct perf_event_attr a = attributes(type, range, data);
	struct own_event *e = &l->event[i];
	bool queued = runtime.delivery == DELIVERY_RTSIG;
	int r;

	/*
	 * Queued signals pile up while they are blocked, and an overflow is a
	 * deadly SIGIO: such an event fires once for each time it is armed.
	 */
	a.disabled = queued && !l->may_fire[i];
	r = own_event_set(e, &a);
	if (!r && a.disabled) {
		r = sys_call3(SYS_ioctl, e->fd, PERF_EVENT_IOC_REFRESH, 1);
		l->may_fire[i] = e->on = !r;
	}
	return r;
}

static void disable(struct lease *l, int i)
{
	own_event_off(&l->event[i]);
}

static int watch_arm(void *ctx, const struct watch_range *range, int n)
{
	struct thread *t = ctx;
	struct lease *l = take(t);
	int last, armed = 0, r = 0;

	if (!l)
		return -EBUSY;
	last = l->count - 1;
	if (n > last + 1)
		n = last + 1;
	atomic_store_explicit(&l->last_use, t->clock_at, memory_order_relaxed);
	if (last > 0)
		disable(l, 0);
	for (int i = 1; i < last; i++) {
		if (i < n)
			r = r ? r
			      : enable(l, i, HW_BREAKPOINT_RW, &range[i],
				       watch_cookie(WATCH_DATA) | i);
		else
			disable(l, i);
	}
	if (!r && last > 0)
		r = enable(l, 0, HW_BREAKPOINT_RW, &range[0],
			   watch_cookie(WATCH_DATA) | 0);
	if (!r)
		armed = n < last ? n : last;
	if (!r && !l->exec) {
		if (n == last + 1) {
			r = enable(l, last, HW_BREAKPOINT_RW, &range[last],
				   watch_cookie(WATCH_DATA) | last);
			armed += !r;
		} else {
			disable(l, last);
		}
	}
	if (armed)
		store_add(&t->record->arms, 1);
	if (!armed) /* perhaps the application closed them: open anew */
		close_registers(l);
	give_back(l, t, armed ? LEASE_HELD : LEASE_FREE);
	return armed ? armed : r ? r : -EBUSY;
}

static void watch_disarm(void *ctx)
{
	struct thread *t = ctx;
	int last;

	if (!take_own(t)) {
		t->lease = NULL;
		return;
	}
	last = t->lease->count - 1;
	disable(t->lease, 0);
	for (int i = 1; i < last && !grouped(); i++)
		disable(t->lease, i);
	if (last > 0 && !t->lease->exec)
		disable(t->lease, last);
	give_back(t->lease, t, LEASE_HELD);
}

const struct comm_watch watch_ops = {
	.arm = watch_arm,
	.disarm = watch_disarm,
};

int watch_exec(struct thread *t, uint64_t ip)
{
	struct watch_range code = { ip, sizeof(long) };
	struct lease *l;
	int last, r;

	l = take(t);
	if (!l)
		return -EBUSY;
	last = l->count - 1;
	atomic_store_explicit(&l->last_use, t->clock_at, memory_order_relaxed);
	/* The engine's last range loses its register. */
	if (l->event[last].on && !l->exec && t->comm.armed > (uint32_t)last)
		t->comm.armed = last;
	r = enable(l, last, HW_BREAKPOINT_X, &code,
		   watch_cookie(WATCH_EXEC) | last);
	l->exec = !r;
	give_back(l, t, LEASE_HELD);
	return r;
}

void watch_exec_off(struct thread *t)
{
	if (!take_own(t)) {
		t->lease = NULL;
		return;
	}
	if (t->lease->exec)
		disable(t->lease, t->lease->count - 1);
	t->lease->exec = false;
	give_back(t->lease, t, LEASE_HELD);
}

bool watch_is_held(const struct thread *t)
{
	return t->lease &&
	       atomic_load_explicit(&t->lease->word, memory_order_relaxed) ==
		       word(t, LEASE_HELD);
}

static bool is_armed(const struct lease *l)
{
	bool armed = l->exec;

	for (int i = 0; i < COMM_REGISTERS_MAX; i++)
		armed |= l->event[i].on;
	return armed;
}

void watch_rest(struct thread *t)
{
	struct lease *l = t->lease;

	if (!l ||
	    t->clock_at <=
		    REST_NS + atomic_load_explicit(&l->last_use,
						   memory_order_relaxed) ||
	    !take_own(t))
		return;
	if (is_armed(l)) {
		give_back(l, t, LEASE_HELD);
		return;
	}
	close_registers(l);
	give_back(l, t, LEASE_FREE);
	t->lease = NULL;
}

void watch_thread_end(struct thread *t)
{
	if (take_own(t)) {
		close_registers(t->lease);
		give_back(t->lease, t, LEASE_FREE);
	}
	t->lease = NULL;
}

void watch_close_all(bool for_good)
{
	const uint64_t nobody =
		UINT64_MAX << 2 | (for_good ? LEASE_HELD : LEASE_BUSY);

	for (uint32_t i = 0; i < lease_count; i++) {
		struct lease *l = &leases[i];
		uint64_t now = atomic_load(&l->word);
		int tries = CLOSE_TRIES;

		while (((now & 3) == LEASE_BUSY || !move(l, now, nobody)) &&
		       --tries) {
			sys_call0(SYS_sched_yield);
			now = atomic_load(&l->word);
		}
		if (!tries)
			continue;
		/* Never used again: not even stolen. */
		if (for_good)
			atomic_store(&l->last_use, UINT64_MAX - STEAL_NS);
		close_registers(l);
		if (!for_good)
			atomic_store(&l->word, LEASE_FREE);
	}
}

void watch_after_fork(void)
{
	for (uint32_t i = 0; i < lease_count; i++) {
		if (atomic_load(&leases[i].word) == LEASE_FREE)
			continue; /* a store would copy the page */
		close_registers(&leases[i]);
		atomic_store(&leases[i].word, LEASE_FREE);
	}
}

struct watch_signal watch_classify_fd(int fd)
{
	struct watch_signal s = { .event = WATCH_NOTHING };
	/* A child of a raw system call does not have its parent's. */
	struct thread *t = runtime_active() ? thread_self() : NULL;
	struct lease *l = t ? t->lease : NULL;
	int last = l ? l->count - 1 : -1;

	for (int i = 0; l && i <= last; i++) {
		if (l->event[i].fd != fd)
			continue;
		s.event = l->exec && i == last ? WATCH_EXEC : WATCH_DATA;
		s.reg = i;
		l->may_fire[i] = false;
	}
	if (!s.event && runtime.source->has_descriptor &&
	    runtime.source->has_descriptor(t, fd)) {
		s.event = WATCH_SOURCE;
	} else if (!s.event && fd >= fd_base) { /* of a lease that was lost */
		s.event = WATCH_DATA;
		s.late = true;
	}
	return s;
}

void watch_init(void)
{
	struct rlimit limit = { 1024, 1024 };
	long soft;

	sys_call2(SYS_getrlimit, RLIMIT_NOFILE, &limit);
	soft = limit.rlim_cur > 1 << 20 ? 1 << 20 : (long)limit.rlim_cur;
	fd_end = soft;
	lease_count = soft / 32 > LEASES_MAX ? LEASES_MAX : soft / 32;
	if (!lease_count)
		lease_count = 1;
	fd_base = (soft < FDS_BELOW ? soft : FDS_BELOW) -
		  (int)lease_count * COMM_REGISTERS_MAX -
		  (int)watch_fds_beside() - FDS_FEW;
	if (fd_base < 10)
		fd_base = 10;
	for (uint32_t i = 0; i < lease_count; i++)
		for (int j = 0; j < COMM_REGISTERS_MAX; j++)
			leases[i].event[j].fd = -1;
}
