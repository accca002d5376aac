/* SPDX-License-Identifier: MIT */
/*
 * altstack - alternate stacks that are too small for a signal frame
 *
 * Our handler asks for the alternate stack, which a runtime with stacks of its
 * own needs. A program may have one of MINSIGSTKSZ bytes that no handler of its
 * own ever runs on, smaller than what the kernel writes there on a processor
 * with wide vectors: it would be killed.
 */
#include <errno.h>
#include <sys/auxv.h>

#include "preload/signal/claim.h"
#include "preload/signal/real.h"
#include "src/base/signal_safe.h"

enum {
	MINIMUM = 51,       /* AT_MINSIGSTKSZ, newer than our libc's headers */
	OUR_FRAMES = 1024,  /* until the handler has changed to its own stack */
	MINIMUM_OLD = 2048, /* where the kernel does not tell */
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

	/* Before the call: a sample may come right after it. */
	if (stack && is_small(stack))
		signal_small_stack();
	errno = saved_errno;
	return REAL(sigaltstack)(stack, old);
}
