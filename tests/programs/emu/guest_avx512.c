/* SPDX-License-Identifier: MIT */
/*
 * guest_avx512 - AVX-512 without asking whether there is any
 *
 *	guest_avx512 [handle]
 *
 * With "handle" it tries, and says what came of it.
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
