/* SPDX-License-Identifier: MIT */
/*
 * page - page.html as it was when we were built
 */
#ifndef COMDET_ANALYSIS_HTML_PAGE_H
#define COMDET_ANALYSIS_HTML_PAGE_H

/* Ends in a NUL. */
extern const char html_page[];

#endif
