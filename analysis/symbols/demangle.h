/* SPDX-License-Identifier: MIT */
/*
 * demangle - names of C++ and Rust functions as their programmers wrote them
 */
#ifndef COMDET_ANALYSIS_SYMBOLS_DEMANGLE_H
#define COMDET_ANALYSIS_SYMBOLS_DEMANGLE_H

/*
 * A malloc'ed copy of @name, readable if it is a mangled name of C++ or Rust:
 * of its scheme v0 ("_R..."), or of the legacy one ("_ZN...17h<16 digits>E").
 * Hashes are left out.
 */
char *demangle(const char *name);

#endif
