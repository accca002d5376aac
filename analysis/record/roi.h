/* SPDX-License-Identifier: MIT */
/*
 * roi - the region of interest of a trace, from names to addresses
 */
#ifndef COMDET_ANALYSIS_RECORD_ROI_H
#define COMDET_ANALYSIS_RECORD_ROI_H

/*
 * Dies unless @value is "BEGIN,END": two functions, or two ascending numbers of
 * instructions. @name is the option or its twin.
 */
void record_check_roi(const char *name, const char *value);

/*
 * If COMDET_ROI has names of functions, put their places in the program @path
 * there instead, as the plugin takes them: distances from its first executable
 * segment. Dies if the program has no such functions.
 */
void record_settle_roi(const char *path);

#endif
