/* SPDX-License-Identifier: MIT */
/*
 * write - run the samples of one process through the engine, into a file
 *
 * The board sees them in order of time, as it would have when they were taken.
 * No watchpoint is armed: the program ended long ago.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "write.h"
#include "maps.h"
#include "tally.h"
#include "analysis/base/util.h"
#include "src/engine/comm.h"
#include "src/store/core_table.h"
#include "src/store/pair_table.h"
#include "src/store/store.h"
#include "src/store/time_slices.h"

enum {
	LINE_BYTES = 64, /* on every x86-64 */
	/*
	 * In a larger board fewer entries are replaced, and offline its size
	 * costs the program nothing.
	 */
	BOARD_SLOTS = BOARD_SLOTS_MAX,
	SITES_MAX = 32768,
	LINES_MAX = 32768, /* lines with a record of their own */
};
#define STORE_BYTES (UINT64_C(1) << 30)

struct writer {
	struct import *im;
	const struct import_run *run;
	const struct import_process *process;
	struct store store;
	struct slice_samples samples;
	struct comm comm;
	struct writer_thread *thread; /* by id */
	size_t threads;
	const struct import_sample *now; /* the one being replayed */
	uint64_t detections;
};

struct writer_thread {
	struct writer *writer;
	struct comm_thread comm;
	struct pair_table pairs;
	struct core_table cores;
	struct slice_table slices;
	struct cdp_thread *row;
};

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The median time between two samples of one thread. */
static uint64_t median_gap(const struct import *im)
{
	uint64_t *gap = xcalloc(im->samples + 1, sizeof(*gap)), median;
	uint64_t *last = xcalloc(im->threads + 1, sizeof(*last));
	size_t n = 0;

	for (size_t i = 0; i < im->samples; i++) {
		const struct import_sample *s = &im->sample[im->by_process[i]];

		if (last[s->thread])
			gap[n++] = s->time - last[s->thread];
		last[s->thread] = s->time;
	}
	if (n)
		qsort(gap, n, sizeof(*gap), compare_u64);
	median = n ? gap[n / 2] : 0;
	free(gap);
	free(last);
	return median ? median : 1;
}

static uint64_t mean_period(const struct import *im)
{
	double sum = 0;

	for (size_t i = 0; i < im->samples; i++)
		sum += (double)im->sample[i].period;
	sum /= (double)im->samples;
	return sum < 1 ? 1 : sum > 1e18 ? (uint64_t)1e18 : (uint64_t)sum;
}

void import_plan(const struct import *im, struct import_run *run)
{
	run->gap = median_gap(im);
	run->mean_period = mean_period(im);
	run->main_process = 0;
	run->start = UINT64_MAX;
	run->end = 0;
	for (uint32_t i = 0; i < im->processes; i++) {
		const struct import_process *s = &im->process[i];

		if (!s->samples)
			continue;
		if (s->samples > im->process[run->main_process].samples)
			run->main_process = i;
		if (s->first < run->start)
			run->start = s->first;
		if (s->last > run->end)
			run->end = s->last;
	}
}

static void on_lost(void *ctx, enum loss_cause cause)
{
	struct writer_thread *t = ctx;

	store_add(&t->row->loss[cause], 1);
}

static void on_detected(void *ctx, const struct detection *seen)
{
	struct writer_thread *t = ctx;
	struct writer *w = t->writer;
	struct detection d = *seen;
	double periods = (double)w->now->period / (double)w->run->mean_period;

	/* Each sample says how many periods it stands for. */
	periods *= d.periods_q8;
	d.periods_q8 = periods < 1            ? 1
		       : periods > UINT32_MAX ? UINT32_MAX
					      : (uint32_t)periods;
	w->detections++;
	store_add(&t->row->detections, 1);
	if (pair_table_add(&w->store, &t->pairs, &d, w->now->time,
			   w->now->generation))
		store_add(&t->row->loss[LOSS_STORE_FULL], 1);
	if (d.publisher_core < CDP_CORES_MAX && d.detector_core < CDP_CORES_MAX)
		core_table_add(&w->store, &t->cores, &d);
	if (!w->im->untimed)
		slice_table_add(&w->store, &t->slices, &d, w->now->time);
}

static const struct comm_sink sink = {
	.detected = on_detected,
	.lost = on_lost,
};

static int no_room(struct writer *w, int error)
{
	perf_data_fail(&w->im->data, "cannot be imported: %s",
		       error == -ENOSPC ? "the disk is full, or a file would "
					  "become too large"
					: strerror(-error));
	return error;
}

static void put(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%.*s", (int)size - 1, from);
}

/* Describe in one line how it was recorded. */
static void describe_source(struct writer *w, struct cdp_header *h)
{
	const struct perf_data *d = &w->im->data;

	put(h->source, sizeof(h->source), "import");
	snprintf(h->source_reason, sizeof(h->source_reason),
		 "%.90s, recorded by perf %.30s%s%.100s%s", w->run->file,
		 d->perf[0] ? d->perf : "of unknown version",
		 d->command[0] ? " as '" : "", d->command,
		 d->command[0] ? "'" : "");
}

static void describe_note(struct writer *w, struct cdp_header *h)
{
	const struct import *im = w->im;

	if (im->untimed)
		put(h->note, sizeof(h->note),
		    "samples without a time keep the order of the file, which "
		    "mixes up several processors: do not rely on the map of "
		    "threads");
	else if (im->no_width)
		put(h->note, sizeof(h->note),
		    "samples do not give the width of an access: two are true "
		    "sharing if they begin at the same byte");
}

static void fill_header(struct writer *w)
{
	const struct import_process *s = w->process;
	const struct perf_data *d = &w->im->data;
	struct cdp_header *h = w->store.header;

	h->pid = s->pid;
	h->parent_pid = s->parent_pid;
	h->line_bytes = LINE_BYTES;
	h->start_mono = s->first;
	h->last_mono = s->last;
	put(h->run_id, sizeof(h->run_id), w->run->run_id);
	put(h->host, sizeof(h->host), d->host);
	put(h->kernel, sizeof(h->kernel), d->kernel);
	put(h->cpu, sizeof(h->cpu), d->cpu[0] ? d->cpu : d->cpuid);
	describe_source(w, h);
	put(h->algorithm, sizeof(h->algorithm), "comdetective");
	put(h->period_unit, sizeof(h->period_unit), "ns");
	h->period = w->run->gap;
	h->modes = CDP_MODE_COMM;
	put(h->registers_reason, sizeof(h->registers_reason),
	    "the program ran elsewhere, without them");
	h->board_slots = BOARD_SLOTS;
	h->cores = d->cpus < CDP_CORES_MAX ? d->cpus : CDP_CORES_MAX;
	h->expiry = comm_expiry(&w->comm);
	h->watch_expiry = comm_watch_expiry(&w->comm);
	if (s == &w->im->process[w->run->main_process])
		memcpy(h->loss, w->im->loss, sizeof(w->im->loss));
	put(h->exe, sizeof(h->exe), import_program(w->im, w->process));
	put(h->command, sizeof(h->command), h->exe);
	describe_note(w, h);
}

static int write_threads(struct writer *w)
{
	struct store_writer rows = { .section = CDP_THREADS };
	uint32_t process = (uint32_t)(w->process - w->im->process);

	for (size_t i = 0; i < w->im->threads; i++) {
		const struct import_thread *from = &w->im->thread[i];
		struct writer_thread *t;

		if (from->process != process || !from->samples)
			continue;
		t = &w->thread[from->id];
		t->writer = w;
		t->pairs.writer.section = CDP_PAIRS;
		t->cores.writer.section = CDP_CORES;
		comm_thread_init(&t->comm, from->id, t, 1);
		t->row = store_record(&w->store, &rows);
		if (!t->row)
			return -ENOSPC;
		t->row->id = from->id;
		t->row->tid = from->tid;
		t->row->state = CDP_THREAD_ENDED;
		t->row->count = 1;
		memcpy(t->row->name, from->name, sizeof(t->row->name));
		t->row->start_mono = from->first;
		t->row->end_mono = from->end ? from->end : from->last;
		store_commit(&rows);
	}
	return 0;
}

static void replay(struct writer *w, const struct import_sample *s)
{
	struct writer_thread *t = &w->thread[w->im->thread[s->thread].id];
	struct access a = {
		.addr = s->addr,
		.ip = s->ip,
		.len = s->len ? s->len : 1,
		.flags = s->access,
	};

	w->now = s;
	t->row->interrupts++;
	t->row->samples[SAMPLE_UNIFORM]++;
	if (!w->im->untimed)
		slice_samples_add(&w->store, &w->samples, s->time);
	t->row->loads += !!(s->access & ACCESS_LOAD);
	t->row->stores += !!(s->access & ACCESS_STORE);
	comm_sample(&w->comm, &t->comm, &a, s->time,
		    s->cpu < CDP_CORES_MAX ? s->cpu : CDP_CORES_MAX);
}

static int write_tally(struct writer *w, struct import_tally *t, size_t max)
{
	struct store_writer records = { .section = CDP_MEMORY };

	import_tally_finish(t, max);
	for (size_t i = 0; i < t->entries; i++) {
		struct cdp_memory *m = store_record(&w->store, &records);

		if (!m)
			return -ENOSPC;
		*m = t->entry[i].record;
		store_commit(&records);
	}
	return 0;
}

static int64_t interval_of(const struct perf_event_attr *attr)
{
	uint64_t n = attr->freq ? attr->sample_freq : attr->sample_period;

	if (n > INT64_MAX)
		n = INT64_MAX;
	return attr->freq ? -(int64_t)n : (int64_t)n;
}

/* Sums of an event over all processes are written with the main process. */
static int write_events(struct writer *w, const struct import_event *own)
{
	bool is_main = w->process == &w->im->process[w->run->main_process];
	struct store_writer records = { .section = CDP_MEMORY };

	for (size_t i = 0; i < w->im->data.events; i++) {
		const struct perf_data_event *e = &w->im->data.event[i];
		const struct import_event *all = &w->im->event[i];
		struct cdp_memory *m;

		if (!own[i].samples && !is_main)
			continue;
		m = store_record(&w->store, &records);
		if (!m)
			return -ENOSPC;
		m->kind = CDP_MEMORY_EVENT;
		put(m->event.name, sizeof(m->event.name), e->name);
		m->event.samples = own[i].samples;
		m->event.periods = own[i].periods;
		m->event.config = e->attr.config;
		m->event.interval = interval_of(&e->attr);
		if (is_main) {
			m->event.left_out = all->records - all->samples;
			m->event.enabled = all->enabled;
			m->event.running = all->running;
			m->event.lost = all->lost;
			m->event.throttled = all->throttled;
		}
		store_commit(&records);
	}
	return 0;
}

static int write_samples(struct writer *w)
{
	struct import_event *own =
		xcalloc(w->im->data.events + 1, sizeof(*own));
	struct import_tally sites = { 0 }, lines = { 0 };
	int err;

	for (size_t i = 0; i < w->process->samples; i++) {
		const struct import_sample *s =
			&w->im->sample[w->im->by_process[w->process->from + i]];

		replay(w, s);
		import_tally_add(&sites, CDP_MEMORY_SITE, s->ip, s);
		import_tally_add(&lines, CDP_MEMORY_LINE,
				 s->addr & -(uint64_t)LINE_BYTES, s);
		own[s->event].samples++;
		own[s->event].periods =
			sat_add(own[s->event].periods, s->period);
	}
	err = write_events(w, own);
	if (!err)
		err = write_tally(w, &sites, SITES_MAX);
	if (!err)
		err = write_tally(w, &lines, LINES_MAX);
	import_tally_release(&sites);
	import_tally_release(&lines);
	free(own);
	return err;
}

static void file_name(const struct writer *w, char *name, size_t size)
{
	const char *program = import_program(w->im, w->process),
		   *base = strrchr(program, '/');
	size_t number = w->process - w->im->process, i;
	char clean[64];

	base = base && base[1] ? base + 1 : program;
	for (i = 0; base[i] && i < sizeof(clean) - 1; i++)
		clean[i] = isalnum((unsigned char)base[i]) ||
					   (i && strchr("._+-", base[i]))
				   ? base[i]
				   : '_';
	clean[i] = 0;
	/*
	 * Processes with the same pid follow each other, so no two names are
	 * equal.
	 */
	snprintf(name, size, "%s.%u.%" PRIu64 ".cdp", i ? clean : "program",
		 w->process->pid, w->process->first + number);
}

static void count_threads(struct writer *w)
{
	uint32_t process = (uint32_t)(w->process - w->im->process);

	for (size_t i = 0; i < w->im->threads; i++)
		w->threads += w->im->thread[i].process == process &&
			      w->im->thread[i].samples;
	w->thread = xcalloc(w->threads, sizeof(*w->thread));
}

int import_write(struct import *im, const struct import_run *run, uint32_t p,
		 int dirfd, uint64_t *detections)
{
	struct writer w = {
		.im = im,
		.run = run,
		.process = &im->process[p],
		.comm = { .sink = &sink,
			  .line_bytes = LINE_BYTES,
			  .chunk_bytes = 8,
			  .arm_one_in = 1 },
	};
	char name[160];
	void *board;
	int err;

	if (posix_memalign(&board, 64, board_size(BOARD_SLOTS)))
		die("out of memory");
	w.comm.board = board_init(board, BOARD_SLOTS, LINE_BYTES);
	comm_set_expiry(&w.comm, run->gap);
	count_threads(&w);
	file_name(&w, name, sizeof(name));
	err = store_create(&w.store, dirfd, name, STORE_BYTES);
	if (err)
		goto free_threads;
	fill_header(&w);
	err = write_threads(&w);
	if (!err)
		err = import_maps_write(im, w.process, &w.store);
	if (!err)
		err = write_samples(&w);
	w.store.header->state = w.process->execed ? CDP_EXECED : CDP_ENDED;
	for (size_t i = 0; i < w.threads; i++) {
		pair_table_release(&w.thread[i].pairs);
		core_table_release(&w.thread[i].cores);
		slice_table_release(&w.thread[i].slices);
	}
	store_release(&w.store);
free_threads:
	free(w.thread);
	free(board);
	*detections += w.detections;
	return err ? no_room(&w, err) : 0;
}
