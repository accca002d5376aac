/* SPDX-License-Identifier: MIT */
/*
 * thread - the program's threads, from their begin to their end
 *
 * QEMU gives a new thread the number after the highest in use, so numbers are
 * used again; rows are not. The thread that creates another one fills in its
 * struct vcpu before it runs. From then on it belongs to the new thread alone,
 * until QEMU stops all threads at the end.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "thread.h"
#include "calls.h"
#include "cores.h"
#include "exact.h"
#include "frames.h"
#include "futexes.h"
#include "marks.h"
#include "now.h"
#include "reuse.h"
#include "reuse_exact.h"
#include "sample.h"
#include "scheduler.h"
#include "state.h"
#include "trace.h"
#include "vcpu.h"
#include "src/base/zero_pages.h"

static pthread_mutex_t rows_lock = PTHREAD_MUTEX_INITIALIZER;
static struct store_writer rows;
static uint32_t ids;

int emu_thread_init(void)
{
	size_t bytes = EMU_VCPUS_MAX * sizeof(*emu.vcpu);

	if (!emu.vcpu) {
		emu.vcpu = zero_pages(bytes);
		if (!emu.vcpu)
			return -ENOMEM;
		for (unsigned int i = 0; i < EMU_VCPUS_MAX; i++)
			emu_vcpu_mute(&emu.vcpu[i]);
	}
	/* In a forked child: another thread may have held the lock. */
	pthread_mutex_init(&rows_lock, NULL);
	rows = (struct store_writer){ .section = CDP_THREADS };
	ids = 0;
	emu_scheduler_init();
	emu_calls_init();
	return 0;
}

void emu_thread_start(unsigned int index)
{
	struct emu_frames *inherited;
	struct cdp_thread *r;
	struct vcpu *v;

	if (index >= EMU_VCPUS_MAX) {
		store_lose(&emu.store, LOSS_NO_THREAD, 1);
		return;
	}
	v = &emu.vcpu[index];
	inherited = v->frames; /* of the parent of a forked child */
	memset(v, 0, sizeof(*v));
	v->frames = inherited;
	emu_vcpu_mute(v);
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
		store_lose(&emu.store, LOSS_NO_THREAD, 1);
		return;
	}
	v->record = r;
	emu_cores_put(v);
	v->pairs.writer.section = CDP_PAIRS;
	v->cores.writer.section = CDP_CORES;
	if (emu.config.exact && emu_measures(CDP_MODE_COMM))
		emu_exact_start(v);
	if (emu_measures(EMU_REUSE_MODES)) {
		emu_reuse_start(v);
		if (emu.config.exact)
			emu_reuse_exact_start(v);
	}
	if (emu.config.trace)
		emu_trace_start(v);
	emu_frames_start(v);
	emu_sample_start(v);
	emu_calls_create(v);
}

void emu_thread_flush(unsigned int index)
{
	if (index < EMU_VCPUS_MAX && emu.vcpu[index].record)
		emu_vcpu_refresh(&emu.vcpu[index]);
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
	emu_vcpu_refresh(v);
	emu_exact_end(v);
	emu_reuse_end(v);
	emu_reuse_exact_end(v);
	emu_futexes_end(v);
	emu_marks_end(v);
	emu_trace_end(v);
	comm_stop(&emu.comm, &v->comm);
	close_row(v->record);
	pair_table_release(&v->pairs);
	core_table_release(&v->cores);
	slice_table_release(&v->slices);
	emu_frames_end(v);
	emu_calls_exit(v);
	emu_vcpu_mute(v);
}

void emu_thread_finish(void)
{
	for (unsigned int i = 0; i < EMU_VCPUS_MAX; i++) {
		struct vcpu *v = &emu.vcpu[i];

		if (!v->record)
			continue;
		emu_vcpu_put_counts(v);
		close_row(v->record);
	}
}
