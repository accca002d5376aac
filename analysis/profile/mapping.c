/* SPDX-License-Identifier: MIT */
/*
 * mapping - what a process had mapped at an address
 */
#include "mapping.h"

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
