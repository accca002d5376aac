/* SPDX-License-Identifier: MIT */
/*
 * vcpu - a thread updates its own struct vcpu and its row of the file
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "vcpu.h"
#include "now.h"
#include "state.h"

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/*
 * The kernel's name of the calling thread. A thread that the program has not
 * named has the name of QEMU; natively it would have the program's.
 */
static void set_name(char *to, size_t size)
{
	char name[32] = "", qemu[PATH_MAX];
	int fd = open("/proc/thread-self/comm", O_RDONLY | O_CLOEXEC);
	ssize_t n = 0;

	if (fd >= 0) {
		n = read(fd, name, sizeof(name) - 1);
		close(fd);
	}
	name[n > 0 ? n : 0] = '\0';
	name[strcspn(name, "\n")] = '\0';
	n = readlink("/proc/self/exe", qemu, sizeof(qemu) - 1);
	qemu[n > 0 ? n : 0] = '\0';
	if (!name[0] || !strncmp(name, base_name(qemu), sizeof(name) / 2 - 1))
		snprintf(name, sizeof(name), "%.31s", base_name(emu.exe));
	/* A concurrent reader of the file always sees the final 0. */
	memcpy(to, name, size - 1);
	to[size - 1] = '\0';
}

void emu_vcpu_put_counts(struct vcpu *v)
{
	uint64_t loads = 0, stores = 0, load_bytes = 0, store_bytes = 0;

	for (unsigned int class = 0; class < EMU_CLASSES; class ++) {
		uint64_t n = v->count[class];
		uint64_t bytes = n << (class & EMU_CLASS_SHIFT);

		if (class & EMU_CLASS_LOAD) {
			loads += n;
			load_bytes += bytes;
		}
		if (class & EMU_CLASS_STORE) {
			stores += n;
			store_bytes += bytes;
		}
	}
	store_set(&v->record->counted_loads, loads);
	store_set(&v->record->counted_stores, stores);
	store_set(&v->record->counted_load_bytes, load_bytes);
	store_set(&v->record->counted_store_bytes, store_bytes);
}

void emu_vcpu_refresh(struct vcpu *v)
{
	struct cdp_thread *r = v->record;

	if (!v->tid) {
		v->tid = gettid();
		__atomic_store_n(&r->tid, v->tid, __ATOMIC_RELAXED);
	}
	set_name(r->name, sizeof(r->name));
	store_set(&r->cpu_ns, emu_now_ns(CLOCK_THREAD_CPUTIME_ID));
	emu_vcpu_put_counts(v);
}

void emu_vcpu_mute(struct vcpu *v)
{
	v->until[EMU_LOADS] = INT64_MAX;
	v->until[EMU_STORES] = INT64_MAX;
	v->turn = INT64_MAX;
	v->watch_span = 0;
	v->turn_start = INT64_MAX;
	v->directory = NULL;
	v->in_transfer = false;
	v->in_reuse = false;
	v->reuse_exact = NULL;
	v->caches = NULL;
	v->quick = NULL;
	v->trace = NULL;
	v->record = NULL;
}
