/* SPDX-License-Identifier: MIT */
/*
 * exact - every access through the directory of src/exact/directory.h
 *
 * Results are written when the process ends or executes another program.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "exact.h"
#include "state.h"
#include "src/base/zero_pages.h"
#include "src/store/directory_store.h"

enum {
	LINE_BYTES = 64,
	REGIONS = 1 << 19, /* 8 GiB of lines that may be touched */
	REGIONS_MIN = 1 << 12,
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct exact *exact;
static size_t exact_bytes;
static struct exact_rows rows;

int emu_exact_init(void)
{
	struct exact_config config = {
		.threads = EXACT_ROWS,
		.line_bytes = LINE_BYTES,
		.regions = REGIONS,
		.topology = emu.config.topology ? &emu.topology.shape : NULL,
	};
	void *mem = NULL;

	if (exact) /* in a forked child: it belongs to the parent */
		munmap(exact, exact_bytes);
	exact = NULL;
	for (; config.regions >= REGIONS_MIN; config.regions /= 2) {
		exact_bytes = exact_size(&config);
		mem = zero_pages(exact_bytes);
		if (mem)
			break;
	}
	if (!mem)
		return -ENOMEM;
	exact = exact_init(mem, &config);
	if (!exact)
		return -EINVAL;
	pthread_mutex_init(&lock, NULL);
	exact_rows_init(&rows);
	return 0;
}

void emu_exact_start(struct vcpu *v)
{
	int number;

	pthread_mutex_lock(&lock);
	number = exact_rows_take(&rows, v->record->id, v->core);
	pthread_mutex_unlock(&lock);
	if (number != EXACT_ROWS_NONE &&
	    !exact_thread_init(exact, &v->exact, number))
		v->directory = exact;
	else
		store_add(&v->record->loss[LOSS_NO_THREAD], 1);
}

static void put_thread(struct vcpu *v)
{
	exact_store_thread(&emu.store, &rows, v->record->id, &v->exact.counts);
}

void emu_exact_end(struct vcpu *v)
{
	if (!v->directory)
		return;
	v->directory = NULL;
	pthread_mutex_lock(&lock);
	put_thread(v);
	exact_rows_give(&rows, v->exact.id);
	pthread_mutex_unlock(&lock);
}

void emu_exact_finish(void)
{
	char *note = emu.store.header->note;

	pthread_mutex_lock(&lock);
	for (unsigned int i = 0; i < EMU_VCPUS_MAX; i++)
		if (emu.vcpu[i].record && emu.vcpu[i].directory)
			put_thread(&emu.vcpu[i]);
	exact_store(&emu.store, &rows, exact);
	if (rows.used_twice)
		snprintf(note, sizeof(emu.store.header->note),
			 "%u threads are counted together with earlier ones: "
			 "the exact counts keep only %d apart",
			 rows.used_twice, EXACT_ROWS);
	pthread_mutex_unlock(&lock);
}
