/* SPDX-License-Identifier: MIT */
/*
 * file - one .cdp file becomes a process of a profile, with its rows
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

#include "file.h"
#include "rows.h"
#include "analysis/base/util.h"
#include "src/store/cdp_read.h"

/* What was read of one process, before its rows get their final place. */
struct loading {
	struct profile *p;
	struct process *process;
	uint32_t index;
};

static int take_thread(void *ctx, const void *record)
{
	struct loading *l = ctx;
	const struct cdp_thread *t = record;
	struct profile *p = l->p;
	struct thread_row *row;

	if (t->state == CDP_THREAD_FREE)
		return 0;
	p->thread = grow(p->thread, p->threads, &p->threads_room,
			 sizeof(*p->thread));
	row = &p->thread[p->threads++];
	*row = (struct thread_row){
		.process = l->index,
		.id = t->id,
		.tid = t->tid,
		.count = t->count ? t->count : 1,
		.ended = t->state != CDP_THREAD_LIVE ||
			 l->process->state != PROCESS_RUNNING,
		.start_routine = t->start_routine,
		.start_mono = t->start_mono,
		.end_mono = t->end_mono,
		.cpu_ns = t->cpu_ns,
		.interrupts = t->interrupts,
		.handler_ns = t->handler_ns,
		.loads = t->loads,
		.stores = t->stores,
		.traps = t->traps,
		.exec_traps = t->exec_traps,
		.arms = t->arms,
		.detections = t->detections,
		.counted_loads = t->counted_loads,
		.counted_stores = t->counted_stores,
		.counted_load_bytes = t->counted_load_bytes,
		.counted_store_bytes = t->counted_store_bytes,
		.counted_scaled = t->counted_scaled,
		.reuse_resolution = t->reuse_resolution,
		.samples_skipped = t->samples_skipped,
		.clock_interrupts = t->clock_interrupts,
		.looks = t->looks,
		.look_accesses = t->look_accesses,
	};
	memcpy(row->name, t->name, sizeof(row->name));
	memcpy(row->samples, t->samples, sizeof(row->samples));
	memcpy(row->loss, t->loss, sizeof(row->loss));
	memcpy(row->squares, t->squares, sizeof(row->squares));
	return 0;
}

/* The threads stay ids until rows_of_pairs() turns them into rows. */
static int take_pair(void *ctx, const void *record)
{
	struct loading *l = ctx;
	const struct cdp_pair *c = record;
	uint64_t avoidable = c->avoidable;
	uint64_t judged = avoidable + c->unavoidable;
	struct profile *p = l->p;

	if (!c->count)
		return 0;
	if (judged < avoidable || judged > c->count)
		avoidable = judged = 0; /* damaged */
	p->pair = grow(p->pair, p->pairs, &p->pairs_room, sizeof(*p->pair));
	p->pair[p->pairs++] = (struct pair_row){
		.process = l->index,
		.publisher_process = l->index,
		.detector_process = l->index,
		.foreign = c->publisher_process == l->process->header.number
				   ? 0
				   : c->publisher_process,
		.publisher = c->publisher_thread,
		.detector = c->detector_thread,
		.publisher_addr = c->publisher_addr,
		.detector_addr = c->detector_addr,
		.publisher_ip = c->publisher_ip,
		.detector_ip = c->detector_ip,
		.publisher_len = c->publisher_len,
		.detector_len = c->detector_len,
		.publisher_flags = c->publisher_flags,
		.detector_flags = c->detector_flags,
		.sharing = c->sharing == SHARING_TRUE ? SHARING_TRUE
						      : SHARING_FALSE,
		.by = c->by,
		.line = c->line,
		.count = c->count,
		.periods_q8 = c->periods_q8,
		.avoidable = avoidable,
		.judged = judged,
		.map_generation = c->map_generation,
		.line_generation = c->map_generation,
	};
	return 0;
}

static int take_map(void *ctx, const void *record)
{
	struct loading *l = ctx;
	struct process *s = l->process;
	const struct cdp_map *m = record;

	if (m->end <= m->start)
		return 0;
	s->map = grow(s->map, s->maps, &s->maps_room, sizeof(*s->map));
	s->map[s->maps++] = *m;
	return 0;
}

static int take_transfer(void *ctx, const void *record)
{
	struct loading *l = ctx;
	struct process *s = l->process;

	s->transfer = grow(s->transfer, s->transfers, &s->transfers_room,
			   sizeof(*s->transfer));
	memcpy(&s->transfer[s->transfers++], record, sizeof(*s->transfer));
	return 0;
}

/* The threads stay ids until rows_of_pairs() turns them into rows. */
static int take_reuse(void *ctx, const void *record)
{
	struct loading *l = ctx;
	struct profile *p = l->p;
	struct reuse_row *row;

	p->reuse =
		grow(p->reuse, p->reuses, &p->reuses_room, sizeof(*p->reuse));
	row = &p->reuse[p->reuses++];
	memcpy(&row->record, record, sizeof(row->record));
	row->process = l->index;
	row->thread = row->record.thread;
	return 0;
}

/* The threads stay ids until rows_of_pairs() turns them into rows. */
static void take_slices(struct loading *l, const struct cdp_memory *m)
{
	const struct cdp_memory_slices *from = &m->slices;
	bool samples = m->kind == CDP_MEMORY_SAMPLED;
	struct profile *p = l->p;
	struct slice_row *row;

	p->slice =
		grow(p->slice, p->slices, &p->slices_room, sizeof(*p->slice));
	row = &p->slice[p->slices++];
	*row = (struct slice_row){
		.process = l->index,
		.publisher = samples ? NO_THREAD : from->publisher_thread,
		.detector = samples ? NO_THREAD : from->detector_thread,
		.samples = samples,
		.foreign = from->publisher_process == l->process->header.number
				   ? 0
				   : from->publisher_process,
		.shift = from->shift,
		.first = from->first,
	};
	memcpy(row->count, from->count, sizeof(row->count));
}

static int take_memory(void *ctx, const void *record)
{
	struct loading *l = ctx;
	struct process *s = l->process;
	const struct cdp_memory *m = record;

	if (m->kind == CDP_MEMORY_BLOCK) {
		s->block = grow(s->block, s->blocks, &s->blocks_room,
				sizeof(*s->block));
		s->block[s->blocks++] = m->block;
		return 0;
	}
	if (m->kind == CDP_MEMORY_CALLS) {
		s->call = grow(s->call, s->calls, &s->calls_room,
			       sizeof(*s->call));
		s->call[s->calls++] = m->calls;
		return 0;
	}
	if (m->kind == CDP_MEMORY_REGION) {
		s->region = grow(s->region, s->regions, &s->regions_room,
				 sizeof(*s->region));
		s->region[s->regions++] = m->region;
		return 0;
	}
	if (m->kind == CDP_MEMORY_SLICES || m->kind == CDP_MEMORY_SAMPLED) {
		take_slices(l, m);
		return 0;
	}
	s->memory = grow(s->memory, s->memories, &s->memories_room,
			 sizeof(*s->memory));
	memcpy(&s->memory[s->memories++], record, sizeof(*s->memory));
	return 0;
}

static int compare_blocks(const void *a, const void *b)
{
	const struct cdp_memory_block *x = a, *y = b;

	if (x->start != y->start)
		return order_u64(x->start, y->start);
	/* A live one comes last, where the search begins. */
	return order_u64(y->flags & CDP_BLOCK_FREED,
			 x->flags & CDP_BLOCK_FREED);
}

static int take_path(void *ctx, const void *record)
{
	struct loading *l = ctx;
	struct process *s = l->process;

	s->path = grow(s->path, s->paths, &s->paths_room, sizeof(*s->path));
	memcpy(&s->path[s->paths++], record, sizeof(*s->path));
	return 0;
}

static int compare_paths(const void *a, const void *b)
{
	const struct cdp_path *x = a, *y = b;

	return (x->node > y->node) - (x->node < y->node);
}

/* Each node must be named once; a record that names it again is bad. */
static void order_paths(struct process *s)
{
	size_t kept = 0;

	if (!s->paths)
		return;
	qsort(s->path, s->paths, sizeof(*s->path), compare_paths);
	for (size_t i = 0; i < s->paths; i++)
		if (!i || s->path[i].node != s->path[kept - 1].node)
			s->path[kept++] = s->path[i];
	s->bad_records += s->paths - kept;
	s->paths = kept;
}

static int take_core(void *ctx, const void *record)
{
	struct loading *l = ctx;
	const struct cdp_core *c = record;
	struct profile *p = l->p;
	struct core_row row = {
		.publisher = c->publisher_core,
		.detector = c->detector_core,
		.traps = c->traps,
	};

	memcpy(row.count, c->count, sizeof(row.count));
	p->core = grow(p->core, p->cores, &p->cores_room, sizeof(*p->core));
	p->core[p->cores++] = row;
	return 0;
}

static int compare_maps(const void *a, const void *b)
{
	const struct cdp_map *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->generation > y->generation) -
	       (x->generation < y->generation);
}

void process_order_maps(struct process *s)
{
	uint64_t max = 0;

	if (!s->maps)
		return;
	free(s->map_end_max);
	qsort(s->map, s->maps, sizeof(*s->map), compare_maps);
	s->map_end_max = xcalloc(s->maps, sizeof(*s->map_end_max));
	for (size_t i = 0; i < s->maps; i++) {
		if (s->map[i].end > max)
			max = s->map[i].end;
		s->map_end_max[i] = max;
	}
}

static bool boot_is_ours(const struct cdp_header *h)
{
	char id[64];

	return read_line("/proc/sys/kernel/random/boot_id", id, sizeof(id)) &&
	       !strncmp(id, h->boot_id, sizeof(h->boot_id));
}

/* Read field 22 of /proc/PID/stat; the name before it may hold anything. */
static bool process_is_alive(const struct cdp_header *h)
{
	char path[64], stat[1024], *p;

	if (!boot_is_ours(h))
		return false;
	snprintf(path, sizeof(path), "/proc/%u/stat", h->pid);
	if (!read_line(path, stat, sizeof(stat)))
		return false;
	p = strrchr(stat, ')');
	if (!p || p[1] != ' ' || p[2] == 'Z' || p[2] == 'X')
		return false;
	for (int field = 2; p && field < 22; field++)
		p = strchr(p + 1, ' ');
	return p && strtoull(p + 1, NULL, 10) == h->process_start;
}

static enum process_state state_of(const struct cdp_header *h, bool live)
{
	switch (h->state) {
	case CDP_ENDED:
		return PROCESS_ENDED;
	case CDP_EXECED:
		return PROCESS_EXECED;
	case CDP_STOPPED:
		return PROCESS_STOPPED;
	default:
		return live ? PROCESS_RUNNING : PROCESS_CUT;
	}
}

/*
 * A watcher keeps a lock on each file that it writes. Of a file that says that
 * its process runs, and that nobody has locked, the watcher was killed.
 */
static bool lost_its_watcher(const struct cdp_header *h, int fd)
{
	if (!h->number || h->state != CDP_RUNNING ||
	    flock(fd, LOCK_EX | LOCK_NB))
		return false;
	flock(fd, LOCK_UN);
	return true;
}

static void note_bad(struct profile *p, const char *name, const char *why)
{
	p->bad = grow(p->bad, p->bad_files, &p->bad_room, sizeof(*p->bad));
	p->bad[p->bad_files++] =
		(struct bad_file){ .name = xstrdup(name), .why = why };
}

void process_release(struct process *s)
{
	free(s->file);
	free(s->map);
	free(s->map_end_max);
	free(s->transfer);
	free(s->memory);
	free(s->path);
	free(s->block);
	free(s->call);
	free(s->region);
}

void profile_add_file(struct profile *p, int dirfd, const char *name)
{
	struct process s = { 0 };
	struct loading l = { .p = p, .index = p->processes, .process = &s };
	size_t threads = p->threads, pairs = p->pairs, cores = p->cores;
	size_t reuses = p->reuses, slices = p->slices;
	struct cdp_reader r;
	int err = cdp_open(&r, dirfd, name);

	if (err) {
		note_bad(p, name, cdp_strerror(err));
		return;
	}
	s.header = r.header;
	s.file = xstrdup(name);
	s.live = process_is_alive(&r.header);
	s.state = state_of(&r.header, s.live);
	s.unwatched = lost_its_watcher(&r.header, r.fd);
	if (s.unwatched)
		s.state = PROCESS_CUT;
	/*
	 * Read the pairs first: a thread's row is committed before its pairs.
	 */
	err = cdp_each(&r, CDP_PAIRS, take_pair, &l, &s.bad_records);
	if (!err)
		err = cdp_each(&r, CDP_REUSE, take_reuse, &l, &s.bad_records);
	if (!err)
		err = cdp_each(&r, CDP_THREADS, take_thread, &l,
			       &s.bad_records);
	if (!err)
		err = cdp_each(&r, CDP_MAPS, take_map, &l, &s.bad_records);
	if (!err)
		err = cdp_each(&r, CDP_CORES, take_core, &l, &s.bad_records);
	if (!err)
		err = cdp_each(&r, CDP_TRANSFERS, take_transfer, &l,
			       &s.bad_records);
	if (!err)
		err = cdp_each(&r, CDP_MEMORY, take_memory, &l, &s.bad_records);
	if (!err)
		err = cdp_each(&r, CDP_PATHS, take_path, &l, &s.bad_records);
	cdp_close(&r);
	if (err) {
		note_bad(p, name, cdp_strerror(err));
		p->threads = threads;
		p->pairs = pairs;
		p->cores = cores;
		p->reuses = reuses;
		p->slices = slices;
		process_release(&s);
		return;
	}
	process_order_maps(&s);
	order_paths(&s);
	if (s.blocks)
		qsort(s.block, s.blocks, sizeof(*s.block), compare_blocks);
	p->process = grow(p->process, p->processes, &p->processes_room,
			  sizeof(*p->process));
	p->process[p->processes++] = s;
	rows_of_pairs(p, l.index, threads, pairs, reuses, slices);
}
