/* SPDX-License-Identifier: MIT */
/*
 * thread - the program's threads and their rows in the file
 *
 * QEMU gives a new thread the number after the highest in use, so a number is
 * used again; a row is not. A thread's struct is made by the thread that
 * creates it, before it runs, and from then on is its own, until QEMU stops
 * all of them at the end.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "emu.h"

static pthread_mutex_t rows_lock = PTHREAD_MUTEX_INITIALIZER;
static struct store_writer rows;
static uint32_t ids;

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/*
 * The kernel's name of the calling thread. As long as the program has set
 * none it is that of QEMU, where it would be the program's.
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
	/* Whoever reads the file sees some name that ends. */
	memcpy(to, name, size - 1);
	to[size - 1] = '\0';
}

/* What the source counted so far, into the row. */
static void put_counts(struct vcpu *v)
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

void emu_thread_refresh(struct vcpu *v)
{
	struct cdp_thread *r = v->record;

	if (!v->tid) {
		v->tid = gettid();
		__atomic_store_n(&r->tid, v->tid, __ATOMIC_RELAXED);
	}
	set_name(r->name, sizeof(r->name));
	store_set(&r->cpu_ns, emu_now_ns(CLOCK_THREAD_CPUTIME_ID));
	put_counts(v);
}

void emu_thread_mute(struct vcpu *v)
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
	v->record = NULL;
}

int emu_threads_init(void)
{
	size_t bytes = EMU_VCPUS_MAX * sizeof(*emu.vcpu);

	if (!emu.vcpu) {
		void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
			       0);

		if (p == MAP_FAILED)
			return -errno;
		emu.vcpu = p;
		for (unsigned int i = 0; i < EMU_VCPUS_MAX; i++)
			emu_thread_mute(&emu.vcpu[i]);
	}
	/* In a forked child another thread may have held it. */
	pthread_mutex_init(&rows_lock, NULL);
	rows = (struct store_writer){ .section = CDP_THREADS };
	ids = 0;
	emu_turn_init();
	return 0;
}

void emu_thread_start(unsigned int index)
{
	struct cdp_thread *r;
	struct vcpu *v;

	if (index >= EMU_VCPUS_MAX) {
		__atomic_fetch_add(&emu.store.header->loss[LOSS_NO_THREAD], 1,
				   __ATOMIC_RELAXED);
		return;
	}
	v = &emu.vcpu[index];
	memset(v, 0, sizeof(*v));
	emu_thread_mute(v);
	pthread_mutex_lock(&rows_lock);
	r = store_record(&emu.store, &rows);
	if (r) {
		r->id = ids++;
		r->count = 1;
		r->start_mono = emu_now_ns(CLOCK_MONOTONIC);
		r->state = CDP_THREAD_LIVE;
		store_commit(&rows);
	}
	pthread_mutex_unlock(&rows_lock);
	if (!r) {
		__atomic_fetch_add(&emu.store.header->loss[LOSS_NO_THREAD], 1,
				   __ATOMIC_RELAXED);
		return;
	}
	v->record = r;
	emu_put_on_core(v);
	v->pairs.writer.section = CDP_PAIRS;
	v->cores.writer.section = CDP_CORES;
	if (emu.config.exact && emu_measures(CDP_MODE_COMM))
		emu_exact_start(v);
	if (emu_measures(EMU_REUSE_MODES)) {
		emu_reuse_start(v);
		if (emu.config.exact)
			emu_reuse_exact_start(v);
	}
	emu_sampling_start(v);
}

void emu_thread_flush(unsigned int index)
{
	if (index < EMU_VCPUS_MAX && emu.vcpu[index].record)
		emu_thread_refresh(&emu.vcpu[index]);
}

static void close_row(struct cdp_thread *r)
{
	store_set(&r->end_mono, emu_now_ns(CLOCK_MONOTONIC));
	__atomic_store_n(&r->state, CDP_THREAD_ENDED, __ATOMIC_RELEASE);
}

void emu_thread_end(unsigned int index)
{
	struct vcpu *v = &emu.vcpu[index];

	if (index >= EMU_VCPUS_MAX || !v->record)
		return;
	emu_thread_refresh(v);
	emu_turn_leave(v);
	emu_exact_end(v);
	emu_reuse_end(v);
	emu_reuse_exact_end(v);
	comm_stop(&emu.comm, &v->comm);
	close_row(v->record);
	pair_table_release(&v->pairs);
	core_table_release(&v->cores);
	emu_thread_mute(v);
}

void emu_threads_finish(void)
{
	for (unsigned int i = 0; i < EMU_VCPUS_MAX; i++) {
		struct vcpu *v = &emu.vcpu[i];

		if (!v->record)
			continue;
		put_counts(v);
		close_row(v->record);
	}
}
