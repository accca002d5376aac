/* SPDX-License-Identifier: MIT */
/*
 * instr_bank - debug registers of each thread, set by itself
 *
 * A bank is a thread's breakpoint events, one for each register: four
 * descriptors. There are so many banks that descriptors stay few; a thread that
 * finds none does without. A bank is its thread's alone until the thread ends,
 * so that nothing is locked but who has it.
 *
 * To set a register of one's own costs a microsecond, since no other processor
 * has to be asked. A descriptor is closed only after the kernel confirmed that
 * it is still our event: an application may have closed it and reused the
 * number.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/ioctl.h>

#include "instr_source.h"
#include "runtime.h"
#include "state.h"
#include "sys.h"
#include "watch.h"
#include "signal_safe.h"

enum {
	BANKS_MAX = 64,
};

struct instr_bank {
	_Atomic bool taken;
	int fd[COMM_REGISTERS_MAX];
	uint64_t id[COMM_REGISTERS_MAX];
	bool on[COMM_REGISTERS_MAX];
};

static struct instr_bank banks[BANKS_MAX];
static bool ready; /* banks has descriptors, or -1 */
static uint64_t parked __attribute__((aligned(64))); /* never accessed */

void instr_bank_init(void)
{
	for (int i = 0; i < BANKS_MAX; i++) {
		atomic_store(&banks[i].taken, false);
		for (int reg = 0; reg < COMM_REGISTERS_MAX; reg++) {
			banks[i].fd[reg] = -1;
			banks[i].on[reg] = false;
		}
	}
	ready = true;
}

static struct perf_event_attr attributes(int reg, const struct watch_range *w,
					 bool stores_only)
{
	struct perf_event_attr a;

	memset(&a, 0, sizeof(a));
	a.size = sizeof(a);
	a.type = PERF_TYPE_BREAKPOINT;
	a.bp_type = stores_only ? HW_BREAKPOINT_W : HW_BREAKPOINT_RW;
	a.bp_addr = w->addr;
	a.bp_len = w->len;
	a.sample_period = 1;
	a.sample_type = PERF_SAMPLE_IP;
	a.exclude_kernel = 1; /* allowed at perf_event_paranoid 2 */
	a.exclude_hv = 1;
	a.sigtrap = 1;
	a.remove_on_exec = 1; /* demanded by sigtrap */
	a.sig_data = watch_cookie(WATCH_DATA) | reg;
	return a;
}

static bool is_ours(const struct instr_bank *b, int reg)
{
	uint64_t id = 0;

	return b->fd[reg] >= 0 &&
	       !sys_call3(SYS_ioctl, b->fd[reg], PERF_EVENT_IOC_ID, &id) &&
	       id == b->id[reg];
}

static void close_bank(struct instr_bank *b)
{
	for (int reg = 0; reg < COMM_REGISTERS_MAX; reg++) {
		if (is_ours(b, reg))
			sys_call1(SYS_close, b->fd[reg]);
		b->fd[reg] = -1;
		b->on[reg] = false;
	}
}

static int open_one(struct instr_bank *b, int reg)
{
	struct watch_range nothing = { (uint64_t)(uintptr_t)&parked, 8 };
	struct perf_event_attr a = attributes(reg, &nothing, false);
	long low, high;

	a.disabled = 1;
	low = sys_call6(SYS_perf_event_open, (long)&a, 0, -1, -1,
			PERF_FLAG_FD_CLOEXEC, 0);
	if (low < 0)
		return low;
	/* Low numbers are the application's. */
	high = sys_call3(SYS_fcntl, low, F_DUPFD_CLOEXEC, watch_fd_base());
	sys_call1(SYS_close, low);
	if (high < 0)
		return high;
	b->fd[reg] = high;
	return sys_call3(SYS_ioctl, high, PERF_EVENT_IOC_ID, &b->id[reg]);
}

static void give_back(struct instr_bank *b)
{
	close_bank(b);
	/* (Y) pairs with (X). */
	atomic_store_explicit(&b->taken, false, memory_order_release);
}

static bool take(struct instr_bank *b)
{
	/* (X) acquires what (Y) released: descriptors, all closed. */
	return !atomic_load_explicit(&b->taken, memory_order_relaxed) &&
	       !atomic_exchange_explicit(&b->taken, true, memory_order_acquire);
}

bool instr_bank_take(struct thread *t)
{
	struct instr_bank *b = NULL;

	if (t->instr.bank)
		return true;
	for (int i = 0; i < BANKS_MAX && !b; i++)
		if (take(&banks[i]))
			b = &banks[i];
	for (int reg = 0; b && reg < (int)runtime.registers; reg++)
		if (open_one(b, reg)) {
			give_back(b);
			return false;
		}
	t->instr.bank = b;
	return b;
}

void instr_bank_end(struct thread *t)
{
	struct instr_bank *b = t->instr.bank;

	t->instr.bank = NULL;
	if (b)
		give_back(b);
}

int instr_bank_set(struct thread *t, int reg, const struct watch_range *w,
		   bool stores_only)
{
	struct instr_bank *b = t->instr.bank;
	struct perf_event_attr a = attributes(reg, w, stores_only);
	int r = sys_call3(SYS_ioctl, b->fd[reg],
			  PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &a);

	b->on[reg] = !r;
	return r;
}

void instr_bank_off(struct thread *t, int reg)
{
	struct instr_bank *b = t->instr.bank;

	if (b && b->on[reg]) {
		sys_call3(SYS_ioctl, b->fd[reg], PERF_EVENT_IOC_DISABLE, 0);
		b->on[reg] = false;
	}
}

void instr_bank_close_all(void)
{
	for (int i = 0; ready && i < BANKS_MAX; i++)
		close_bank(&banks[i]);
}
