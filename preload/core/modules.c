/* SPDX-License-Identifier: MIT */
/*
 * modules - the objects of this process whose stack frames can be told
 */
#include <stddef.h>

#include "memread.h"
#include "modules.h"
#include "src/unwind/module_table.h"
#include "src/base/signal_safe.h"

static loaded_find_function *find;
static struct module_table table;
static bool wanted, begun;

void modules_use(const void *function)
{
	union {
		const void *address;
		loaded_find_function *function;
	} symbol = { function };

	find = symbol.function;
	wanted = !find;
	begun = false;
}

void modules_take(const struct cdp_map *m)
{
	const struct unwind_memory memory = { memread, NULL };

	if (!wanted)
		return;
	if (!begun)
		module_table_begin(&table);
	begun = m;
	if (!m)
		module_table_end(&table);
	else if (!m->file_offset && m->path[0])
		module_table_take(&table, &memory, m->start);
}

bool modules_find(void *ctx, uint64_t pc, struct unwind_module *out)
{
	struct loaded_object f;

	if (!find)
		return module_table_find(&table, pc, out);
	if (find((void *)(uintptr_t)pc, &f))
		return false;
	*out = (struct unwind_module){
		.low = (uint64_t)(uintptr_t)f.start,
		.high = (uint64_t)(uintptr_t)f.end,
		.index = (uint64_t)(uintptr_t)f.eh_frame,
	};
	out->identity = (out->index ^ out->low << 20 ^
			 (uint64_t)(uintptr_t)f.link_map << 7) *
			0x9E3779B97F4A7C15u;
	return true;
}
