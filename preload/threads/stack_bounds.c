/* SPDX-License-Identifier: MIT */
/*
 * stack_bounds - where a thread's own stack lies
 */
#include <fcntl.h>
#include <sys/auxv.h>

#include "stack_bounds.h"
#include "preload/core/local.h"
#include "preload/core/sys.h"
#include "src/maps/map_lines.h"
#include "src/base/signal_safe.h"

#define LIMIT_MAX (UINT64_C(1) << 30) /* also where there is no limit */

_Static_assert(sizeof(struct stack_bounds) <= LOCAL_KEY - LOCAL_STACK,
	       "it fits");

/* The calling thread's. */
static struct stack_bounds *own(void)
{
	return local_get(LOCAL_STACK);
}

bool stack_search_take(struct stack_search *s, uint64_t start, uint64_t end)
{
	uint64_t bytes = end - s->before;

	if (s->at - start >= end - start) {
		s->before = end;
		return false;
	}
	if (bytes > s->limit)
		bytes = s->limit;
	if (bytes < end - start)
		bytes = end - start;
	s->found.low = end - bytes;
	s->found.bytes = bytes;
	return true;
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
		.at = getauxval(AT_RANDOM), /* an address that the kernel puts
					       on the stack */
		.limit = limit < LIMIT_MAX ? limit : LIMIT_MAX,
	};
	struct map_lines lines;
	struct cdp_map m;
	char text[1024];
	long fd;

	if (own()->bytes || sys_call0(SYS_gettid) != sys_call0(SYS_getpid))
		return;
	fd = sys_call4(SYS_openat, AT_FDCWD, "/proc/self/maps",
		       O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return;
	map_lines_begin(&lines, (int)fd, text, sizeof(text));
	while (map_lines_next(&lines, &m) &&
	       !stack_search_take(&s, m.start, m.end))
		;
	sys_call1(SYS_close, fd);
	if (runs_on(&s.found))
		*own() = s.found;
}

void stack_bounds_tell(uint64_t low, uint64_t bytes)
{
	const struct stack_bounds told = { low, bytes };

	if (runs_on(&told))
		*own() = told;
}

struct stack_bounds stack_bounds_own(void)
{
	return *own();
}
