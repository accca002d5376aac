/* SPDX-License-Identifier: MIT */
/*
 * altstack - alternate stacks that are too small for a signal frame
 *
 * Our handler runs on the alternate stack, because runtimes with stacks of
 * their own need that. But a program may have an alternate stack of MINSIGSTKSZ
 * bytes that none of its handlers uses. On a processor with wide vectors the
 * kernel's signal frame is larger than that, and the kernel would kill the
 * program.
 */
#include <errno.h>
#include <sys/auxv.h>

#include "preload/signal/claim.h"
#include "preload/signal/real.h"
#include "src/base/signal_safe.h"

enum {
	MINIMUM = 51,       /* AT_MINSIGSTKSZ, newer than our libc's headers */
	OUR_FRAMES = 1024,  /* before the handler changes to its own stack */
	MINIMUM_OLD = 2048, /* if the kernel does not say */
};

static bool is_small(const stack_t *s)
{
	size_t minimum = getauxval(MINIMUM);

	return !(s->ss_flags & SS_DISABLE) &&
	       s->ss_size < (minimum ? minimum : MINIMUM_OLD) + OUR_FRAMES;
}

EXPORT int sigaltstack(const stack_t *stack, stack_t *old)
{
	int saved_errno = errno;

	/* Do this before the call: a sample may come right after it. */
	if (stack && is_small(stack))
		signal_small_stack();
	errno = saved_errno;
	return REAL(sigaltstack)(stack, old);
}
