/* SPDX-License-Identifier: MIT */
/*
 * hardware - the events of PEBS or IBS of all watched threads, and their rings
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "hardware.h"
#include "analysis/base/util.h"
#include "src/pmu/errors.h"
#include "src/pmu/take.h"

enum {
	RING_PAGES = 64,
	GAP_MAX_NS = 50 * 1000 * 1000, /* longer: the thread slept */
	GAP_WEIGHT = 32,
};

char *hardware_plan(struct pmu_plan *plan, const struct perf_kernel *kernel,
		    enum pmu_source source, const struct pmu_wish *wish)
{
	struct pmu_wish here = *wish;
	char reason[192], advice[192];
	struct pmu_refusal no;

	here.sigtrap = false;
	here.outside = true;
	if (!pmu_plan_make(plan, kernel, source, &here, &no))
		return NULL;
	pmu_errors_explain(&no, reason, sizeof(reason), advice, sizeof(advice));
	return xasprintf("the source %s does not work here: %s; %s",
			 source == PMU_PEBS ? "pebs" : "ibs", reason,
			 *advice ? advice
				 : "leave out -s, and the clock is the source");
}

static int by_id(const void *id, const void *event)
{
	return order_u64(*(const uint64_t *)id,
			 ((const struct hardware_event *)event)->id);
}

static const struct hardware_event *find(const struct hardware *h, uint64_t id)
{
	if (!h->events)
		return NULL;
	return bsearch(&id, h->event, h->events, sizeof(*h->event), by_id);
}

/* For struct outside_ring: samples have other fields than the clock's. */
static int decode(const void *ctx, const struct perf_event_header *record,
		  struct outside_record *r)
{
	const struct hardware *h = ctx;
	const struct hardware_event *e;
	struct pmu_sample s;
	enum pmu_take take;
	uint64_t id;

	if (record->type != PERF_RECORD_SAMPLE)
		return outside_record_decode(record, r);
	memset(r, 0, sizeof(*r));
	r->type = record->type;
	if (perf_sample_event(h->any, record, record->size, &id))
		return -EMSGSIZE;
	e = find(h, id);
	if (!e)
		return -ENOTSUP; /* its set is closed */
	take = pmu_take(h->plan, e->index, record, record->size, &s,
			&r->hardware.lost);
	if (take == PMU_TAKE_BROKEN)
		return -EMSGSIZE;
	r->id = id;
	r->pid = s.fields.pid;
	r->tid = s.fields.tid;
	r->cpu = s.fields.cpu;
	r->time = s.fields.time;
	r->addr = s.memory.addr;
	r->hardware.set = e->set;
	r->hardware.is_user = take >= PMU_TAKE_NO_ACCESS;
	r->hardware.is_access = take == PMU_TAKE_ACCESS;
	r->hardware.ip = s.fields.ip;
	r->hardware.memory = s.memory;
	return 0;
}

static long map_ring(struct hardware *h, int cpu, uint32_t pages)
{
	size_t bytes = ((size_t)pages + 1) * PERF_RING_PAGE;
	long at = h->kernel->map(h->kernel->ctx, h->fd[cpu], bytes);

	if (at < 0 && at > -4096) {
		/* -EPERM: more than perf_event_mlock_kb allows. */
		if ((at != -EPERM && at != -ENOMEM) || pages == 1)
			return at;
		return map_ring(h, cpu, pages / 2);
	}
	perf_ring_init(&h->ring[cpu].perf, (void *)at, pages);
	h->bytes[cpu] = bytes;
	return 0;
}

/* The processor may be offline: then there is no ring, and no error. */
static int open_ring(struct hardware *h, int cpu, int poll)
{
	struct perf_event_attr a = event_attr();
	struct epoll_event wake = { .events = EPOLLIN };
	long fd = h->kernel->open(h->kernel->ctx, &a, 0, cpu, -1), err;

	if (fd == -ENODEV || fd == -EINVAL)
		return 0;
	if (fd < 0)
		return (int)fd;
	h->fd[cpu] = (int)fd;
	err = map_ring(h, cpu, RING_PAGES);
	if (err)
		return (int)err;
	if (poll >= 0 && epoll_ctl(poll, EPOLL_CTL_ADD, (int)fd, &wake))
		return -errno;
	h->ring[cpu].decode = decode;
	h->ring[cpu].decode_ctx = h;
	rings_add(h->rings, &h->ring[cpu]);
	return 0;
}

int hardware_init(struct hardware *h, const struct perf_kernel *kernel,
		  const struct pmu_plan *plan, struct rings *rings, int poll,
		  int cpus, enum event_heirs heirs, bool on_exec, uint64_t seed)
{
	int err = 0;

	*h = (struct hardware){ .plan = plan,
				.kernel = kernel,
				.rings = rings,
				.cpus = cpus,
				.heirs = heirs,
				.on_exec = on_exec,
				.gap_ns = HARDWARE_GAP_NS };
	rng_seed(&h->rng, seed, plan->source);
	h->ring = xcalloc((size_t)cpus, sizeof(*h->ring));
	h->bytes = xcalloc((size_t)cpus, sizeof(*h->bytes));
	h->fd = xcalloc((size_t)cpus, sizeof(*h->fd));
	for (uint32_t i = 0; i < plan->events; i++)
		if (pmu_event_samples(&plan->event[i]))
			h->any = &plan->event[i].attr;
	for (int i = 0; i < cpus; i++)
		h->fd[i] = -1;
	for (int i = 0; i < cpus && !err; i++)
		err = open_ring(h, i, poll);
	if (err)
		hardware_release(h);
	return err;
}

static bool is_prime(uint64_t n)
{
	for (uint64_t i = 2; i * i <= n; i++)
		if (n % i == 0)
			return false;
	return true;
}

/*
 * For good: to set another one would begin it anew, at the moment that we read
 * the sample. A prime number keeps step with no loop of fewer accesses. The
 * intervals of IBS are multiples of 16, and it varies them itself.
 */
static uint64_t draw(struct hardware *h)
{
	uint64_t interval = pmu_interval_draw(h->plan, &h->rng);

	while (h->plan->period_step == 1 && !is_prime(interval))
		interval++;
	return interval;
}

static int open_event(struct hardware *h, uint32_t index, pid_t tid, int cpu,
		      int group, uint32_t set)
{
	const struct pmu_event *of = &h->plan->event[index];
	struct hardware_event e = { .set = set, .index = index };
	struct perf_event_attr a = of->attr;
	long err;

	a.inherit = h->heirs != HEIRS_NONE;
	a.inherit_thread = h->heirs == HEIRS_THREADS;
	a.disabled = h->on_exec && group < 0;
	a.enable_on_exec = a.disabled;
	if (pmu_event_samples(of))
		a.sample_period = draw(h);
	e.fd = (int)h->kernel->open(h->kernel->ctx, &a, tid, cpu, group);
	if (e.fd < 0)
		return e.fd;
	err = h->kernel->ioctl(h->kernel->ctx, e.fd, PERF_EVENT_IOC_ID,
			       (uintptr_t)&e.id);
	if (!err && pmu_event_samples(of))
		err = h->kernel->ioctl(h->kernel->ctx, e.fd,
				       PERF_EVENT_IOC_SET_OUTPUT,
				       (uint64_t)h->fd[cpu]);
	if (err) {
		h->kernel->close(h->kernel->ctx, e.fd);
		return (int)err;
	}
	h->event = grow(h->event, h->events, &h->room, sizeof(*h->event));
	h->event[h->events++] = e;
	return e.fd;
}

/* -ENOENT: the processor is another kind of core than that of the event. */
static int open_on(struct hardware *h, pid_t tid, int cpu, uint32_t set)
{
	int fd[PMU_EVENTS_MAX];

	for (uint32_t i = 0; i < h->plan->events; i++) {
		const struct pmu_event *e = &h->plan->event[i];
		int group = e->leader == i ? -1 : fd[e->leader];

		fd[i] = -1;
		if (e->role == PMU_COUNTS || (e->leader != i && group < 0))
			continue;
		fd[i] = open_event(h, i, tid, cpu, group, set);
		if (fd[i] < 0 && fd[i] != -ENOENT)
			return fd[i];
	}
	return 0;
}

void hardware_close(struct hardware *h, uint32_t set)
{
	size_t kept = 0;

	for (size_t i = 0; i < h->events; i++)
		if (h->event[i].set == set)
			h->kernel->close(h->kernel->ctx, h->event[i].fd);
		else
			h->event[kept++] = h->event[i];
	h->events = kept;
}

int hardware_attach(struct hardware *h, pid_t tid, uint32_t set)
{
	int err = 0;

	for (int cpu = 0; cpu < h->cpus && !err; cpu++)
		if (h->fd[cpu] >= 0)
			err = open_on(h, tid, cpu, set);
	if (err)
		hardware_close(h, set);
	return err;
}

void hardware_gap(struct hardware *h, uint64_t ns)
{
	if (ns && ns <= GAP_MAX_NS)
		h->gap_ns += ((int64_t)ns - (int64_t)h->gap_ns) / GAP_WEIGHT;
}

void hardware_release(struct hardware *h)
{
	for (size_t i = 0; i < h->events; i++)
		h->kernel->close(h->kernel->ctx, h->event[i].fd);
	for (int i = 0; i < h->cpus; i++) {
		struct perf_ring *ring = &h->ring[i].perf;

		rings_remove(h->rings, &h->ring[i]);
		if (ring->page)
			h->kernel->unmap(h->kernel->ctx, ring->page,
					 h->bytes[i]);
		if (h->fd[i] >= 0)
			h->kernel->close(h->kernel->ctx, h->fd[i]);
	}
	free(h->event);
	free(h->ring);
	free(h->bytes);
	free(h->fd);
	*h = (struct hardware){ 0 };
}
