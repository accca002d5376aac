/* SPDX-License-Identifier: MIT */
/*
 * altstack - alternate stacks that are too small for a signal frame
 *
 * Our handler runs on the alternate stack, because runtimes with stacks of
 * their own need that. But a program may have an alternate stack of MINSIGSTKSZ
 * bytes that none of its handlers uses. On a processor with wide vectors the
 * kernel's signal frame is larger than that, and the kernel would kill the
 * program.
 *
 * A thread whose stack has no room for such a frame would die of the first
 * sample. With AMX the frame may take 11 KiB, and the smallest stack has 16. So
 * these threads get an alternate stack of ours.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "altstack.h"
#include "preload/core/sys.h"
#include "preload/signal/claim.h"
#include "preload/signal/real.h"
#include "src/base/signal_safe.h"

enum {
	MINIMUM = 51,       /* AT_MINSIGSTKSZ, newer than our libc's headers */
	OUR_FRAMES = 1024,  /* before the handler changes to its own stack */
	MINIMUM_OLD = 2048, /* if the kernel does not say */
	ROOM = 8 * 1024,    /* for the thread, or for a handler of its own */
	PAGE = 4096,
};

#define MAGIC 0x6b6361747374656dull

/* Lies below an alternate stack of ours, and makes its size an odd one. */
struct ours {
	uint64_t magic;
	const struct ours *self;
	uint64_t unused[4];
};

static size_t minimum_frame(void)
{
	size_t minimum = getauxval(MINIMUM);

	return minimum ? minimum : MINIMUM_OLD;
}

static bool is_small(const stack_t *s)
{
	return !(s->ss_flags & SS_DISABLE) &&
	       s->ss_size < minimum_frame() + OUR_FRAMES;
}

static size_t our_bytes(void)
{
	return (minimum_frame() + ROOM + PAGE - 1) & ~(size_t)(PAGE - 1);
}

/*
 * NULL: the stack is the program's. Of this size it would hardly have one, so
 * the words below may be read.
 */
static struct ours *ours_of(const stack_t *s)
{
	struct ours *o = (struct ours *)s->ss_sp - 1;

	if (s->ss_flags & SS_DISABLE || s->ss_size != our_bytes() - sizeof(*o))
		return NULL;
	return o->magic == MAGIC && o->self == o ? o : NULL;
}

void *altstack_begin(size_t stack_bytes)
{
	stack_t s = { .ss_flags = 0 };
	struct ours *o;

	if (!stack_bytes || stack_bytes >= minimum_frame() + ROOM)
		return NULL;
	o = mmap(NULL, our_bytes(), PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (o == MAP_FAILED)
		return NULL;
	*o = (struct ours){ .magic = MAGIC, .self = o };
	s.ss_sp = o + 1;
	s.ss_size = our_bytes() - sizeof(*o);
	if (!sys_call2(SYS_sigaltstack, &s, NULL))
		return o;
	munmap(o, our_bytes());
	return NULL;
}

/* A handler that ends the thread may run on the stack: then it stays mapped. */
void altstack_end(void *given)
{
	const stack_t none = { .ss_flags = SS_DISABLE };
	stack_t s;

	if (sys_call2(SYS_sigaltstack, NULL, &s))
		return;
	if (ours_of(&s) && sys_call2(SYS_sigaltstack, &none, NULL))
		return;
	munmap(given, our_bytes());
}

EXPORT int sigaltstack(const stack_t *stack, stack_t *old)
{
	int saved_errno = errno, r;

	/* Do this before the call: a sample may come right after it. */
	if (stack && is_small(stack))
		signal_small_stack();
	errno = saved_errno;
	r = REAL(sigaltstack)(stack, old);
	if (!r && old && ours_of(old))
		*old = (stack_t){ .ss_flags = SS_DISABLE };
	return r;
}
