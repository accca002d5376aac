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
#include "library_code.h"
#include "analysis/base/util.h"
#include "src/base/regular_file.h"
#include "analysis/profile/mapping.h"

struct known_module {
	char *path; /* as recorded */
	uint8_t id[20];
	uint8_t id_bytes;
	struct module *module;
	char *problem;
	bool code; /* a process has some of it */
};

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
	struct known_module *known;
	size_t n, room;
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
	for (size_t i = 0; i < s->n; i++) {
		free(s->known[i].path);
		free(s->known[i].problem);
		if (s->known[i].module)
			module_close(s->known[i].module);
	}
	for (size_t i = 0; i < s->keeps; i++)
		free(s->kept[i]);
	for (size_t i = 0; i < s->jits; i++)
		jit_code_free(s->jit[i].code);
	if (s->dirfd >= 0)
		close(s->dirfd);
	free(s->jit);
	free(s->known);
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

static bool same_file(const struct cdp_map *a, const struct cdp_map *b)
{
	return !strcmp(a->path, b->path) && a->inode == b->inode &&
	       a->dev_major == b->dev_major && a->dev_minor == b->dev_minor;
}

/*
 * The mapping of the start of the file that @m is a part of: it carries the
 * build-id, and offsets in the module count from it.
 */
static const struct cdp_map *first_map(const struct process *p,
				       const struct cdp_map *m)
{
	const struct cdp_map *best = NULL;

	for (size_t i = 0; i < p->maps && p->map[i].start <= m->start; i++) {
		const struct cdp_map *c = &p->map[i];

		if (!c->file_offset && same_file(c, m) &&
		    c->generation <= m->generation)
			best = c;
	}
	return best;
}

/* Has the process code of that file? If not, nobody misses names in it. */
static bool has_code(const struct process *p, const struct cdp_map *m)
{
	for (size_t i = 0; i < p->maps; i++)
		if (p->map[i].prot & PROT_EXEC && same_file(&p->map[i], m))
			return true;
	return false;
}

static char *problem_of(const struct known_module *k)
{
	switch (module_state(k->module)) {
	case MODULE_GONE:
		return xasprintf("%s cannot be opened (%s): its addresses are "
				 "shown without names",
				 safe_text(k->path),
				 regular_file_error(module_error(k->module)));
	case MODULE_CHANGED:
		return xasprintf("%s has changed since it was profiled (its "
				 "build-id is another one): its addresses are "
				 "shown without names; profile it again",
				 safe_text(k->path));
	case MODULE_NOT_ELF:
		return xasprintf("%s is not an ELF file: its addresses are "
				 "shown without names",
				 safe_text(k->path));
	default:
		return NULL;
	}
}

/*
 * True if the process ran on another machine: then the file at the same path
 * here may be a different one.
 */
static bool is_foreign(const struct process *p)
{
	char host[sizeof(p->header.host)] = "";

	if (strcmp(p->header.source, "import"))
		return false;
	gethostname(host, sizeof(host) - 1);
	return strcmp(host, p->header.host) != 0;
}

static struct module *open_known(struct known_module *k)
{
	static const char deleted[] = " (deleted)";
	size_t n = strlen(k->path), d = sizeof(deleted) - 1;
	struct module *m = module_open(k->path, k->id, k->id_bytes);

	/* Only the build-id tells whether it was rebuilt without a change. */
	if (module_state(m) == MODULE_GONE && k->id_bytes && n > d &&
	    !strcmp(k->path + n - d, deleted)) {
		char *path = strndup(k->path, n - d);

		if (path) {
			module_close(m);
			m = module_open(path, k->id, k->id_bytes);
			free(path);
		}
	}
	return m;
}

/*
 * The module of mapping @m, opened when first asked for; NULL if it is
 * unusable.
 */
static struct module *module_of(struct symbols *s, const struct process *p,
				const struct cdp_map *m)
{
	const struct cdp_map *first = first_map(p, m);
	const uint8_t *id = first ? first->build_id : m->build_id;
	size_t id_bytes = first ? first->build_id_bytes : 0;
	struct known_module *k;

	if (!s->lookup || m->path[0] != '/')
		return NULL;
	/* An imported recording may have the mapping of the code alone. */
	if (!id_bytes) {
		id = m->build_id;
		id_bytes = m->build_id_bytes;
	}
	if (id_bytes > sizeof(k->id))
		id_bytes = 0;
	for (size_t i = 0; i < s->n; i++) {
		k = &s->known[i];
		if (!strcmp(k->path, m->path) && k->id_bytes == id_bytes &&
		    !memcmp(k->id, id, id_bytes)) {
			k->code |= k->problem && has_code(p, m);
			return k->problem ? NULL : k->module;
		}
	}
	s->known = grow(s->known, s->n, &s->room, sizeof(*s->known));
	k = &s->known[s->n++];
	memset(k, 0, sizeof(*k));
	k->path = xstrdup(m->path);
	memcpy(k->id, id, id_bytes);
	k->id_bytes = id_bytes;
	k->code = has_code(p, m);
	if (!id_bytes && is_foreign(p)) {
		k->problem = xasprintf("%s was recorded on another machine, "
				       "without its build-id: its addresses "
				       "are shown without names",
				       safe_text(k->path));
		return NULL;
	}
	k->module = open_known(k);
	k->problem = problem_of(k);
	return k->problem ? NULL : k->module;
}

const char *symbols_problem(const struct symbols *s, size_t i)
{
	for (size_t k = 0; k < s->n; k++)
		if (s->known[k].problem && s->known[k].code && i-- == 0)
			return s->known[k].problem;
	return i == 0 && s->nameless
		       ? "[JIT] is code that a JIT compiler made, such as that "
			 "of Java or Node.js: it told no names; see "
			 "docs/names.md"
		       : NULL;
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

void symbols_place(struct symbols *s, const struct process *process,
		   uint64_t ip, uint64_t generation, struct place *out)
{
	const struct cdp_map *m = process_map(process, ip, generation);
	const struct cdp_map *first;
	struct module *module;
	uint64_t vaddr;

	*out = (struct place){ .module = "?", .offset = ip };
	if (!m)
		return;
	first = first_map(process, m);
	out->module = m->path[0] ? m->path : "[anonymous code]";
	/* Memory without a file has no start that tells it from other. */
	out->offset = !m->path[0] ? ip
		      : first     ? ip - first->start
				  : ip - m->start + m->file_offset;
	if (is_jit_mapping(m->path) && m->prot & PROT_EXEC)
		name_jit_place(s, process, ip, out);
	module = out->jit ? NULL : module_of(s, process, m);
	if (!module ||
	    !module_vaddr(module, ip - m->start + m->file_offset, true, &vaddr))
		return;
	name_place(s, module, vaddr, out);
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

/*
 * True if any part of the file is mapped executable: its data belongs to a
 * module.
 */
static bool is_module(const struct process *p, const struct cdp_map *m)
{
	for (size_t i = 0; i < p->maps; i++)
		if ((p->map[i].prot & PROT_EXEC) && same_file(&p->map[i], m))
			return true;
	return false;
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
	if (!is_module(process, m))
		return;
	out->kind = OBJECT_MODULE;
	first = first_map(process, m);
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
