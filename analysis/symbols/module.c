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
#include "debug_lack.h"
#include "dwarf_code.h"
#include "library_code.h"
#include "reg_types.h"
#include "analysis/base/util.h"
#include "src/base/regular_file.h"

struct segment {
	uint64_t offset, vaddr, bytes; /* in memory, from a page's start */
	bool exec;
};

struct module {
	enum module_state state;
	char *path;
	int error; /* of regular_file_open() */
	Dwfl *dwfl;
	Dwfl_Module *mod;
	struct segment *segment;
	size_t segments;
	bool looked; /* for DWARF */
	struct dwarf_code *code;
	struct dwarf_types *types; /* NULL with code */
	struct reg_types *regs;    /* made when first needed */
	Dwarf_Addr bias;           /* our addresses minus those of DWARF */
	char *alternate;           /* debug_lack_alternate() */
	bool shown;                /* an instruction of it is */
	bool lineless;             /* without a line */
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

	m->path = xstrdup(path);
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
	reg_types_free(m->regs);
	dwarf_types_free(m->types);
	dwarf_code_free(m->code);
	if (m->dwfl)
		dwfl_end(m->dwfl);
	free(m->segment);
	free(m->path);
	free(m->alternate);
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

/* True if there is DWARF, which is read when first asked for. */
static bool has_dwarf(struct module *m)
{
	const char *file = NULL;
	bool refuse = false;
	Dwarf *dwarf;

	if (m->looked)
		return m->code;
	m->looked = true;
	dwarf = dwfl_module_getdwarf(m->mod, &m->bias);
	if (!dwarf)
		return false;
	dwfl_module_info(m->mod, NULL, NULL, NULL, NULL, NULL, NULL, &file);
	m->alternate = debug_lack_alternate(m->path, file ? file : m->path,
					    dwarf, &refuse);
	if (refuse)
		return false;
	m->code = dwarf_code_new(dwarf, lowest_code(m) - m->bias);
	m->types = dwarf_types_new(dwarf);
	return true;
}

static int frames_of_dwarf(struct module *m, uint64_t vaddr,
			   struct frame *frame, bool *bare)
{
	return has_dwarf(m) ? dwarf_code_frames(m->code, vaddr - m->bias, frame,
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
	if (frame[frames - 1].function && !bare)
		return frames;
	/* A name of DWARF may lack its classes; the symbol has them. */
	symbol = symbol_at(m, vaddr);
	if (!frame[frames - 1].function || (bare && is_mangled(symbol))) {
		free(frame[frames - 1].function);
		frame[frames - 1].function = symbol ? demangle(symbol) : NULL;
	}
	return frames;
}

void module_shown(struct module *m, uint64_t vaddr, const char *file)
{
	m->shown = true;
	m->lineless |= !file;
	if (has_dwarf(m))
		dwarf_code_shown(m->code, vaddr - m->bias);
}

char *module_lack(struct module *m, int i)
{
	char *lack[2] = { NULL }, *text = NULL;
	const char *name, *dir;
	size_t missing;
	int n = 0;

	if (!m->shown)
		return NULL;
	if (m->alternate)
		lack[n++] = xstrdup(m->alternate);
	else if (m->lineless)
		lack[n++] = has_dwarf(m) ? debug_lack_part(m->path)
					 : debug_lack_all(m->path);
	missing = has_dwarf(m) ? dwarf_code_split(m->code, &name, &dir) : 0;
	if (missing)
		lack[n] = debug_lack_split(m->path, name, dir, missing);
	for (int k = 0; k < 2; k++)
		if (k == i)
			text = lack[k];
		else
			free(lack[k]);
	return text;
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

/* @n bytes of code at the address of DWARF @addr, as in the file. */
static const uint8_t *code_at(void *ctx, uint64_t addr, size_t n)
{
	const struct module *m = ctx;
	uint64_t vaddr = addr + m->bias;
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(m->mod, &bias);
	Elf_Data *data;

	for (size_t i = 0; elf && i < m->segments; i++) {
		const struct segment *s = &m->segment[i];

		if (!s->exec || vaddr < s->vaddr ||
		    vaddr - s->vaddr >= s->bytes ||
		    n > s->bytes - (vaddr - s->vaddr))
			continue;
		data = elf_getdata_rawchunk(
			elf, (int64_t)(vaddr - s->vaddr + s->offset), n,
			ELF_T_BYTE);
		return data ? data->d_buf : NULL;
	}
	return NULL;
}

/* The bytes between the start of the TLS segment and the control block. */
static uint64_t tls_bytes(struct module *m)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(m->mod, &bias);
	GElf_Ehdr header;
	GElf_Phdr ph;
	size_t n;

	/* A library's place in thread-local storage is not known. */
	if (!elf || !gelf_getehdr(elf, &header) || elf_getphdrnum(elf, &n))
		return 0;
	for (size_t i = 0; i < n; i++)
		if (gelf_getphdr(elf, i, &ph) && ph.p_type == PT_TLS &&
		    ph.p_align <= 4096 && ph.p_memsz < UINT32_MAX)
			return (ph.p_memsz + ph.p_align - 1) &
			       ~(ph.p_align ? ph.p_align - 1 : 0);
	return 0;
}

bool module_access(struct module *m, uint64_t vaddr, struct typed_place *out)
{
	if (!has_dwarf(m))
		return false;
	if (!m->regs)
		m->regs = reg_types_new(
			&(struct reg_types_file){ .code = m->code,
						  .types = m->types,
						  .bytes = code_at,
						  .ctx = m,
						  .tls_bytes = tls_bytes(m) });
	return reg_types_access(m->regs, vaddr - m->bias, out);
}

bool module_data(struct module *m, uint64_t vaddr, struct data_variable *out)
{
	const struct data_variable *v;

	if (!has_dwarf(m))
		return false;
	v = dwarf_types_variable(m->types, vaddr - m->bias);
	if (!v)
		return false;
	*out = *v;
	out->start += m->bias;
	return true;
}

bool module_part(struct module *m, const struct data_type *type,
		 uint64_t offset, struct data_part *out)
{
	return has_dwarf(m) && dwarf_types_part(m->types, type, offset, out);
}

bool module_holds(struct module *m, const struct data_type *outer,
		  uint64_t offset, const struct data_type *inner)
{
	return has_dwarf(m) &&
	       dwarf_types_holds(m->types, outer, offset, inner);
}

bool module_library_type(const struct module *m, const struct data_type *type)
{
	struct place place = { .module = m->path };

	return is_library_place(&place) || dwarf_types_of_library(type);
}
