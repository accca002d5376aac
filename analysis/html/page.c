/* SPDX-License-Identifier: MIT */
#include "page.h"

__asm__(".section .rodata\n"
	".global html_page\n"
	"html_page:\n"
	".incbin \"analysis/html/page.html\"\n"
	".byte 0\n"
	".previous\n");
