/* SPDX-License-Identifier: MIT */
/*
 * module - the symbols and DWARF of one ELF file, through libdwfl
 *
 * The module is reported to libdwfl at bias 0, so that its addresses are those
 * of the file's program headers.
 */
#include <elf.h>
#include <elfutils/libdwfl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "module.h"
#include "demangle.h"
#include "dwarf_code.h"
#include "analysis/base/util.h"
#include "src/base/regular_file.h"

struct segment {
	uint64_t offset, vaddr, bytes; /* in memory, from a page's start */
	bool exec;
};

struct module {
	enum module_state state;
	int error; /* of regular_file_open() */
	Dwfl *dwfl;
	Dwfl_Module *mod;
	struct segment *segment;
	size_t segments;
	bool looked; /* for DWARF */
	struct dwarf_code *code;
	Dwarf_Addr bias; /* our addresses minus those of DWARF */
};

static char *debug_path;

/*
 * A module names the file of its debug information. libdwfl opens it beside the
 * module, and would wait for a pipe.
 */
static bool may_look_for(const char *module, const char *name)
{
	const char *slash = strrchr(module, '/');
	int dir = slash ? (int)(slash - module) + 1 : 0;
	char *beside = xasprintf("%.*s%s", dir, module, name);
	char *below = xasprintf("%.*s.debug/%s", dir, module, name);
	bool may = name[0] == '/' ? regular_file_or_none(name)
				  : regular_file_or_none(beside) &&
					    regular_file_or_none(below);

	free(beside);
	free(below);
	return may;
}

static int find_debuginfo(Dwfl_Module *mod, void **userdata, const char *name,
			  Dwarf_Addr base, const char *file,
			  const char *debuglink, GElf_Word crc, char **found)
{
	if (file && debuglink && !may_look_for(file, debuglink))
		return -1;
	return dwfl_standard_find_debuginfo(mod, userdata, name, base, file,
					    debuglink, crc, found);
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = find_debuginfo,
	.section_address = dwfl_offline_section_address,
	.debuginfo_path = &debug_path,
};

static bool build_id_agrees(Dwfl_Module *mod, const uint8_t *id, size_t bytes)
{
	const unsigned char *bits;
	GElf_Addr vaddr;
	int n;

	if (!bytes)
		return true;
	n = dwfl_module_build_id(mod, &bits, &vaddr);
	return n > 0 && (size_t)n >= bytes && !memcmp(bits, id, bytes);
}

static void read_segments(struct module *m, int fd)
{
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	size_t n;

	if (!elf)
		return;
	if (elf_kind(elf) == ELF_K_ELF && !elf_getphdrnum(elf, &n)) {
		m->segment = xcalloc(n, sizeof(*m->segment));
		for (size_t i = 0; i < n; i++) {
			struct segment *s = &m->segment[m->segments];
			GElf_Phdr ph;

			if (!gelf_getphdr(elf, i, &ph) || ph.p_type != PT_LOAD)
				continue;
			s->offset = ph.p_offset & ~4095ull;
			s->vaddr = ph.p_vaddr & ~4095ull;
			s->bytes =
				((ph.p_vaddr + ph.p_memsz + 4095) & ~4095ull) -
				s->vaddr;
			s->exec = ph.p_flags & PF_X;
			m->segments++;
		}
	}
	elf_end(elf);
}

struct module *module_open(const char *path, const uint8_t *id, size_t id_bytes)
{
	struct module *m = xcalloc(1, sizeof(*m));
	int fd = regular_file_open(path);

	m->state = MODULE_GONE;
	if (fd < 0) {
		m->error = fd;
		return m;
	}
	elf_version(EV_CURRENT);
	m->state = MODULE_NOT_ELF;
	read_segments(m, fd);
	m->dwfl = m->segments ? dwfl_begin(&callbacks) : NULL;
	if (m->dwfl) {
		dwfl_report_begin(m->dwfl);
		/* On success libdwfl owns the descriptor. */
		m->mod = dwfl_report_elf(m->dwfl, path, path, fd, 0, true);
		dwfl_report_end(m->dwfl, NULL, NULL);
	}
	if (!m->mod) {
		close(fd);
		return m;
	}
	m->state = build_id_agrees(m->mod, id, id_bytes) ? MODULE_GOOD
							 : MODULE_CHANGED;
	return m;
}

void module_close(struct module *m)
{
	dwarf_code_free(m->code);
	if (m->dwfl)
		dwfl_end(m->dwfl);
	free(m->segment);
	free(m);
}

enum module_state module_state(const struct module *m)
{
	return m->state;
}

int module_error(const struct module *m)
{
	return m->error;
}

bool module_vaddr(const struct module *m, uint64_t file_offset, bool exec,
		  uint64_t *vaddr)
{
	bool found = false;

	for (size_t i = 0; i < m->segments; i++) {
		const struct segment *s = &m->segment[i];

		if (file_offset < s->offset ||
		    file_offset - s->offset >= s->bytes)
			continue;
		/* A later segment hides the zeroed end of an earlier one. */
		if (found && s->exec != exec)
			continue;
		*vaddr = file_offset - s->offset + s->vaddr;
		found = true;
	}
	return found;
}

/* The lowest address of code, or 0. */
static uint64_t lowest_code(const struct module *m)
{
	uint64_t lowest = UINT64_MAX;

	for (size_t i = 0; i < m->segments; i++)
		if (m->segment[i].exec && m->segment[i].vaddr < lowest)
			lowest = m->segment[i].vaddr;
	return lowest == UINT64_MAX ? 0 : lowest;
}

/* The frames that DWARF knows, which is read when first asked for. */
static int frames_of_dwarf(struct module *m, uint64_t vaddr,
			   struct frame *frame, bool *bare)
{
	if (!m->looked) {
		Dwarf *dwarf = dwfl_module_getdwarf(m->mod, &m->bias);

		m->looked = true;
		if (dwarf)
			m->code =
				dwarf_code_new(dwarf, lowest_code(m) - m->bias);
	}
	return m->code ? dwarf_code_frames(m->code, vaddr - m->bias, frame,
					   bare)
		       : 0;
}

/* The symbol whose code contains @vaddr, or NULL. */
static const char *symbol_at(struct module *m, uint64_t vaddr)
{
	GElf_Off offset;
	GElf_Sym sym;

	return dwfl_module_addrinfo(m->mod, vaddr, &offset, &sym, NULL, NULL,
				    NULL);
}

static bool is_mangled(const char *symbol)
{
	return symbol && symbol[0] == '_' &&
	       (symbol[1] == 'Z' || symbol[1] == 'R');
}

int module_code(struct module *m, uint64_t vaddr,
		struct frame frame[FRAMES_MAX])
{
	const char *symbol;
	bool bare = false;
	int frames;

	memset(frame, 0, FRAMES_MAX * sizeof(*frame));
	frames = frames_of_dwarf(m, vaddr, frame, &bare);
	if (!frames)
		frames = 1;
	/* A name of DWARF may lack its classes; the symbol has them. */
	symbol = symbol_at(m, vaddr);
	if (!frame[frames - 1].function || (bare && is_mangled(symbol))) {
		free(frame[frames - 1].function);
		frame[frames - 1].function = symbol ? demangle(symbol) : NULL;
	}
	return frames;
}

char *module_variable(struct module *m, uint64_t vaddr, uint64_t *start,
		      uint64_t *size)
{
	GElf_Off offset = 0;
	GElf_Sym sym;
	const char *name = dwfl_module_addrinfo(m->mod, vaddr, &offset, &sym,
						NULL, NULL, NULL);

	/* The nearest symbol below @vaddr must be long enough to contain it. */
	if (!name || offset >= sym.st_size)
		return NULL;
	*start = vaddr - offset;
	*size = sym.st_size;
	return demangle(name);
}
