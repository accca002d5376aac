/* SPDX-License-Identifier: MIT */
/*
 * control - record --control: other programs start and stop the sampling
 *
 * The processes with our library share a page with us
 * (src/store/control_page.h) and look at it at each interrupt. The program
 * itself is told nothing.
 */
#ifndef COMDET_ANALYSIS_RECORD_CONTROL_H
#define COMDET_ANALYSIS_RECORD_CONTROL_H

struct control;

/* Open what --control asks for, if it does. Dies if that cannot be done. */
void record_open_control(void);

/* NULL if nobody asked for it. */
struct control *record_control(void);

/*
 * Make the page in the output directory @dirfd, and obey commands in a thread
 * of our own until record_end_control(). Call these around run_program(): begin
 * when all signals are blocked.
 */
void record_make_control_page(int dirfd);
void record_begin_control(void);
void record_end_control(int dirfd);

#endif
