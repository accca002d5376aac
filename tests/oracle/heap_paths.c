/* SPDX-License-Identifier: MIT */
/*
 * heap_paths - compare the paths of heap blocks with full unwinds
 *
 *	COMDET_PATHS=1 HEAP_PATHS_EVERY=50 \
 *	LD_PRELOAD="libcomdet-heap.so libheap_paths.so" PROGRAM
 *
 * It stands between libcomdet-heap.so and the C library. At one in EVERY
 * allocations, at random, libunwind walks the whole stack. At the thread's next
 * call the heap library has noted the block, and is asked for it as a
 * detection would. Its path has to be the innermost calls of the full one, as
 * many as it can hold. At the end one line of counts goes to standard error:
 *
 *	right	the same calls
 *	short	fewer, but these are right
 *	wrong	another call among them, or a wrong block
 *	unnamed	no block, or none with a path
 *	mixed	of those with a path: the calls beyond those that are noted are
 *		not those of the first block of the same site
 *
 * HEAP_PATHS_SHOW=N prints the first N that are not right.
 */
#define UNW_LOCAL_ONLY
#include <dlfcn.h>
#include <libunwind.h>
#include <link.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "preload/heap/heap.h"

#define EXPORT __attribute__((visibility("default")))

enum {
	FRAMES_MAX = 512,
	SITES = 1 << 16,
};

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void __libc_free(void *);
extern void *__libc_memalign(size_t, size_t);

/* What a thread allocated last, if it was chosen. */
struct chosen {
	uint64_t block; /* 0: none */
	unsigned calls;
	uint64_t path[FRAMES_MAX]; /* return addresses, innermost first */
};

enum outcome {
	RIGHT,
	SHORT,
	WRONG,
	UNNAMED,
	OUTCOMES
};

static const char *const outcome_name[OUTCOMES] = { "right", "short", "wrong",
						    "unnamed" };

static __thread bool inside; /* libunwind and printf may allocate */
static __thread struct chosen chosen;
static __thread uint64_t random_state;
static __thread unsigned left;

static unsigned every, show;
static heap_find_function *find;
static uint64_t heap_low, heap_high; /* code of libcomdet-heap.so */
static atomic_ulong allocations, outcomes[OUTCOMES], mixed, sites, shown;
static _Atomic uint64_t full_path_of[SITES]; /* hash of the first block's */

static int find_heap_library(struct dl_phdr_info *info, size_t size, void *ctx)
{
	uint64_t at = (uint64_t)(uintptr_t)find;

	(void)size;
	(void)ctx;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];
		uint64_t low = info->dlpi_addr + part->p_vaddr;
		uint64_t high = low + part->p_memsz;

		if (at >= low && at < high) {
			heap_low = low;
			heap_high = high;
			return 1;
		}
	}
	return 0;
}

static unsigned number(const char *name)
{
	const char *text = getenv(name);

	return text ? (unsigned)strtoul(text, NULL, 10) : 0;
}

__attribute__((constructor)) static void begin(void)
{
	inside = true;
	find = (heap_find_function *)dlsym(RTLD_DEFAULT, HEAP_FIND);
	if (find)
		dl_iterate_phdr(find_heap_library, NULL);
	show = number("HEAP_PATHS_SHOW");
	every = heap_high ? number("HEAP_PATHS_EVERY") : 0;
	inside = false;
}

/* A different number each time, @every on average. */
static unsigned next_gap(void)
{
	if (!random_state)
		random_state = (uint64_t)(uintptr_t)&random_state;
	random_state = random_state * 6364136223846793005u + 1;
	return 1 + (unsigned)((random_state >> 33) % (2 * every - 1));
}

/*
 * All calls that led to the one of libcomdet-heap.so that is outermost. Our own
 * function and the library's are not part of the path, nor what lies between
 * two of the library's: operator new calls malloc.
 */
static void walk(struct chosen *c)
{
	unw_context_t context;
	unw_cursor_t cursor;
	unsigned n = 0, after = 0;
	unw_word_t ip;

	unw_getcontext(&context);
	unw_init_local(&cursor, &context);
	while (n < FRAMES_MAX && unw_step(&cursor) > 0) {
		unw_get_reg(&cursor, UNW_REG_IP, &ip);
		if (!ip)
			break;
		c->path[n++] = ip;
		if (ip >= heap_low && ip < heap_high)
			after = n;
	}
	c->calls = n - after;
	memmove(c->path, c->path + after, c->calls * sizeof(c->path[0]));
}

static void took(const void *p)
{
	if (inside || !every || !p)
		return;
	atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed);
	if (left--)
		return;
	left = next_gap();
	inside = true;
	walk(&chosen);
	chosen.block = (uint64_t)(uintptr_t)p;
	inside = false;
}

static void print_call(uint64_t address)
{
	Dl_info info;

	if (!dladdr((void *)(uintptr_t)(address - 1), &info))
		memset(&info, 0, sizeof(info));
	fprintf(stderr, "    %#lx %s %s\n", address,
		info.dli_fname ? info.dli_fname : "?",
		info.dli_sname ? info.dli_sname : "?");
}

static void print_difference(enum outcome o, const struct heap_block *b)
{
	fprintf(stderr, "heap_paths: %s\n  noted:\n", outcome_name[o]);
	for (unsigned i = 0; i < b->calls; i++)
		print_call(b->path[i]);
	fputs("  libunwind:\n", stderr);
	for (unsigned i = 0; i < chosen.calls && i < HEAP_PATH_MAX + 2; i++)
		print_call(chosen.path[i]);
}

static enum outcome judge(const struct heap_block *b)
{
	if (b->start != chosen.block || b->calls > chosen.calls ||
	    memcmp(b->path, chosen.path, b->calls * sizeof(b->path[0])))
		return WRONG;
	if (b->calls < chosen.calls && b->calls < HEAP_PATH_MAX)
		return SHORT;
	return RIGHT;
}

/* Are all calls of the chosen block those of the first of the same site? */
static void count_site(const struct heap_block *b)
{
	uint64_t hash = chosen.calls, was = 0;

	for (unsigned i = 0; i < chosen.calls; i++)
		hash = (hash ^ chosen.path[i]) * 0x9E3779B97F4A7C15u;
	hash |= 1;
	if (atomic_compare_exchange_strong(&full_path_of[b->site % SITES], &was,
					   hash))
		atomic_fetch_add(&sites, 1);
	else if (was != hash)
		atomic_fetch_add(&mixed, 1);
}

/* Called before each operation: the last one has been noted. */
static void compare(void)
{
	struct heap_block b = { .calls = 0 };
	enum outcome o = UNNAMED;

	if (inside || !chosen.block)
		return;
	inside = true;
	if (find(chosen.block, &b) && b.site && b.calls) {
		o = judge(&b);
		count_site(&b);
	}
	if (o != RIGHT && atomic_fetch_add(&shown, 1) < show)
		print_difference(o, &b);
	atomic_fetch_add(&outcomes[o], 1);
	chosen.block = 0;
	inside = false;
}

__attribute__((destructor)) static void end(void)
{
	if (!every)
		return;
	inside = true;
	fprintf(stderr, "heap_paths: %lu allocations,",
		atomic_load(&allocations));
	for (unsigned i = 0; i < OUTCOMES; i++)
		fprintf(stderr, " %lu %s,", atomic_load(&outcomes[i]),
			outcome_name[i]);
	fprintf(stderr, " %lu sites, %lu mixed\n", atomic_load(&sites),
		atomic_load(&mixed));
}

EXPORT void *malloc(size_t bytes)
{
	void *p;

	compare();
	p = __libc_malloc(bytes);
	took(p);
	return p;
}

EXPORT void *calloc(size_t n, size_t bytes)
{
	void *p;

	compare();
	p = __libc_calloc(n, bytes);
	took(p);
	return p;
}

EXPORT void *realloc(void *old, size_t bytes)
{
	void *p;

	compare();
	p = __libc_realloc(old, bytes);
	took(p);
	return p;
}

EXPORT void free(void *p)
{
	compare();
	__libc_free(p);
}

EXPORT void *memalign(size_t alignment, size_t bytes)
{
	void *p;

	compare();
	p = __libc_memalign(alignment, bytes);
	took(p);
	return p;
}
