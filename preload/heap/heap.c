/* SPDX-License-Identifier: MIT */
/*
 * heap - stand before malloc and its kin, and note who called
 *
 * Each function passes its call on to the next library that has it: the C
 * library, or an allocator that the program brings. What that one returns goes
 * to the caller as it is.
 *
 * The next functions are looked up at the first call, which may come from the
 * loader. The look-up itself may allocate only where a function is missing; it
 * is then served from a small buffer, which is never freed.
 */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>

#include "heap.h"
#include "heap_path.h"
#include "new.h"
#include "note.h"
#include "shadow.h"

#define EXPORT __attribute__((visibility("default")))

enum {
	EARLY_BYTES = 8192,
	ALIGNMENT = 16,
};

static struct {
	void *(*malloc)(size_t);
	void *(*calloc)(size_t, size_t);
	void *(*realloc)(void *, size_t);
	void (*free)(void *);
	void *(*memalign)(size_t, size_t);
	void *(*aligned_alloc)(size_t, size_t);
	int (*posix_memalign)(void **, size_t, size_t);
	void *(*valloc)(size_t);
	void *(*pvalloc)(size_t);
} real;

static char early[EARLY_BYTES] __attribute__((aligned(ALIGNMENT)));
static size_t early_used;

static void *early_alloc(size_t bytes)
{
	size_t at;

	if (bytes > EARLY_BYTES)
		return NULL;
	bytes = (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
	at = __atomic_fetch_add(&early_used, bytes, __ATOMIC_RELAXED);
	return at + bytes <= EARLY_BYTES ? early + at : NULL;
}

static int is_early(const void *p)
{
	return (uintptr_t)p - (uintptr_t)early < EARLY_BYTES;
}

#define LOOK_UP(name) (real.name = dlsym(RTLD_NEXT, #name))

/* False within the look-up itself, by the same thread or another. */
static int look_up(void)
{
	static int looking;
	int saved_errno = errno;

	if (__atomic_exchange_n(&looking, 1, __ATOMIC_ACQUIRE))
		return real.malloc && real.calloc && real.realloc && real.free;
	LOOK_UP(free); /* first: what is noted can be freed */
	LOOK_UP(calloc);
	LOOK_UP(realloc);
	LOOK_UP(memalign);
	LOOK_UP(aligned_alloc);
	LOOK_UP(posix_memalign);
	LOOK_UP(valloc);
	LOOK_UP(pvalloc);
	LOOK_UP(malloc);
	errno = saved_errno;
	return 1;
}

/* Before the program has threads. */
__attribute__((constructor(101))) static void start(void)
{
	if (!real.malloc)
		look_up();
	note_begin();
	new_begin();
}

EXPORT void *malloc(size_t bytes)
{
	void *p;

	if (__builtin_expect(!real.malloc, 0) && !look_up())
		return early_alloc(bytes);
	p = real.malloc(bytes);
	note(p, bytes, NOTE_FROM);
	return p;
}

EXPORT void *calloc(size_t n, size_t bytes)
{
	void *p;

	/* The buffer is zero, and what is taken of it is never given back. */
	if (__builtin_expect(!real.calloc, 0) && !look_up())
		return bytes && n > EARLY_BYTES / bytes
			       ? NULL
			       : early_alloc(n * bytes);
	p = real.calloc(n, bytes);
	note(p, n * bytes, NOTE_FROM);
	return p;
}

static void *move_early(const char *old, size_t bytes, struct note_from from)
{
	size_t have = (size_t)(early + EARLY_BYTES - old);
	char *p = real.malloc ? real.malloc(bytes) : early_alloc(bytes);

	for (size_t i = 0; p && i < bytes && i < have; i++)
		p[i] = old[i];
	if (!is_early(p))
		note(p, bytes, from);
	return p;
}

EXPORT void *realloc(void *old, size_t bytes)
{
	void *p;

	if (__builtin_expect(!real.realloc, 0) && !look_up())
		return old ? move_early(old, bytes, NOTE_FROM)
			   : early_alloc(bytes);
	if (__builtin_expect(is_early(old), 0))
		return move_early(old, bytes, NOTE_FROM);
	/* Another thread may get the old place before the call returns. */
	if (old)
		shadow_free((uint64_t)(uintptr_t)old, true);
	p = real.realloc(old, bytes);
	if (p)
		note(p, bytes, NOTE_FROM);
	else if (old && bytes)
		shadow_free((uint64_t)(uintptr_t)old, false);
	return p;
}

/* A block that was not noted, as one of the buffer. */
__attribute__((noinline)) static void free_other(void *p)
{
	if (!is_early(p) && (real.free || look_up()))
		real.free(p);
}

EXPORT void free(void *p)
{
	/* Whoever allocated it found the next free first. */
	if (__builtin_expect(shadow_free((uint64_t)(uintptr_t)p, true), 1))
		real.free(p);
	else
		free_other(p);
}

/* Is @name there to be called? */
#define HAS(name) (real.name || (look_up() && real.name))

EXPORT void *memalign(size_t alignment, size_t bytes)
{
	void *p;

	if (!HAS(memalign))
		return NULL;
	p = real.memalign(alignment, bytes);
	note(p, bytes, NOTE_FROM);
	return p;
}

EXPORT void *aligned_alloc(size_t alignment, size_t bytes)
{
	void *p;

	if (!HAS(aligned_alloc))
		return NULL;
	p = real.aligned_alloc(alignment, bytes);
	note(p, bytes, NOTE_FROM);
	return p;
}

EXPORT int posix_memalign(void **out, size_t alignment, size_t bytes)
{
	int err;

	if (!HAS(posix_memalign))
		return ENOMEM;
	err = real.posix_memalign(out, alignment, bytes);
	if (!err)
		note(*out, bytes, NOTE_FROM);
	return err;
}

EXPORT void *valloc(size_t bytes)
{
	void *p;

	if (!HAS(valloc))
		return NULL;
	p = real.valloc(bytes);
	note(p, bytes, NOTE_FROM);
	return p;
}

EXPORT void *pvalloc(size_t bytes)
{
	void *p;

	if (!HAS(pvalloc))
		return NULL;
	p = real.pvalloc(bytes);
	note(p, bytes, NOTE_FROM);
	return p;
}

EXPORT int dlclose(void *library)
{
	static int (*next)(void *);
	int result;

	if (!next)
		next = (int (*)(void *))dlsym(RTLD_NEXT, "dlclose");
	result = next(library);
	heap_path_forget();
	new_forget();
	return result;
}

EXPORT bool comdet_heap_find(uint64_t addr, struct heap_block *out)
{
	return shadow_find(addr, out);
}

extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char etext[] __attribute__((visibility("hidden")));

EXPORT const struct heap_code comdet_heap_code = { __ehdr_start, etext };
