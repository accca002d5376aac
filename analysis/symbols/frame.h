/* SPDX-License-Identifier: MIT */
/*
 * frame - one of the functions that contain an instruction, through inlining
 */
#ifndef COMDET_ANALYSIS_SYMBOLS_FRAME_H
#define COMDET_ANALYSIS_SYMBOLS_FRAME_H

struct frame {
	char *function;   /* malloc'ed; NULL: unknown */
	const char *file; /* lives as long as the module; NULL: unknown */
	int line;         /* 0: unknown */
};

enum {
	FRAMES_MAX = 64
};

#endif
