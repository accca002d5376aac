/* SPDX-License-Identifier: MIT */
/*
 * own_stack - the part of its stack that a thread may read without asking
 */
#include <errno.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "own_stack.h"
#include "src/base/rawcall.h"
#include "src/base/signal_safe.h"

enum {
	WORD = 8,
	PAGE = 4096,
	PAGES_AT_ONCE = 64,
	STACK_MAX = 8 << 20, /* of a stack that is looked at at once */
	STACK_TRIES = 8,
	CONTROL_BYTES = 2048,      /* of a control block that are looked at */
	CONTROL_TO_END = 2 * PAGE, /* from it to the end of its stack */
};

struct own_stack own_stacks[OWN_STACKS];

extern void *__libc_stack_end;

int own_memory_read(void *ctx, uint64_t addr, void *buf, size_t n)
{
	struct iovec to = { buf, n };
	struct iovec from = { (void *)(uintptr_t)addr, n };
	long got = rawcall6(SYS_process_vm_readv, rawcall1(SYS_getpid, 0),
			    (long)&to, 1, (long)&from, 1, 0);

	return got == (long)n ? 0 : -EFAULT;
}

/* True if each page from @low to before @high can be read. */
static bool pages_are_readable(uint64_t low, uint64_t high)
{
	struct iovec from[PAGES_AT_ONCE];
	char bytes[PAGES_AT_ONCE];
	long pid = rawcall1(SYS_getpid, 0);

	while (low < high) {
		struct iovec to = { bytes, 0 };

		for (; to.iov_len < PAGES_AT_ONCE && low < high; low += PAGE)
			from[to.iov_len++] =
				(struct iovec){ (void *)(uintptr_t)low, 1 };
		if (rawcall6(SYS_process_vm_readv, pid, (long)&to, 1,
			     (long)from, (long)to.iov_len,
			     0) != (long)to.iov_len)
			return false;
	}
	return true;
}

/* A signal handler that interrupts this sees the old limits or none. */
static void set_limits(struct own_stack *s, uint64_t low, uint64_t high)
{
	s->high = 0;
	atomic_signal_fence(memory_order_seq_cst);
	s->low = low;
	atomic_signal_fence(memory_order_seq_cst);
	s->high = high;
}

/* A thread that ended may have had the same pointer, and another stack. */
__attribute__((noinline)) struct own_stack *own_stack_search(void)
{
	uint64_t self = thread_pointer();
	uint64_t at = own_stack_first(self);

	for (unsigned i = 0; i < STACK_TRIES; i++) {
		struct own_stack *s = &own_stacks[(at + i) % OWN_STACKS];
		uint64_t is =
			atomic_load_explicit(&s->thread, memory_order_relaxed);

		if (is != self && (is || !atomic_compare_exchange_strong(
						 &s->thread, &is, self)))
			continue;
		if (s->high && *s->says != s->said)
			set_limits(s, 0, 0);
		return s;
	}
	return NULL;
}

/*
 * The control block at @self has three words in a row: where the thread's stack
 * begins, how many bytes it has, and how many of them are a guard. Their place
 * differs between versions of the C library, but what they say is checked: the
 * control block lies at the end of the stack. Returns the first word; NULL if
 * there are no such three.
 */
static const uint64_t *stack_in_control_block(uint64_t self)
{
	const uint64_t *word = (const uint64_t *)(uintptr_t)self;

	if (!pages_are_readable(self & -(uint64_t)PAGE, self + CONTROL_BYTES))
		return NULL;
	for (unsigned i = 0; i + 2 < CONTROL_BYTES / WORD; i++) {
		uint64_t left = word[i] + word[i + 1] - self;

		if (word[i] < self && word[i + 1] > word[i + 2] &&
		    left > (i + 2) * WORD && left <= CONTROL_TO_END)
			return &word[i];
	}
	return NULL;
}

/*
 * Find out where the calling thread's stack lies. The first thread's begins
 * where the kernel lets it grow to, and nothing lies close below. If a thread's
 * is not found, nothing may be read without asking.
 */
static void find_stack(struct own_stack *s)
{
	uint64_t self = thread_pointer();
	uint64_t end = (uint64_t)(uintptr_t)__libc_stack_end;
	const uint64_t *says = stack_in_control_block(self);

	s->says = says ? says : &s->said;
	s->said = says ? says[0] : 0;
	if (says) {
		s->floor = says[0] + says[2];
		end = self;
	} else if (rawcall1(SYS_gettid, 0) == rawcall1(SYS_getpid, 0)) {
		s->floor = 0;
	} else {
		s->floor = UINT64_MAX;
		end = self;
	}
	end = (end + PAGE - 1) & -(uint64_t)PAGE;
	set_limits(s, end, end);
}

/*
 * Is @sp on the calling thread's own stack? Then all from there to the end of
 * the stack can be read, as long as the thread lives. Of another stack, as a
 * coroutine's, that cannot be said: the program may unmap it, and map a smaller
 * one there.
 */
__attribute__((noinline)) static bool is_own(struct own_stack *s, uint64_t sp)
{
	uint64_t low = sp & -(uint64_t)PAGE;

	if (!s->high)
		find_stack(s);
	if (sp < s->floor || low > s->high || s->low - low > STACK_MAX ||
	    !pages_are_readable(low, s->low))
		return false;
	set_limits(s, low, s->high);
	return true;
}

bool own_stack_load(struct own_stack *s, uint64_t sp, uint64_t addr,
		    uint64_t *out)
{
	if (addr % WORD || addr < sp)
		return false;
	if (!s || ((!s->high || sp < s->low) && !is_own(s, sp)) ||
	    addr >= s->high)
		return !own_memory_read(NULL, addr, out, WORD);
	*out = *(const uint64_t *)(uintptr_t)addr;
	return true;
}
