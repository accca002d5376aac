/* SPDX-License-Identifier: MIT */
/*
 * heap_path - the calls that led to an allocation (record --objects on -g)
 */
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "heap_path.h"
#include "src/base/rawcall.h"
#include "src/unwind/cfi.h"
#include "src/base/signal_safe.h"

enum {
	ROW_BITS = 13,
	ROWS = 1 << ROW_BITS,
	WORD = 8,
	RULES_FETCH = 256,
	PAGE = 4096,
	PAGES_AT_ONCE = 64,
	STACK_MAX = 8 << 20, /* of a stack that is looked at at once */
	STACK_BITS = 12,
	STACKS = 1 << STACK_BITS,
	STACK_TRIES = 8,
	CONTROL_BYTES = 2048,      /* of a control block that are looked at */
	CONTROL_TO_END = 2 * PAGE, /* from it to the end of its stack */
};

/* The lower half of a row; the upper half is a part of the address's hash. */
#define ROW_VALID  (1u << 31)
#define ROW_BY_RBP (1u << 30)
enum {
	RBP_SHIFT = 15,
	FIELD_BITS = 15,
	FIELD_MAX = (1 << (FIELD_BITS - 1)) - 1,
	FIELD_MASK = (1 << FIELD_BITS) - 1,
};

static _Atomic uint64_t rows[ROWS];
static _Atomic uint64_t generation; /* of the loaded libraries */

/*
 * The part of its own stack that a thread may read without asking, by thread
 * pointer. Only the thread with that pointer uses its row. There is no
 * thread-local storage: the C library would allocate more for each thread, and
 * the program's blocks would move.
 */
static struct own_stack {
	_Atomic uint64_t thread; /* 0: free; never freed again */
	uint64_t low, high;      /* what it may read; both 0: not known yet */
	uint64_t floor;          /* the stack begins there */
	/* Where the control block says where the stack begins, and what. */
	const uint64_t *says;
	uint64_t said;
} stacks[STACKS];

extern void *__libc_stack_end;
extern loaded_find_function _dl_find_object __attribute__((weak));

static int read_own(void *ctx, uint64_t addr, void *buf, size_t n)
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

/* The first word of what the thread pointer points to is the pointer. */
static uint64_t thread_pointer(void)
{
	uint64_t p;

	__asm__("mov %%fs:0, %0" : "=r"(p));
	return p;
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

/*
 * The calling thread's row; NULL if the table has no room. A thread that ended
 * may have had the same pointer, and another stack.
 */
static struct own_stack *own_stack(void)
{
	uint64_t self = thread_pointer();
	uint64_t at = self * 0x9E3779B97F4A7C15u >> (64 - STACK_BITS);

	for (unsigned i = 0; i < STACK_TRIES; i++) {
		struct own_stack *s = &stacks[(at + i) % STACKS];
		uint64_t is =
			atomic_load_explicit(&s->thread, memory_order_relaxed);

		if (is != self && (is || !atomic_compare_exchange_strong(
						 &s->thread, &is, self)))
			continue;
		if (s->high && s->says && *s->says != s->said)
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

	s->says = says;
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

/* The word at @addr, on the stack whose end is @sp. */
static bool load(struct own_stack *s, uint64_t sp, uint64_t addr, uint64_t *out)
{
	if (addr % WORD || addr < sp)
		return false;
	if (!s || ((!s->high || sp < s->low) && !is_own(s, sp)) ||
	    addr >= s->high)
		return !read_own(NULL, addr, out, WORD);
	*out = *(const uint64_t *)(uintptr_t)addr;
	return true;
}

static bool fits(int64_t value)
{
	return !(value % WORD) && value / WORD <= FIELD_MAX &&
	       value / WORD >= -FIELD_MAX;
}

static uint32_t field(int64_t value)
{
	return (uint32_t)(value / WORD) & FIELD_MASK;
}

static int64_t value_of(uint32_t field)
{
	return ((int64_t)((field & FIELD_MASK) ^ (1 << (FIELD_BITS - 1))) -
		(1 << (FIELD_BITS - 1))) *
	       WORD;
}

/* ROW_VALID alone: the path ends there. */
static uint32_t pack(const struct cfi_row *row)
{
	const struct cfi_where *rbp = &row->reg[FRAME_RBP];
	const struct cfi_where *pc = &row->reg[FRAME_PC];
	uint32_t base = row->cfa.base == FRAME_RBP ? ROW_BY_RBP : 0;
	bool saved = rbp->rule == RULE_OFFSET;

	if (row->cfa.rule != RULE_VAL_OFFSET || row->signal ||
	    (row->cfa.base != FRAME_RSP && row->cfa.base != FRAME_RBP) ||
	    pc->rule != RULE_OFFSET || pc->value != -WORD ||
	    (!saved && rbp->rule != RULE_SAME) || row->cfa.value <= 0 ||
	    !fits(row->cfa.value) || (saved && !fits(rbp->value)))
		return ROW_VALID;
	return ROW_VALID | base | (saved ? field(rbp->value) << RBP_SHIFT : 0) |
	       field(row->cfa.value);
}

__attribute__((noinline)) static uint32_t learn(uint64_t pc)
{
	const struct unwind_memory memory = { read_own, NULL };
	struct unwind_module m = { 0 };
	struct reader reader;
	struct cfi_row row;
	struct loaded_object f;

	if (!_dl_find_object || _dl_find_object((void *)(uintptr_t)pc, &f) ||
	    !f.eh_frame)
		return ROW_VALID;
	m.low = (uint64_t)(uintptr_t)f.start;
	m.high = (uint64_t)(uintptr_t)f.end;
	m.index = (uint64_t)(uintptr_t)f.eh_frame;
	reader_begin(&reader, &memory, RULES_FETCH);
	return cfi_find(&reader, &m, pc, &row) ? ROW_VALID : pack(&row);
}

/* The row for the call that returns to @address. */
static uint32_t row_of(uint64_t address, uint64_t now)
{
	uint64_t hash = (address + now) * 0x9E3779B97F4A7C15u;
	_Atomic uint64_t *slot = &rows[hash >> (64 - ROW_BITS)];
	uint64_t tag = hash << ROW_BITS >> 32 << 32;
	uint64_t was = atomic_load_explicit(slot, memory_order_relaxed);
	uint32_t row;

	if (was >> 32 << 32 == tag && (uint32_t)was)
		return (uint32_t)was;
	/* A call may be the last instruction of its function. */
	row = learn(address - 1);
	atomic_store_explicit(slot, tag | row, memory_order_relaxed);
	return row;
}

unsigned heap_path(uint64_t caller, const uint64_t *frame,
		   uint64_t path[HEAP_PATH_MAX])
{
	uint64_t now = atomic_load_explicit(&generation, memory_order_relaxed);
	uint64_t sp = (uint64_t)(uintptr_t)(frame + 2), rbp = frame[0];
	struct own_stack *s = own_stack();
	unsigned n = 0;

	while (caller) {
		uint32_t row;
		uint64_t cfa;

		path[n++] = caller;
		if (n == HEAP_PATH_MAX)
			break;
		row = row_of(caller, now);
		cfa = (row & ROW_BY_RBP ? rbp : sp) + (uint64_t)value_of(row);
		if (!(row & ~ROW_VALID) || cfa <= sp ||
		    !load(s, sp, cfa - WORD, &caller))
			break;
		if (row >> RBP_SHIFT & FIELD_MASK &&
		    !load(s, sp, cfa + (uint64_t)value_of(row >> RBP_SHIFT),
			  &rbp))
			break;
		sp = cfa;
	}
	return n;
}

void heap_path_forget(void)
{
	atomic_fetch_add_explicit(&generation, UINT64_C(0x100000000000),
				  memory_order_relaxed);
}
