/* SPDX-License-Identifier: MIT */
/*
 * file - the .cdp file of a watched process
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "file.h"
#include "memory.h"
#include "now.h"
#include "src/maps/elf_image.h"
#include "src/store/host.h"

enum {
	NAME_TRIES = 100, /* names differ by their time in ms */
};

static uint64_t real_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void read_exe(pid_t pid, char *to, size_t size)
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	n = readlink(path, to, size - 1);
	to[n > 0 ? n : 0] = 0;
}

static void read_command(pid_t pid, char *to, size_t size)
{
	char path[64];
	size_t n;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	n = host_read_file(path, to, size);
	if (n == size - 1)
		memcpy(to + size - 4, "...", 4);
	for (size_t i = 0; n && i < n - 1; i++)
		if (!to[i])
			to[i] = ' ';
}

static void describe_source(struct cdp_header *h, const struct outside_run *run)
{
	static const char outside[] = "watched from outside the process, ";
	const struct pmu_plan *plan = run->plan;
	bool pebs = plan && plan->source == PMU_PEBS;

	h->period = plan ? plan->period : run->period;
	snprintf(h->source, sizeof(h->source), "%s",
		 !plan  ? "clock"
		 : pebs ? "pebs"
			: "ibs");
	snprintf(h->period_unit, sizeof(h->period_unit), "%s",
		 !plan  ? "ns"
		 : pebs ? "events"
			: "ops");
	snprintf(h->source_reason, sizeof(h->source_reason), "%s%s", outside,
		 plan ? "" : "with perf task-clock");
	if (plan)
		pmu_plan_describe(plan, h->source_reason + sizeof(outside) - 1,
				  sizeof(h->source_reason) - sizeof(outside) +
					  1);
}

static void fill_header(struct cdp_header *h, const struct outside_run *run,
			pid_t pid, uint32_t number)
{
	host_describe(h, pid);
	h->pid = (uint32_t)pid;
	h->number = number;
	h->line_bytes = run->comm->line_bytes;
	h->start_real = real_ns();
	h->start_mono = h->last_mono = outside_now();
	snprintf(h->run_id, sizeof(h->run_id), "%s", run->run_id);
	read_exe(pid, h->exe, sizeof(h->exe));
	read_command(pid, h->command, sizeof(h->command));
	describe_source(h, run);
	snprintf(h->delivery, sizeof(h->delivery), "outside");
	snprintf(h->algorithm, sizeof(h->algorithm), "comdetective");
	h->modes = CDP_MODE_COMM;
	h->cores = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
	h->registers = (uint32_t)run->registers;
	snprintf(h->registers_reason, sizeof(h->registers_reason), "%s",
		 run->registers_reason);
	h->board_slots = board_slots(run->comm->board);
	h->expiry = comm_expiry(run->comm);
	h->watch_expiry = comm_watch_expiry(run->comm);
}

int file_open(struct outside_file *f, const struct outside_run *run, pid_t pid,
	      uint32_t number)
{
	char exe[CDP_PATH_BYTES], name[128];
	uint64_t at = real_ns();
	int err = -EEXIST;

	memset(f, 0, sizeof(*f));
	read_exe(pid, exe, sizeof(exe));
	for (int i = 0; i < NAME_TRIES && err == -EEXIST; i++) {
		host_file_name(name, sizeof(name), exe, pid,
			       at + (uint64_t)i * 1000000);
		err = store_create(&f->store, run->dirfd, name,
				   STORE_MAX_BYTES_DEFAULT);
	}
	if (err)
		return err;
	f->open = true;
	f->pid = pid;
	f->rows.section = CDP_THREADS;
	f->maps.section = CDP_MAPS;
	fill_header(f->store.header, run, pid, number);
	return 0;
}

struct image {
	pid_t pid;
	uint64_t start;
};

/* struct elf_image.read of a file mapped in the process. */
static int read_mapped(void *ctx, uint64_t at, void *buf, size_t n)
{
	const struct image *image = ctx;

	return memory_peek(image->pid, image->start + at, buf, n);
}

void file_mapping(void *file, const struct cdp_map *m)
{
	struct outside_file *f = file;
	struct image image = { f->pid, m->start };
	const struct elf_image elf = { read_mapped, &image, m->end - m->start };
	struct cdp_map *record;

	if (!f->open)
		return;
	record = store_record(&f->store, &f->maps);
	if (!record)
		return;
	*record = *m;
	if (m->path[0] == '/' && !m->file_offset)
		record->build_id_bytes =
			elf_image_build_id(&elf, record->build_id);
	store_commit(&f->maps);
}

struct cdp_thread *file_row(struct outside_file *f, uint32_t id, pid_t tid,
			    const char *name, uint64_t now)
{
	struct cdp_thread *row;

	if (!f->open)
		return NULL;
	row = store_record(&f->store, &f->rows);
	if (!row) {
		store_lose(&f->store, LOSS_STORE_FULL, 1);
		return NULL;
	}
	row->id = id;
	row->tid = (uint32_t)tid;
	row->state = CDP_THREAD_LIVE;
	row->count = 1;
	snprintf(row->name, sizeof(row->name), "%s", name);
	row->start_mono = now;
	store_commit(&f->rows);
	return row;
}

void file_ended_by(struct outside_file *f, int sig)
{
	if (!f->open || !sig)
		return;
	f->store.header->end_value = (uint32_t)sig;
	f->store.header->end_how = CDP_END_SIGNAL;
}

void file_close(struct outside_file *f, enum cdp_state state, uint64_t now,
		uint64_t cpu_ns, const char *note)
{
	struct cdp_header *h = f->store.header;

	if (!f->open)
		return;
	snprintf(h->note, sizeof(h->note), "%s", note);
	store_set(&h->last_mono, now);
	store_set(&h->cpu_ns, cpu_ns);
	__atomic_store_n(&h->state, state, __ATOMIC_RELEASE);
	store_release(&f->store);
	f->open = false;
}
