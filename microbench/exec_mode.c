/* SPDX-License-Identifier: MIT */
/*
 * exec_mode - a loop that goes into the kernel and back
 *
 * Exec-Mode of M. A. Sasongko's thesis (2022, section 4.3.7, appendix A). Each
 * iteration has one ioctl and, in user space, one load. If the kernel module of
 * microbench/exec_mode_module is loaded, the ioctl executes one locked addition
 * in the kernel; without it, on /dev/null, none. There is no locked operation
 * in user space, so a sample of one there has the wrong mode.
 */
#include <fcntl.h>

#include "precise.h"

#define DEVICE "/dev/reusetrack_exec_mode"

static int fd = -1;

#ifdef __SANITIZE_THREAD__
#include <sys/ioctl.h>

static void loop(uint64_t n, char *words)
{
	volatile int *word = (volatile int *)words;

	while (n--) {
		(void)*word;
		ioctl(fd, 0x67);
	}
}

#define LOW  NULL
#define HIGH NULL
#else
extern code_label low __asm__(".Lload");
extern code_label high __asm__(".Lafter");

/* ioctl(fd, 0x67); the system call overwrites rax, rcx and r11. */
static __attribute__((naked, noinline)) void enter(uint64_t n, char *words,
						   long file)
{
	__asm__("movq %rdi, %r8\n"
		"movq %rsi, %r9\n"
		"movq %rdx, %rdi\n"
		"movl $0x67, %esi\n"
		"xorl %edx, %edx\n"
		".p2align 4\n"
		"1:\n"
		".Lload: movl (%r9), %eax\n"
		".Lafter: movl $0x10, %eax\n"
		"syscall\n"
		"subq $1, %r8\n"
		"cmpq $0, %r8\n"
		"jne 1b\n"
		"ret\n");
}

static void loop(uint64_t n, char *words)
{
	enter(n, words, fd);
}

#define LOW  low
#define HIGH high
#endif

int main(int argc, char **argv)
{
	static const struct option_row rows[] = {
		COMMON_ROWS,
		{ 0 },
	};
	struct precise p = {
		.benchmark = "exec_mode",
		.loop = loop,
		.instructions = 6,
		.site = { { "load", "load", LOW, HIGH, 0 } },
		.sites = 1,
		.pass = 1 << 16,
	};

	opt.threads = 1;
	parse_options(argc, argv, "A load and an ioctl an iteration.", rows);
	fd = open(DEVICE, O_RDONLY | O_CLOEXEC);
	p.in_kernel = fd >= 0;
	p.what = p.in_kernel ? "a load, and a locked addition in the kernel"
			     : "a load, and an ioctl that fails: no " DEVICE;
	if (fd < 0)
		fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		fprintf(stderr, "%s: cannot open /dev/null\n", program);
		return 1;
	}
	return precise_main(&p);
}
