/* SPDX-License-Identifier: MIT */
/*
 * obstacle - what forbids profiling this process at all
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "obstacle.h"
#include "preload/core/config.h"
#include "preload/core/sys.h"
#include "src/store/host.h"

enum {
	DESCRIPTORS_MIN = 48, /* with fewer we would take too large a share */
	DATA_MIN = 16 * 1024 * 1024, /* the same, of private memory */
	STACK_MIN = 64 * 1024,       /* a signal frame may take 11 KiB */
	STATUS_BYTES = 4096,
};

static bool is_filtered(void)
{
	char status[STATUS_BYTES];
	const char *p;

	host_read_file("/proc/self/status", status, sizeof(status));
	p = strstr(status, "\nSeccomp:\t");
	return p && p[strlen("\nSeccomp:\t")] == '2';
}

/*
 * The process inherited a filter that nobody can read. A child tries the system
 * calls that are often forbidden, with arguments that do nothing. The child has
 * no exit signal, a copy of our memory, and leaves no core, so nobody notices
 * its death.
 */
static bool filter_kills(void)
{
	static const int tried[] = { SYS_perf_event_open, SYS_process_vm_readv,
				     SYS_timer_create };
	int status = 0;
	long pid, r;

	if (!is_filtered())
		return false;
	pid = sys_call6(SYS_clone, 0, 0, 0, 0, 0, 0);
	if (!pid) {
		sys_call2(SYS_prctl, PR_SET_DUMPABLE, 0);
		for (size_t i = 0; i < sizeof(tried) / sizeof(*tried); i++)
			sys_call6(tried[i], 0, -1, -1, -1, -1, -1);
		sys_call1(SYS_exit_group, 0);
	}
	if (pid < 0)
		return false; /* the calls may work all the same */
	do {
		r = sys_call4(SYS_wait4, pid, &status, __WALL, NULL);
	} while (r == -EINTR);
	return r == pid && WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS;
}

const char *obstacle(void)
{
	const char *preloaded =
		environ ? config_get(environ, "LD_PRELOAD") : NULL;

	if (preloaded && strstr(preloaded, "vgpreload"))
		return "not profiled: valgrind emulates neither perf signals "
		       "nor debug registers";
	if (sys_soft_limit(RLIMIT_NOFILE) < DESCRIPTORS_MIN)
		return "not profiled: too few file descriptors (ulimit -n)";
	if (sys_soft_limit(RLIMIT_DATA) < DATA_MIN)
		return "not profiled: too little memory for data (ulimit -d)";
	if (sys_soft_limit(RLIMIT_STACK) < STACK_MIN)
		return "not profiled: too little stack (ulimit -s)";
	if (filter_kills())
		return "not profiled: a seccomp filter kills a process that "
		       "samples; record -s emu needs no such system call";
	return NULL;
}
