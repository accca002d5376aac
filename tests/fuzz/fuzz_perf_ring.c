/* SPDX-License-Identifier: MIT */
/*
 * fuzz_perf_ring - bytes of a fuzzer as what a kernel left in a ring
 *
 * The first byte says as what. For a PEBS or an IBS machine, whose events
 * were opened on the fake kernel: two bytes say where in the ring the reader
 * is, which of them decide how far the kernel claims to have written, and the
 * others are what it wrote. The reader must take it all, hand out no sample
 * that cannot be, and touch nothing but the ring. Otherwise: one record of an
 * event with any attributes at all.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fake/fake_kernel.h"
#include "src/pmu/thread.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum form {
	RING_PEBS,
	RING_IBS,
	ANY_RECORD,
	FORMS
};

enum {
	WIDTH_MAX = 64,
	DRAINS_MAX = 16, /* of 1024 records; a ring has 8 KiB */
};

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void check_memory(const struct perf_memory *m)
{
	require(!(m->access &
		  ~(uint32_t)(ACCESS_LOAD | ACCESS_STORE | ACCESS_LOCKED)));
	require(m->len <= WIDTH_MAX);
	require(m->source < DATA_SOURCE_COUNT);
	require(!(m->flags & ~(uint32_t)MEMORY_FLAGS));
}

static void take(void *ctx, const struct pmu_sample *s)
{
	check_memory(&s->memory);
	require(s->memory.access & (ACCESS_LOAD | ACCESS_STORE));
	require(s->memory.addr && !(s->memory.addr >> 63));
	require(s->fields.misc & PERF_RECORD_MISC_EXACT_IP);
	require(s->role == PMU_LOADS || s->role == PMU_STORES ||
		s->role == PMU_OPS);
}

static void lose(void *ctx, enum loss_cause cause, uint64_t n)
{
	require((unsigned int)cause < LOSS_COUNT);
}

/* The events of a machine, opened once; the ring is ours, to its last byte. */
struct machine {
	struct fake_kernel *kernel;
	struct pmu_plan plan;
	struct pmu_thread thread;
	struct rng rng;
	void *ring;
};

static struct machine *machine_of(enum form form)
{
	static struct machine machines[2];
	static const struct pmu_delivery how = { .sigtrap = true };
	const struct pmu_wish wish = { .period = 1000, .sigtrap = true };
	struct machine *m = &machines[form];
	struct pmu_refusal no;

	if (m->ring)
		return m;
	m->kernel =
		fake_kernel_new(form == RING_PEBS ? FAKE_SKYLAKE : FAKE_ZEN4);
	require(!pmu_plan_make(&m->plan, &m->kernel->calls,
			       form == RING_PEBS ? PMU_PEBS : PMU_IBS, &wish,
			       &no));
	require(!pmu_thread_open(&m->thread, &m->kernel->calls, &m->plan, &how,
				 &m->rng, NULL));
	require(!posix_memalign(&m->ring, PERF_RING_PAGE,
				PERF_RING_PAGE + m->thread.ring.bytes));
	memset(m->ring, 0, PERF_RING_PAGE + m->thread.ring.bytes);
	m->thread.ring.page = m->ring;
	return m;
}

static void drain(struct machine *m, const uint8_t *data, size_t size)
{
	static const struct pmu_sink sink = { take, lose };
	struct perf_event_mmap_page *page = m->ring;
	char *ring = (char *)m->ring + PERF_RING_PAGE;
	uint64_t bytes = m->thread.ring.bytes, claimed;
	uint16_t place;
	int left = DRAINS_MAX;

	if (size < sizeof(place))
		return;
	memcpy(&place, data, sizeof(place));
	data += sizeof(place);
	size -= sizeof(place);
	claimed = size;
	if (place & 1 && size >= sizeof(claimed))
		memcpy(&claimed, data, sizeof(claimed));
	if (size > bytes)
		size = bytes;
	for (size_t i = 0; i < size; i++)
		ring[(place / 8 * 8 + i) % bytes] = data[i];
	page->data_tail = place / 8 * 8;
	page->data_head = page->data_tail + claimed;
	m->thread.fired = 0;
	while (page->data_tail != page->data_head && left--)
		pmu_thread_drain(&m->thread, &sink, NULL);
	require(page->data_tail == page->data_head);
	require(!(m->thread.fired >> m->plan.events));
}

/* What of an attribute says where a record's fields are. */
struct layout {
	uint64_t sample_type, read_format, branch_type, user_regs, intr_regs;
	uint16_t family, model;
	uint8_t id_all, kind;
};

static void decode(const struct perf_event_attr *attr, const char *record,
		   size_t bytes, const struct layout *l)
{
	const struct ibs_cpu cpu = { l->family, l->model };
	struct perf_memory m;
	struct perf_sample s;
	size_t id_bytes;
	uint64_t id;
	int err;

	perf_sample_event(attr, record, bytes, &id);
	err = perf_sample_decode_id(attr, record, bytes, &s, &id_bytes);
	require(err == 0 || err == -EMSGSIZE);
	require(err || id_bytes <= bytes);
	if (perf_sample_decode(attr, record, bytes, &s))
		return;
	require(!s.raw ||
		((const char *)s.raw >= record &&
		 (const char *)s.raw + s.raw_bytes <= record + bytes));
	err = perf_sample_memory(&s, (enum perf_kind)(l->kind % 4), &cpu, &m);
	require(err == 0 || err == -ENODATA || err == -EMSGSIZE ||
		err == -EINVAL);
	check_memory(&m);
	require(err || m.access & (ACCESS_LOAD | ACCESS_STORE));
}

static void any_record(const uint8_t *data, size_t size)
{
	struct perf_event_attr attr = { 0 };
	struct layout l;
	char *record;

	if (size < sizeof(l))
		return;
	memcpy(&l, data, sizeof(l));
	attr.sample_type = l.sample_type;
	attr.read_format = l.read_format;
	attr.branch_sample_type = l.branch_type;
	attr.sample_regs_user = l.user_regs;
	attr.sample_regs_intr = l.intr_regs;
	attr.sample_id_all = l.id_all & 1;
	size -= sizeof(l);
	/* To the byte, so that reading on is seen. */
	record = malloc(size ? size : 1);
	require(record != NULL);
	memcpy(record, data + sizeof(l), size);
	decode(&attr, record, size, &l);
	free(record);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum form form;

	if (!size)
		return 0;
	form = (enum form)(data[0] % FORMS);
	if (form == ANY_RECORD)
		any_record(data + 1, size - 1);
	else
		drain(machine_of(form), data + 1, size - 1);
	return 0;
}
