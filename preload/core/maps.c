/* SPDX-License-Identifier: MIT */
/*
 * maps - which files are mapped where, read from the kernel's list
 *
 * dlopen is not hooked. The maps are read at the start, at the end, and when a
 * detection's instruction is in no known mapping, at most ten times a second
 * and for at most 1/REREAD_SHARE of the time. map_table.h says which mappings
 * are written.
 *
 * One thread reads at a time; a thread that finds the lock taken continues
 * without reading.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "maps.h"
#include "src/maps/elf_image.h"
#include "src/maps/map_lines.h"
#include "src/maps/map_table.h"
#include "memread.h"
#include "modules.h"
#include "runtime.h"
#include "timing.h"
#include "sys.h"
#include "src/base/signal_safe.h"

enum {
	RANGES_LITTLE = 4096, /* where address space is limited */
	RANGES_MAX = 65536, /* as many as vm.max_map_count allows by default */
	LINE_MAX_BYTES = 4096,
	REREAD_NS = 100 * 1000 * 1000,
	REREAD_SHARE = 50, /* at most 1/50 of the time */
};

static struct map_table table;
static bool kept; /* forked children do not inherit it */
static _Atomic uint64_t next_read;
static atomic_flag reading = ATOMIC_FLAG_INIT;
static struct store_writer writer = { .section = CDP_MAPS };

/* struct elf_image.read of a file mapped at the address that @ctx points to. */
static int read_mapped(void *ctx, uint64_t at, void *buf, size_t n)
{
	return memread(NULL, *(const uint64_t *)ctx + at, buf, n);
}

static void write_mapping(struct cdp_map *m)
{
	const struct elf_image elf = { read_mapped, &m->start,
				       m->end - m->start };
	struct cdp_map *record;

	if (m->path[0] == '/' && !m->file_offset)
		m->build_id_bytes = elf_image_build_id(&elf, m->build_id);
	record = store_record(&runtime.store, &writer);
	if (!record)
		return;
	*record = *m;
	store_commit(&writer);
}

/* /proc/self/maps is empty once the main thread has ended. */
static long open_maps(void)
{
	long fd = sys_call4(SYS_openat, AT_FDCWD, "/proc/thread-self/maps",
			    O_RDONLY | O_CLOEXEC, 0);

	if (fd < 0)
		fd = sys_call4(SYS_openat, AT_FDCWD, "/proc/self/maps",
			       O_RDONLY | O_CLOEXEC, 0);
	return fd;
}

static void read_maps(void)
{
	static char buffer[LINE_MAX_BYTES];
	static struct map_lines lines;
	static struct cdp_map m;
	long fd = open_maps();

	if (fd < 0)
		return;
	map_table_begin(&table);
	map_lines_begin(&lines, (int)fd, buffer, sizeof(buffer));
	while (map_lines_next(&lines, &m)) {
		modules_take(&m);
		if (map_table_take(&table, &m))
			write_mapping(&m);
	}
	modules_take(NULL);
	sys_call1(SYS_close, fd);
	map_table_end(&table);
}

/* Set the time of the next reading, after one that began at @begin. */
static void set_next_read(uint64_t begin)
{
	uint64_t now = now_ns(), wait = (now - begin) * REREAD_SHARE;

	atomic_store(&next_read, now + (wait > REREAD_NS ? wait : REREAD_NS));
}

int maps_init(void)
{
	uint32_t max = runtime.little_space ? RANGES_LITTLE : RANGES_MAX;
	struct map_range *mem;

	if (table.range[0] && !kept) /* a followed child starts afresh */
		munmap(table.range[0],
		       2 * table.max * sizeof(struct map_range));
	table.range[0] = NULL;
	mem = mmap(NULL, 2 * max * sizeof(struct map_range),
		   PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (mem == MAP_FAILED)
		return -errno;
	kept = runtime_keep(mem, 2 * max * sizeof(struct map_range));
	map_table_init(&table, mem, max);
	writer = (struct store_writer){ .section = CDP_MAPS };
	atomic_flag_clear(&reading);
	read_maps();
	set_next_read(now_ns());
	return 0;
}

uint64_t maps_note(uint64_t ip)
{
	uint64_t now;

	if (!table.range[0] || map_table_has_code(&table, ip))
		return atomic_load(&table.generation);
	now = now_ns();
	if (now > atomic_load(&next_read) &&
	    !atomic_flag_test_and_set(&reading)) {
		read_maps();
		set_next_read(now);
		atomic_flag_clear(&reading);
	}
	return atomic_load(&table.generation);
}

void maps_finish(void)
{
	if (!table.range[0] || atomic_flag_test_and_set(&reading))
		return;
	read_maps();
	atomic_flag_clear(&reading);
}
