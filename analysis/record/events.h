/* SPDX-License-Identifier: MIT */
/*
 * events - the events that record asks the preload for, as codes
 *
 * Names are looked up here, in libpfm4: the profiled process knows codes only.
 */
#ifndef COMDET_ANALYSIS_RECORD_EVENTS_H
#define COMDET_ANALYSIS_RECORD_EVENTS_H

/*
 * Replace the names in COMDET_EVENT by their codes. Dies with one line if one
 * is not known; @name is the option or the twin that the user gave.
 */
void record_resolve_events(const char *name);

/*
 * If the processor is not in our table and COMDET_EVENT is not set, set it to
 * what libpfm4 knows of the processor.
 */
void record_events_for_unknown(void);

#endif
