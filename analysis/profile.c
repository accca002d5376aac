/* SPDX-License-Identifier: MIT */
/*
 * profile - the .cdp files of one output directory as one model in memory
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/profile.h"
#include "analysis/profile_rows.h"
#include "analysis/util.h"
#include "src/cdp_read.h"
#include "src/outdir.h"

/* What is read of one process before its rows get their final place. */
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
	};
	memcpy(row->name, t->name, sizeof(row->name));
	memcpy(row->samples, t->samples, sizeof(row->samples));
	memcpy(row->loss, t->loss, sizeof(row->loss));
	return 0;
}

/* Threads are ids until rows_of_pairs makes them rows. */
static int take_pair(void *ctx, const void *record)
{
	struct loading *l = ctx;
	const struct cdp_pair *c = record;
	struct profile *p = l->p;

	if (!c->count)
		return 0;
	p->pair = grow(p->pair, p->pairs, &p->pairs_room, sizeof(*p->pair));
	p->pair[p->pairs++] = (struct pair_row){
		.process = l->index,
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
		.by = c->by == DETECTED_BY_TRAP ? DETECTED_BY_TRAP
						: DETECTED_BY_BOARD,
		.line = c->line,
		.count = c->count,
		.periods_q8 = c->periods_q8,
		.map_generation = c->map_generation,
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

/* Threads are ids until rows_of_pairs makes them rows. */
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

static int take_memory(void *ctx, const void *record)
{
	struct loading *l = ctx;
	struct process *s = l->process;

	s->memory = grow(s->memory, s->memories, &s->memories_room,
			 sizeof(*s->memory));
	memcpy(&s->memory[s->memories++], record, sizeof(*s->memory));
	return 0;
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

static void order_maps(struct process *s)
{
	uint64_t max = 0;

	if (!s->maps)
		return;
	qsort(s->map, s->maps, sizeof(*s->map), compare_maps);
	s->map_end_max = xcalloc(s->maps, sizeof(*s->map_end_max));
	for (size_t i = 0; i < s->maps; i++) {
		if (s->map[i].end > max)
			max = s->map[i].end;
		s->map_end_max[i] = max;
	}
}

const struct cdp_map *process_map(const struct process *process, uint64_t addr,
				  uint64_t generation)
{
	const struct cdp_map *up_to = NULL, *after = NULL;
	size_t low = 0, high = process->maps;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (process->map[mid].start <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	while (low-- && process->map_end_max[low] > addr) {
		const struct cdp_map *m = &process->map[low];

		if (m->end <= addr)
			continue;
		if (m->generation <= generation) {
			if (!up_to || m->generation > up_to->generation)
				up_to = m;
		} else if (!after || m->generation < after->generation) {
			after = m;
		}
	}
	return up_to ? up_to : after;
}

static bool boot_is_ours(const struct cdp_header *h)
{
	char id[64];

	return read_line("/proc/sys/kernel/random/boot_id", id, sizeof(id)) &&
	       !strncmp(id, h->boot_id, sizeof(h->boot_id));
}

/* Field 22 of /proc/PID/stat; the name before it may hold anything. */
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

static enum process_state state_of(const struct cdp_header *h)
{
	switch (h->state) {
	case CDP_ENDED:
		return PROCESS_ENDED;
	case CDP_EXECED:
		return PROCESS_EXECED;
	case CDP_STOPPED:
		return PROCESS_STOPPED;
	default:
		return process_is_alive(h) ? PROCESS_RUNNING : PROCESS_CUT;
	}
}

const char *process_state_text(enum process_state s)
{
	switch (s) {
	case PROCESS_ENDED:
		return "complete";
	case PROCESS_EXECED:
		return "complete up to its exec of another program";
	case PROCESS_STOPPED:
		return "profiling ended before the program";
	case PROCESS_RUNNING:
		return "still running";
	default:
		return "incomplete: killed or crashed";
	}
}

static void note_bad(struct profile *p, const char *name, const char *why)
{
	p->bad = grow(p->bad, p->bad_files, &p->bad_room, sizeof(*p->bad));
	p->bad[p->bad_files++] =
		(struct bad_file){ .name = xstrdup(name), .why = why };
}

static void free_process(struct process *s)
{
	free(s->file);
	free(s->map);
	free(s->map_end_max);
	free(s->transfer);
	free(s->memory);
}

static void load_file(struct profile *p, int dirfd, const char *name)
{
	struct process s = { 0 };
	struct loading l = { .p = p, .index = p->processes, .process = &s };
	size_t threads = p->threads, pairs = p->pairs, cores = p->cores;
	size_t reuses = p->reuses;
	struct cdp_reader r;
	int err = cdp_open(&r, dirfd, name);

	if (err) {
		note_bad(p, name, cdp_strerror(err));
		return;
	}
	s.header = r.header;
	s.file = xstrdup(name);
	s.state = state_of(&r.header);
	/* Pairs first: a thread's row is committed before its pairs are. */
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
	cdp_close(&r);
	if (err) {
		note_bad(p, name, cdp_strerror(err));
		p->threads = threads;
		p->pairs = pairs;
		p->cores = cores;
		p->reuses = reuses;
		free_process(&s);
		return;
	}
	order_maps(&s);
	p->process = grow(p->process, p->processes, &p->processes_room,
			  sizeof(*p->process));
	p->process[p->processes++] = s;
	rows_of_pairs(p, l.index, threads, pairs, reuses);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names of the .cdp files in @dirfd, ordered; -errno. */
static ssize_t list_files(int dirfd, char ***names)
{
	int fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	size_t n = 0, room = 0;
	struct dirent *e;

	*names = NULL;
	if (!dir)
		return -errno;
	while ((e = readdir(dir))) {
		size_t len = strlen(e->d_name);

		if (len < 5 || strcmp(e->d_name + len - 4, ".cdp"))
			continue;
		*names = grow(*names, n, &room, sizeof(**names));
		(*names)[n++] = xstrdup(e->d_name);
	}
	closedir(dir);
	if (n)
		qsort(*names, n, sizeof(**names), compare_names);
	return n;
}

static int load_directory(struct profile *p, const char *path)
{
	int dirfd = outdir_open(path, NULL);
	char **names;
	ssize_t n;

	if (dirfd < 0)
		return dirfd;
	n = list_files(dirfd, &names);
	for (ssize_t i = 0; i < n; i++) {
		load_file(p, dirfd, names[i]);
		free(names[i]);
	}
	free(names);
	close(dirfd);
	return n < 0 ? (int)n : 0;
}

int profile_load(struct profile *p, const char *path)
{
	struct stat st;
	int err = 0;

	memset(p, 0, sizeof(*p));
	if (stat(path, &st))
		return -errno;
	if (S_ISDIR(st.st_mode))
		err = load_directory(p, path);
	else
		load_file(p, AT_FDCWD, path);
	if (err)
		return err;
	rows_order(p);
	rows_take_off_execed(p);
	if (p->threads > PROFILE_ROWS_MAX)
		rows_merge(p);
	return 0;
}

void profile_release(struct profile *p)
{
	for (size_t i = 0; i < p->processes; i++)
		free_process(&p->process[i]);
	for (size_t i = 0; i < p->bad_files; i++)
		free(p->bad[i].name);
	free(p->process);
	free(p->thread);
	free(p->pair);
	free(p->core);
	free(p->reuse);
	free(p->bad);
	memset(p, 0, sizeof(*p));
}

const struct process *profile_main_process(const struct profile *p)
{
	uint64_t *sum = xcalloc(p->processes, sizeof(*sum));
	size_t best = 0;

	for (size_t i = 0; i < p->threads; i++) {
		const struct thread_row *t = &p->thread[i];

		sum[t->process] = sat_add(sum[t->process], t->interrupts);
	}
	for (size_t i = 1; i < p->processes; i++)
		if (sum[i] > sum[best])
			best = i;
	free(sum);
	return &p->process[best];
}

bool profile_complete(const struct profile *p)
{
	for (size_t i = 0; i < p->processes; i++)
		if (p->process[i].state != PROCESS_ENDED &&
		    p->process[i].state != PROCESS_EXECED)
			return false;
	return p->processes && !p->bad_files;
}

uint64_t profile_not_followed(const struct profile *p)
{
	uint64_t n = 0;

	for (size_t i = 0; i < p->processes; i++)
		n = sat_add(n, p->process[i].header.not_followed);
	return n;
}

uint64_t profile_wall_ns(const struct profile *p)
{
	uint64_t start = UINT64_MAX, end = 0;

	for (size_t i = 0; i < p->processes; i++) {
		const struct cdp_header *h = &p->process[i].header;

		if (h->start_mono < start)
			start = h->start_mono;
		if (h->last_mono > end)
			end = h->last_mono;
	}
	return end > start ? end - start : 0;
}

uint64_t profile_cpu_ns(const struct profile *p)
{
	uint64_t total = 0;

	for (size_t i = 0; i < p->processes; i++) {
		uint64_t sum = 0;

		for (size_t t = 0; t < p->threads; t++)
			if (p->thread[t].process == i)
				sum = sat_add(sum, p->thread[t].cpu_ns);
		if (p->process[i].header.cpu_ns > sum)
			sum = p->process[i].header.cpu_ns;
		total = sat_add(total, sum);
	}
	return total;
}

uint64_t profile_loss(const struct profile *p, enum loss_cause cause)
{
	uint64_t n = 0;

	for (size_t i = 0; i < p->processes; i++)
		n = sat_add(n, p->process[i].header.loss[cause]);
	for (size_t i = 0; i < p->threads; i++)
		n = sat_add(n, p->thread[i].loss[cause]);
	return n;
}
