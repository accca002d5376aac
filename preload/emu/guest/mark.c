/* SPDX-License-Identifier: MIT */
/*
 * mark - tell the plugin what the program's threads do
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "mark.h"

#define VARIABLE "LD_PRELOAD="

/* Of this library: its first byte, and the end of its code. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char etext[] __attribute__((visibility("hidden")));

static __thread struct sync_mailbox mailbox;
static __thread bool told;

/* The plugin looks at the mailbox when this begins. */
__attribute__((noinline, noclone, used)) static void sync_mark(void)
{
	__asm__ volatile("" ::: "memory");
}

/* A call of the kernel that neither errno nor a wrapper of libc sees. */
static void tell_plugin(void)
{
	uintptr_t self = (uintptr_t)pthread_self();
	register const char *end __asm__("r10") = etext;
	register void (*at)(void) __asm__("r8") = sync_mark;
	long result = SYNC_MARKS_CALL;

	told = true;
	__asm__ volatile("syscall"
			 : "+a"(result)
			 : "D"(&mailbox), "S"(self), "d"(__ehdr_start),
			   "r"(end), "r"(at)
			 : "rcx", "r11", "memory");
}

void mark(enum sync_mark_kind kind, const void *object, uint64_t argument)
{
	struct sync_mailbox *m = &mailbox;

	if (!told)
		tell_plugin();
	if (!m->active)
		return;
	m->mark = kind;
	m->object = (uintptr_t)object;
	m->argument = argument;
	sync_mark();
}

void mark_enter(enum sync_mark_kind kind, const void *object, uint64_t argument)
{
	mailbox.silent++;
	mark(kind, object, argument);
}

void mark_leave(enum sync_mark_kind kind, const void *object, uint64_t argument)
{
	mailbox.silent--;
	mark(kind, object, argument);
}

uint32_t mark_resume(enum sync_mark_kind kind, const void *object,
		     uint64_t argument)
{
	uint32_t before = mailbox.silent;

	mailbox.silent = 0;
	mark(kind, object, argument);
	return before;
}

void mark_suspend(uint32_t before, enum sync_mark_kind kind, const void *object,
		  uint64_t argument)
{
	mailbox.silent = before;
	mark(kind, object, argument);
}

uint32_t mark_depth(void)
{
	return mailbox.silent;
}

void mark_restore(const uint32_t *depth)
{
	if (mailbox.silent == *depth)
		return;
	mailbox.silent = *depth;
	mark(MARK_NOTHING, NULL, 0);
}

void *mark_find(void *_Atomic *found, const char *name, const char *version)
{
	void *f = atomic_load_explicit(found, memory_order_relaxed);

	if (f)
		return f;
	mark_enter(MARK_NOTHING, NULL, 0);
	if (version)
		f = dlvsym(RTLD_NEXT, name, version);
	if (!f)
		f = dlsym(RTLD_NEXT, name);
	atomic_store_explicit(found, f, memory_order_relaxed);
	mark_leave(MARK_NOTHING, NULL, 0);
	return f;
}

/*
 * The program must not see that it was started with us: take our path, the
 * first, out of its environment.
 */
static void hide(char **env)
{
	size_t n = strlen(VARIABLE);
	char *rest;

	for (; *env; env++)
		if (!strncmp(*env, VARIABLE, n))
			break;
	if (!*env)
		return;
	rest = strchr(*env, ':');
	if (rest) {
		rest -= n - 1;
		memmove(rest, VARIABLE, n);
		*env = rest;
		return;
	}
	for (; *env; env++)
		env[0] = env[1];
}

__attribute__((constructor)) static void begin(int argc, char **argv,
					       char **env)
{
	mark(MARK_NOTHING, NULL, 0);
	if (mailbox.active)
		hide(env);
}
