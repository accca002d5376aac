/* SPDX-License-Identifier: MIT */
/*
 * tracee - a program under ptrace, stopped at random moments and stepped
 */
#include <cpuid.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tracee.h"

enum {
	XSTATE_FEATURES = 512
}; /* offset of the bits of the components in use */

/* Bits of the features; numbers of CPUID leaf 0xd. */
enum {
	FEATURE_YMM = 2,
	FEATURE_OPMASK = 5,
	FEATURE_ZMM,
	FEATURE_HI16_ZMM
};

static int read_memory(void *ctx, uint64_t addr, void *buf, size_t n)
{
	struct tracee *t = ctx;
	struct iovec here = { buf, n }, there = { (void *)addr, n };
	ssize_t got = process_vm_readv(t->pid, &here, 1, &there, 1, 0);

	return got == (ssize_t)n ? 0 : -EFAULT;
}

/* One component of the uncompacted XSAVE area: zeros if initial, or NULL. */
static const void *component(const struct tracee *t, size_t have, unsigned bit)
{
	static const char zeros[1024];
	unsigned bytes, offset, c, d;
	uint64_t features;

	__cpuid_count(0xd, bit, bytes, offset, c, d);
	if (!bytes || bytes > sizeof(zeros) || offset + bytes > have)
		return NULL;
	memcpy(&features, t->xstate + XSTATE_FEATURES, sizeof(features));
	return features >> bit & 1 ? t->xstate + offset : zeros;
}

static int take_registers(struct tracee *t)
{
	struct user_regs_struct r;
	struct iovec v = { t->xstate, sizeof(t->xstate) };

	if (ptrace(PTRACE_GETREGS, t->pid, NULL, &r) ||
	    ptrace(PTRACE_GETREGSET, t->pid, (void *)NT_X86_XSTATE, &v))
		return -errno;
	t->cpu = (struct cpu_state){
		.gpr = { r.rax, r.rcx, r.rdx, r.rbx, r.rsp, r.rbp, r.rsi, r.rdi,
			 r.r8, r.r9, r.r10, r.r11, r.r12, r.r13, r.r14, r.r15 },
		.rip = r.rip,
		.rflags = r.eflags,
		.fs_base = r.fs_base,
		.gs_base = r.gs_base,
		.fs_known = true,
		.gs_known = true,
		.fxsave = t->xstate,
		.ymm_high = component(t, v.iov_len, FEATURE_YMM),
		.opmask = component(t, v.iov_len, FEATURE_OPMASK),
		.zmm_high = component(t, v.iov_len, FEATURE_ZMM),
		.hi16_zmm = component(t, v.iov_len, FEATURE_HI16_ZMM),
	};
	t->in_syscall = (long)r.orig_rax >= 0;
	return 0;
}

/* Wait for the next stop; its event and signal, or -ESRCH if there is none. */
static int wait_stop(struct tracee *t, int *event)
{
	int status;

	while (waitpid(t->pid, &status, __WALL) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	if (!WIFSTOPPED(status)) {
		t->ended = true;
		t->status = status;
		return -ESRCH;
	}
	*event = status >> 16;
	return WSTOPSIG(status);
}

int tracee_start(struct tracee *t, char **argv, bool want_output)
{
	int go[2], out[2] = { -1, -1 }, event, err;

	memset(t, 0, sizeof(*t));
	t->mem = (struct memory){ .read = read_memory, .ctx = t };
	t->out_fd = -1;
	if (pipe2(go, O_CLOEXEC) || (want_output && pipe2(out, O_CLOEXEC)))
		return -errno;
	t->pid = fork();
	if (t->pid < 0)
		return -errno;
	if (!t->pid) {
		int fd = want_output ? out[1] : open("/dev/null", O_WRONLY);
		char byte;

		close(go[1]);
		/* The same addresses each time, to repeat a failure. */
		personality(ADDR_NO_RANDOMIZE);
		if (read(go[0], &byte, 1) < 0 || dup2(fd, STDOUT_FILENO) < 0)
			_exit(126);
		execvp(argv[0], argv);
		_exit(127);
	}
	close(go[0]);
	if (want_output)
		close(out[1]);
	t->out_fd = out[0];
	err = ptrace(PTRACE_SEIZE, t->pid, NULL,
		     PTRACE_O_EXITKILL | PTRACE_O_TRACEEXEC);
	close(go[1]);
	if (err)
		return -errno;
	do {
		err = wait_stop(t, &event);
		if (err < 0)
			return err;
		if (event != PTRACE_EVENT_EXEC)
			ptrace(PTRACE_CONT, t->pid, NULL, 0);
	} while (event != PTRACE_EVENT_EXEC);
	return 0;
}

int tracee_run(struct tracee *t)
{
	if (!t->running && ptrace(PTRACE_CONT, t->pid, NULL, (long)t->signal))
		return -ESRCH;
	t->signal = 0;
	t->running = true;
	return 0;
}

int tracee_interrupt(struct tracee *t, unsigned us)
{
	int sig, event, err = tracee_run(t);

	if (err)
		return err;
	t->running = false;
	usleep(us);
	ptrace(PTRACE_INTERRUPT, t->pid, NULL, 0);
	for (;;) {
		sig = wait_stop(t, &event);
		if (sig < 0)
			return sig;
		if (event == PTRACE_EVENT_STOP)
			return take_registers(t);
		/* A signal came first: deliver it, the stop comes later */
		ptrace(PTRACE_CONT, t->pid, NULL,
		       (long)(event || sig == SIGTRAP ? 0 : sig));
	}
}

/* Is the next instruction cpuid? */
static bool at_cpuid(struct tracee *t)
{
	static const uint8_t cpuid[2] = { 0x0f, 0xa2 };
	uint8_t code[2];

	return !t->mem.read(t, t->cpu.rip, code, sizeof(code)) &&
	       !memcmp(code, cpuid, sizeof(code));
}

int tracee_step(struct tracee *t)
{
	uint64_t after_cpuid = at_cpuid(t) ? t->cpu.rip + 2 : 0;
	int sig, event, err;

	if (ptrace(PTRACE_SINGLESTEP, t->pid, NULL, (long)t->signal))
		return -ESRCH;
	t->signal = 0;
	sig = wait_stop(t, &event);
	if (sig < 0)
		return sig;
	err = take_registers(t);
	if (err)
		return err;
	if (sig == SIGTRAP && !event) {
		if (!after_cpuid || t->cpu.rip == after_cpuid)
			return 0;
		t->steps_lost++;
		return -EINTR;
	}
	t->signal = event ? 0 : sig;
	return -EINTR;
}

void tracee_release(struct tracee *t)
{
	if (!t->ended && t->pid > 0) {
		kill(t->pid, SIGKILL);
		waitpid(t->pid, NULL, __WALL);
	}
	if (t->out_fd >= 0)
		close(t->out_fd);
}
