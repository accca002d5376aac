/* SPDX-License-Identifier: MIT */
/*
 * asleep - what the kernel says a thread of this process is doing
 */
#ifndef COMDET_PRELOAD_EMU_ASLEEP_H
#define COMDET_PRELOAD_EMU_ASLEEP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum asleep {
	ASLEEP_NOT, /* it runs, or waits for a processor or a disk */
	ASLEEP,
	ASLEEP_THERE, /* in the system call that was asked for */
	ASLEEP_GONE,  /* there is no such thread, or /proc does not tell */
};

/* What thread @tid is doing. Reads /proc. Context: any thread. */
enum asleep emu_asleep(pid_t tid);

/*
 * The same; ASLEEP_THERE if it sleeps in system call @number with the first
 * argument @first.
 */
enum asleep emu_asleep_in(pid_t tid, long number, uint64_t first);

/*
 * The futex that thread @tid sleeps on, an address of this process; 0 if it
 * does not.
 */
uint64_t emu_asleep_futex(pid_t tid);

/*
 * True if a thread of this process other than the calling one runs or waits for
 * a processor. Reads a file for each thread. Context: any thread.
 */
bool emu_others_run(void);

#endif
