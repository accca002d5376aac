/* SPDX-License-Identifier: MIT */
/*
 * util - messages, colour, numbers and untrusted text, for all verbs
 */
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util.h"
#include "src/base/utf8.h"

enum {
	LINE_COLUMNS = 80,
	TEXT_BYTES = 512,
	TEXTS = 16
};

int die_status = 1;

/* A message may hold a name that its caller did not make safe. */
static void say(const char *fmt, va_list ap)
{
	char *text;

	fflush(stdout);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	fputs("reusetrack: ", stderr);
	print_safe(stderr, text ? text : "out of memory");
	fputc('\n', stderr);
	free(text);
}

/*
 * A verb that dies leaves its memory to exit. The compiler need not keep a
 * pointer beyond a call that does not return, so whether LeakSanitizer still
 * finds one on the stack is luck: it is not asked then.
 */
#ifdef __SANITIZE_ADDRESS__
static bool dying;

int __attribute__((visibility("default"))) __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
	return dying;
}
#endif

static void __attribute__((noreturn)) leave(int status)
{
#ifdef __SANITIZE_ADDRESS__
	dying = true;
#endif
	exit(status);
}

void die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
	leave(die_status);
}

void die_as(int status, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
	leave(status);
}

void warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
}

static void no_memory(void)
{
	die("out of memory; close other programs or raise the memory limit");
}

void *xcalloc(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size ? size : 1);

	if (!p)
		no_memory();
	return p;
}

char *xstrdup(const char *s)
{
	char *p = strdup(s);

	if (!p)
		no_memory();
	return p;
}

char *xvasprintf(const char *fmt, va_list ap)
{
	char *p;

	if (vasprintf(&p, fmt, ap) < 0)
		no_memory();
	return p;
}

char *xasprintf(const char *fmt, ...)
{
	va_list ap;
	char *p;

	va_start(ap, fmt);
	p = xvasprintf(fmt, ap);
	va_end(ap);
	return p;
}

void *grow(void *array, size_t used, size_t *room, size_t size)
{
	void *p;

	if (used < *room)
		return array;
	*room = *room ? *room * 2 : 16;
	p = reallocarray(array, *room, size);
	if (!p)
		no_memory();
	return p;
}

size_t unite(void *array, size_t n, size_t size,
	     int (*order)(const void *, const void *),
	     void (*add)(void *to, const void *from))
{
	char *last = array, *next = array;

	if (!n)
		return 0;
	qsort(array, n, size, order);
	for (size_t i = 1; i < n; i++) {
		next += size;
		if (!order(last, next)) {
			add(last, next);
			continue;
		}
		last += size;
		if (last != next)
			memcpy(last, next, size);
	}
	return (size_t)(last - (char *)array) / size + 1;
}

int colour_parse(const char *s)
{
	if (!strcmp(s, "auto"))
		return COLOUR_AUTO;
	if (!strcmp(s, "always"))
		return COLOUR_ALWAYS;
	if (!strcmp(s, "never"))
		return COLOUR_NEVER;
	return -1;
}

bool colour_wanted(enum colour_mode mode, FILE *f)
{
	const char *no = getenv("NO_COLOR");
	const char *term = getenv("TERM");

	if (mode != COLOUR_AUTO)
		return mode == COLOUR_ALWAYS;
	if (no && *no)
		return false;
	return isatty(fileno(f)) && term && strcmp(term, "dumb");
}

static char *next_text(void)
{
	static char text[TEXTS][TEXT_BYTES];
	static unsigned int next;

	return text[next++ % TEXTS];
}

const char *count_text(uint64_t n)
{
	char digits[24], *out = next_text(), *p = out;
	int len =
		snprintf(digits, sizeof(digits), "%llu", (unsigned long long)n);

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			*p++ = ',';
		*p++ = digits[i];
	}
	*p = '\0';
	return out;
}

const char *duration_text(uint64_t ns)
{
	char *out = next_text();
	double s = (double)ns / 1e9;

	if (ns == 0)
		snprintf(out, TEXT_BYTES, "0 s");
	else if (s < 9.95e-4)
		snprintf(out, TEXT_BYTES, "%.0f us", s * 1e6 < 1 ? 1 : s * 1e6);
	else if (s < 0.9995)
		snprintf(out, TEXT_BYTES, "%.0f ms", s * 1e3);
	else if (s < 99.95)
		snprintf(out, TEXT_BYTES, "%.1f s", s);
	else if (s < 9999.5)
		snprintf(out, TEXT_BYTES, "%.0f s", s);
	else
		snprintf(out, TEXT_BYTES, "%.1f h", s / 3600);
	return out;
}

const char *precise_time_text(double ns)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = { { "s", 1e9 }, { "ms", 1e6 }, { "us", 1e3 }, { "ns", 1 } };
	char *out = next_text();
	size_t i = 0;

	while (ns < units[i].ns && i + 1 < sizeof(units) / sizeof(*units))
		i++;
	snprintf(out, TEXT_BYTES,
		 ns / units[i].ns < 9999.5 ? "%.4g %s" : "%.0f %s",
		 ns / units[i].ns, units[i].name);
	return out;
}

const char *percent_text(double part, double whole)
{
	char *out = next_text();
	double p = whole > 0 ? 100 * part / whole : 0;

	if (p > 0 && p < 0.1)
		snprintf(out, TEXT_BYTES, "<0.1 %%");
	else if (p > 0 && p < 9.95)
		snprintf(out, TEXT_BYTES, "%.1f %%", p);
	else if (p < 100 && p >= 99.5)
		snprintf(out, TEXT_BYTES, p > 99.9 ? ">99.9 %%" : "%.1f %%", p);
	else
		snprintf(out, TEXT_BYTES, "%.0f %%", p);
	return out;
}

/* The character at @s as a terminal may see it: \xNN for an unsafe byte. */
struct shown {
	const unsigned char *at;
	size_t taken; /* bytes of the text */
	size_t n;     /* bytes at @at */
	unsigned char escape[5];
};

static void show(struct shown *c, const unsigned char *s)
{
	uint32_t point;

	c->n = c->taken = utf8_next(s, &point);
	c->at = s;
	if (c->n && utf8_is_safe(point))
		return;
	snprintf((char *)c->escape, sizeof(c->escape), "\\x%02x", *s);
	c->at = c->escape;
	c->n = 4;
	c->taken = 1;
}

/* In few pieces, because stderr has no buffer; it may tell of no memory. */
void print_safe(FILE *f, const char *s)
{
	const unsigned char *in = (const unsigned char *)s;
	char piece[TEXT_BYTES];
	size_t used = 0;
	struct shown c;

	for (; *in; in += c.taken, used += c.n) {
		show(&c, in);
		if (*in == '\n' || *in == '\t')
			c = (struct shown){ .at = in, .taken = 1, .n = 1 };
		if (used + c.n > sizeof(piece)) {
			fwrite(piece, 1, used, f);
			used = 0;
		}
		memcpy(piece + used, c.at, c.n);
	}
	fwrite(piece, 1, used, f);
}

const char *safe_text(const char *s)
{
	const unsigned char *in = (const unsigned char *)s;
	char *out = next_text(), *p = out, *end = out + TEXT_BYTES - 1;
	struct shown c;

	for (; *in; in += c.taken) {
		show(&c, in);
		if (p + c.n > end)
			break;
		memcpy(p, c.at, c.n);
		p += c.n;
	}
	*p = '\0';
	return out;
}

char *utf8_text(const char *s)
{
	const unsigned char *in = (const unsigned char *)s;
	char *out = xcalloc(strlen(s) * 3 + 1, 1), *p = out;

	while (*in) {
		uint32_t point;
		size_t n = utf8_next(in, &point);

		if (n) {
			memcpy(p, in, n);
			p += n;
			in += n;
		} else {
			memcpy(p, "\xef\xbf\xbd", 3);
			p += 3;
			in++;
		}
	}
	return out;
}

size_t text_columns(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

const char *cut_text(const char *s, size_t columns)
{
	char *out = next_text();
	size_t bytes = 0, seen = 0;

	if (text_columns(s) <= columns)
		return s;
	while (s[bytes] && seen + 3 < columns) {
		do {
			bytes++;
		} while (((unsigned char)s[bytes] & 0xc0) == 0x80);
		seen++;
	}
	snprintf(out, TEXT_BYTES, "%.*s...", (int)bytes, s);
	return out;
}

void print_wrapped(FILE *f, const char *s, size_t at, size_t indent)
{
	bool first = true;

	while (*s) {
		size_t bytes = strcspn(s, " \n"), columns = 0;

		for (size_t i = 0; i < bytes; i++)
			columns += ((unsigned char)s[i] & 0xc0) != 0x80;
		if (!first && at + 1 + columns > LINE_COLUMNS) {
			fprintf(f, "\n%*s", (int)indent, "");
			at = indent;
		} else if (!first) {
			fputc(' ', f);
			at++;
		}
		fwrite(s, 1, bytes, f);
		at += columns;
		first = false;
		s += bytes;
		if (*s == '\n') {
			s++;
			fprintf(f, "\n%*s", (int)indent, "");
			at = indent;
			first = true;
		}
		s += strspn(s, " ");
	}
	fputc('\n', f);
}

bool read_line(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, buf, size - 1);
	close(fd);
	if (n <= 0)
		return false;
	buf[n] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
	return true;
}

const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}
