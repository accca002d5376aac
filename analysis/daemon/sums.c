/* SPDX-License-Identifier: MIT */
/*
 * sums - what the daemon has seen of each process, and in all
 */
#include <string.h>

#include "sums.h"
#include "analysis/base/util.h"

/* Its place: that of earlier, a free one, or that which was not seen longest.
 */
static struct process_sums *place(struct sums *s, const struct slice_process *p)
{
	struct process_sums *oldest = &s->process[0];

	for (size_t i = 0; i < s->processes; i++) {
		struct process_sums *q = &s->process[i];

		if (q->process.pid == p->pid && q->process.start == p->start)
			return q;
		if (q->seen_at < oldest->seen_at)
			oldest = q;
	}
	if (s->processes < SUMS_PROCESSES)
		oldest = &s->process[s->processes++];
	memset(oldest, 0, sizeof(*oldest));
	return oldest;
}

void sums_add(struct sums *s, const struct slice_found *found, uint64_t now)
{
	s->slices++;
	s->samples = sat_add(s->samples, found->samples);
	s->interrupts = sat_add(s->interrupts, found->interrupts);
	s->disturbances = sat_add(s->disturbances, found->disturbances);
	for (int k = 0; k < CDP_LOSS_MAX; k++)
		s->loss[k] = sat_add(s->loss[k], found->loss[k]);
	for (uint32_t i = 0; i < found->processes; i++) {
		const struct slice_process *p = &found->process[i];
		struct process_sums *to = place(s, p);

		to->seen_at = now;
		to->process.pid = p->pid;
		to->process.start = p->start;
		memcpy(to->process.name, p->name, sizeof(p->name));
		to->process.name[sizeof(p->name) - 1] = 0;
		to->process.samples = sat_add(to->process.samples, p->samples);
		to->process.watched_ns =
			sat_add(to->process.watched_ns, p->watched_ns);
		for (int k = 0; k < SHARING_KINDS; k++)
			to->process.detections[k] = sat_add(
				to->process.detections[k], p->detections[k]);
	}
}
