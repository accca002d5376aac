/* SPDX-License-Identifier: MIT */
/*
 * maps - which files the program has mapped where
 *
 * /proc/self/maps shows the program's mappings and QEMU's own. QEMU puts
 * address A of the program at A + guest_base, which is 0 where the program's
 * addresses were free; what was mapped before it loaded the program is QEMU's.
 * It maps code without PROT_EXEC, since the host does not execute it: the
 * program headers of the file say what is code. It knows no [heap] and
 * [stack]: these are found by what brk returned and by the first store.
 *
 * As in the preload library the maps are read at the start, at the end, and
 * when a detection's instruction lies in no mapping that we know, at most ten
 * times a second; each reading is a generation, and only what changed is
 * written.
 */
#include <elf.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "maps.h"
#include "now.h"
#include "state.h"
#include "src/maps/map_range.h"

enum {
	RANGES_MAX = 4096,
	SEGMENTS_MAX = 64,
	NOTES_MAX_BYTES = 4096,
	REREAD_NS = 100 * 1000 * 1000,
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct map_range host[RANGES_MAX], known[RANGES_MAX], before[RANGES_MAX];
static uint32_t hosts, knowns, befores;
static uint64_t generation, last_read;
static struct store_writer writer;

/* One line of /proc/self/maps into @m, host addresses; false if it is none. */
static bool parse_line(const char *line, struct cdp_map *m)
{
	unsigned long long start, end, offset, inode;
	unsigned int major, minor;
	char prot[5];
	int at = 0;

	memset(m, 0, sizeof(*m));
	if (sscanf(line, "%llx-%llx %4s %llx %x:%x %llu %n", &start, &end, prot,
		   &offset, &major, &minor, &inode, &at) < 7)
		return false;
	m->start = start;
	m->end = end;
	m->file_offset = offset;
	m->dev_major = major;
	m->dev_minor = minor;
	m->inode = inode;
	m->prot = (prot[0] == 'r' ? PROT_READ : 0) |
		  (prot[1] == 'w' ? PROT_WRITE : 0) |
		  (prot[2] == 'x' ? PROT_EXEC : 0);
	snprintf(m->path, sizeof(m->path), "%s", line + at);
	m->path[strcspn(m->path, "\n")] = '\0';
	return true;
}

static bool in_ranges(const struct map_range *r, uint32_t n, uint64_t at)
{
	for (uint32_t i = 0; i < n; i++)
		if (at >= r[i].start && at < r[i].end)
			return true;
	return false;
}

static bool was_known(const struct map_range *x)
{
	for (uint32_t i = 0; i < befores; i++)
		if (map_range_same(&before[i], x))
			return true;
	return false;
}

static void find_build_id(int fd, const Elf64_Phdr *note, struct cdp_map *m)
{
	char buf[NOTES_MAX_BYTES];
	size_t bytes =
		note->p_filesz < sizeof(buf) ? note->p_filesz : sizeof(buf);
	ssize_t n = pread(fd, buf, bytes, note->p_offset);
	size_t at = 0;

	while (n > 0 && at + sizeof(Elf64_Nhdr) <= (size_t)n) {
		Elf64_Nhdr nh;
		size_t name, desc;

		memcpy(&nh, buf + at, sizeof(nh));
		if (nh.n_namesz > sizeof(buf) || nh.n_descsz > sizeof(buf))
			return;
		name = at + sizeof(nh);
		desc = name + ((nh.n_namesz + 3) & ~3u);
		at = desc + ((nh.n_descsz + 3) & ~3u);
		if (desc + nh.n_descsz > (size_t)n)
			return;
		if (nh.n_type == NT_GNU_BUILD_ID && nh.n_namesz == 4 &&
		    !memcmp(buf + name, "GNU", 4) &&
		    nh.n_descsz <= sizeof(m->build_id)) {
			memcpy(m->build_id, buf + desc, nh.n_descsz);
			m->build_id_bytes = nh.n_descsz;
			return;
		}
	}
}

/* What the file itself says of the mapping: is it code, which build is it. */
static void ask_file(struct cdp_map *m)
{
	Elf64_Phdr ph[SEGMENTS_MAX];
	Elf64_Ehdr eh;
	int fd = open(m->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	uint64_t from = m->file_offset, to = from + (m->end - m->start);

	if (fd < 0)
		return;
	if (pread(fd, &eh, sizeof(eh), 0) != sizeof(eh) ||
	    memcmp(eh.e_ident, ELFMAG, SELFMAG) ||
	    eh.e_ident[EI_CLASS] != ELFCLASS64 ||
	    eh.e_phentsize != sizeof(ph[0]) || eh.e_phnum > SEGMENTS_MAX ||
	    pread(fd, ph, eh.e_phnum * sizeof(ph[0]), eh.e_phoff) !=
		    (ssize_t)(eh.e_phnum * sizeof(ph[0])))
		goto close_fd;
	for (int i = 0; i < eh.e_phnum; i++) {
		if (ph[i].p_type == PT_LOAD && (ph[i].p_flags & PF_X) &&
		    ph[i].p_offset < to &&
		    from < ph[i].p_offset + ph[i].p_filesz &&
		    !(m->prot & PROT_WRITE))
			m->prot |= PROT_EXEC;
		if (ph[i].p_type == PT_NOTE && !m->file_offset)
			find_build_id(fd, &ph[i], m);
	}
close_fd:
	close(fd);
}

/* Names that QEMU's process has for itself are not the program's. */
static void name_anonymous(struct cdp_map *m)
{
	uint64_t low = atomic_load(&emu.heap_low);
	uint64_t high = atomic_load(&emu.heap_high);
	uint64_t stack = atomic_load(&emu.stack);

	if (m->path[0] == '/')
		return;
	memset(m->path, 0, sizeof(m->path));
	if (low < high && m->start < high && low < m->end)
		strcpy(m->path, "[heap]");
	else if (stack >= m->start && stack < m->end)
		strcpy(m->path, "[stack]");
}

static void take_part(struct cdp_map *m, struct cdp_map *last_file)
{
	struct cdp_map *record;
	struct map_range x;

	name_anonymous(m);
	map_name_bss(m, last_file);
	if (!m->path[0] && !(m->prot & PROT_EXEC))
		return;
	if (m->path[0] == '/')
		*last_file = *m;
	x = map_range(m);
	if (knowns < RANGES_MAX)
		known[knowns++] = x;
	if (was_known(&x))
		return;
	record = store_record(&emu.store, &writer);
	if (!record)
		return;
	m->generation = generation;
	*record = *m;
	store_commit(&writer);
}

/* The heap may begin in the middle: where the program's .bss ends. */
static void take_mapping(struct cdp_map *m, struct cdp_map *last_file)
{
	uint64_t heap = atomic_load(&emu.heap_low);
	struct cdp_map bss;

	if (in_ranges(host, hosts, m->start) || m->start < emu.guest_base)
		return;
	m->start -= emu.guest_base;
	m->end -= emu.guest_base;
	if (m->path[0] == '/')
		ask_file(m);
	if (m->path[0] != '/' && m->start < heap && heap < m->end) {
		bss = *m;
		bss.end = m->start = heap;
		take_part(&bss, last_file);
	}
	take_part(m, last_file);
}

static void each_mapping(void (*take)(struct cdp_map *, struct cdp_map *))
{
	FILE *f = fopen("/proc/self/maps", "re");
	struct cdp_map m, last_file = { 0 };
	char *line = NULL;
	size_t size = 0;

	if (!f)
		return;
	while (getline(&line, &size, f) > 0)
		if (parse_line(line, &m))
			take(&m, &last_file);
	free(line);
	fclose(f);
}

static void take_host(struct cdp_map *m, struct cdp_map *last_file)
{
	if (hosts < RANGES_MAX)
		host[hosts++] =
			(struct map_range){ m->start, m->end, 0, false };
}

void emu_maps_note_host(void)
{
	each_mapping(take_host);
}

static void read_maps(void)
{
	memcpy(before, known, sizeof(known));
	befores = knowns;
	knowns = 0;
	generation++;
	each_mapping(take_mapping);
	last_read = emu_now_ns(CLOCK_MONOTONIC);
}

void emu_maps_init(void)
{
	pthread_mutex_init(&lock, NULL);
	writer = (struct store_writer){ .section = CDP_MAPS };
	knowns = 0;
	generation = 0;
	read_maps();
}

static bool is_known_code(uint64_t ip)
{
	for (uint32_t i = 0; i < knowns; i++)
		if (known[i].exec && ip >= known[i].start && ip < known[i].end)
			return true;
	return false;
}

uint64_t emu_maps_note(uint64_t ip)
{
	uint64_t g;

	pthread_mutex_lock(&lock);
	if (!is_known_code(ip) &&
	    emu_now_ns(CLOCK_MONOTONIC) - last_read > REREAD_NS)
		read_maps();
	g = generation;
	pthread_mutex_unlock(&lock);
	return g;
}

void emu_maps_finish(void)
{
	pthread_mutex_lock(&lock);
	read_maps();
	pthread_mutex_unlock(&lock);
}
