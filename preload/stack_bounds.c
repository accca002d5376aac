/* SPDX-License-Identifier: MIT */
/*
 * stack_bounds - where a thread's own stack lies, from the kernel's list
 *
 * A mapping that a stack is in ends where the guard below begins, which is a
 * mapping of its own. Only the first thread's stack grows.
 */
#include <fcntl.h>

#include "stack_bounds.h"
#include "sys.h"
#include "signal_safe.h"

enum {
	START,
	END,
	REST /* of the line */
};

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool take_end(struct stack_search *s, uint64_t end)
{
	if (s->sp - s->start < end - s->start) {
		s->found.low = s->grows ? s->before : s->start;
		s->found.bytes = end - s->found.low;
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

struct stack_bounds stack_bounds_of(uint64_t sp)
{
	struct stack_search s = {
		.sp = sp,
		.grows = sys_call0(SYS_gettid) == sys_call0(SYS_getpid),
	};
	char text[1024];
	long fd, got;

	/* That of "self" is empty once the main thread has ended. */
	fd = sys_call4(SYS_openat, AT_FDCWD, "/proc/thread-self/maps",
		       O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return s.found;
	do
		got = sys_call3(SYS_read, fd, text, sizeof(text));
	while (got > 0 && !stack_search_take(&s, text, got));
	sys_call1(SYS_close, fd);
	return s.found;
}
