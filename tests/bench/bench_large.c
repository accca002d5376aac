/* SPDX-License-Identifier: MIT */
/*
 * bench_large - write a large profile, to measure how long report takes
 *
 *	bench_large DIR ELF THREADS LINES SITES PAIRS
 *
 * Threads share the cache lines in neighbouring pairs, at sites spread over the
 * code of the file ELF. With PAIRS, that many pairs of use and reuse too.
 */
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/engine/comm.h"
#include "src/engine/reuse.h"
#include "src/store/outdir.h"
#include "src/store/store.h"

#define BASE     UINT64_C(0x555500000000) /* where ELF is mapped */
#define HEAP     UINT64_C(0x7f0000000000)
#define START_NS UINT64_C(1000000000)
#define RUN_ID   "bench-large"

static struct store store;
static struct store_writer threads = { .section = CDP_THREADS };
static struct store_writer pairs = { .section = CDP_PAIRS };
static struct store_writer maps = { .section = CDP_MAPS };
static struct store_writer memory = { .section = CDP_MEMORY };
static struct store_writer reuses = { .section = CDP_REUSE };
static uint64_t code, code_bytes;

static void *record(struct store_writer *w)
{
	void *r = store_record(&store, w);

	if (!r) {
		fputs("bench_large: no room\n", stderr);
		exit(1);
	}
	return r;
}

static void add_map(const char *path, const Elf64_Phdr *p)
{
	struct cdp_map *m = record(&maps);

	m->start = BASE + (p->p_vaddr & ~UINT64_C(4095));
	m->end = BASE + ((p->p_vaddr + p->p_memsz + 4095) & ~UINT64_C(4095));
	m->file_offset = p->p_offset & ~UINT64_C(4095);
	m->prot = 1 | (p->p_flags & PF_W ? 2 : 0) | (p->p_flags & PF_X ? 4 : 0);
	m->generation = 1;
	snprintf(m->path, sizeof(m->path), "%s", path);
	store_commit(&maps);
	if (p->p_flags & PF_X) {
		code = BASE + p->p_vaddr;
		code_bytes = p->p_memsz;
	}
}

static void map_program(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	const char *file;
	const Elf64_Ehdr *e;

	if (fd < 0 || fstat(fd, &st)) {
		perror(path);
		exit(1);
	}
	file = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	e = (const Elf64_Ehdr *)file;
	for (int i = 0; i < e->e_phnum; i++) {
		const Elf64_Phdr *p =
			(const Elf64_Phdr *)(file + e->e_phoff) + i;

		if (p->p_type == PT_LOAD)
			add_map(path, p);
	}
	munmap((void *)file, st.st_size);
}

/* Spread over the code, all different. */
static uint64_t site(uint64_t i, uint64_t sites)
{
	return code + i % sites * (code_bytes / sites);
}

static void add_thread(uint32_t id)
{
	struct cdp_thread *t = record(&threads);

	t->id = id;
	t->tid = 5000 + id;
	t->state = CDP_THREAD_ENDED;
	t->count = 1;
	snprintf(t->name, sizeof(t->name), "worker %u", id);
	t->cpu_ns = START_NS;
	t->interrupts = 1000;
	t->samples[0] = t->samples[1] = 480;
	t->loads = t->stores = 240;
	store_commit(&threads);
}

static void add_pair(uint64_t i, uint64_t n_threads, uint64_t sites)
{
	struct cdp_pair *p = record(&pairs);
	uint64_t line = HEAP + i * 64;

	*p = (struct cdp_pair){
		.publisher_thread = i % n_threads,
		.detector_thread = (i + 1 + i / n_threads) % n_threads,
		.publisher_addr = line,
		.detector_addr = line + i % 2 * 8,
		.publisher_ip = site(2 * i, sites),
		.detector_ip = site(2 * i + 1, sites),
		.publisher_len = 8,
		.detector_len = 8,
		.publisher_flags = ACCESS_STORE,
		.detector_flags = i % 3 ? ACCESS_LOAD : ACCESS_STORE,
		.sharing = i % 2 ? SHARING_FALSE : SHARING_TRUE,
		.by = DETECTED_BY_BOARD,
		.line = line,
		.count = 1 + i % 17,
		.periods_q8 = 256,
		.map_generation = 1,
	};
	store_commit(&pairs);
}

/* When pair @i was detected: in one of 60 slices of 2^25 ns. */
static void add_slice(uint64_t i, uint64_t n_threads)
{
	struct cdp_memory *m = record(&memory);
	uint64_t slice = (START_NS >> 25) + i % 60;

	m->kind = CDP_MEMORY_SLICES;
	m->slices.publisher_thread = i % n_threads;
	m->slices.detector_thread = (i + 1 + i / n_threads) % n_threads;
	m->slices.shift = 25;
	m->slices.first = slice - slice % CDP_SLICES;
	m->slices.count[slice % CDP_SLICES] = (1 + i % 17) << (i % 2 ? 0 : 32);
	store_commit(&memory);
	if (i >= 60)
		return;
	m = record(&memory);
	m->kind = CDP_MEMORY_SAMPLED;
	m->slices.shift = 25;
	m->slices.first = slice - slice % CDP_SLICES;
	m->slices.count[slice % CDP_SLICES] = 100;
	store_commit(&memory);
}

static void add_reuse(uint64_t i, uint64_t n_threads, uint64_t sites)
{
	struct cdp_reuse *r = record(&reuses);

	*r = (struct cdp_reuse){
		.kind = CDP_REUSE_PAIR,
		.scope = REUSE_PRIVATE,
		.granularity = REUSE_LINE,
		.outcome = REUSE_REUSED,
		.pairing = REUSE_RAW,
		.thread = i % n_threads,
		.bin = i % 20,
		.use_ip = site(i, sites),
		.end_ip = site(i / sites * 7 + i, sites),
		.weight = 1,
		.squares = 1,
		.count = 1,
		.offset = 100,
		.map_generation = 1,
	};
	store_commit(&reuses);
}

static void describe(const char *elf, bool reuse)
{
	struct cdp_header *h = store.header;

	h->state = CDP_ENDED;
	h->pid = 4242;
	h->line_bytes = 64;
	h->start_mono = START_NS;
	h->last_mono = 3 * START_NS;
	h->cpu_ns = START_NS;
	h->period = reuse ? 1000 : 5000000;
	h->modes = CDP_MODE_COMM | (reuse ? CDP_MODE_REUSE : 0);
	h->expiry = 2 * h->period;
	strcpy(h->run_id, RUN_ID);
	strcpy(h->source, reuse ? "emu" : "clock");
	strcpy(h->algorithm, "comdetective");
	strcpy(h->period_unit, reuse ? "accesses" : "ns");
	snprintf(h->exe, sizeof(h->exe), "%s", elf);
	snprintf(h->command, sizeof(h->command), "%s", elf);
}

int main(int argc, char **argv)
{
	char made[PATH_MAX];
	uint64_t n[4];
	int dirfd;

	if (argc != 7) {
		fputs("usage: bench_large DIR ELF THREADS LINES SITES PAIRS\n",
		      stderr);
		return 2;
	}
	for (int i = 0; i < 4; i++)
		n[i] = strtoull(argv[3 + i], NULL, 10);
	dirfd = outdir_create(argv[1], RUN_ID, made, sizeof(made));
	if (dirfd < 0 || store_create(&store, dirfd, "large.4242.1.cdp",
				      UINT64_C(4) << 30)) {
		fprintf(stderr, "bench_large: cannot write %s\n", argv[1]);
		return 1;
	}
	describe(argv[2], n[3] > 0);
	map_program(argv[2]);
	for (uint64_t i = 0; i < n[0]; i++)
		add_thread((uint32_t)i);
	for (uint64_t i = 0; i < n[1]; i++) {
		add_pair(i, n[0], n[2]);
		add_slice(i, n[0]);
	}
	for (uint64_t i = 0; i < n[3]; i++)
		add_reuse(i, n[0], n[2]);
	store_release(&store);
	close(dirfd);
	return 0;
}
