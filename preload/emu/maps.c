/* SPDX-License-Identifier: MIT */
/*
 * maps - which files the program has mapped where
 *
 * /proc/self/maps shows the mappings of the program and those of QEMU. QEMU
 * puts address A of the program at A + guest_base, which is 0 if the program's
 * addresses were free. What was mapped before QEMU loaded the program belongs
 * to QEMU. QEMU maps code without PROT_EXEC, since the host does not execute
 * it, so the program headers of the file show what is code. The kernel does not
 * name the program's [heap] and [stack]: the results of brk and the address of
 * the first access show where they are.
 *
 * As in the preload library, the maps are read at the start, at the end, and
 * when the instruction of a detection is in no known mapping, at most ten times
 * a second; map_table.h says which of them are written.
 */
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "maps.h"
#include "now.h"
#include "state.h"
#include "src/maps/elf_image.h"
#include "src/maps/map_lines.h"
#include "src/maps/map_table.h"

enum {
	HOST_MAX = 4096,
	RANGES_MAX = 65536, /* as many as vm.max_map_count allows by default */
	LINE_MAX_BYTES = 4096,
	REREAD_NS = 100 * 1000 * 1000,
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct map_range host[HOST_MAX], ranges[2 * RANGES_MAX];
static uint32_t hosts;
static struct map_table table;
static uint64_t last_read;
static struct store_writer writer;

/* Find out from the file whether the mapping is code, and its build-id. */
static void ask_file(struct cdp_map *m)
{
	int fd = open(m->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	const struct elf_image elf = { elf_image_pread, &fd, UINT64_MAX };

	if (fd < 0)
		return;
	if (!(m->prot & PROT_WRITE) &&
	    elf_image_has_code(&elf, m->file_offset,
			       m->file_offset + (m->end - m->start)))
		m->prot |= PROT_EXEC;
	if (!m->file_offset)
		m->build_id_bytes = elf_image_build_id(&elf, m->build_id);
	close(fd);
}

/* Replace names that the kernel gives to mappings of QEMU's process. */
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

static void take_part(struct cdp_map *m)
{
	struct cdp_map *record;

	name_anonymous(m);
	if (!map_table_take(&table, m))
		return;
	record = store_record(&emu.store, &writer);
	if (!record)
		return;
	*record = *m;
	store_commit(&writer);
}

/* The heap may begin within a mapping, where the program's .bss ends. */
static void take_mapping(struct cdp_map *m)
{
	uint64_t heap = atomic_load(&emu.heap_low);
	struct cdp_map bss;

	if (map_range_at(host, hosts, m->start) || m->start < emu.guest_base)
		return;
	m->start -= emu.guest_base;
	m->end -= emu.guest_base;
	if (m->path[0] == '/')
		ask_file(m);
	if (m->path[0] != '/' && m->start < heap && heap < m->end) {
		bss = *m;
		bss.end = m->start = heap;
		take_part(&bss);
	}
	take_part(m);
}

static void each_mapping(void (*take)(struct cdp_map *))
{
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	char buffer[LINE_MAX_BYTES];
	struct map_lines lines;
	struct cdp_map m;

	if (fd < 0)
		return;
	map_lines_begin(&lines, fd, buffer, sizeof(buffer));
	while (map_lines_next(&lines, &m))
		take(&m);
	close(fd);
}

static void take_host(struct cdp_map *m)
{
	if (hosts < HOST_MAX)
		host[hosts++] =
			(struct map_range){ .start = m->start, .end = m->end };
}

void emu_maps_note_host(void)
{
	each_mapping(take_host);
}

static void read_maps(void)
{
	map_table_begin(&table);
	each_mapping(take_mapping);
	map_table_end(&table);
	last_read = emu_now_ns(CLOCK_MONOTONIC);
}

void emu_maps_init(void)
{
	pthread_mutex_init(&lock, NULL);
	writer = (struct store_writer){ .section = CDP_MAPS };
	map_table_init(&table, ranges, RANGES_MAX);
	read_maps();
}

uint64_t emu_maps_note(uint64_t ip)
{
	uint64_t g;

	pthread_mutex_lock(&lock);
	if (!map_table_has_code(&table, ip) &&
	    emu_now_ns(CLOCK_MONOTONIC) - last_read > REREAD_NS)
		read_maps();
	g = atomic_load(&table.generation);
	pthread_mutex_unlock(&lock);
	return g;
}

void emu_maps_finish(void)
{
	pthread_mutex_lock(&lock);
	read_maps();
	pthread_mutex_unlock(&lock);
}
