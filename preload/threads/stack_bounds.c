/* SPDX-License-Identifier: MIT */
/*
 * stack_bounds - where a thread's own stack lies
 */
#include <fcntl.h>
#include <sys/auxv.h>

#include "stack_bounds.h"
#include "preload/core/sys.h"
#include "src/base/signal_safe.h"

enum {
	START,
	END,
	REST /* of the line */
};
#define LIMIT_MAX (UINT64_C(1) << 30) /* of a stack that has none */

static __thread struct stack_bounds own
	__attribute__((tls_model("initial-exec")));

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool take_end(struct stack_search *s, uint64_t end)
{
	if (s->at - s->start < end - s->start) {
		uint64_t bytes = end - s->before;

		if (bytes > s->limit)
			bytes = s->limit;
		if (bytes < end - s->start)
			bytes = end - s->start;
		s->found.low = end - bytes;
		s->found.bytes = bytes;
		return true;
	}
	s->before = end;
	return false;
}

bool stack_search_take(struct stack_search *s, const char *text, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		int d = digit(text[i]);

		if (text[i] == '\n') {
			s->field = START;
			s->number = 0;
		} else if (s->field == REST) {
			continue;
		} else if (d >= 0) {
			s->number = s->number << 4 | (uint64_t)d;
		} else if (s->field == START) {
			s->start = s->number;
			s->number = 0;
			s->field = END;
		} else if (take_end(s, s->number)) {
			return true;
		} else {
			s->field = REST;
		}
	}
	return false;
}

static bool runs_on(const struct stack_bounds *b)
{
	return (uint64_t)(uintptr_t)__builtin_frame_address(0) - b->low <
	       b->bytes;
}

void stack_bounds_look(void)
{
	uint64_t limit = sys_soft_limit(RLIMIT_STACK);
	struct stack_search s = {
		.at = getauxval(AT_RANDOM), /* the kernel puts it there */
		.limit = limit < LIMIT_MAX ? limit : LIMIT_MAX,
	};
	char text[1024];
	long fd, got;

	if (own.bytes || sys_call0(SYS_gettid) != sys_call0(SYS_getpid))
		return;
	fd = sys_call4(SYS_openat, AT_FDCWD, "/proc/self/maps",
		       O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return;
	do
		got = sys_call3(SYS_read, fd, text, sizeof(text));
	while (got > 0 && !stack_search_take(&s, text, got));
	sys_call1(SYS_close, fd);
	if (runs_on(&s.found))
		own = s.found;
}

void stack_bounds_tell(uint64_t low, uint64_t bytes)
{
	const struct stack_bounds told = { low, bytes };

	if (runs_on(&told))
		own = told;
}

struct stack_bounds stack_bounds_own(void)
{
	return own;
}
