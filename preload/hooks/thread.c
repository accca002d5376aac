/* SPDX-License-Identifier: MIT */
/*
 * thread - the beginning and the end of threads
 *
 * A new thread starts in a function of ours, which makes its record and calls
 * the application's. The destructor of a thread-specific key sees its end, by
 * return, pthread_exit or cancellation; it sets the key again until the last
 * round, so that the application's destructors are profiled too. The new thread
 * gets its arguments in a slot that it frees; malloc would give every thread an
 * arena of its own.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <threads.h>

#include "altstack.h"
#include "preload/core/inside.h"
#include "preload/core/local.h"
#include "preload/core/runtime.h"
#include "preload/signal/claim.h"
#include "preload/signal/claimed.h"
#include "preload/signal/inherit.h"
#include "preload/signal/pending.h"
#include "preload/signal/real.h"
#include "preload/sources/regions.h"
#include "preload/start/child.h"
#include "preload/start/choose_source.h"
#include "preload/threads/stack_bounds.h"
#include "preload/threads/threads.h"

enum {
	SLOTS = 512,
	KEYS_IN_THREAD = 32, /* glibc's PTHREAD_KEY_2NDLEVEL_SIZE */
};

/* Of two words, so that a function returns it in registers. */
struct call {
	union {
		void *(*posix)(void *);
		thrd_start_t c11;
	} routine;
	void *argument;
};

struct start {
	_Atomic bool taken;
	bool mapped; /* on a page of its own, because all slots were taken */
	bool blocks; /* the claimed signal is blocked for the application */
	struct call call;
	struct thread *thread;
	void *stack;        /* the application's own, or NULL */
	size_t stack_bytes; /* that the attributes ask for */
};

static struct start slots[SLOTS];
static _Atomic unsigned next;
static pthread_key_t key;
static bool have_key;

/*
 * Run in the last round, after the application's destructors. @value is the
 * alternate stack that we gave the thread, &key if none.
 */
static void at_end(void *value)
{
	unsigned *rounds = local_get(LOCAL_KEY);

	if (++*rounds < PTHREAD_DESTRUCTOR_ITERATIONS &&
	    !pthread_setspecific(key, value))
		return;
	*rounds = 0; /* for the next thread on this stack */
	signal_thread_end();
	threads_end();
	if (value == &key)
		return;
	/* Without profiling the program may be in a sandbox: no system call. */
	if (inside_enter())
		altstack_end(value);
	inside_leave();
}

/*
 * Take the last of the keys whose values the C library keeps in the thread
 * itself: those of later keys need a table in the program's heap, and the
 * program gets the numbers that it gets without us.
 */
__attribute__((constructor(102))) static void make_key(void)
{
	pthread_key_t earlier[KEYS_IN_THREAD];
	int n = 0;

	while ((have_key = !pthread_key_create(&key, at_end)) &&
	       key < KEYS_IN_THREAD - 1 && n < KEYS_IN_THREAD)
		earlier[n++] = key;
	while (n)
		pthread_key_delete(earlier[--n]);
}

static struct start *slot_new(void)
{
	unsigned first =
		atomic_fetch_add_explicit(&next, 1, memory_order_relaxed);
	void *page;

	for (unsigned i = 0; i < SLOTS; i++) {
		struct start *s = &slots[(first + i) % SLOTS];

		if (!atomic_load_explicit(&s->taken, memory_order_relaxed) &&
		    !atomic_exchange_explicit(&s->taken, true,
					      memory_order_acquire))
			return s;
	}
	page = mmap(NULL, sizeof(struct start), PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		return NULL;
	((struct start *)page)->mapped = true;
	return page;
}

static void slot_free(struct start *s)
{
	if (s->mapped)
		munmap(s, sizeof(*s));
	else
		atomic_store_explicit(&s->taken, false, memory_order_release);
}

/* A mask in the attributes overrides the inherited one. */
static bool will_block(const pthread_attr_t *attributes)
{
	sigset_t set;

	if (attributes && !pthread_attr_getsigmask_np(attributes, &set))
		return signal_is_in(&set);
	return signal_blocks_now();
}

static void take_stack(struct start *s, const pthread_attr_t *attributes)
{
	pthread_attr_t none;
	size_t bytes;
	void *low;

	s->stack = NULL;
	s->stack_bytes = 0;
	if (attributes && !pthread_attr_getstack(attributes, &low, &bytes) &&
	    (uintptr_t)low + bytes)
		s->stack = low;
	if (attributes) {
		pthread_attr_getstacksize(attributes, &s->stack_bytes);
	} else if (!pthread_attr_init(&none)) {
		pthread_attr_getstacksize(&none, &s->stack_bytes);
		pthread_attr_destroy(&none);
	}
}

/*
 * A thread's id points to the C library's record of it, which lies in the last
 * page of the thread's stack; stacks that the library makes begin on a page.
 */
static void tell_stack(const struct start *s)
{
	uint64_t end = (uint64_t)pthread_self();
	uint64_t low = (end | 4095) + 1 - s->stack_bytes;

	if (s->stack)
		low = (uint64_t)(uintptr_t)s->stack;
	stack_bounds_tell(low, end - low);
}

static struct start *prepare(const pthread_attr_t *attributes,
			     void *(*routine)(void *), void *argument)
{
	struct start *s;

	if (!have_key)
		return NULL;
	child_begin();
	if (!runtime_is_ours())
		return NULL;
	source_first_thread();
	s = slot_new();
	if (!s)
		return NULL;
	s->blocks = will_block(attributes);
	take_stack(s, attributes);
	s->call.argument = argument;
	s->thread = threads_prepare(routine);
	return s;
}

static void discard(struct start *s)
{
	int saved_errno = errno;

	if (s->thread)
		threads_discard(s->thread);
	slot_free(s);
	errno = saved_errno;
}

/* The new thread calls this. Frees @s. */
static __attribute__((noinline)) struct call begin(struct start *s)
{
	struct call call = s->call;
	struct thread *t = s->thread;
	size_t stack_bytes = s->stack_bytes;
	bool blocks = s->blocks, profiled;
	void *altstack;

	tell_stack(s);
	regions_thread_begin();
	slot_free(s);
	signal_set_app_blocks(blocks, 0);
	profiled = inside_enter();
	if (t) {
		altstack = profiled ? altstack_begin(stack_bytes) : NULL;
		threads_begin(t);
		pthread_setspecific(key, altstack ? altstack : &key);
	}
	signal_thread_begin(blocks, profiled);
	inside_leave();
	errno = 0;
	return call;
}

/*
 * The program's function is called last, which makes it a jump: its frame lies
 * where it lies without us.
 */
static void *run_posix(void *arg)
{
	struct call call = begin(arg);

	return call.routine.posix(call.argument);
}

static int run_c11(void *arg)
{
	struct call call = begin(arg);

	return call.routine.c11(call.argument);
}

/* Without @s the thread is not profiled, but its mask must still be right. */
EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
			  void *(*routine)(void *), void *argument)
{
	struct signal_exec undo;
	int saved_errno = errno, r;
	struct start *s = prepare(attributes, routine, argument);

	errno = saved_errno;
	signal_before_thread(&undo);
	if (s) {
		s->call.routine.posix = routine;
		r = REAL(pthread_create)(thread, attributes, run_posix, s);
	} else {
		r = REAL(pthread_create)(thread, attributes, routine, argument);
	}
	signal_after_thread(&undo);
	if (s && r)
		discard(s);
	return r;
}

EXPORT int thrd_create(thrd_t *thread, thrd_start_t routine, void *argument)
{
	struct signal_exec undo;
	int saved_errno = errno, r;
	struct start *s =
		prepare(NULL, (void *(*)(void *))(uintptr_t)routine, argument);

	errno = saved_errno;
	signal_before_thread(&undo);
	if (s) {
		s->call.routine.c11 = routine;
		r = REAL(thrd_create)(thread, run_c11, s);
	} else {
		r = REAL(thrd_create)(thread, routine, argument);
	}
	signal_after_thread(&undo);
	if (s && r != thrd_success)
		discard(s);
	return r;
}
