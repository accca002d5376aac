/* SPDX-License-Identifier: MIT */
/*
 * memread - read the program's own memory without the risk of a fault
 *
 * process_vm_readv on our own process returns -EFAULT where a load would fault.
 * Writing the bytes to a memory file would take half the time. But a program
 * that closes descriptors it does not know could give that number to a file of
 * its own, and we would write into it.
 */
#include <errno.h>
#include <sys/uio.h>

#include "memread.h"
#include "thread.h"
#include "sys.h"
#include "src/base/signal_safe.h"

int memread(void *ctx, uint64_t addr, void *buf, size_t n)
{
	struct iovec local = { buf, n };
	struct iovec remote = { (void *)(uintptr_t)addr, n };
	const struct thread *t = ctx;
	pid_t tid = t ? t->tid : (pid_t)sys_call0(SYS_gettid);
	long got = sys_call6(SYS_process_vm_readv, tid, (long)&local, 1,
			     (long)&remote, 1, 0);

	return got == (long)n ? 0 : -EFAULT;
}
