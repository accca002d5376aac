/* SPDX-License-Identifier: MIT */
/*
 * utf8 - which bytes of foreign text a terminal may see
 *
 * Names of files, threads, functions and hosts may hold anything. Control
 * characters, also those above ASCII (U+009B is ESC [ in one), and characters
 * that reverse or hide text would let a name change what the user reads. This
 * is the only place that says which characters are safe; util.h of the analysis
 * and json_build.h escape the others.
 *
 * Context: any.
 */
#ifndef COMDET_BASE_UTF8_H
#define COMDET_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Decode the character at @s, which ends with 0: its bytes and code point; 0
 * bytes if it is not UTF-8.
 */
size_t utf8_next(const unsigned char *s, uint32_t *point);

/* True if a terminal shows @point as a character, where it stands. */
bool utf8_is_safe(uint32_t point);

/* Replace each byte of unsafe characters, and of what is not UTF-8, by '?'. */
void utf8_blot(char *s);

#endif
