/* SPDX-License-Identifier: MIT */
/*
 * guest_avx512 - use AVX-512 without asking whether the processor has it
 *
 *	guest_avx512 [handle]
 *
 * With "handle" it handles SIGILL, and prints whether the instruction worked.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>

static sigjmp_buf back;

static void on_illegal(int sig)
{
	siglongjmp(back, 1);
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		signal(SIGILL, on_illegal);
		if (sigsetjmp(back, 1)) {
			printf("there is none\n");
			return 0;
		}
	}
	__asm__ volatile("vpxorq %%zmm0, %%zmm0, %%zmm0" : : : "xmm0");
	printf("there is some\n");
	return 0;
}
