/* SPDX-License-Identifier: MIT */
/*
 * predict_bus - how threads share the bus of memory
 */
#include <math.h>

#include "predict_bus.h"

/* The wall time of @t's cycle @active; its waits are spread evenly. */
static double wall(const struct predicted_thread *t, double active)
{
	double all = t->windows ? t->end[t->windows - 1] : 0;

	return t->start + (all > 0 ? active / all * t->cycles : 0);
}

/* The transfers of @t until @time; within a window they are spread evenly. */
static double lines_until(const struct predicted_thread *t, double time)
{
	size_t low = 0, high = t->windows;
	double begin, end, before;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (wall(t, t->end[middle]) > time)
			high = middle;
		else
			low = middle + 1;
	}
	if (low == t->windows)
		return low ? t->lines[low - 1] : 0;
	begin = wall(t, low ? t->end[low - 1] : 0);
	end = wall(t, t->end[low]);
	before = low ? t->lines[low - 1] : 0;
	if (time <= begin || end <= begin)
		return before;
	return before +
	       (t->lines[low] - before) * (time - begin) / (end - begin);
}

double predict_others(const struct predicted *before, size_t thread, size_t i,
		      double slot)
{
	const struct predicted_thread *own = &before->thread[thread];
	double begin = wall(own, i ? own->end[i - 1] : 0);
	double time = wall(own, own->end[i]) - begin, sum = 0, n = 1;

	for (size_t k = 0; k < before->threads && time > 0; k++) {
		const struct predicted_thread *t = &before->thread[k];
		double lines =
			lines_until(t, begin + time) - lines_until(t, begin);

		if (k == thread || !(lines > 0))
			continue;
		sum += lines / time;
		n++;
	}
	return fmin(sum, (1 - 1 / n) / slot);
}

double predict_bus_share(const struct predicted *p, const struct machine *m)
{
	double lines = 0;

	for (size_t i = 0; i < p->threads; i++)
		if (p->thread[i].windows)
			lines += p->thread[i].lines[p->thread[i].windows - 1];
	return lines * (1 << MACHINE_LINE_SHIFT) / m->memory_gbs * m->ghz /
	       p->cycles;
}
