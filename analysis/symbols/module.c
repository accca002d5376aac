/* SPDX-License-Identifier: MIT */
/*
 * module - the symbols and DWARF of one ELF file, through libdwfl
 *
 * The module is reported to libdwfl at bias 0, so that its addresses are those
 * of the file's program headers.
 */
#include <dwarf.h>
#include <elf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "module.h"
#include "analysis/base/util.h"

struct segment {
	uint64_t offset, vaddr, bytes; /* in memory, from a page's start */
	bool exec;
};

struct module {
	enum module_state state;
	int error;
	Dwfl *dwfl;
	Dwfl_Module *mod;
	struct segment *segment;
	size_t segments;
};

/* From the C++ runtime, which has no C header for it. */
char *__cxa_demangle(const char *name, char *buf, size_t *size, int *status);

static char *debug_path;

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = dwfl_standard_find_debuginfo,
	.section_address = dwfl_offline_section_address,
	.debuginfo_path = &debug_path,
};

char *demangle(const char *name)
{
	int status = -1;
	char *s = NULL;

	if (name[0] == '_' && name[1] == 'Z')
		s = __cxa_demangle(name, NULL, NULL, &status);
	return s && !status ? s : xstrdup(name);
}

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

/* Open a regular file, without waiting if it is something else. */
static int open_regular(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return -EINVAL;
	}
	return fd;
}

struct module *module_open(const char *path, const uint8_t *id, size_t id_bytes)
{
	struct module *m = xcalloc(1, sizeof(*m));
	int fd = open_regular(path);

	m->state = MODULE_GONE;
	if (fd < 0) {
		m->error = -fd;
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

static const char *die_name(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	const char *name;

	if (!dwarf_attr_integrate(die, DW_AT_linkage_name, &attr) &&
	    !dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attr))
		return dwarf_diename(die);
	name = dwarf_formstring(&attr);
	return name ? name : dwarf_diename(die);
}

/* Put the place where the inlined function @die was called into @f. */
static void call_site(Dwarf_Die *cu, Dwarf_Die *die, struct frame *f)
{
	Dwarf_Attribute attr;
	Dwarf_Files *files;
	Dwarf_Word n;
	size_t count;

	if (!dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &attr), &n))
		f->line = n <= INT_MAX ? (int)n : 0;
	if (!dwarf_formudata(dwarf_attr(die, DW_AT_call_file, &attr), &n) &&
	    !dwarf_getsrcfiles(cu, &files, &count) && n < count)
		f->file = dwarf_filesrc(files, n, NULL, NULL);
}

/* Take names and places of calls from the nested scopes of @vaddr. */
static int frames_of_dwarf(struct module *m, uint64_t vaddr,
			   struct frame *frame)
{
	Dwarf_Addr bias;
	Dwarf_Die *cu = dwfl_module_addrdie(m->mod, vaddr, &bias);
	Dwarf_Die *lexical = NULL, *scope = NULL;
	int n, frames = 0;

	if (!cu || dwarf_getscopes(cu, vaddr - bias, &lexical) <= 0)
		return 0;
	/*
	 * From the innermost scope outwards, take the scopes that enclose it in
	 * the compiled code, not those in the source.
	 */
	n = dwarf_getscopes_die(&lexical[0], &scope);
	for (int i = 0; i < n && frames < FRAMES_MAX; i++) {
		int tag = dwarf_tag(&scope[i]);
		const char *name;

		if (tag != DW_TAG_subprogram &&
		    tag != DW_TAG_inlined_subroutine)
			continue;
		name = die_name(&scope[i]);
		frame[frames++].function = name ? demangle(name) : NULL;
		if (tag == DW_TAG_subprogram)
			break;
		if (frames < FRAMES_MAX)
			call_site(cu, &scope[i], &frame[frames]);
	}
	free(lexical);
	free(scope);
	return frames;
}

int module_code(struct module *m, uint64_t vaddr,
		struct frame frame[FRAMES_MAX])
{
	Dwfl_Line *l = dwfl_module_getsrc(m->mod, vaddr);
	int frames;

	memset(frame, 0, FRAMES_MAX * sizeof(*frame));
	if (l)
		frame[0].file = dwfl_lineinfo(l, NULL, &frame[0].line, NULL,
					      NULL, NULL);
	frames = frames_of_dwarf(m, vaddr, frame);
	if (!frame[0].function) {
		GElf_Off offset;
		GElf_Sym sym;
		const char *name = dwfl_module_addrinfo(m->mod, vaddr, &offset,
							&sym, NULL, NULL, NULL);

		frame[0].function = name ? demangle(name) : NULL;
	}
	return frames ? frames : 1;
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
