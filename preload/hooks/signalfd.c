/* SPDX-License-Identifier: MIT */
/*
 * signalfd - the claimed signal through a descriptor
 *
 * A signalfd with the claimed signal in its set would read our samples whenever
 * the kernel has the signal blocked. So we leave the signal out and remember
 * the descriptor. If the application later gets the signal while it has it
 * blocked, which is when a signalfd matters, we stop profiling for good and
 * give the descriptors the sets that the application asked for.
 */
#include <signal.h>
#include <stdatomic.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>

#include "preload/core/sys.h"
#include "preload/signal/claimed.h"
#include "preload/signal/forward.h"
#include "preload/signal/real.h"
#include "preload/start/stop.h"
#include "src/base/signal_safe.h"

enum {
	FDS_MAX = 32
};

/* fd + 1, 0: free. A slot is taken by exchange; its mask is written first. */
static _Atomic int fds[FDS_MAX];
static _Atomic uint64_t masks[FDS_MAX];
static _Atomic bool let_through;

static void forget(int fd)
{
	for (int i = 0; i < FDS_MAX; i++) {
		int is = fd + 1;

		atomic_compare_exchange_strong(&fds[i], &is, 0);
	}
}

static bool remember(int fd, uint64_t mask)
{
	forget(fd);
	for (int i = 0; i < FDS_MAX; i++) {
		int none = 0;

		if (!atomic_compare_exchange_strong(&fds[i], &none, -1))
			continue;
		atomic_store(&masks[i], mask);
		atomic_store(&fds[i], fd + 1);
		return true;
	}
	return false;
}

/*
 * EINVAL from a descriptor that is no signalfd any more does no harm. If timers
 * deliver our signals (a real-time signal), they cannot be stopped from here,
 * so that signal stays left out.
 */
static void let_all_through(void)
{
	if (signal_claimed() != SIGTRAP)
		return;
	for (int i = 0; i < FDS_MAX; i++) {
		int fd = atomic_load(&fds[i]) - 1;
		uint64_t mask = atomic_load(&masks[i]);

		if (fd < 0)
			continue;
		if (!atomic_exchange(&let_through, true))
			runtime_stop("the program reads the signal of the "
				     "samples through a signalfd");
		sys_call4(SYS_signalfd4, fd, &mask, KERNEL_MASK_BYTES, 0);
	}
}

__attribute__((constructor(102))) static void be_told(void)
{
	signal_when_held(let_all_through);
}

EXPORT int signalfd(int fd, const sigset_t *mask, int flags)
{
	sigset_t without;
	int r;

	if (atomic_load(&let_through) || !signal_claim_is_ours())
		return REAL(signalfd)(fd, mask, flags);
	if (!signal_is_in(mask)) {
		r = REAL(signalfd)(fd, mask, flags);
		if (r >= 0)
			forget(r);
		return r;
	}
	sigemptyset(&without);
	set_kernel_mask(&without,
			kernel_mask(mask) & ~signal_bit(signal_claimed()));
	r = REAL(signalfd)(fd, &without, flags);
	if (r >= 0 && !remember(r, kernel_mask(mask)))
		return REAL(signalfd)(r, mask, flags);
	return r;
}
