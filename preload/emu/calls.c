/* SPDX-License-Identifier: MIT */
/*
 * calls - what the program's system calls mean for the order of its threads
 *
 * The kernel wakes the threads that wait on a futex in the order in which they
 * came. So does the list here, with the number of threads that the kernel says
 * it woke: they queue in that order, whichever of them the host runs first.
 * Until the waker is back from the kernel, those that come from there wait.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>

#include "calls.h"
#include "guest.h"
#include "scheduler.h"
#include "state.h"

enum {
	NS_PER_ACCESS = 25, /* 40 million accesses a second */
	POLLED_MAX = 64,
};

enum call {
	CALL_KEEPS, /* it returns at once, or need not be ordered */
	CALL_STOPS, /* the same, but QEMU may stop the other threads */
	CALL_YIELDS,
	CALL_WAITS, /* until something happens that is not ordered */
	CALL_SLEEPS,
	CALL_FUTEX_WAIT,
	CALL_FUTEX_WAKE,
	CALL_EXITS,
};

struct waiter {
	unsigned int index;
	uint64_t futex;
	uint32_t bits;
	bool back; /* from the kernel, before the waker is */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct waiter waiter[EMU_VCPUS_MAX]; /* in the order in which they came
					     */
static unsigned int waiters;
static int wakers; /* threads that are in the kernel to wake others */

/* What this thread's latest clone is about. */
static __thread uint64_t clear_tid;
static __thread struct vcpu *created;

void emu_calls_init(void)
{
	pthread_mutex_init(&lock, NULL);
	waiters = 0;
	wakers = 0;
	created = NULL;
}

void emu_calls_create(struct vcpu *v)
{
	v->clear_tid = clear_tid;
	created = v;
	emu_scheduler_create(v);
}

/* True if @events happen at descriptor @fd, so that a call need not wait. */
static bool is_ready(int fd, short events)
{
	struct pollfd p = { .fd = fd, .events = events };
	int flags = fcntl(fd, F_GETFL);

	return flags < 0 || flags & O_NONBLOCK || poll(&p, 1, 0) != 0;
}

/* The same for the program's array of @n struct pollfd at @addr. */
static bool are_ready(uint64_t addr, uint64_t n)
{
	struct pollfd p[POLLED_MAX];

	return n && n <= POLLED_MAX &&
	       emu_guest_read(addr, p, n * sizeof(p[0])) && poll(p, n, 0) != 0;
}

static bool has_value(uint64_t addr, uint32_t value)
{
	uint32_t now;

	return emu_guest_read(addr, &now, sizeof(now)) && now == value;
}

static bool is_zero_time(uint64_t addr)
{
	struct timespec ts;

	return addr && emu_guest_read(addr, &ts, sizeof(ts)) && !ts.tv_sec &&
	       !ts.tv_nsec;
}

static enum call futex_call(const uint64_t *arg)
{
	switch (arg[1] & FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
		/* Otherwise it returns at once. */
		return has_value(arg[0], arg[2]) ? CALL_FUTEX_WAIT : CALL_KEEPS;
	case FUTEX_WAKE:
	case FUTEX_WAKE_BITSET:
	case FUTEX_WAKE_OP:
	case FUTEX_REQUEUE:
	case FUTEX_CMP_REQUEUE:
		return CALL_FUTEX_WAKE;
	case FUTEX_UNLOCK_PI:
	case FUTEX_TRYLOCK_PI:
		return CALL_KEEPS;
	default:
		return CALL_WAITS;
	}
}

static enum call call_of(int64_t number, const uint64_t *arg)
{
	bool ready;

	switch (number) {
	case SYS_futex:
		return futex_call(arg);
	case SYS_exit:
		return CALL_EXITS;
	case SYS_exit_group:
	case SYS_fork:
	case SYS_vfork:
		return CALL_STOPS;
	case SYS_clone:
		return arg[0] & CLONE_VM && !(arg[0] & CLONE_VFORK)
			       ? CALL_KEEPS
			       : CALL_STOPS;
	case SYS_sched_yield:
		return CALL_YIELDS;
	case SYS_nanosleep:
		return CALL_SLEEPS;
	case SYS_clock_nanosleep:
		return arg[1] & TIMER_ABSTIME ? CALL_WAITS : CALL_SLEEPS;
	case SYS_read:
	case SYS_readv:
	case SYS_recvfrom:
	case SYS_recvmsg:
	case SYS_recvmmsg:
	case SYS_accept:
	case SYS_accept4:
		ready = is_ready(arg[0], POLLIN);
		break;
	case SYS_write:
	case SYS_writev:
	case SYS_sendto:
	case SYS_sendmsg:
	case SYS_sendmmsg:
		ready = is_ready(arg[0], POLLOUT);
		break;
	case SYS_poll:
		ready = !arg[2] || are_ready(arg[0], arg[1]);
		break;
	case SYS_ppoll:
		ready = is_zero_time(arg[2]) || are_ready(arg[0], arg[1]);
		break;
	case SYS_epoll_wait:
	case SYS_epoll_pwait:
		ready = !arg[3];
		break;
	case SYS_fcntl:
		ready = arg[1] != F_SETLKW && arg[1] != F_OFD_SETLKW;
		break;
	case SYS_connect:
	case SYS_epoll_pwait2:
	case SYS_flock:
	case SYS_io_getevents:
	case SYS_mq_timedreceive:
	case SYS_mq_timedsend:
	case SYS_msgrcv:
	case SYS_msgsnd:
	case SYS_pause:
	case SYS_pselect6:
	case SYS_rt_sigsuspend:
	case SYS_rt_sigtimedwait:
	case SYS_select:
	case SYS_semop:
	case SYS_semtimedop:
	case SYS_wait4:
	case SYS_waitid:
		ready = false;
		break;
	default:
		ready = true;
	}
	return ready ? CALL_KEEPS : CALL_WAITS;
}

/* The list's functions need its lock. */
static void add_waiter(const struct vcpu *v, uint64_t futex, uint32_t bits)
{
	waiter[waiters++] = (struct waiter){ v - emu.vcpu, futex, bits, false };
}

static void remove_waiter(unsigned int i)
{
	waiters--;
	for (; i < waiters; i++)
		waiter[i] = waiter[i + 1];
}

static struct waiter *find_waiter(const struct vcpu *v)
{
	for (unsigned int i = 0; i < waiters; i++)
		if (waiter[i].index == v - emu.vcpu)
			return &waiter[i];
	return NULL;
}

/* Place up to @n threads that wait on @futex. Returns how many. */
static uint64_t wake(uint64_t futex, uint32_t bits, uint64_t n)
{
	uint64_t woken = 0;

	for (unsigned int i = 0; i < waiters && woken < n;) {
		if (waiter[i].futex != futex || !(waiter[i].bits & bits)) {
			i++;
			continue;
		}
		emu_scheduler_place(&emu.vcpu[waiter[i].index], true);
		remove_waiter(i);
		woken++;
	}
	return woken;
}

static void requeue(uint64_t from, uint64_t to, uint64_t n)
{
	for (unsigned int i = 0, end = waiters; i < end && n;) {
		struct waiter w = waiter[i];

		if (w.futex != from) {
			i++;
			continue;
		}
		remove_waiter(i);
		w.futex = to;
		waiter[waiters++] = w;
		end--;
		n--;
	}
}

static void begin_waking(void)
{
	pthread_mutex_lock(&lock);
	wakers++;
	pthread_mutex_unlock(&lock);
}

/*
 * The waker is back. Who came from the kernel meanwhile but was not woken by it
 * has its turn, too: its time was up, or a signal came. With the lock held.
 */
static void end_waking(void)
{
	wakers--;
	for (unsigned int i = 0; i < waiters && !wakers;) {
		struct vcpu *v = &emu.vcpu[waiter[i].index];

		if (!waiter[i].back) {
			i++;
			continue;
		}
		remove_waiter(i);
		emu_scheduler_place(v, false);
	}
}

static void begin_waiting(struct vcpu *v, const uint64_t *arg)
{
	bool bits = (arg[1] & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET;

	/*
	 * Who wakes it finds it away, or not waiting yet: where a turn was
	 * taken, two threads run, and one could wake the other in between.
	 */
	pthread_mutex_lock(&lock);
	add_waiter(v, arg[0], bits ? arg[5] : FUTEX_BITSET_MATCH_ANY);
	emu_scheduler_leave(v, arg[0] + emu.guest_base);
	pthread_mutex_unlock(&lock);
}

static void begin_sleep(struct vcpu *v, uint64_t addr)
{
	struct timespec ts = { 0, 0 };
	uint64_t seconds_max = UINT64_MAX / 2000000000;

	emu_guest_read(addr, &ts, sizeof(ts));
	emu_scheduler_sleep(
		v, (uint64_t)ts.tv_sec > seconds_max || ts.tv_nsec < 0
			   ? UINT64_MAX
			   : ((uint64_t)ts.tv_sec * 1000000000 + ts.tv_nsec) /
				     NS_PER_ACCESS);
}

void emu_calls_begin(struct vcpu *v, int64_t number,
		     const uint64_t arg[EMU_CALL_ARGS])
{
	if (emu.config.slice == EMU_SLICE_FREE || !v->record)
		return;
	emu_scheduler_call(v);
	v->call = call_of(number, arg);
	for (int i = 0; i < EMU_CALL_ARGS; i++)
		v->call_arg[i] = arg[i];
	v->in_call = v->call == CALL_KEEPS || v->call == CALL_FUTEX_WAKE ||
		     v->call == CALL_EXITS;
	if (number == SYS_clone)
		clear_tid = arg[0] & CLONE_CHILD_CLEARTID ? arg[3] : 0;
	created = NULL;
	switch (v->call) {
	case CALL_FUTEX_WAKE:
	case CALL_EXITS:
		begin_waking();
		break;
	case CALL_FUTEX_WAIT:
		begin_waiting(v, arg);
		break;
	case CALL_SLEEPS:
		begin_sleep(v, arg[number == SYS_nanosleep ? 0 : 2]);
		break;
	case CALL_WAITS:
		emu_scheduler_leave(v, 0);
		break;
	default:
		break;
	}
}

static void end_wake_call(struct vcpu *v, int64_t result)
{
	const uint64_t *arg = v->call_arg;
	uint64_t n = result > 0 ? result : 0, woken;
	uint32_t bits = FUTEX_BITSET_MATCH_ANY;

	pthread_mutex_lock(&lock);
	switch (arg[1] & FUTEX_CMD_MASK) {
	case FUTEX_WAKE_BITSET:
		bits = arg[5];
		/* fallthrough */
	case FUTEX_WAKE:
		wake(arg[0], bits, n);
		break;
	case FUTEX_WAKE_OP:
		woken = wake(arg[0], bits, n < arg[2] ? n : arg[2]);
		wake(arg[4], bits, n - woken);
		break;
	default: /* the result counts those that were moved, too */
		woken = wake(arg[0], bits, n < arg[2] ? n : arg[2]);
		requeue(arg[0], arg[4], n - woken);
	}
	end_waking();
	pthread_mutex_unlock(&lock);
}

/* If nobody has woken the thread, the kernel let it go for another reason. */
static void end_wait_call(struct vcpu *v)
{
	struct waiter *w;

	pthread_mutex_lock(&lock);
	w = find_waiter(v);
	if (w && wakers) {
		w->back = true;
	} else if (w) {
		remove_waiter(w - waiter);
		emu_scheduler_place(v, false);
	}
	pthread_mutex_unlock(&lock);
	emu_scheduler_return(v);
}

void emu_calls_return(struct vcpu *v, int64_t number, int64_t result)
{
	enum call call = v->call;

	if (emu.config.slice == EMU_SLICE_FREE || !v->record)
		return;
	v->call = CALL_KEEPS;
	v->in_call = false;
	if (number == SYS_set_tid_address)
		v->clear_tid = v->call_arg[0];
	switch (call) {
	case CALL_YIELDS:
		emu_scheduler_yield(v);
		break;
	case CALL_FUTEX_WAKE:
		end_wake_call(v, result);
		break;
	case CALL_EXITS: /* it has not ended: a signal came first */
		pthread_mutex_lock(&lock);
		end_waking();
		pthread_mutex_unlock(&lock);
		break;
	case CALL_FUTEX_WAIT:
		end_wait_call(v);
		break;
	case CALL_SLEEPS:
		if (result)
			emu_scheduler_place(v, false);
		emu_scheduler_return(v);
		break;
	case CALL_WAITS:
		emu_scheduler_place(v, false);
		emu_scheduler_return(v);
		break;
	default:
		if (number == SYS_clone && result < 0 && created)
			emu_scheduler_forget(created);
	}
}

void emu_calls_exit(struct vcpu *v)
{
	if (emu.config.slice == EMU_SLICE_FREE)
		return;
	pthread_mutex_lock(&lock);
	if (v->clear_tid)
		wake(v->clear_tid, FUTEX_BITSET_MATCH_ANY, UINT64_MAX);
	if (v->call == CALL_EXITS)
		end_waking();
	pthread_mutex_unlock(&lock);
	emu_scheduler_exit(v);
}
