/* SPDX-License-Identifier: MIT */
/*
 * symbols - turn addresses of a profiled process into names, offline
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbols.h"
#include "symbols_internal.h"
#include "jit_files.h"
#include "known.h"
#include "library_code.h"
#include "analysis/base/util.h"
#include "src/base/regular_file.h"
#include "analysis/profile/mapping.h"

/* The code that a JIT compiler made in a process; NULL if it said nothing. */
struct known_jit {
	const struct process *process;
	struct jit_code *code;
};

struct symbols {
	bool lookup;
	int dirfd; /* of the profile; AT_FDCWD for a file's */
	struct known_jit *jit;
	size_t jits, jit_room;
	bool nameless; /* code was met that no JIT compiler reported */
	struct known known;
	void **kept; /* what callers hold */
	size_t keeps, keep_room;
};

struct symbols *symbols_new(bool lookup, const char *path)
{
	struct symbols *s = xcalloc(1, sizeof(*s));
	int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	s->lookup = lookup;
	s->dirfd = fd < 0 ? AT_FDCWD : fd;
	return s;
}

void symbols_free(struct symbols *s)
{
	known_release(&s->known);
	for (size_t i = 0; i < s->keeps; i++)
		free(s->kept[i]);
	for (size_t i = 0; i < s->jits; i++)
		jit_code_free(s->jit[i].code);
	if (s->dirfd >= 0)
		close(s->dirfd);
	free(s->jit);
	free(s->kept);
	free(s);
}

static void keep_memory(struct symbols *s, void *memory)
{
	s->kept = grow(s->kept, s->keeps, &s->keep_room, sizeof(*s->kept));
	s->kept[s->keeps++] = memory;
}

static const char *keep(struct symbols *s, char *text)
{
	if (text)
		keep_memory(s, text);
	return text;
}

static struct module *module_of(struct symbols *s, const struct process *p,
				const struct cdp_map *m)
{
	return s->lookup ? known_module(&s->known, p, m) : NULL;
}

const char *symbols_problem(struct symbols *s, size_t i)
{
	const char *problem = known_problem(&s->known, i);

	if (problem || !s->nameless || i != s->known.problems)
		return problem;
	return "[JIT] is code that a JIT compiler made, such as that of Java "
	       "or Node.js: it told no names; see docs/names.md";
}

static void name_place(struct symbols *s, struct module *module, uint64_t vaddr,
		       struct place *out)
{
	struct frame frame[FRAMES_MAX];
	int n = module_code(module, vaddr, frame), shown = 0;

	while (shown < n && is_library_code(frame[shown].file))
		shown++;
	if (shown == n)
		shown = 0;
	if (shown) {
		out->inner_function = keep(s, frame[0].function);
		out->inner_file = frame[0].file;
		out->inner_line = frame[0].line;
	}
	out->function = keep(s, frame[shown].function);
	out->file = frame[shown].file;
	out->line = frame[shown].line;
	for (int i = shown ? 1 : 0; i < n; i++)
		if (i != shown)
			free(frame[i].function);
}

/* Read when first asked for. */
static struct jit_code *jit_of(struct symbols *s, const struct process *p)
{
	for (size_t i = 0; i < s->jits; i++)
		if (s->jit[i].process == p)
			return s->jit[i].code;
	s->jit = grow(s->jit, s->jits, &s->jit_room, sizeof(*s->jit));
	s->jit[s->jits] = (struct known_jit){ p, jit_files_read(p, s->dirfd) };
	return s->jit[s->jits++].code;
}

static void name_jit_place(struct symbols *s, const struct process *process,
			   uint64_t ip, struct place *out)
{
	const struct jit_code *code = s->lookup ? jit_of(s, process) : NULL;
	struct jit_place found;

	out->function = "[JIT]";
	if (!code || !jit_code_find(code, ip, &found)) {
		s->nameless = true;
		return;
	}
	out->jit = true;
	out->function = found.function;
	out->file = found.file;
	out->line = found.line;
}

/* Returns whether the file of the instruction is used. */
static bool name_instruction(struct symbols *s, const struct process *process,
			     uint64_t ip, uint64_t generation,
			     struct place *out, struct module **module,
			     uint64_t *vaddr)
{
	const struct cdp_map *m = process_map(process, ip, generation);
	const struct cdp_map *first;

	*out = (struct place){ .module = "?", .offset = ip };
	if (!m)
		return false;
	first = known_first_map(process, m);
	out->module = m->path[0] ? m->path : "[anonymous code]";
	/* Memory without a file has no start that tells it from other. */
	out->offset = !m->path[0] ? ip
		      : first     ? ip - first->start
				  : ip - m->start + m->file_offset;
	if (is_jit_mapping(m->path) && m->prot & PROT_EXEC)
		name_jit_place(s, process, ip, out);
	*module = out->jit ? NULL : module_of(s, process, m);
	if (!*module ||
	    !module_vaddr(*module, ip - m->start + m->file_offset, true, vaddr))
		return false;
	name_place(s, *module, *vaddr, out);
	return true;
}

void symbols_place(struct symbols *s, const struct process *process,
		   uint64_t ip, uint64_t generation, struct place *out)
{
	struct module *module;
	uint64_t vaddr;

	name_instruction(s, process, ip, generation, out, &module, &vaddr);
}

void symbols_site(struct symbols *s, const struct process *process, uint64_t ip,
		  uint64_t generation, struct place *out)
{
	struct module *module;
	uint64_t vaddr;

	if (name_instruction(s, process, ip, generation, out, &module, &vaddr))
		module_shown(module, vaddr, out->file);
}

struct module *symbols_module(struct symbols *s, const struct process *process,
			      uint64_t addr, uint64_t generation, bool exec,
			      uint64_t *vaddr)
{
	const struct cdp_map *m = process_map(process, addr, generation);
	struct module *module = m ? module_of(s, process, m) : NULL;

	return module && module_vaddr(module, addr - m->start + m->file_offset,
				      exec, vaddr)
		       ? module
		       : NULL;
}

static enum object_kind kind_of_map(const struct cdp_map *m)
{
	if (!strcmp(m->path, "[heap]"))
		return OBJECT_HEAP;
	if (!strcmp(m->path, "[stack]"))
		return OBJECT_STACK;
	if (m->path[0] != '/')
		return OBJECT_UNNAMED;
	return OBJECT_MAPPED;
}

/* The places of path @node, innermost first. */
static size_t places_of(struct symbols *s, const struct process *process,
			uint32_t node, struct place *place)
{
	const struct cdp_path *n = process_path(process, node);
	size_t places = 0;

	for (; n && places < BLOCK_PLACES_MAX;
	     n = process_path(process, n->parent))
		symbols_place(s, process, n->ip, n->map_generation,
			      &place[places++]);
	return places;
}

/* The heap block at @addr, if the recording has it. */
static bool block_object(struct symbols *s, const struct process *process,
			 uint64_t addr, struct object *out)
{
	const struct cdp_memory_block *b = process_block(process, addr);
	struct place place[BLOCK_PLACES_MAX];
	size_t n;

	if (!b)
		return false;
	*out = (struct object){ .kind = OBJECT_HEAP,
				.start = b->start,
				.size = b->bytes,
				.offset = addr - b->start,
				.block = true,
				.freed = b->flags & CDP_BLOCK_FREED };
	n = places_of(s, process, b->path, place);
	if (n)
		keep_memory(s, symbols_block_path(place, n, out));
	else /* The call is before the address that it returns to. */
		symbols_place(s, process, b->caller ? b->caller - 1 : 0,
			      b->map_generation, &out->allocated);
	return true;
}

void symbols_object(struct symbols *s, const struct process *process,
		    uint64_t addr, uint64_t generation, struct object *out)
{
	const struct cdp_map *m = process_map(process, addr, generation);
	const struct cdp_map *first;
	struct module *module;
	uint64_t vaddr, start;

	*out = (struct object){ .kind = OBJECT_UNNAMED, .start = addr };
	if (block_object(s, process, addr, out) || !m)
		return;
	out->kind = kind_of_map(m);
	out->start = m->start;
	out->offset = addr - m->start;
	if (out->kind != OBJECT_MAPPED)
		return;
	out->module = m->path;
	if (!known_has_code(process, m))
		return;
	out->kind = OBJECT_MODULE;
	first = known_first_map(process, m);
	if (first) {
		out->start = first->start;
		out->offset = addr - first->start;
	}
	module = module_of(s, process, m);
	if (!module)
		return;
	if (!module_vaddr(module, addr - m->start + m->file_offset, false,
			  &vaddr)) {
		/* This is memory from mmap that follows the module's data. */
		*out = (struct object){ .kind = OBJECT_UNNAMED, .start = addr };
		return;
	}
	out->name = keep(s, module_variable(module, vaddr, &start, &out->size));
	if (!out->name)
		return;
	out->kind = OBJECT_STATIC;
	out->offset = vaddr - start;
	out->start = addr - out->offset;
}

const char *object_kind_text(enum object_kind kind)
{
	switch (kind) {
	case OBJECT_STATIC:
		return "static variable";
	case OBJECT_MODULE:
		return "module data";
	case OBJECT_HEAP:
		return "heap";
	case OBJECT_STACK:
		return "stack";
	case OBJECT_MAPPED:
		return "mapped file";
	default:
		return "unnamed memory";
	}
}

const char *object_text(const struct object *o)
{
	char *s;
	const char *safe;

	switch (o->kind) {
	case OBJECT_STATIC:
		s = o->offset ? xasprintf("%s+%llu", o->name,
					  (unsigned long long)o->offset)
			      : xstrdup(o->name);
		break;
	case OBJECT_MODULE:
	case OBJECT_MAPPED:
		s = xasprintf("%s+0x%llx", base_name(o->module),
			      (unsigned long long)o->offset);
		break;
	case OBJECT_HEAP:
		s = o->block ? symbols_block_text(o) : xstrdup("heap");
		break;
	case OBJECT_STACK:
		s = xstrdup("main thread's stack");
		break;
	default:
		s = xstrdup("heap or a thread's stack");
	}
	safe = safe_text(s);
	free(s);
	return safe;
}
