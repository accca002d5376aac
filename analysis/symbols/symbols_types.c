/* SPDX-License-Identifier: MIT */
/*
 * symbols_types - types of what a profiled process accesses
 */
#include <stdlib.h>

#include "symbols_internal.h"

static struct type_ref type_ref(struct module *m, const struct data_type *type)
{
	return (struct type_ref){ .module = m,
				  .type = type,
				  .name = type->name,
				  .size = type->size,
				  .compound = type->compound,
				  .library = module_library_type(m, type) };
}

bool symbols_access(struct symbols *s, const struct process *process,
		    uint64_t ip, uint64_t generation, struct typed_access *out)
{
	uint64_t vaddr;
	struct module *m =
		symbols_module(s, process, ip, generation, true, &vaddr);
	struct typed_place place;
	int64_t size;

	if (!m || !module_access(m, vaddr, &place))
		return false;
	size = (int64_t)place.type->size;
	if (size < 0 || (!size && place.offset < 0))
		return false;
	if (size)
		place.offset = (place.offset % size + size) % size;
	*out = (struct typed_access){ .type = type_ref(m, place.type),
				      .offset = (uint64_t)place.offset,
				      .indexed = place.indexed };
	return true;
}

bool symbols_variable(struct symbols *s, const struct process *process,
		      uint64_t addr, uint64_t generation,
		      struct typed_variable *out)
{
	uint64_t vaddr;
	struct module *m =
		symbols_module(s, process, addr, generation, false, &vaddr);
	struct data_variable v;

	if (!m || !module_data(m, vaddr, &v))
		return false;
	*out = (struct typed_variable){ .type = type_ref(m, v.type),
					.name = v.name,
					.start = addr - (vaddr - v.start) };
	return true;
}

bool symbols_part(const struct type_ref *type, uint64_t offset,
		  struct data_part *out)
{
	return module_part(type->module, type->type, offset, out);
}

bool symbols_holds(const struct type_ref *outer, uint64_t offset,
		   const struct type_ref *inner)
{
	return module_holds(outer->module, outer->type, offset, inner->type);
}

bool symbols_same_type(const struct type_ref *x, const struct type_ref *y)
{
	return dwarf_types_same(x->type, y->type);
}
