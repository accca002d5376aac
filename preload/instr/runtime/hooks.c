/* SPDX-License-Identifier: MIT */
/*
 * hooks - loads and stores of instrumented code
 *
 * The names are those that gcc and clang call with -fsanitize=thread.
 */
#include <stdbool.h>
#include <stddef.h>

#include "hooks.h"

enum {
	/* accesses until a hook looks again whether somebody listens */
	UNHEARD = 1 << 20,
};

HIDDEN __thread struct instr_thread instr_self
	__attribute__((tls_model("initial-exec")));
static _Atomic uint8_t watched[INSTR_WATCHED] __attribute__((aligned(64)));

/* Set by the linker; absent if the program has no atomics. */
extern HIDDEN const char code_low[] __asm__("__start_comdet_instr_atomics")
	__attribute__((weak));
extern HIDDEN const char code_high[] __asm__("__stop_comdet_instr_atomics")
	__attribute__((weak));

extern HIDDEN const char hooks_low[] __asm__("__start_comdet_instr_hooks");
extern HIDDEN const char hooks_high[] __asm__("__stop_comdet_instr_hooks");

static struct instr_thread *this_thread(void)
{
	return &instr_self;
}

HIDDEN struct instr_library instr_library = {
	.abi = INSTR_ABI,
	.bytes = sizeof(struct instr_library),
	.thread_bytes = sizeof(struct instr_thread),
	.watched_bytes = sizeof(watched),
	.watched = watched,
	.thread = this_thread,
	.code_low = code_low,
	.code_high = code_high,
	.hooks_low = hooks_low,
	.hooks_high = hooks_high,
};

/* struct instr_note */
__asm__(".pushsection .note.comdet, \"a\", @note\n\t"
	".balign 4\n\t"
	".long 7, 8, 1\n\t" /* bytes of name and desc, INSTR_NOTE_TYPE */
	".asciz \"" INSTR_NOTE_NAME "\"\n\t"
	".balign 4\n\t"
	".long 3\n\t" /* INSTR_ABI */
	".long instr_library - .\n\t"
	".popsection");
_Static_assert(INSTR_ABI == 3 && INSTR_NOTE_TYPE == 1, "as in the note");
_Static_assert(sizeof(INSTR_NOTE_NAME) == 7, "as in the note");
_Static_assert(sizeof(struct instr_note) == 8, "as in the note");

/* In libcomdet.so, which may not be there. */
extern void comdet_instr_attach(struct instr_library *library)
	__attribute__((weak, visibility("default")));
extern void comdet_instr_detach(struct instr_library *library)
	__attribute__((weak, visibility("default")));

/* Announce a copy that comes with a library that the program loads. */
__attribute__((constructor)) static void attach(void)
{
	if (comdet_instr_attach)
		comdet_instr_attach(&instr_library);
}

__attribute__((destructor)) static void detach(void)
{
	if (comdet_instr_detach)
		comdet_instr_detach(&instr_library);
}

static void tell(uint64_t addr, enum instr_class class, uint64_t bytes,
		 const struct instr_call *from)
{
	struct instr_thread *t = &instr_self;
	instr_listener *listener;

	/* (L) pairs with (I) of the listener: see its set-up. */
	listener = atomic_load_explicit(&instr_library.listener,
					memory_order_acquire);
	if (listener) {
		listener(t, class, addr, bytes, from);
		return;
	}
	t->watched = 0;
	if (t->left[class] < 0) {
		t->given[class] += UNHEARD;
		t->left[class] += UNHEARD;
	}
}

/* The parameters of instr_event, and the registers that it pushed. */
HIDDEN void instr_event_saved(uint64_t addr, enum instr_class class,
			      uint64_t ip, uint64_t sp,
			      const struct instr_saved *saved);

void instr_event_saved(uint64_t addr, enum instr_class class, uint64_t ip,
		       uint64_t sp, const struct instr_saved *saved)
{
	const struct instr_call from = { ip, sp, saved };

	tell(addr, class, instr_class_bytes(class), &from);
}

__attribute__((cold, noinline)) void instr_atomic_event(uint64_t addr,
							enum instr_class class,
							uint64_t ip,
							uint64_t sp)
{
	const struct instr_call from = { ip, sp, NULL };

	tell(addr, class, instr_class_bytes(class), &from);
}

/* Push struct instr_saved, and call instr_event_saved. */
__asm__(".pushsection .text.unlikely\n\t"
	".globl instr_event\n\t"
	".hidden instr_event\n\t"
	".type instr_event, @function\n"
	"instr_event:\n\t"
	".cfi_startproc\n\t"
	".irp reg, r15, r14, r13, r12, rbp, rbx\n\t"
	"push %\\reg\n\t"
	".cfi_adjust_cfa_offset 8\n\t"
	".endr\n\t"
	"mov %rsp, %r8\n\t"
	"sub $8, %rsp\n\t"
	".cfi_adjust_cfa_offset 8\n\t"
	"call instr_event_saved\n\t"
	"add $56, %rsp\n\t"
	".cfi_def_cfa_offset 8\n\t"
	"ret\n\t"
	".cfi_endproc\n\t"
	".size instr_event, . - instr_event\n\t"
	".popsection");

/*
 * The count is not inline: it is little beside what the function does to
 * memory.
 */
__attribute__((noinline)) void instr_range_event(uint64_t addr,
						 enum instr_class class,
						 uint64_t ip, uint64_t bytes,
						 uint64_t sp)
{
	const struct instr_call from = { ip, sp, NULL };
	uint64_t last = (addr + bytes - 1) >> INSTR_LINE_SHIFT;
	bool event = --instr_self.left[class] < 0;

	for (uint64_t line = addr >> INSTR_LINE_SHIFT; line <= last && !event;
	     line++)
		event = instr_may_be_watched(line << INSTR_LINE_SHIFT);
	instr_self.range_bytes[class - INSTR_LOAD_RANGE] += bytes;
	if (event)
		tell(addr, class, bytes, &from);
}

#define LOADS(bytes, log)                                                      \
	ACCESS_HOOK(__tsan_read##bytes, void *p)                               \
	{                                                                      \
		instr_access(p, INSTR_LOAD + (log));                           \
	}                                                                      \
	HOOK(void, __tsan_volatile_read##bytes, void *p)                       \
	__attribute__((alias("__tsan_read" #bytes)));

#define STORES(bytes, log)                                                     \
	ACCESS_HOOK(__tsan_write##bytes, void *p)                              \
	{                                                                      \
		instr_access(p, INSTR_STORE + (log));                          \
	}                                                                      \
	HOOK(void, __tsan_volatile_write##bytes, void *p)                      \
	__attribute__((alias("__tsan_write" #bytes)));

/* x = x + 1 as one call, with -mllvm -tsan-compound-read-before-write. */
#define MODIFIES(bytes, log)                                                   \
	ACCESS_HOOK(__tsan_read_write##bytes, void *p)                         \
	{                                                                      \
		instr_access(p, INSTR_MODIFY + (log));                         \
	}

#define UNALIGNED(bytes)                                                       \
	HOOK(void, __tsan_unaligned_read##bytes, void *p)                      \
	__attribute__((alias("__tsan_read" #bytes)));                          \
	HOOK(void, __tsan_unaligned_write##bytes, void *p)                     \
	__attribute__((alias("__tsan_write" #bytes)));                         \
	HOOK(void, __tsan_unaligned_volatile_read##bytes, void *p)             \
	__attribute__((alias("__tsan_read" #bytes)));                          \
	HOOK(void, __tsan_unaligned_volatile_write##bytes, void *p)            \
	__attribute__((alias("__tsan_write" #bytes)));                         \
	HOOK(void, __tsan_unaligned_read_write##bytes, void *p)                \
	__attribute__((alias("__tsan_read_write" #bytes)));

#define WIDTH(bytes, log)                                                      \
	LOADS(bytes, log)                                                      \
	STORES(bytes, log)                                                     \
	MODIFIES(bytes, log)

WIDTH(1, 0)
WIDTH(2, 1)
WIDTH(4, 2)
WIDTH(8, 3)
WIDTH(16, 4)
UNALIGNED(2)
UNALIGNED(4)
UNALIGNED(8)
UNALIGNED(16)

ACCESS_HOOK(__tsan_read_range, void *p, uint64_t bytes)
{
	instr_range(p, bytes, INSTR_LOAD_RANGE);
}

ACCESS_HOOK(__tsan_write_range, void *p, uint64_t bytes)
{
	instr_range(p, bytes, INSTR_STORE_RANGE);
}

/* Constructors and virtual calls access the pointer to an object's vtable. */
ACCESS_HOOK(__tsan_vptr_read, void **p)
{
	instr_access(p, INSTR_LOAD + 3);
}

ACCESS_HOOK(__tsan_vptr_update, void **p, void *value)
{
	instr_access(p, INSTR_STORE + 3);
}

static bool is_own(uint64_t sp)
{
	return sp - instr_self.stack_low < instr_self.stack_bytes;
}

/*
 * A frame below the stack pointer is not active, unless it is on another stack.
 */
static bool is_left(const struct instr_frame *f, uint64_t sp)
{
	return sp - f->sp - 1 < INSTR_STACK_MAX && is_own(f->sp) == is_own(sp);
}

/* The innermost frame that was not left by a jump. */
static struct instr_frame *still_active(struct instr_frame *top, uint64_t sp)
{
	while (is_left(top, sp))
		top--;
	return top;
}

/*
 * There is no room left. Drop frames that were left, and one with @sp, which
 * may lie below frames of another stack.
 */
static struct instr_frame *make_room(uint64_t sp)
{
	struct instr_frame *top = instr_self.last, *to = top;

	while (to->sp != INSTR_NO_SP)
		to--;
	for (struct instr_frame *f = to + 1; f <= top; f++)
		if (f->sp != sp && !is_left(f, sp))
			*++to = *f;
	return to;
}

/* Active functions have different stack pointers, so one with @sp was left. */
static __attribute__((cold, noinline)) void push_late(uint64_t caller,
						      uint64_t entry,
						      uint64_t sp)
{
	struct instr_frame *top = still_active(instr_self.top, sp);

	if (top->sp == sp)
		top--;
	if (top == instr_self.last && !instr_self.left_out)
		top = make_room(sp);
	if (top == instr_self.last) {
		instr_self.left_out++;
		return;
	}
	*++top = (struct instr_frame){ sp, caller, entry };
	instr_self.left_out = 0;
	instr_self.top = top;
}

/*
 * If a function ends by jumping to this hook, the stack pointer here is that of
 * its caller. So the frame of the function, which ends here, lies below it.
 */
static __attribute__((noinline)) void pop_late(uint64_t sp)
{
	struct instr_frame *top = still_active(instr_self.top, sp);

	if (top == instr_self.top && instr_self.left_out)
		instr_self.left_out--;
	else if (top == instr_self.top && top->sp == sp)
		instr_self.top = top - 1;
	else
		instr_self.top = top;
	if (top < instr_self.last)
		instr_self.left_out = 0;
}

/*
 * A handler that interrupts this writes frames at top + 1; they are below the
 * stack pointer when it returns.
 */
HOOK(void, __tsan_func_entry, void *caller)
{
	struct instr_frame *top = instr_self.top;

	if (!top)
		return;
	if (UNLIKELY(CALLERS_SP - top->sp < INSTR_STACK_MAX) ||
	    UNLIKELY(top == instr_self.last)) {
		push_late((uint64_t)(uintptr_t)caller,
			  (uint64_t)(uintptr_t)__builtin_return_address(0),
			  CALLERS_SP);
		return;
	}
	top++;
	top->sp = CALLERS_SP;
	top->caller = (uint64_t)(uintptr_t)caller;
	top->entry = (uint64_t)(uintptr_t)__builtin_return_address(0);
	atomic_signal_fence(memory_order_release);
	instr_self.top = top;
}

/*
 * No frame was kept for this function if it was left out, or if the innermost
 * one has another stack pointer.
 */
HOOK(void, __tsan_func_exit, void)
{
	struct instr_frame *top = instr_self.top;

	if (!top)
		return;
	if (top->sp != CALLERS_SP || UNLIKELY(top == instr_self.last))
		pop_late(CALLERS_SP);
	else
		instr_self.top = top - 1;
}

HOOK(void, __tsan_init, void)
{
}

HOOK(void, __tsan_ignore_thread_begin, void)
{
}

HOOK(void, __tsan_ignore_thread_end, void)
{
}
