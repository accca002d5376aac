/* SPDX-License-Identifier: MIT */
/*
 * demangle - names of C++ and Rust functions as their programmers wrote them
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "demangle.h"
#include "demangle_rust.h"
#include "analysis/base/util.h"

/* From the C++ runtime, which has no C header for it. */
char *__cxa_demangle(const char *name, char *buf, size_t *size, int *status);

/* Rust's legacy scheme ends a path in "::h" and 16 hexadecimal digits. */
static bool cut_rust_hash(char *s)
{
	static const char hash[] = "::h";
	size_t n = strlen(s), tail = strlen(hash) + 16;

	if (n <= tail || strncmp(s + n - tail, hash, strlen(hash)) ||
	    strspn(s + n - 16, "0123456789abcdef") != 16)
		return false;
	s[n - tail] = '\0';
	return true;
}

/* Undo the escapes of Rust's legacy scheme in place: they only get shorter. */
static void undo_rust_escapes(char *s)
{
	static const struct {
		const char *code, *plain;
	} codes[] = {
		{ "$LT$", "<" },  { "$GT$", ">" },  { "$LP$", "(" },
		{ "$RP$", ")" },  { "$C$", "," },   { "$BP$", "*" },
		{ "$RF$", "&" },  { "$SP$", "@" },  { "$u20$", " " },
		{ "$u27$", "'" }, { "$u5b$", "[" }, { "$u5d$", "]" },
		{ "$u7b$", "{" }, { "$u7d$", "}" }, { "$u7e$", "~" },
		{ "$u3b$", ";" }, { "$u2b$", "+" }, { "$u22$", "\"" },
		{ "..", "::" },
	};
	const char *first = s;
	char *to = s;

	while (*s) {
		size_t i = 0, n = sizeof(codes) / sizeof(codes[0]);

		/* A component may not begin with '$': then '_' precedes it. */
		if (*s == '_' && s[1] == '$' && (to == first || to[-1] == ':'))
			s++;
		while (i < n &&
		       strncmp(s, codes[i].code, strlen(codes[i].code)))
			i++;
		if (i == n) {
			*to++ = *s++;
			continue;
		}
		s += strlen(codes[i].code);
		memcpy(to, codes[i].plain, strlen(codes[i].plain));
		to += strlen(codes[i].plain);
	}
	*to = '\0';
}

char *demangle(const char *name)
{
	int status = -1;
	char *s = NULL;

	if (name[0] == '_' && name[1] == 'R') {
		s = demangle_rust(name);
		return s ? s : xstrdup(name);
	}
	if (name[0] == '_' && name[1] == 'Z')
		s = __cxa_demangle(name, NULL, NULL, &status);
	if (!s || status) {
		free(s);
		return xstrdup(name);
	}
	if (cut_rust_hash(s))
		undo_rust_escapes(s);
	return s;
}
