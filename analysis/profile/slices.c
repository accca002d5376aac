/* SPDX-License-Identifier: MIT */
/*
 * slices - a process that was watched several times, as one
 */
#include <stdlib.h>
#include <string.h>

#include "slices.h"
#include "file.h"
#include "rows.h"
#include "analysis/base/util.h"

/* A process that was watched from outside, and told sharing alone. */
static bool may_unite(const struct process *s)
{
	return s->header.number && !s->transfers && !s->memories && !s->paths &&
	       !s->blocks && !s->calls && !s->regions;
}

/* Was it one process, executing one program? */
static bool is_same(const struct process *x, const struct process *y)
{
	const struct cdp_header *a = &x->header, *b = &y->header;

	return a->pid == b->pid && a->process_start == b->process_start &&
	       x->state != PROCESS_EXECED && a->rank == b->rank &&
	       a->period == b->period && a->line_bytes == b->line_bytes &&
	       !strcmp(a->exe, b->exe) && !strcmp(a->boot_id, b->boot_id) &&
	       !strcmp(a->host, b->host) && may_unite(x) && may_unite(y);
}

static uint64_t generations(const struct process *s)
{
	uint64_t n = 0;

	for (size_t i = 0; i < s->maps; i++)
		if (s->map[i].generation >= n)
			n = sat_add(s->map[i].generation, 1);
	return n;
}

static bool same_map(const struct cdp_map *a, const struct cdp_map *b)
{
	return a->start == b->start && a->end == b->end &&
	       a->file_offset == b->file_offset && a->inode == b->inode &&
	       a->dev_major == b->dev_major && a->dev_minor == b->dev_minor &&
	       a->prot == b->prot && a->flags == b->flags &&
	       a->ipc_namespace == b->ipc_namespace &&
	       a->build_id_bytes == b->build_id_bytes &&
	       !memcmp(a->build_id, b->build_id, sizeof(a->build_id)) &&
	       !strcmp(a->path, b->path);
}

/* Is @m the last thing that @s had mapped in its range? */
static bool has_map(const struct process *s, size_t maps,
		    const struct cdp_map *m)
{
	const struct cdp_map *last = NULL;
	size_t low = 0, high = maps;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (s->map[mid].start < m->end)
			low = mid + 1;
		else
			high = mid;
	}
	while (low-- && s->map_end_max[low] > m->start)
		if (s->map[low].end > m->start &&
		    (!last || s->map[low].generation > last->generation))
			last = &s->map[low];
	return last && same_map(last, m);
}

static void take_maps(struct process *to, const struct process *from,
		      uint64_t shift)
{
	size_t before = to->maps;

	for (size_t i = 0; i < from->maps; i++) {
		struct cdp_map m = from->map[i];

		if (has_map(to, before, &m))
			continue;
		m.generation = sat_add(m.generation, shift);
		to->map = grow(to->map, to->maps, &to->maps_room,
			       sizeof(*to->map));
		to->map[to->maps++] = m;
	}
	if (to->maps > before)
		process_order_maps(to);
}

static void take_header(struct cdp_header *to, const struct cdp_header *from)
{
	if (from->last_mono > to->last_mono)
		to->last_mono = from->last_mono;
	if (from->cpu_ns > to->cpu_ns)
		to->cpu_ns = from->cpu_ns;
	for (int k = 0; k < CDP_LOSS_MAX; k++)
		to->loss[k] = sat_add(to->loss[k], from->loss[k]);
	to->not_followed = sat_add(to->not_followed, from->not_followed);
	to->samples_exact = sat_add(to->samples_exact, from->samples_exact);
	to->samples_verified =
		sat_add(to->samples_verified, from->samples_verified);
	to->samples_racy = sat_add(to->samples_racy, from->samples_racy);
	to->state = from->state;
	to->end_how = from->end_how;
	to->end_value = from->end_value;
	memcpy(to->note, from->note, sizeof(to->note));
}

static void take(struct process *to, struct process *from, uint64_t shift)
{
	take_maps(to, from, shift);
	take_header(&to->header, &from->header);
	to->bad_records = sat_add(to->bad_records, from->bad_records);
	to->state = from->state;
	to->live = from->live;
	process_release(from);
}

/* into[i] is the process that i becomes; its generations go up by shift[i]. */
struct plan {
	uint32_t *into;
	uint64_t *shift;
};

static void move_pairs(struct profile *p, const struct plan *plan)
{
	for (size_t i = 0; i < p->pairs; i++) {
		struct pair_row *r = &p->pair[i];

		r->line_generation =
			sat_add(r->line_generation, plan->shift[r->process]);
		r->map_generation = sat_add(r->map_generation,
					    plan->shift[r->detector_process]);
		r->process = plan->into[r->process];
		r->publisher_process = plan->into[r->publisher_process];
		r->detector_process = plan->into[r->detector_process];
	}
	for (size_t i = 0; i < p->threads; i++)
		p->thread[i].process = plan->into[p->thread[i].process];
	for (size_t i = 0; i < p->reuses; i++)
		p->reuse[i].process = plan->into[p->reuse[i].process];
	for (size_t i = 0; i < p->slices; i++)
		p->slice[i].process = plan->into[p->slice[i].process];
}

/* Find for each process the one that it becomes, and take it in. */
static bool unite_processes(struct profile *p, struct plan *plan)
{
	bool any = false;

	for (size_t i = 0; i < p->processes; i++) {
		plan->into[i] = (uint32_t)i;
		for (size_t j = 0; j < i; j++) {
			if (plan->into[j] != j ||
			    !is_same(&p->process[j], &p->process[i]))
				continue;
			plan->into[i] = (uint32_t)j;
			plan->shift[i] = generations(&p->process[j]);
			take(&p->process[j], &p->process[i], plan->shift[i]);
			any = true;
			break;
		}
	}
	return any;
}

/* Close the gaps; into[] gets the new numbers. */
static void close_gaps(struct profile *p, uint32_t *into)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->processes; i++) {
		if (into[i] == i) {
			p->process[kept] = p->process[i];
			into[i] = (uint32_t)kept++;
		} else {
			into[i] = into[into[i]];
		}
	}
	p->processes = kept;
}

static int compare_threads(const void *a, const void *b, void *profile)
{
	const struct profile *p = profile;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	const struct thread_row *x = &p->thread[i], *y = &p->thread[j];

	if (x->process != y->process)
		return order_u64(x->process, y->process);
	if (x->tid != y->tid)
		return order_u64(x->tid, y->tid);
	if (memcmp(x->name, y->name, sizeof(x->name)))
		return memcmp(x->name, y->name, sizeof(x->name));
	return order_u64(i, j);
}

static bool same_thread(const struct thread_row *x, const struct thread_row *y)
{
	return x->process == y->process && x->tid && x->tid == y->tid &&
	       !x->unknown && !y->unknown &&
	       !memcmp(x->name, y->name, sizeof(x->name));
}

static void unite_threads(struct profile *p)
{
	uint32_t *index = xcalloc(p->threads, sizeof(*index));
	uint32_t *into = xcalloc(p->threads, sizeof(*into));
	size_t head = 0;

	for (size_t i = 0; i < p->threads; i++)
		index[i] = (uint32_t)i;
	qsort_r(index, p->threads, sizeof(*index), compare_threads, p);
	for (size_t i = 0; i < p->threads; i++) {
		struct thread_row *first = &p->thread[index[head]];
		struct thread_row *row = &p->thread[index[i]];

		bool same = i && p->process[row->process].header.number &&
			    same_thread(first, row);

		if (!same)
			head = i;
		into[index[i]] = index[head];
		if (!same)
			continue;
		rows_add(first, row);
		first->count = 1; /* it is one thread */
		first->ended = row->ended;
	}
	free(index);
	rows_close_gaps(p, into);
	free(into);
}

bool slices_unite(struct profile *p)
{
	struct plan plan = { xcalloc(p->processes + 1, sizeof(uint32_t)),
			     xcalloc(p->processes + 1, sizeof(uint64_t)) };
	bool any = unite_processes(p, &plan);

	if (any) {
		close_gaps(p, plan.into);
		move_pairs(p, &plan);
		unite_threads(p);
	}
	free(plan.into);
	free(plan.shift);
	return any;
}
