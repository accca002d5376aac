/* SPDX-License-Identifier: MIT */
/*
 * rows - turn thread ids in files into rows, and merge rows
 */
#include <stdlib.h>
#include <string.h>

#include "rows.h"
#include "analysis/base/util.h"

struct id_row {
	uint32_t id, row;
};

static int compare_ids(const void *a, const void *b)
{
	const struct id_row *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return (x->row > y->row) - (x->row < y->row);
}

/* If two rows have the same id, the first one gets it. */
static struct id_row *index_rows(const struct profile *p, size_t first,
				 size_t *n)
{
	struct id_row *index = xcalloc(p->threads - first, sizeof(*index));

	*n = p->threads - first;
	for (size_t i = 0; i < *n; i++)
		index[i] =
			(struct id_row){ p->thread[first + i].id, first + i };
	qsort(index, *n, sizeof(*index), compare_ids);
	return index;
}

static bool find_row(const struct id_row *index, size_t n, uint32_t id,
		     uint32_t *row)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (index[mid].id < id)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == n || index[low].id != id)
		return false;
	*row = index[low].row;
	return true;
}

static int compare_u32(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

void rows_add_unknown(struct profile *p, uint32_t process, uint32_t *ids,
		      size_t n)
{
	qsort(ids, n, sizeof(*ids), compare_u32);
	for (size_t i = 0; i < n; i++) {
		if (i && ids[i] == ids[i - 1])
			continue;
		p->thread = grow(p->thread, p->threads, &p->threads_room,
				 sizeof(*p->thread));
		p->thread[p->threads++] = (struct thread_row){
			.process = process,
			.id = ids[i],
			.count = 1,
			.ended = p->process[process].state != PROCESS_RUNNING,
			.unknown = true,
			.name = "?",
		};
	}
}

/* The ids that have no row. */
struct unknown {
	uint32_t *id;
	size_t n, room;
};

static void look_up(struct unknown *u, const struct id_row *index, size_t n,
		    uint32_t id)
{
	uint32_t row;

	/* Skip the id that was added last: a thread's records come in a row. */
	if (find_row(index, n, id, &row) || (u->n && u->id[u->n - 1] == id))
		return;
	u->id = grow(u->id, u->n, &u->room, sizeof(*u->id));
	u->id[u->n++] = id;
}

static uint32_t row_or_none(const struct id_row *index, size_t n, uint32_t id)
{
	uint32_t row;

	return find_row(index, n, id, &row) ? row : NO_THREAD;
}

void rows_of_pairs(struct profile *p, uint32_t process, size_t first_thread,
		   size_t first_pair, size_t first_reuse, size_t first_slice)
{
	struct unknown u = { NULL, 0, 0 };
	size_t n;
	struct id_row *index = index_rows(p, first_thread, &n);

	for (size_t i = first_pair; i < p->pairs; i++) {
		if (!p->pair[i].foreign)
			look_up(&u, index, n, p->pair[i].publisher);
		look_up(&u, index, n, p->pair[i].detector);
	}
	for (size_t i = first_reuse; i < p->reuses; i++)
		if (p->reuse[i].thread != ALL_THREADS)
			look_up(&u, index, n, p->reuse[i].thread);
	if (u.n) {
		rows_add_unknown(p, process, u.id, u.n);
		free(u.id);
		free(index);
		index = index_rows(p, first_thread, &n);
	}
	for (size_t i = first_pair; i < p->pairs; i++) {
		struct pair_row *pair = &p->pair[i];

		if (!pair->foreign)
			find_row(index, n, pair->publisher, &pair->publisher);
		find_row(index, n, pair->detector, &pair->detector);
	}
	for (size_t i = first_reuse; i < p->reuses; i++)
		if (p->reuse[i].thread != ALL_THREADS)
			find_row(index, n, p->reuse[i].thread,
				 &p->reuse[i].thread);
	for (size_t i = first_slice; i < p->slices; i++) {
		struct slice_row *s = &p->slice[i];

		if (!s->foreign)
			s->publisher = row_or_none(index, n, s->publisher);
		s->detector = row_or_none(index, n, s->detector);
	}
	free(index);
}

/* The functions for sorted_indices() compare indices of @profile. */
static int compare_processes(const void *a, const void *b, void *profile)
{
	const struct profile *p = profile;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	uint64_t x = p->process[i].header.start_mono;
	uint64_t y = p->process[j].header.start_mono;

	if (x != y)
		return x < y ? -1 : 1;
	return (i > j) - (i < j);
}

static int compare_threads(const void *a, const void *b, void *profile)
{
	const struct profile *p = profile;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	const struct thread_row *x = &p->thread[i];
	const struct thread_row *y = &p->thread[j];

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return (i > j) - (i < j);
}

/* The numbers 0 to n - 1 ordered by @compare. */
static uint32_t *sorted_indices(struct profile *p, size_t n,
				int (*compare)(const void *, const void *,
					       void *))
{
	uint32_t *index = xcalloc(n, sizeof(*index));

	for (size_t i = 0; i < n; i++)
		index[i] = i;
	qsort_r(index, n, sizeof(*index), compare, p);
	return index;
}

static void order_processes(struct profile *p)
{
	uint32_t *index = sorted_indices(p, p->processes, compare_processes);
	uint32_t *place = xcalloc(p->processes, sizeof(*place));
	struct process *ordered = xcalloc(p->processes, sizeof(*ordered));

	for (size_t i = 0; i < p->processes; i++) {
		ordered[i] = p->process[index[i]];
		place[index[i]] = i;
	}
	for (size_t i = 0; i < p->threads; i++)
		p->thread[i].process = place[p->thread[i].process];
	for (size_t i = 0; i < p->pairs; i++) {
		struct pair_row *pair = &p->pair[i];

		pair->process = place[pair->process];
		pair->publisher_process = place[pair->publisher_process];
		pair->detector_process = place[pair->detector_process];
	}
	for (size_t i = 0; i < p->reuses; i++)
		p->reuse[i].process = place[p->reuse[i].process];
	for (size_t i = 0; i < p->slices; i++)
		p->slice[i].process = place[p->slice[i].process];
	free(p->process);
	p->process = ordered;
	p->processes_room = p->processes;
	free(index);
	free(place);
}

/* Row i has become place[i]. */
static void move_slices(struct profile *p, const uint32_t *place)
{
	for (size_t i = 0; i < p->slices; i++) {
		struct slice_row *s = &p->slice[i];

		if (s->publisher != NO_THREAD)
			s->publisher = place[s->publisher];
		if (s->detector != NO_THREAD)
			s->detector = place[s->detector];
	}
}

/* Move row index[i] to i, and renumber the pairs. */
static void permute_threads(struct profile *p, const uint32_t *index)
{
	uint32_t *place = xcalloc(p->threads, sizeof(*place));
	struct thread_row *ordered = xcalloc(p->threads, sizeof(*ordered));

	for (size_t i = 0; i < p->threads; i++) {
		ordered[i] = p->thread[index[i]];
		place[index[i]] = i;
	}
	for (size_t i = 0; i < p->pairs; i++) {
		p->pair[i].publisher = place[p->pair[i].publisher];
		p->pair[i].detector = place[p->pair[i].detector];
	}
	for (size_t i = 0; i < p->reuses; i++)
		if (p->reuse[i].thread != ALL_THREADS)
			p->reuse[i].thread = place[p->reuse[i].thread];
	move_slices(p, place);
	free(p->thread);
	p->thread = ordered;
	p->threads_room = p->threads;
	free(place);
}

void rows_order(struct profile *p)
{
	uint32_t *index;

	if (!p->processes)
		return;
	order_processes(p);
	index = sorted_indices(p, p->threads, compare_threads);
	permute_threads(p, index);
	free(index);
}

static uint64_t less(uint64_t n, uint64_t taken)
{
	return n > taken ? n - taken : 0;
}

void rows_take_off_execed(struct profile *p)
{
	struct thread_row **leader =
		xcalloc(p->processes, sizeof(*leader)); /* by process */

	for (size_t t = 0; t < p->threads; t++) {
		struct thread_row *row = &p->thread[t];

		if (row->tid == p->process[row->process].header.pid)
			leader[row->process] = row;
	}
	/*
	 * Go from the last process to the first: the time to subtract must
	 * still be the recorded one.
	 */
	for (size_t i = p->processes; i-- > 1;) {
		struct cdp_header *h = &p->process[i].header;
		size_t j = i;

		while (j-- > 0)
			if (p->process[j].header.pid == h->pid)
				break;
		if (j >= i || p->process[j].state != PROCESS_EXECED)
			continue;
		h->cpu_ns = less(h->cpu_ns, p->process[j].header.cpu_ns);
		h->kernel_ns =
			less(h->kernel_ns, p->process[j].header.kernel_ns);
		if (leader[i] && leader[j])
			leader[i]->cpu_ns =
				less(leader[i]->cpu_ns, leader[j]->cpu_ns);
	}
	free(leader);
}

static int compare_kin(const struct thread_row *x, const struct thread_row *y)
{
	int order;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->ended != y->ended)
		return x->ended ? 1 : -1;
	if (x->unknown != y->unknown)
		return x->unknown ? 1 : -1;
	if (x->start_routine != y->start_routine)
		return x->start_routine < y->start_routine ? -1 : 1;
	order = strncmp(x->name, y->name, sizeof(x->name));
	return order;
}

static int compare_for_merge(const void *a, const void *b, void *profile)
{
	const struct profile *p = profile;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	int order = compare_kin(&p->thread[i], &p->thread[j]);

	return order ? order : (i > j) - (i < j);
}

void rows_add(struct thread_row *to, const struct thread_row *from)
{
	to->count = sat_add(to->count, from->count);
	if (from->start_mono < to->start_mono)
		to->start_mono = from->start_mono;
	if (from->end_mono > to->end_mono)
		to->end_mono = from->end_mono;
	to->cpu_ns = sat_add(to->cpu_ns, from->cpu_ns);
	to->interrupts = sat_add(to->interrupts, from->interrupts);
	to->handler_ns = sat_add(to->handler_ns, from->handler_ns);
	for (int k = 0; k < SAMPLE_KINDS; k++)
		to->samples[k] = sat_add(to->samples[k], from->samples[k]);
	to->loads = sat_add(to->loads, from->loads);
	to->stores = sat_add(to->stores, from->stores);
	to->traps = sat_add(to->traps, from->traps);
	to->exec_traps = sat_add(to->exec_traps, from->exec_traps);
	to->arms = sat_add(to->arms, from->arms);
	to->detections = sat_add(to->detections, from->detections);
	to->counted_scaled |= from->counted_scaled;
	if (from->reuse_resolution > to->reuse_resolution)
		to->reuse_resolution = from->reuse_resolution;
	to->counted_loads = sat_add(to->counted_loads, from->counted_loads);
	to->counted_stores = sat_add(to->counted_stores, from->counted_stores);
	to->counted_load_bytes =
		sat_add(to->counted_load_bytes, from->counted_load_bytes);
	to->counted_store_bytes =
		sat_add(to->counted_store_bytes, from->counted_store_bytes);
	to->samples_skipped =
		sat_add(to->samples_skipped, from->samples_skipped);
	to->clock_interrupts =
		sat_add(to->clock_interrupts, from->clock_interrupts);
	to->looks = sat_add(to->looks, from->looks);
	to->look_accesses = sat_add(to->look_accesses, from->look_accesses);
	for (int k = 0; k < SHARING_KINDS; k++)
		to->squares[k] = sat_add(to->squares[k], from->squares[k]);
	for (int k = 0; k < CDP_LOSS_MAX; k++)
		to->loss[k] = sat_add(to->loss[k], from->loss[k]);
}

void rows_close_gaps(struct profile *p, uint32_t *into)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->threads; i++) {
		if (into[i] == i) {
			p->thread[kept] = p->thread[i];
			into[i] = kept++;
		} else {
			into[i] = into[into[i]];
		}
	}
	for (size_t i = 0; i < p->pairs; i++) {
		p->pair[i].publisher = into[p->pair[i].publisher];
		p->pair[i].detector = into[p->pair[i].detector];
	}
	for (size_t i = 0; i < p->reuses; i++)
		if (p->reuse[i].thread != ALL_THREADS)
			p->reuse[i].thread = into[p->reuse[i].thread];
	move_slices(p, into);
	p->threads = kept;
}

void rows_merge(struct profile *p)
{
	uint32_t *index = sorted_indices(p, p->threads, compare_for_merge);
	uint32_t *into = xcalloc(p->threads, sizeof(*into));
	size_t head = 0;

	for (size_t i = 0; i < p->threads; i++) {
		struct thread_row *row = &p->thread[index[i]];
		struct thread_row *first = &p->thread[index[head]];

		if (i && row->ended && !compare_kin(row, first)) {
			rows_add(first, row);
			p->merged = true;
		} else {
			head = i;
		}
		into[index[i]] = index[head];
	}
	rows_close_gaps(p, into);
	free(index);
	free(into);
}
