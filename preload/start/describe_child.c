/* SPDX-License-Identifier: MIT */
/*
 * describe_child - the parts of the header that may be written in a handler
 */
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

#include "describe.h"
#include "src/base/text.h"
#include "src/store/host.h"
#include "preload/core/runtime.h"
#include "preload/core/sys.h"
#include "preload/core/timing.h"
#include "src/base/signal_safe.h"

static struct cdp_header remembered;

static uint64_t clock_ns(clockid_t id)
{
	struct timespec ts = { 0, 0 };

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

void describe_command(struct cdp_header *h)
{
	const size_t size = sizeof(h->command);
	size_t n = host_read_file("/proc/self/cmdline", h->command, size);

	if (n == size - 1)
		memcpy(h->command + size - 4, "...", 4);
	for (size_t i = 0; n && i < n - 1; i++)
		if (!h->command[i])
			h->command[i] = ' ';
}

void describe_note(struct cdp_header *h, const char *note)
{
	struct text t;

	text_begin(&t, h->note, sizeof(h->note));
	text_put(&t, note);
}

/* Copy the fields from @begin up to @end. */
#define COPY(to, from, begin, end)                                             \
	memcpy((char *)(to) + offsetof(struct cdp_header, begin),              \
	       (const char *)(from) + offsetof(struct cdp_header, begin),      \
	       offsetof(struct cdp_header, end) -                              \
		       offsetof(struct cdp_header, begin))

void describe_remember(const struct cdp_header *h)
{
	memcpy(&remembered, h, sizeof(remembered));
}

void describe_child(struct cdp_header *h)
{
	const struct cdp_header *parent = &remembered;
	uint64_t ago = now_ns() - runtime.start_mono;

	COPY(h, parent, run_id, loss);
	COPY(h, parent, exe, command);
	COPY(h, parent, note, slice);
	describe_command(h);
	h->pid = runtime.pid;
	h->line_bytes = parent->line_bytes;
	h->process_start = host_process_start(runtime.pid, &h->parent_pid);
	h->start_real = clock_ns(CLOCK_REALTIME) - ago;
	h->start_mono = runtime.start_mono;
	h->last_mono = runtime.start_mono;
}

/* What the kernel took for the process; 0 if it does not tell. */
static uint64_t kernel_ns(void)
{
	struct rusage used;

	if (sys_call2(SYS_getrusage, RUSAGE_SELF, &used))
		return 0;
	return (uint64_t)used.ru_stime.tv_sec * 1000000000 +
	       (uint64_t)used.ru_stime.tv_usec * 1000;
}

void describe_end(struct cdp_header *h, enum cdp_state state)
{
	__atomic_store_n(&h->last_mono, now_ns(), __ATOMIC_RELAXED);
	__atomic_store_n(&h->cpu_ns, clock_ns(CLOCK_PROCESS_CPUTIME_ID),
			 __ATOMIC_RELAXED);
	__atomic_store_n(&h->kernel_ns, kernel_ns(), __ATOMIC_RELAXED);
	__atomic_store_n(&h->state, state, __ATOMIC_RELEASE);
}
